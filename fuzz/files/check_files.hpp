// Invariants that hold for any bytes read as a file of tensors, a pack or a program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::fuzz {

/// The formats that a target is made for: `safetensors`, `npz`, `npy`, `mllm`, `gguf`, `pack`,
/// `index` (of safetensors files `x.safetensors` and `y.safetensors`) and `program`.
std::vector<std::string_view> file_formats();

/// Reads `bytes` as a file of `format`, and every tensor of it. A tensor has the bytes that its
/// type and extents give, none has two of one name, a refusal has a code of the format and a
/// message that names the file. Ends the program when one of these does not hold. Gives the
/// refusal, if any.
Result<void> check_file(std::string_view format, std::span<const std::byte> bytes);

}  // namespace mir::fuzz
