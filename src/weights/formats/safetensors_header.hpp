// The JSON header of a safetensors file, read without building a document.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Converts between element types and names such as `F32` and `BF16`; no value if the other side
/// lacks one.
std::optional<DType> dtype_from_safetensors(std::string_view name);
std::optional<std::string_view> safetensors_name(DType dtype);

/// One tensor as the header states it; nothing about the numbers is checked yet.
struct SafetensorsClaim {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
};

struct SafetensorsHeader {
  std::vector<SafetensorsClaim> tensors;  ///< in the order of the header
  std::map<std::string, std::string> metadata;
};

/// Accepts exactly the structure of the format: known keys, each at most once; texts and
/// non-negative whole numbers where they belong; valid UTF-8. Tensor names may repeat.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json);

}  // namespace mir
