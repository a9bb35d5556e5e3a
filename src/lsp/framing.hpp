// Messages in a stream of bytes: headers, a blank line, a body.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mir::lsp {

/// A message that was read, or why bytes are not one.
struct Frame {
  std::string body;
  std::string error;  ///< empty: `body` is whole
};

/// Takes a stream in pieces of any size and returns its messages.
class FrameReader {
 public:
  static constexpr std::size_t kMaxBody = std::size_t{1} << 30;
  static constexpr std::size_t kMaxHeader = std::size_t{1} << 16;

  void add(std::string_view bytes) { buffer_ += bytes; }
  /// Returns the next message, if all of it has arrived. After an error, reading continues after
  /// the wrong headers.
  std::optional<Frame> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;                 // of what is not read yet
  std::optional<std::size_t> body_size_;  // known once the headers are read
};

/// The headers of a body.
std::string header_of(std::string_view body);
/// The body with its headers.
std::string framed(std::string_view body);

}  // namespace mir::lsp
