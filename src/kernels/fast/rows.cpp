// note [sums]: a row is summed in blocks of 64 vectors. In a block four vectors of sums take turns,
// so that each lane adds at most 20 numbers, and a tree of at most 6 levels adds the lanes; the
// blocks' sums are added in double. The relative error is at most 26 2^-24 of the sum of
// magnitudes.
//
// note [range]: rows whose squares or sums leave the range in which Float32 is accurate (very large
// or very small elements, infinities, NaN) are done again in double, as the reference kernel does.
#include "kernels/fast/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/fast/targets.hpp"
#include "kernels/ref/numeric.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_ROWS_TYPES_
#define MIR_KERNELS_FAST_ROWS_TYPES_

namespace mir::fast {

/// Parameters of a normalisation; null if it has none.
struct NormParameters {
  const float* weight;
  const float* bias;
  double epsilon;
  float offset;  ///< added to the weight
};

struct RowsTable {
  /// One row each; `width` is not 0.
  void (*rms_norm)(const float* x, float* out, std::int64_t width, const NormParameters& p);
  void (*layer_norm)(const float* x, float* out, std::int64_t width, const NormParameters& p);
  void (*softmax)(const float* x, float* out, std::int64_t width);
};

/// True if a mean square is accurate and its root can be inverted in Float32.
inline bool is_in_range(double mean_square) {
  return mean_square >= 0x1p-80 && mean_square <= 0x1p80;
}

/// A row of rms_norm in double. See note [range].
inline void rms_norm_in_double(const float* x, float* out, std::int64_t width,
                               const NormParameters& p) {
  double squares = 0;
  for (std::int64_t i = 0; i < width; ++i) squares += static_cast<double>(x[i]) * x[i];
  const double root = std::sqrt(squares / static_cast<double>(width) + p.epsilon);
  for (std::int64_t i = 0; i < width; ++i) {
    const double scale = p.weight == nullptr ? 1.0 : static_cast<double>(p.weight[i]) + p.offset;
    out[i] = ref::narrow_to_float(x[i] * scale / root);
  }
}

/// A row of layer_norm in double. See note [range].
inline void layer_norm_in_double(const float* x, float* out, std::int64_t width,
                                 const NormParameters& p) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < width; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(width);
  for (std::int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double root = std::sqrt(squares / static_cast<double>(width) + p.epsilon);
  for (std::int64_t i = 0; i < width; ++i) {
    const double scale = p.weight == nullptr ? 1.0 : p.weight[i];
    out[i] = ref::narrow_to_float((x[i] - mean) / root * scale + (p.bias ? p.bias[i] : 0.0));
  }
}

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

/// See note [sums]. add(sums, i, count) adds what elements i .. i + count - 1 contribute.
template <class Add>
HWY_INLINE double sum_of_row(std::int64_t width, Add add) {
  constexpr std::int64_t kBlock = 64 * kLanes;
  double total = 0;
  for (std::int64_t block = 0; block < width; block += kBlock) {
    const std::int64_t end = std::min(block + kBlock, width);
    FloatVector s0 = hn::Zero(Floats()), s1 = s0, s2 = s0, s3 = s0;
    std::int64_t i = block;
    for (; i + 4 * kLanes <= end; i += 4 * kLanes) {
      s0 = add(s0, i, kLanes);
      s1 = add(s1, i + kLanes, kLanes);
      s2 = add(s2, i + 2 * kLanes, kLanes);
      s3 = add(s3, i + 3 * kLanes, kLanes);
    }
    for (; i < end; i += kLanes) s0 = add(s0, i, std::min(kLanes, end - i));
    total += sum_of_lanes(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
  }
  return total;
}

/// out[i] = f(i, count), a vector at a time, as stored.
template <class F>
HWY_INLINE void write_row(float* out, std::int64_t width, F f) {
  std::int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) store_results(f(i, kLanes), out + i, kLanes);
  if (i < width) store_results(f(i, width - i), out + i, width - i);
}

void rms_norm(const float* x, float* out, std::int64_t width, const NormParameters& p) {
  const double squares =
      sum_of_row(width, [x](FloatVector sum, std::int64_t i, std::int64_t n) HWY_ATTR {
        const FloatVector v = load_first(x + i, n);
        return hn::MulAdd(v, v, sum);
      });
  const double mean = squares / static_cast<double>(width) + p.epsilon;
  if (!is_in_range(mean)) return rms_norm_in_double(x, out, width, p);
  const FloatVector scale = hn::Set(Floats(), static_cast<float>(1.0 / std::sqrt(mean)));
  const FloatVector offset = hn::Set(Floats(), p.offset);
  const float* const weight = p.weight;
  if (weight == nullptr) {
    write_row(out, width, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
      return hn::Mul(load_first(x + i, n), scale);
    });
  } else if (p.offset == 0) {
    write_row(out, width, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
      return hn::Mul(hn::Mul(load_first(x + i, n), scale), load_first(weight + i, n));
    });
  } else {
    write_row(out, width, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
      return hn::Mul(hn::Mul(load_first(x + i, n), scale),
                     hn::Add(load_first(weight + i, n), offset));
    });
  }
}

