// Functions shared by the readers and writers of tensor files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "support/file_io.hpp"
#include "weights/mapped_tensors.hpp"

namespace mir {

/// Maps the file at `path`.
Result<FileBytes> map_file(const std::string& path,
                           MappedFile::Links links = MappedFile::Links::kFollow);

/// `tensor`, unless it was made from `bytes` of a file that was shortened meanwhile.
Result<Tensor> intact(Result<Tensor> tensor, std::span<const std::byte> bytes);

/// True for what can name a file in any one folder and nothing else: a name as name_problem() takes
/// it, without separators and drives, that does not begin with a dot.
bool is_plain_file_name(std::string_view name);

inline constexpr std::size_t kMaxTensorName = 4096;

/// Explains why `name` cannot name a tensor in a file; no value if it can. Names are 1 to
/// kMaxTensorName bytes of UTF-8 without control characters.
std::optional<std::string> name_problem(std::string_view name);

/// In double quotes, with quotes, backslashes and control characters escaped, cut after 64 bytes.
std::string quoted_text(std::string_view text);

/// `[2, 3]`
std::string shape_text(std::span<const std::int64_t> shape);

/// A tensor over `bytes`, whose size is already known to fit; copied when they are not aligned for
/// its elements. Refuses a Bool other than 0 and 1.
Result<Tensor> borrow_or_copy(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                              std::shared_ptr<const void> owner);

}  // namespace mir
