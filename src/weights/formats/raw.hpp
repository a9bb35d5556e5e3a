// Files that hold the elements of one tensor and nothing else: row-major, little-endian.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/tensor.hpp"
#include "weights/file_bytes.hpp"

namespace mir {

/// Element type and extents of a raw file.
struct RawType {
  DType dtype = DType::kFloat32;
  Shape shape;
};

/// Parses `Float32[1, 16]`; no value for any other text.
std::optional<RawType> parse_raw_type(std::string_view text);

/// The file must have the bytes of that type, no more and no less. One extent may be -1: it is what
/// the file has.
Result<Tensor> read_raw(const std::string& path, const RawType& type, const FileOpener& files);

}  // namespace mir
