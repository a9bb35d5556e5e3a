// Reads files of bare elements, whose type and extents the caller specifies.
#include "weights/formats/raw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "mir/codes/tensors.hpp"
#include "weights/checks.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// The extents with the one that is not known as the file's size tells it.
Result<Shape> whole_shape(const RawType& type, std::uint64_t bytes) {
  Shape shape = type.shape;
  const auto open = std::ranges::find(shape, -1);
  if (open == shape.end()) return shape;
  *open = 1;
  const auto rest = element_count(shape);
  if (!rest) return rest.error();
  const auto each = storage_bytes(type.dtype, static_cast<std::uint64_t>(*rest));
  *open = each && *each != 0 ? static_cast<std::int64_t>(bytes / *each) : 0;
  return shape;
}

Result<Tensor> tensor_of(const FileBytes& file, const RawType& type) {
  const auto shape = whole_shape(type, file.bytes.size());
  if (!shape) return shape.error();
  const auto count = element_count(*shape);
  if (!count) return count.error();
  const auto bytes = storage_bytes(type.dtype, static_cast<std::uint64_t>(*count));
  if (bytes != file.bytes.size()) {
    return Error{
        diag::kTensorTypeConflict,
        fmt::format("it has {} bytes, {} {} has {}", file.bytes.size(), name_of(type.dtype),
                    shape_text(type.shape), bytes ? fmt::to_string(*bytes) : "none")};
  }
  return Tensor::borrow(type.dtype, *shape, file.bytes, file.owner);
}

}  // namespace

std::optional<RawType> parse_raw_type(std::string_view text) {
  const auto open = text.find('[');
  if (open == text.npos || !text.ends_with(']')) return std::nullopt;
  const auto dtype = dtype_from_name(trimmed(text.substr(0, open)));
  if (!dtype) return std::nullopt;
  RawType type{.dtype = *dtype, .shape = {}};
  std::string_view rest = trimmed(text.substr(open + 1, text.size() - open - 2));
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view number = trimmed(rest.substr(0, comma));
    std::int64_t extent = -1;
    const char* const last = number.data() + number.size();
    const auto [end, error] = std::from_chars(number.data(), last, extent);
    if (error != std::errc() || end != last || extent < 0) return std::nullopt;
    type.shape.push_back(extent);
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
    if (trimmed(rest).empty()) return std::nullopt;
  }
  return type;
}

Result<Tensor> read_raw(const std::string& path, const RawType& type, const FileOpener& files) {
  const auto file = open_file(files, path);
  if (!file) return file.error();
  auto tensor = tensor_of(*file, type);
  if (!tensor)
    return Error{tensor.error().code,
                 fmt::format("'{}': {}", file->origin, tensor.error().message)};
  return tensor;
}

}  // namespace mir
