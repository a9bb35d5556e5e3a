// Selects rows of stored tensors and undoes the interleaving of halves of heads.
#include "weights/stored_view.hpp"

#include <fmt/format.h>

#include <cstring>

#include "mir/codes/tensors.hpp"
#include "weights/blocks.hpp"
#include "weights/checks.hpp"

namespace mir {
namespace {

/// Elements of an entry of the first dimension; no value if it has none.
std::optional<std::int64_t> row_elements(const Shape& shape) {
  if (shape.empty()) return std::nullopt;
  const auto elements = element_count(shape);
  if (!elements || *elements == 0) return std::nullopt;
  return *elements / shape.front();
}

/// The bytes of a row; no value if rows do not fill whole storage units of their own.
std::optional<std::uint64_t> row_bytes(DType dtype, const Shape& shape) {
  const auto elements = row_elements(shape);
  const DTypeInfo& type = info(dtype);
  if (!elements || row_lanes(dtype) != type.lanes) return std::nullopt;
  return storage_bytes(dtype, static_cast<std::uint64_t>(*elements));
}

/// True if the tensor has the rows, and the elements of one.
bool has_rows(const Shape& stored, DType dtype, const StoredView::Rows& rows, const Shape& wanted) {
  const auto width = row_elements(wanted);
  const auto elements = element_count(stored);
  if (!width || !elements || !row_bytes(dtype, wanted)) return false;
  const bool has_last = wanted.size() == 1 || (!stored.empty() && stored.back() == wanted.back());
  return has_last && *elements % *width == 0 && 0 <= rows.begin &&
         rows.end - rows.begin == wanted.front() && rows.end <= *elements / *width;
}

}  // namespace

Shape viewed_shape(const Shape& stored, DType dtype, const StoredView& view, const Shape& wanted) {
  return view.rows && has_rows(stored, dtype, *view.rows, wanted) ? wanted : stored;
}

Result<Tensor> viewed_rows(const Tensor& stored, const StoredView::Rows& rows,
                           const Shape& wanted) {
  if (!has_rows(stored.shape(), stored.dtype(), rows, wanted)) {
    return Error{
        diag::kTensorTypeConflict,
        fmt::format("rows {} to {} of {} {} are not {}", rows.begin, rows.end,
                    name_of(stored.dtype()), shape_text(stored.shape()), shape_text(wanted))};
  }
  const auto width = static_cast<std::size_t>(*row_bytes(stored.dtype(), wanted));
  const auto bytes = stored.bytes().subspan(static_cast<std::size_t>(rows.begin) * width,
                                            static_cast<std::size_t>(wanted.front()) * width);
  return Tensor::borrow(stored.dtype(), wanted, bytes, std::make_shared<Tensor>(stored));
}

Result<Tensor> without_interleaving(const Tensor& stored, std::int64_t heads) {
  const auto width = row_bytes(stored.dtype(), stored.shape());
  if (!width || heads < 1 || stored.shape().front() % (2 * heads) != 0) {
    return Error{diag::kTensorTypeConflict,
                 fmt::format("the rows of {} {} are not those of {} interleaved heads",
                             name_of(stored.dtype()), shape_text(stored.shape()), heads)};
  }
  auto result = Tensor::allocate(stored.dtype(), stored.shape());
  if (!result) return result;
  const auto row = static_cast<std::size_t>(*width);
  const auto half = static_cast<std::size_t>(stored.shape().front() / (2 * heads));
  const std::byte* const from = stored.bytes().data();
  std::byte* to = result->mutable_bytes();
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    for (std::size_t part = 0; part < 2; ++part) {
      for (std::size_t i = 0; i < half; ++i, to += row)
        std::memcpy(to, from + row * (2 * (head * half + i) + part), row);
    }
  }
  return result;
}

}  // namespace mir