/// Sums of v = x - `near` and of v^2 over a row, both by note [sums].
struct Moments {
  double sum = 0, squares = 0;
};

HWY_INLINE Moments moments_of_row(const float* x, std::int64_t width, float near) {
  const FloatVector middle = hn::Set(Floats(), near);
  FloatVector squares0, squares1, squares2, squares3;
  Moments total;
  constexpr std::int64_t kBlock = 64 * kLanes;
  for (std::int64_t block = 0; block < width; block += kBlock) {
    const std::int64_t end = std::min(block + kBlock, width);
    FloatVector s0 = hn::Zero(Floats()), s1 = s0, s2 = s0, s3 = s0;
    squares0 = squares1 = squares2 = squares3 = s0;
    const auto add = [&](FloatVector& sum, FloatVector& squares, std::int64_t i, std::int64_t n)
                         HWY_ATTR {
                           const FloatVector v = hn::Sub(load_first(x + i, n, near), middle);
                           sum = hn::Add(sum, v);
                           squares = hn::MulAdd(v, v, squares);
                         };
    std::int64_t i = block;
    for (; i + 4 * kLanes <= end; i += 4 * kLanes) {
      add(s0, squares0, i, kLanes);
      add(s1, squares1, i + kLanes, kLanes);
      add(s2, squares2, i + 2 * kLanes, kLanes);
      add(s3, squares3, i + 3 * kLanes, kLanes);
    }
    for (; i < end; i += kLanes) add(s0, squares0, i, std::min(kLanes, end - i));
    total.sum += sum_of_lanes(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
    total.squares +=
        sum_of_lanes(hn::Add(hn::Add(squares0, squares1), hn::Add(squares2, squares3)));
  }
  return total;
}

/// The mean in two steps: what the first one misses is the mean of the centred elements. Where that
/// is so large compared with them that their squares would lose bits, they are centred again.
void layer_norm(const float* x, float* out, std::int64_t width, const NormParameters& p) {
  const double count = static_cast<double>(width);
  const double sum = sum_of_row(width, [x](FloatVector s, std::int64_t i, std::int64_t n)
                                           HWY_ATTR { return hn::Add(s, load_first(x + i, n)); });
  const float near = static_cast<float>(sum / count);
  const Moments moments = moments_of_row(x, width, near);
  const double missed = moments.sum / count;
  const FloatVector first = hn::Set(Floats(), near);
  const FloatVector rest = hn::Set(Floats(), static_cast<float>(missed));
  double squares = moments.squares - missed * moments.sum;
  if (!(missed * moments.sum <= moments.squares / 16)) {
    squares = sum_of_row(width, [=](FloatVector s, std::int64_t i, std::int64_t n) HWY_ATTR {
      FloatVector v = hn::Sub(hn::Sub(load_first(x + i, n), first), rest);
      if (n < kLanes) v = hn::IfThenElseZero(hn::FirstN(Floats(), static_cast<std::size_t>(n)), v);
      return hn::MulAdd(v, v, s);
    });
  }
  const double variance = squares / count + p.epsilon;
  if (!is_in_range(variance)) return layer_norm_in_double(x, out, width, p);
  const FloatVector scale = hn::Set(Floats(), static_cast<float>(1.0 / std::sqrt(variance)));
  write_row(out, width, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    const FloatVector v = hn::Mul(hn::Sub(hn::Sub(load_first(x + i, n), first), rest), scale);
    const FloatVector weighted = p.weight == nullptr ? v : hn::Mul(v, load_first(p.weight + i, n));
    return p.bias == nullptr ? weighted : hn::Add(weighted, load_first(p.bias + i, n));
  });
}

