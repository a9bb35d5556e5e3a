// Pads a tensor with a constant, or by reflecting or repeating its edge.
#include "kernels/ref/pad.hpp"

#include <algorithm>
#include <optional>

#include "kernels/ref/common/dispatch.hpp"

namespace mir::ref {
namespace {

/// Offsets of x along one dimension for each index of out; none inside a constant margin.
using Sources = std::vector<std::optional<std::int64_t>>;

Sources sources_of(const View& x, std::int64_t before, PadMode mode, std::int64_t count,
                   std::size_t dim) {
  Sources sources(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count && x.extents[dim] > 0; ++i) {
    const std::int64_t from = margin_index(mode, i - before, x.extents[dim]);
    if (from >= 0) sources[static_cast<std::size_t>(i)] = from * x.strides[dim];
  }
  return sources;
}

template <class T>
struct Padding {
  const T* x;
  T* out;
  T value;
  std::span<const Sources> sources;
  std::span<const std::int64_t> out_strides;

  /// Fills dimensions dim, dim + 1, .. of out; `from` is none where an outer one is margin.
  void fill(std::size_t dim, std::optional<std::int64_t> from, std::int64_t to) const {
    if (dim == sources.size()) {
      out[to] = from ? x[*from] : value;
      return;
    }
    for (const auto& source : sources[dim]) {
      fill(dim + 1, from && source ? std::optional(*from + *source) : std::nullopt, to);
      to += out_strides[dim];
    }
  }
};

Result<void> check(const View& x, std::span<const std::int64_t> before, PadMode mode,
                   const View& value, const MutableView& out) {
  if (auto ok = check_one_dtype("pad", {x, value, out}); !ok) return ok;
  if (out.rank() != x.rank() || before.size() != x.extents.size()) {
    return shape_error("pad", "x, its margins and the result differ in rank");
  }
  for (std::size_t dim = 0; dim < before.size(); ++dim) {
    if (before[dim] < 0 || out.extents[dim] - x.extents[dim] < before[dim]) {
      return shape_error("pad", "a margin is negative");
    }
  }
  if (mode == PadMode::kConstant && element_count(value) != 1) {
    return shape_error("pad", "the value is not one element");
  }
  if (mode != PadMode::kConstant && element_count(x) == 0 && element_count(out) != 0) {
    return shape_error("pad", "no elements to make a margin of");
  }
  return {};
}

}  // namespace

std::int64_t margin_index(PadMode mode, std::int64_t i, std::int64_t extent) {
  const auto modulo = [](std::int64_t a, std::int64_t n) { return (a % n + n) % n; };
  switch (mode) {
    case PadMode::kConstant:
      return i < extent ? std::max<std::int64_t>(i, -1) : -1;
    case PadMode::kReflect: {
      if (extent == 1) return 0;
      const std::int64_t folded = modulo(i, 2 * (extent - 1));
      return folded < extent ? folded : 2 * (extent - 1) - folded;
    }
    case PadMode::kReplicate:
      return std::clamp<std::int64_t>(i, 0, extent - 1);
    case PadMode::kCircular:
      break;
  }
  return modulo(i, extent);
}

Result<void> pad(const View& x, std::span<const std::int64_t> before, PadMode mode,
                 const View& value, const MutableView& out) {
  if (auto ok = check(x, before, mode, value, out); !ok) return ok;
  std::vector<Sources> sources;
  for (std::size_t dim = 0; dim < before.size(); ++dim) {
    sources.push_back(sources_of(x, before[dim], mode, out.extents[dim], dim));
  }
  return with_bits("pad", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    Padding<T> padding{
        static_cast<const T*>(x.data), static_cast<T*>(out.data), {}, sources, out.strides};
    if (mode == PadMode::kConstant) padding.value = *static_cast<const T*>(value.data);
    padding.fill(0, 0, 0);
    return {};
  });
}

}  // namespace mir::ref
