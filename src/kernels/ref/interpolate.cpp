// Resampling of planes by nearest, linear and cubic taps, with an optional blur.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"
#include "kernels/ref/convolution.hpp"
#include "kernels/ref/elementary.hpp"

namespace mir::ref {
namespace {

using Values = std::vector<double>;

struct Tap {
  std::int64_t index;
  double weight;
};
using Taps = std::vector<Tap>;

/// A coordinate: whole + part / scale with 0 <= part < scale.
struct Coordinate {
  std::int64_t whole;
  std::int64_t part;
  std::int64_t scale;

  double fraction() const { return static_cast<double>(part) / static_cast<double>(scale); }
};

Coordinate coordinate(std::int64_t o, std::int64_t in, std::int64_t out, bool align_corners) {
  if (out == 1) return align_corners ? Coordinate{0, 0, 1} : Coordinate{-1, 1, 2};
  const std::int64_t position = align_corners ? o * (in - 1) : (2 * o + 1) * in - out;
  const std::int64_t scale = align_corners ? out - 1 : 2 * out;
  const std::int64_t part = (position % scale + scale) % scale;
  return {(position - part) / scale, part, scale};
}

/// The elements, not yet inside of x, that a coordinate mixes.
Taps taps_at(const Coordinate& at, Sampling sampling) {
  const double t = at.fraction();
  switch (sampling) {
    case Sampling::kNearest:
      // Coordinates below zero are clamped to it, whichever way they are rounded.
      return {{at.whole + (2 * at.part >= at.scale ? 1 : 0), 1.0}};
    case Sampling::kLinear:
      return {{at.whole, 1.0 - t}, {at.whole + 1, t}};
    case Sampling::kCubic:
      break;
  }
  return {{at.whole - 1, ((-0.5 * t + 1.0) * t - 0.5) * t},
          {at.whole, (1.5 * t - 2.5) * t * t + 1.0},
          {at.whole + 1, ((-1.5 * t + 2.0) * t + 0.5) * t},
          {at.whole + 2, (0.5 * t - 0.5) * t * t}};
}

/// For each index of the result the taps along one dimension.
std::vector<Taps> taps_along(std::int64_t in, std::int64_t out, const InterpolateOptions& options) {
  std::vector<Taps> along;
  for (std::int64_t o = 0; o < out; ++o) {
    along.push_back(taps_at(coordinate(o, in, out, options.align_corners), options.sampling));
    std::erase_if(along.back(), [](const Tap& tap) { return tap.weight == 0; });
    for (Tap& tap : along.back()) tap.index = std::clamp<std::int64_t>(tap.index, 0, in - 1);
  }
  return along;
}

/// The weights of a blur by sigma, from the outermost to the middle and back.
Values blur_weights(double sigma) {
  const auto radius = static_cast<std::int64_t>(std::max(1.0, std::ceil(3.0 * sigma)));
  Values weights;
  double sum = 0;
  for (std::int64_t i = -radius; i <= radius; ++i) {
    const auto distance = static_cast<double>(i);
    weights.push_back(exp(-distance * distance / (2.0 * sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Blurs a row-major plane along one dimension, its edge continued.
void blur(Values& plane, std::span<const std::int64_t> extents, std::size_t dim,
          const Values& weights) {
  const Dims strides = row_major_strides(extents);
  const std::int64_t length = extents[dim], stride = strides[dim];
  const auto radius = static_cast<std::int64_t>(weights.size() / 2);
  Values row(static_cast<std::size_t>(length));
  for_each_offset<1>(without(extents, dim), {without(strides, dim)}, [&](Offsets<1> at) {
    double* const from = plane.data() + at[0];
    for (std::int64_t i = 0; i < length; ++i) {
      double sum = 0;
      for (std::int64_t k = -radius; k <= radius; ++k) {
        const std::int64_t source = std::clamp<std::int64_t>(i + k, 0, length - 1);
        sum += weights[static_cast<std::size_t>(k + radius)] * from[source * stride];
      }
      row[static_cast<std::size_t>(i)] = sum;
    }
    for (std::int64_t i = 0; i < length; ++i) from[i * stride] = row[static_cast<std::size_t>(i)];
  });
}

/// The largest distance of two coordinates of neighbouring results.
double largest_step(std::span<const std::int64_t> in, std::span<const std::int64_t> out,
                    bool align_corners) {
  double largest = 0;
  for (std::size_t dim = 0; dim < in.size(); ++dim) {
    if (out[dim] <= 1) continue;
    const std::int64_t less = align_corners ? 1 : 0;
    largest = std::max(largest,
                       static_cast<double>(in[dim] - less) / static_cast<double>(out[dim] - less));
  }
  return largest;
}

/// Resamples row-major planes, the first dimension outermost.
struct Resampling {
  std::span<const std::int64_t> out_extents;
  Dims x_strides;
  std::vector<std::vector<Taps>> taps;  ///< by dimension and index of the result

  double value(const double* x, std::span<const std::int64_t> place, std::size_t dim = 0) const {
    if (dim == place.size()) return *x;
    const Taps& along = taps[dim][static_cast<std::size_t>(place[dim])];
    double sum = 0;
    for (const Tap& tap : along) {
      const double part = tap.weight * value(x + tap.index * x_strides[dim], place, dim + 1);
      sum = &tap == along.data() ? part : sum + part;
    }
    return sum;
  }
};

Result<void> check(const View& x, const MutableView& out) {
  if (auto ok = check_floating("interpolate", {x, out}); !ok) return ok;
  if (auto ok = check_one_dtype("interpolate", {x, out}); !ok) return ok;
  if (x.rank() < 3 || out.rank() != x.rank() ||
      !same_extents(x.extents.first(2), out.extents.first(2))) {
    return shape_error("interpolate", "input and result are not of one batch and channels");
  }
  constexpr std::int64_t kLongest = std::int64_t{1} << 30;
  for (std::size_t dim = 0; dim < x.extents.size(); ++dim) {
    if (x.extents[dim] > kLongest || out.extents[dim] > kLongest) {
      return shape_error("interpolate", fmt::format("extents over {}", kLongest));
    }
  }
  if (element_count(x) != 0 || element_count(out) == 0) return {};
  return shape_error("interpolate", "no elements to resample");
}

}  // namespace

Result<void> interpolate(const View& x, const InterpolateOptions& options, const MutableView& out) {
  if (auto ok = check(x, out); !ok) return ok;
  if (element_count(out) == 0) return {};
  const auto from = x.extents.subspan(2), to = out.extents.subspan(2);
  Resampling resampling{to, row_major_strides(from), {}};
  for (std::size_t dim = 0; dim < to.size(); ++dim) {
    resampling.taps.push_back(taps_along(from[dim], to[dim], options));
  }
  const double step = options.antialias ? largest_step(from, to, options.align_corners) : 0;
  const Values weights = step > 1 ? blur_weights(0.5 * step) : Values{};
  const Dims out_strides = row_major_strides(to);
  Values plane(static_cast<std::size_t>(element_count({{}, nullptr, from, {}})));
  Values result(static_cast<std::size_t>(element_count({{}, nullptr, to, {}})));
  for_each_offset<2>(x.extents.first(2), {x.strides.first(2), out.strides.first(2)},
                     [&](Offsets<2> at) {
                       read_values(sub_view(x, at[0], 2, from.size()), plane);
                       for (std::size_t dim = from.size(); step > 1 && dim-- > 0;) {
                         blur(plane, from, dim, weights);
                       }
                       std::size_t next = 0;
                       for_each_index(to, [&](std::span<const std::int64_t> place) {
                         result[next++] = resampling.value(plane.data(), place);
                       });
                       write_values(sub_view(out, at[1], 2, to.size()), result);
                     });
  return {};
}

}  // namespace mir::ref
