// Copies the elements that lists of offsets select, in parallel runs.
#include "kernels/fast/pick.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/fast/chunks.hpp"

namespace mir::fast {

namespace {

/// Copies of `kBytes` each, or of `bytes` where that is 0.
template <std::size_t kBytes>
void copy_runs(const std::byte* from, std::span<const std::int64_t> offsets, std::size_t bytes,
               std::byte* to) {
  for (const std::int64_t offset : offsets) {
    const std::size_t count = kBytes == 0 ? bytes : kBytes;
    std::memcpy(to, from + offset, count);
    to += count;
  }
}

void copy_last(const std::byte* from, std::span<const std::int64_t> offsets, std::size_t bytes,
               std::byte* to) {
  switch (bytes) {
    case 1:
      return copy_runs<1>(from, offsets, bytes, to);
    case 2:
      return copy_runs<2>(from, offsets, bytes, to);
    case 4:
      return copy_runs<4>(from, offsets, bytes, to);
    case 8:
      return copy_runs<8>(from, offsets, bytes, to);
    default:
      return copy_runs<0>(from, offsets, bytes, to);
  }
}

}  // namespace

void pick(const PickOperands& operands, Context& context) {
  const auto dims = operands.offsets;
  const auto last = dims.back();
  std::int64_t rows = 1;
  for (const auto& offsets : dims.first(dims.size() - 1)) {
    rows *= static_cast<std::int64_t>(offsets.size());
  }
  const auto row_bytes = static_cast<std::int64_t>(operands.run_bytes * last.size());
  if (rows == 0 || row_bytes == 0) return;
  constexpr std::int64_t kTaskBytes = 4 * kTaskElements;
  // A row may be all there is: then its parts are what threads share.
  const Chunks parts = cut(static_cast<std::int64_t>(last.size()),
                           kTaskBytes / static_cast<std::int64_t>(operands.run_bytes));
  const Chunks chunks = cut(rows, parts.count > 1 ? 1 : kTaskBytes / row_bytes);
  context.pool().for_each(chunks.count * parts.count, [&](std::int64_t task, unsigned) {
    const std::int64_t chunk = task / parts.count, part = task % parts.count;
    const auto offsets = last.subspan(static_cast<std::size_t>(parts.first(part)),
                                      static_cast<std::size_t>(parts.length(part)));
    const std::int64_t first = chunks.first(chunk);
    for (std::int64_t row = first; row < first + chunks.length(chunk); ++row) {
      const std::byte* from = operands.from;
      std::int64_t rest = row;
      for (std::size_t dim = dims.size() - 1; dim-- > 0;) {
        const auto extent = static_cast<std::int64_t>(dims[dim].size());
        from += dims[dim][static_cast<std::size_t>(rest % extent)];
        rest /= extent;
      }
      copy_last(from, offsets, operands.run_bytes,
                operands.to + row * row_bytes +
                    parts.first(part) * static_cast<std::int64_t>(operands.run_bytes));
    }
  });
}

}  // namespace mir::fast
