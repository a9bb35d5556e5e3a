// Standard streams, terminals and other open streams, by their numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mir {

inline constexpr int kStandardInput = 0;
inline constexpr int kStandardOutput = 1;
inline constexpr int kStandardError = 2;

/// True if people read the stream on a terminal; false where that is unknown.
bool is_terminal(int stream);

/// Opens standard input, output and error if they are closed, so that no file that a program opens
/// takes their numbers and receives their text.
void open_standard_streams();

/// Waits until the stream has bytes or has ended; false if it has none after the time. Where
/// nothing can wait for a time, returns true at once.
bool wait_for_bytes(int stream, std::chrono::milliseconds longest);
/// Reads at least one byte and at most as many as fit, and returns their number: 0 at the end, no
/// value after an error. Waits for the first one.
std::optional<std::size_t> read_bytes(int stream, std::span<char> into);
/// Writes all bytes. False after an error.
bool write_bytes(int stream, std::string_view bytes);

/// True if a process with this number has ended; false where that is unknown.
bool has_ended(std::int64_t process);

}  // namespace mir
