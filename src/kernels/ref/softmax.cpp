// Reference softmax and causal masking of attention scores.
#include "kernels/ref/softmax.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/values.hpp"
#include "kernels/ref/elementary.hpp"

namespace mir::ref {
namespace {

void normalise(std::vector<double>& row) {
  // A NaN need not win here: its own exponential makes the sum NaN.
  double largest = row[0];
  for (const double v : row) largest = v > largest ? v : largest;
  double sum = 0;
  for (double& v : row) {
    v = exp(v - largest);
    sum += v;
  }
  for (double& v : row) v /= sum;
}

}  // namespace

Result<void> softmax(const View& x, std::int64_t axis, const MutableView& out) {
  if (auto ok = check_floating("softmax", {x, out}); !ok) return ok;
  if (auto ok = check_one_dtype("softmax", {x, out}); !ok) return ok;
  if (auto ok = check_same_extents("softmax", x, out); !ok) return ok;
  const auto dim = normalise_axis(axis, x.rank());
  if (!dim) return dim.error();
  if (element_count(x) == 0) return {};

  const Dims outer = without(x.extents, *dim);
  std::vector<double> row(static_cast<std::size_t>(x.extents[*dim]));
  for_each_offset<2>(outer, {without(x.strides, *dim), without(out.strides, *dim)},
                     [&](Offsets<2> at) {
                       read_values(sub_view(x, at[0], *dim, 1), row);
                       normalise(row);
                       write_values(sub_view(out, at[1], *dim, 1), row);
                     });
  return {};
}

Result<void> causal_mask(const View& scores, std::optional<std::int64_t> window,
                         bool masks_one_query, const MutableView& out,
                         std::span<const std::int64_t> positions) {
  if (auto ok = check_one_dtype("causal_mask", {scores, out}); !ok) return ok;
  if (auto ok = check_same_extents("causal_mask", scores, out); !ok) return ok;
  if (scores.rank() < 2) return shape_error("causal_mask", "scores need two dimensions");
  if (window && *window < 1) {
    return attribute_error("causal_mask", fmt::format("a window of {} keys", *window));
  }
  const std::size_t outer = scores.extents.size() - 2;
  const std::int64_t queries = scores.extents[outer];
  const std::int64_t keys = scores.extents[outer + 1];
  const bool is_batch = !positions.empty();
  if (is_batch && (outer == 0 || std::ssize(positions) != scores.extents[0] * queries))
    return shape_error("causal_mask", "the positions are not those of the queries");
  if (queries == 1 && !masks_one_query) window.reset();
  const bool keeps_all = queries == 1 && !masks_one_query && !is_batch;
  const auto kept = [&](std::int64_t sequence, std::int64_t query, std::int64_t key) {
    std::int64_t position = query + keys - queries;
    if (is_batch) {
      const auto at = static_cast<std::size_t>(sequence * queries + query);
      position = std::max<std::int64_t>(positions[at], 0);
    }
    return keeps_all || (key <= position && (!window || key > position - *window));
  };
  std::int64_t matrices = 1;  // of a sequence
  for (std::size_t dim = 1; dim < outer; ++dim) matrices *= scores.extents[dim];
  return with_floating(
      "causal_mask", scores.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
        const T masked = store<T>(std::is_same_v<T, Half>         ? -65500.0
                                  : std::is_same_v<T, Float8E5M2> ? -57344.0
                                                                  : -1e10);
        const T* from = static_cast<const T*>(scores.data);
        T* to = static_cast<T*>(out.data);
        const auto xs = scores.strides.last(2);
        const auto os = out.strides.last(2);
        std::int64_t matrix = 0;
        for_each_offset<2>(
            scores.extents.first(outer), {scores.strides.first(outer), out.strides.first(outer)},
            [&](Offsets<2> at) {
              const std::int64_t sequence = matrix++ / matrices;
              for (std::int64_t r = 0; r < queries; ++r) {
                for (std::int64_t c = 0; c < keys; ++c) {
                  to[at[1] + r * os[0] + c * os[1]] =
                      kept(sequence, r, c) ? from[at[0] + r * xs[0] + c * xs[1]] : masked;
                }
              }
            });
        return {};
      });
}

}  // namespace mir::ref
