// Reference rotary position embedding: rotates pairs of elements by tables of angles.
#include "kernels/ref/rope.hpp"

#include <fmt/format.h>

#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"

namespace mir::ref {
namespace {

using Values = std::vector<double>;

/// The first `half` columns of the row of position (b, s) of a table [S, T] or [B or 1, S, T].
void read_table_row(const View& table, std::int64_t b, std::int64_t s, Values& row) {
  const std::size_t columns = table.extents.size() - 1;
  std::int64_t at = s * table.strides[columns - 1];
  if (columns == 2 && table.extents[0] != 1) at += b * table.strides[0];
  const std::int64_t half = static_cast<std::int64_t>(row.size());
  View view = sub_view(table, at, columns, 1);
  view.extents = {&half, 1};
  read_values(view, row);
}

void rotate(Values& x, const Values& sin, const Values& cos) {
  const std::size_t half = sin.size();
  for (std::size_t d = 0; d < half; ++d) {
    const double low = x[d];
    const double high = x[d + half];
    x[d] = low * cos[d] - high * sin[d];
    x[d + half] = low * sin[d] + high * cos[d];
  }
}

Result<void> check_table(const View& table, std::int64_t batches, std::int64_t positions,
                         std::int64_t half) {
  if (table.rank() != 2 && table.rank() != 3) {
    return shape_error("rope", fmt::format("a table of rank {}", table.rank()));
  }
  const auto last = table.extents.last(2);
  const bool fits = table.rank() == 2 || table.extents[0] == 1 || table.extents[0] == batches;
  if (fits && last[0] == positions && last[1] >= half) return {};
  return shape_error("rope", fmt::format("a table of extents [{}, {}] for {} positions of {} pairs",
                                         last[0], last[1], positions, half));
}

}  // namespace

Result<void> rope(const View& x, const View& sin, const View& cos, const RopeOptions& options,
                  const MutableView& out) {
  if (auto ok = check_floating("rope", {x, sin, cos, out}); !ok) return ok;
  if (auto ok = check_one_dtype("rope", {x, out}); !ok) return ok;
  if (auto ok = check_same_extents("rope", x, out); !ok) return ok;
  if (x.rank() != 4) return shape_error("rope", fmt::format("rank {} instead of 4", x.rank()));
  const std::int64_t width = x.extents[3];
  const std::int64_t rotated = options.partial_dim == -1 ? width : options.partial_dim;
  if (rotated < 0 || rotated > width || rotated % 2 != 0) {
    return attribute_error("rope", fmt::format("{} rotated dims of {}", rotated, width));
  }
  const std::size_t head_dim = options.layout == RopeLayout::kBHSD ? 1 : 2;
  const std::size_t position_dim = 3 - head_dim;
  const std::int64_t batches = x.extents[0];
  const std::int64_t positions = x.extents[position_dim];
  for (const View* table : {&sin, &cos}) {
    if (auto ok = check_table(*table, batches, positions, rotated / 2); !ok) return ok;
  }
  if (element_count(x) == 0) return {};

  Values row(static_cast<std::size_t>(width));
  Values sin_row(static_cast<std::size_t>(rotated / 2));
  Values cos_row(sin_row.size());
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t s = 0; s < positions; ++s) {
      read_table_row(sin, b, s, sin_row);
      read_table_row(cos, b, s, cos_row);
      for (std::int64_t h = 0; h < x.extents[head_dim]; ++h) {
        const auto at = [&](std::span<const std::int64_t> strides) {
          return b * strides[0] + h * strides[head_dim] + s * strides[position_dim];
        };
        read_values(sub_view(x, at(x.strides), 3, 1), row);
        rotate(row, sin_row, cos_row);
        write_values(sub_view(out, at(out.strides), 3, 1), row);
      }
    }
  }
  return {};
}

}  // namespace mir::ref
