// Strided copies: merges dimensions, and reads transposed planes in tiles that fit the cache.
#include "kernels/fast/movement.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/fast/chunks.hpp"

namespace mir::fast {

namespace {

struct Dimension {
  std::int64_t extent = 1;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// A copy with its dimensions merged as far as possible, those with large steps in `to` first.
struct Plan {
  std::array<Dimension, CopyOperands::kMaxRank> dims;
  std::size_t rank = 0;

  explicit Plan(const CopyOperands& o) {
    for (std::size_t i = 0; i < o.rank; ++i) {
      if (o.extents[i] != 1) dims[rank++] = {o.extents[i], o.from_strides[i], o.to_strides[i]};
    }
    // By insertion: std::stable_sort allocates.
    for (std::size_t i = 1; i < rank; ++i) {
      for (std::size_t j = i; j > 0 && dims[j - 1].to < dims[j].to; --j) {
        std::swap(dims[j - 1], dims[j]);
      }
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      Dimension& last = dims[kept == 0 ? 0 : kept - 1];
      const Dimension& next = dims[i];
      const bool joins =
          kept > 0 && last.from == next.from * next.extent && last.to == next.to * next.extent;
      if (joins) {
        last = {last.extent * next.extent, next.from, next.to};
      } else {
        dims[kept++] = next;
      }
    }
    rank = kept;
  }
};

/// Bytes of one element as a type that copies as a register.
template <std::size_t kBytes>
struct Element {
  std::byte bytes[kBytes];
};

/// A plane of two dimensions. Where `from` steps least in the outer one, it is read in tiles so
/// that what a line of the cache holds is used while it is there.
template <class T>
void copy_plane(const T* from, const Dimension& rows, const Dimension& columns, T* to) {
  constexpr std::int64_t kTile = 16;
  if (columns.from == 1 && columns.to == 1) {
    for (std::int64_t i = 0; i < rows.extent; ++i) {
      std::memcpy(to + i * rows.to, from + i * rows.from,
                  static_cast<std::size_t>(columns.extent) * sizeof(T));
    }
    return;
  }
  for (std::int64_t i = 0; i < rows.extent; i += kTile) {
    const std::int64_t row_end = std::min(i + kTile, rows.extent);
    for (std::int64_t j = 0; j < columns.extent; j += kTile) {
      const std::int64_t column_end = std::min(j + kTile, columns.extent);
      for (std::int64_t row = i; row < row_end; ++row) {
        for (std::int64_t column = j; column < column_end; ++column) {
          to[row * rows.to + column * columns.to] = from[row * rows.from + column * columns.from];
        }
      }
    }
  }
}

/// Offsets of the planes of a copy: the dimensions but the last two, counted as one.
struct Planes {
  const Plan& plan;
  std::size_t outer;  // dimensions

  std::int64_t count() const {
    std::int64_t planes = 1;
    for (std::size_t i = 0; i < outer; ++i) planes *= plan.dims[i].extent;
    return planes;
  }
  /// Offsets in elements of plane `number`.
  Dimension at(std::int64_t number) const {
    Dimension offset;
    for (std::size_t i = outer; i-- > 0;) {
      const std::int64_t index = number % plan.dims[i].extent;
      number /= plan.dims[i].extent;
      offset.from += index * plan.dims[i].from;
      offset.to += index * plan.dims[i].to;
    }
    return offset;
  }
};

template <class T>
void copy_elements(const CopyOperands& o, const Plan& plan, Context& context) {
  const auto* const from = reinterpret_cast<const T*>(o.from);
  auto* const to = reinterpret_cast<T*>(o.to);
  const Dimension single;
  const Dimension& columns = plan.rank > 0 ? plan.dims[plan.rank - 1] : single;
  const Dimension& rows = plan.rank > 1 ? plan.dims[plan.rank - 2] : single;
  const Planes planes{plan, plan.rank > 1 ? plan.rank - 2 : 0};
  // A task is several rows of one plane, or part of one long row.
  const Chunks column_parts = cut(columns.extent, 8 * kTaskElements);
  const Chunks row_parts = cut(rows.extent, kTaskElements / column_parts.size);
  const std::int64_t tasks = planes.count() * row_parts.count * column_parts.count;
  context.pool().for_each(tasks, [&](std::int64_t task, unsigned) {
    const std::int64_t part = task % column_parts.count;
    const std::int64_t chunk = task / column_parts.count % row_parts.count;
    const Dimension offset = planes.at(task / column_parts.count / row_parts.count);
    const std::int64_t row = row_parts.first(chunk), column = column_parts.first(part);
    copy_plane(from + offset.from + row * rows.from + column * columns.from,
               {row_parts.length(chunk), rows.from, rows.to},
               {column_parts.length(part), columns.from, columns.to},
               to + offset.to + row * rows.to + column * columns.to);
  });
}

}  // namespace

void copy(const CopyOperands& operands, Context& context) {
  for (std::size_t i = 0; i < operands.rank; ++i) {
    if (operands.extents[i] == 0) return;
  }
  const Plan plan(operands);
  switch (operands.element_bytes) {
    case 1:
      return copy_elements<std::uint8_t>(operands, plan, context);
    case 2:
      return copy_elements<std::uint16_t>(operands, plan, context);
    case 4:
      return copy_elements<std::uint32_t>(operands, plan, context);
    case 8:
      return copy_elements<std::uint64_t>(operands, plan, context);
    default:
      return copy_elements<Element<16>>(operands, plan, context);
  }
}

}  // namespace mir::fast