HWY_INLINE float largest_of_row(const float* x, std::int64_t width) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  FloatVector m0 = hn::Set(Floats(), kLeast), m1 = m0, m2 = m0, m3 = m0;
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= width; i += 4 * kLanes) {
    m0 = hn::Max(m0, hn::LoadU(Floats(), x + i));
    m1 = hn::Max(m1, hn::LoadU(Floats(), x + i + kLanes));
    m2 = hn::Max(m2, hn::LoadU(Floats(), x + i + 2 * kLanes));
    m3 = hn::Max(m3, hn::LoadU(Floats(), x + i + 3 * kLanes));
  }
  for (; i < width; i += kLanes) {
    m0 = hn::Max(m0, load_first(x + i, std::min(kLanes, width - i), kLeast));
  }
  return largest_of_lanes(hn::Max(hn::Max(m0, m1), hn::Max(m2, m3)));
}

/// A NaN need not win the maximum: its own exponential makes the sum NaN.
void softmax(const float* x, float* out, std::int64_t width) {
  const FloatVector largest = hn::Set(Floats(), largest_of_row(x, width));
  const double sum = sum_of_row(width, [=](FloatVector s, std::int64_t i, std::int64_t n) HWY_ATTR {
    const FloatVector v = load_first(x + i, n, -std::numeric_limits<float>::infinity());
    const FloatVector e = exp_of_weight(hn::Sub(v, largest));
    store_first(e, out + i, n);
    return hn::Add(s, e);
  });
  const FloatVector scale = hn::Set(Floats(), static_cast<float>(1.0 / sum));
  write_row(out, width, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    return hn::Mul(load_first(out + i, n), scale);
  });
}

}  // namespace

constexpr RowsTable kTable = {.rms_norm = rms_norm, .layer_norm = layer_norm, .softmax = softmax};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(RowsTable);

/// Calls body(row number, x, out) for every row.
template <class Body>
void for_each_row(const Rows& rows, Context& context, Body body) {
  if (rows.width == 0) return;
  const Chunks chunks = cut(rows.rows, kTaskElements / rows.width);
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    const std::int64_t first = chunks.first(task);
    for (std::int64_t row = first; row < first + chunks.length(task); ++row) {
      body(row, rows.x + row * rows.x_stride, rows.out + row * rows.out_stride);
    }
  });
}

}  // namespace

void rms_norm(const Rows& rows, const RmsNorm& norm, Context& context) {
  for_each_row(rows, context, [&](std::int64_t, const float* x, float* out) {
    rms_norm_row(x, out, rows.width, norm, context.isa());
  });
}

void rms_norm_row(const float* x, float* out, std::int64_t width, const RmsNorm& norm,
                  IsaLevel isa) {
  if (width == 0) return;
  tables.at(isa).rms_norm(x, out, width,
                          {.weight = norm.weight,
                           .bias = nullptr,
                           .epsilon = norm.epsilon,
                           .offset = norm.add_unit_offset ? 1.0F : 0});
}

void layer_norm(const Rows& rows, const float* weight, const float* bias, float epsilon,
                Context& context) {
  const RowsTable& table = tables.at(context.isa());
  const NormParameters parameters = {
      .weight = weight, .bias = bias, .epsilon = epsilon, .offset = 0};
  for_each_row(rows, context, [&](std::int64_t, const float* x, float* out) {
    table.layer_norm(x, out, rows.width, parameters);
  });
}

void softmax(const Rows& rows, Context& context) {
  const RowsTable& table = tables.at(context.isa());
  for_each_row(rows, context, [&](std::int64_t, const float* x, float* out) {
    table.softmax(x, out, rows.width);
  });
}

void causal_mask(const Rows& rows, std::int64_t queries, std::optional<std::int64_t> window,
                 Context& context, const QueryPositions& stated) {
  for_each_row(rows, context, [&](std::int64_t row, const float* x, float* out) {
    std::int64_t position = row % queries + rows.width - queries;
    if (!stated.positions.empty()) {
      const std::int64_t at = row / stated.rows * queries + row % queries;
      position = std::max<std::int64_t>(stated.positions[static_cast<std::size_t>(at)], 0);
    }
    const std::int64_t end =
        position < rows.width ? std::max<std::int64_t>(position + 1, 0) : rows.width;
    std::int64_t first = 0;
    if (window && position >= *window) first = std::min(position - *window + 1, end);
    std::fill(out, out + first, kMaskedScore);
    if (out != x) std::copy(x + first, x + end, out + first);
    std::fill(out + end, out + rows.width, kMaskedScore);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE
