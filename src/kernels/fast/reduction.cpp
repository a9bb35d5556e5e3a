// note [keys]: as integers the bits of floats are ordered like the numbers once those below zero
// have their lower bits flipped; -0 comes before +0. A NaN becomes the key that wins. Flipping back
// gives the number, or a NaN.
#include "kernels/fast/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/fast/targets.hpp"
#include "kernels/ref/numeric.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/reduction.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_REDUCTION_TYPES_
#define MIR_KERNELS_FAST_REDUCTION_TYPES_

namespace mir::fast {

/// Columns that one task reduces.
inline constexpr std::int64_t kTaskColumns = 64;

struct ReductionTable {
  double (*sum)(const float* x, std::int64_t count);
  /// The key of the maximum or minimum; see note [keys]. `count` is not 0.
  std::int32_t (*extreme)(Reduction reduction, const float* x, std::int64_t count);
  /// For some columns: `length` elements of each, `stride` apart.
  void (*columns)(Reduction reduction, const float* x, std::int64_t length, std::int64_t stride,
                  std::int64_t columns, float* out);
  /// Running sums of some columns; rows lie `stride` apart, in the order of the sums.
  void (*sums_of_columns)(const float* x, std::int64_t length, std::int64_t stride,
                          std::int64_t columns, bool exclusive, float* out);
  void (*softmax_columns)(const float* x, std::int64_t length, std::int64_t stride,
                          std::int64_t columns, float* out);
};

/// Maps bits of a float to an integer of the same order, and back.
inline std::int32_t flipped(std::int32_t bits) {
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}

inline std::int32_t winning_key(bool largest) {
  return largest ? std::numeric_limits<std::int32_t>::max()
                 : std::numeric_limits<std::int32_t>::min();
}

inline std::int32_t key_of(bool largest, float value) {
  std::int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return value != value ? winning_key(largest) : flipped(bits);
}

inline float value_of(std::int32_t key) {
  const std::int32_t bits = flipped(key);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return ref::narrow_to_float(value);
}

inline std::int32_t better(bool largest, std::int32_t a, std::int32_t b) {
  return largest ? std::max(a, b) : std::min(a, b);
}

/// Converts a sum to the requested result, rounded once.
inline float finished(Reduction reduction, double sum, std::int64_t length) {
  return ref::narrow_to_float(reduction == Reduction::kMean ? sum / static_cast<double>(length)
                                                            : sum);
}

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

using Doubles = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<Doubles>;
inline constexpr std::int64_t kDoubles = hn::MaxLanes(Doubles());
using Ints = hn::RebindToSigned<Floats>;
using IntVector = hn::Vec<Ints>;

HWY_INLINE DoubleVector load_doubles(const float* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), from));
}

/// Sums into four vectors in turn; the remaining elements follow one by one.
double sum(const float* x, std::int64_t count) {
  const Doubles d;
  DoubleVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * kDoubles <= count; i += 4 * kDoubles) {
    s0 = hn::Add(s0, load_doubles(x + i));
    s1 = hn::Add(s1, load_doubles(x + i + kDoubles));
    s2 = hn::Add(s2, load_doubles(x + i + 2 * kDoubles));
    s3 = hn::Add(s3, load_doubles(x + i + 3 * kDoubles));
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < count; ++i) total += x[i];
  return total;
}

template <bool kLargest>
HWY_INLINE IntVector load_keys(const float* from) {
  const Ints d;
  const FloatVector v = hn::LoadU(Floats(), from);
  const IntVector bits = hn::BitCast(d, v);
  const IntVector lower = hn::And(hn::ShiftRight<31>(bits), hn::Set(d, 0x7fffffff));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(v)), hn::Set(d, winning_key(kLargest)),
                        hn::Xor(bits, lower));
}

template <bool kLargest>
HWY_INLINE IntVector better_keys(IntVector a, IntVector b) {
  return kLargest ? hn::Max(a, b) : hn::Min(a, b);
}

template <bool kLargest>
std::int32_t extreme_of(const float* x, std::int64_t count) {
  const Ints d;
  IntVector k0 = hn::Set(d, winning_key(!kLargest)), k1 = k0;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    k0 = better_keys<kLargest>(k0, load_keys<kLargest>(x + i));
    k1 = better_keys<kLargest>(k1, load_keys<kLargest>(x + i + kLanes));
  }
  k0 = better_keys<kLargest>(k0, k1);
  std::int32_t best = hn::GetLane(kLargest ? hn::MaxOfLanes(d, k0) : hn::MinOfLanes(d, k0));
  for (; i < count; ++i) best = better(kLargest, best, key_of(kLargest, x[i]));
  return best;
}

std::int32_t extreme(Reduction reduction, const float* x, std::int64_t count) {
  return reduction == Reduction::kMax ? extreme_of<true>(x, count) : extreme_of<false>(x, count);
}

/// Every column is added in the order of its elements, alone or in a vector.
void sum_columns(Reduction reduction, const float* x, std::int64_t length, std::int64_t stride,
                 std::int64_t columns, float* out) {
  const Doubles d;
  std::int64_t column = 0;
  for (; column + 4 * kDoubles <= columns; column += 4 * kDoubles) {
    DoubleVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const float* at = x + column;
    for (std::int64_t i = 0; i < length; ++i, at += stride) {
      s0 = hn::Add(s0, load_doubles(at));
      s1 = hn::Add(s1, load_doubles(at + kDoubles));
      s2 = hn::Add(s2, load_doubles(at + 2 * kDoubles));
      s3 = hn::Add(s3, load_doubles(at + 3 * kDoubles));
    }
    HWY_ALIGN double sums[4 * kDoubles];
    hn::Store(s0, d, sums);
    hn::Store(s1, d, sums + kDoubles);
    hn::Store(s2, d, sums + 2 * kDoubles);
    hn::Store(s3, d, sums + 3 * kDoubles);
    for (std::int64_t i = 0; i < 4 * kDoubles; ++i) {
      out[column + i] = finished(reduction, sums[i], length);
    }
  }
  for (; column < columns; ++column) {
    double total = 0;
    for (std::int64_t i = 0; i < length; ++i) total += x[column + i * stride];
    out[column] = finished(reduction, total, length);
  }
}

/// Running sums of kDoubles columns, or of a single one: each in the order of its elements.
void sums_of_columns(const float* x, std::int64_t length, std::int64_t stride, std::int64_t columns,
                     bool exclusive, float* out) {
  std::int64_t column = 0;
  // Highway 1.0.3 demotes infinities to the largest number where it emulates vectors.
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  const hn::Rebind<float, Doubles> narrow;
  const auto quiet = hn::Set(narrow, std::numeric_limits<float>::quiet_NaN());
  for (; column + kDoubles <= columns; column += kDoubles) {
    DoubleVector sum = hn::Zero(Doubles());
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = column + i * stride;
      const DoubleVector with = hn::Add(sum, load_doubles(x + at));
      const auto rounded = hn::DemoteTo(narrow, exclusive ? sum : with);
      hn::StoreU(hn::IfThenElse(hn::IsNaN(rounded), quiet, rounded), narrow, out + at);
      sum = with;
    }
  }
#endif
  for (; column < columns; ++column) {
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = column + i * stride;
      const double with = sum + x[at];
      out[at] = ref::narrow_to_float(exclusive ? sum : with);
      sum = with;
    }
  }
}

template <bool kLargest>
void extreme_columns(const float* x, std::int64_t length, std::int64_t stride, std::int64_t columns,
                     float* out) {
  const Ints d;
  const IntVector start = hn::Set(d, winning_key(!kLargest));
  std::int64_t column = 0;
  for (; column + 2 * kLanes <= columns; column += 2 * kLanes) {
    IntVector k0 = start, k1 = start;
    const float* at = x + column;
    for (std::int64_t i = 0; i < length; ++i, at += stride) {
      k0 = better_keys<kLargest>(k0, load_keys<kLargest>(at));
      k1 = better_keys<kLargest>(k1, load_keys<kLargest>(at + kLanes));
    }
    HWY_ALIGN std::int32_t keys[2 * kLanes];
    hn::Store(k0, d, keys);
    hn::Store(k1, d, keys + kLanes);
    for (std::int64_t i = 0; i < 2 * kLanes; ++i) out[column + i] = value_of(keys[i]);
  }
  for (; column < columns; ++column) {
    std::int32_t best = winning_key(!kLargest);
    for (std::int64_t i = 0; i < length; ++i) {
      best = better(kLargest, best, key_of(kLargest, x[column + i * stride]));
    }
    out[column] = value_of(best);
  }
}

void reduce_columns(Reduction reduction, const float* x, std::int64_t length, std::int64_t stride,
                    std::int64_t columns, float* out) {
  switch (reduction) {
    case Reduction::kMax:
      return extreme_columns<true>(x, length, stride, columns, out);
    case Reduction::kMin:
      return extreme_columns<false>(x, length, stride, columns, out);
    case Reduction::kSum:
    case Reduction::kMean:
      return sum_columns(reduction, x, length, stride, columns, out);
  }
}

/// Body(first, count) for each vector of columns, the last one of `count` lanes.
template <class Body>
HWY_INLINE void for_each_vector(std::int64_t columns, Body body) {
  std::int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) body(column, kLanes);
  if (column < columns) body(column, columns - column);
}

/// Row after row, so that memory is read in the order in which it lies. A NaN need not win the
/// maximum: its own exponential makes the sum NaN. Sums of 16 exponentials are added in double.
void softmax_columns(const float* x, std::int64_t length, std::int64_t stride, std::int64_t columns,
                     float* out) {
  constexpr std::int64_t kBlock = 16;
  const Floats d;
  HWY_ALIGN float largest[kTaskColumns], sums[kTaskColumns];
  double totals[kTaskColumns] = {};
  std::fill_n(largest, kTaskColumns, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < length; ++i) {
    for_each_vector(columns, [&](std::int64_t at, std::int64_t count) HWY_ATTR {
      const FloatVector v = load_first(x + i * stride + at, count);
      hn::Store(hn::Max(hn::Load(d, largest + at), v), d, largest + at);
    });
  }
  for (std::int64_t block = 0; block < length; block += kBlock) {
    std::fill_n(sums, kTaskColumns, 0.0F);
    for (std::int64_t i = block; i < std::min(block + kBlock, length); ++i) {
      for_each_vector(columns, [&](std::int64_t at, std::int64_t count) HWY_ATTR {
        const FloatVector v = load_first(x + i * stride + at, count);
        const FloatVector e = exp_of_weight(hn::Sub(v, hn::Load(d, largest + at)));
        store_first(e, out + i * stride + at, count);
        hn::Store(hn::Add(hn::Load(d, sums + at), e), d, sums + at);
      });
    }
    for (std::int64_t column = 0; column < columns; ++column) totals[column] += sums[column];
  }
  for (std::int64_t column = 0; column < columns; ++column) {
    sums[column] = static_cast<float>(1.0 / totals[column]);
  }
  for (std::int64_t i = 0; i < length; ++i) {
    for_each_vector(columns, [&](std::int64_t at, std::int64_t count) HWY_ATTR {
      float* const to = out + i * stride + at;
      store_results(hn::Mul(load_first(to, count), hn::Load(d, sums + at)), to, count);
    });
  }
}

}  // namespace

constexpr ReductionTable kTable = {.sum = sum,
                                   .extreme = extreme,
                                   .columns = reduce_columns,
                                   .sums_of_columns = sums_of_columns,
                                   .softmax_columns = softmax_columns};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/rows.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(ReductionTable);

/// A long row is reduced in parts of this many elements, their results in order.
constexpr std::int64_t kPartElements = 4 * kTaskElements;

/// Body(outer, first column, columns) for all columns.
template <class Body>
void for_each_column(const ReduceOperands& o, Context& context, Body body) {
  const Chunks chunks = cut(o.inner, kTaskColumns, kTaskColumns);
  context.pool().for_each(o.outer * chunks.count, [&](std::int64_t task, unsigned) {
    const std::int64_t chunk = task % chunks.count;
    body(task / chunks.count, chunks.first(chunk), chunks.length(chunk));
  });
}

/// Returns the contribution of a part of a row: a sum, or a key that a double holds exactly.
double part_of(Reduction reduction, const ReductionTable& table, const float* x,
               std::int64_t count) {
  const bool sums = reduction == Reduction::kSum || reduction == Reduction::kMean;
  return sums ? table.sum(x, count) : table.extreme(reduction, x, count);
}

float combined(Reduction reduction, const double* parts, std::int64_t count, std::int64_t length) {
  if (reduction == Reduction::kMax || reduction == Reduction::kMin) {
    const auto [least, most] = std::minmax_element(parts, parts + count);
    return value_of(static_cast<std::int32_t>(reduction == Reduction::kMax ? *most : *least));
  }
  double total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += parts[i];
  return finished(reduction, total, length);
}

void reduce_rows(Reduction reduction, const ReduceOperands& o, Context& context) {
  const ReductionTable& table = tables.at(context.isa());
  if (o.length <= kPartElements) {
    const Chunks rows = cut(o.outer, kPartElements / std::max<std::int64_t>(o.length, 1));
    context.pool().for_each(rows.count, [&](std::int64_t task, unsigned) {
      for (std::int64_t i = 0; i < rows.length(task); ++i) {
        const std::int64_t row = rows.first(task) + i;
        const double part = part_of(reduction, table, o.x + row * o.length, o.length);
        o.out[row] = combined(reduction, &part, 1, o.length);
      }
    });
    return;
  }
  const Chunks chunks = cut(o.length, kPartElements, 64);
  auto* const parts = reinterpret_cast<double*>(context.scratch(2 * o.outer * chunks.count).data());
  context.pool().for_each(o.outer * chunks.count, [&](std::int64_t task, unsigned) {
    const std::int64_t chunk = task % chunks.count;
    const float* const row = o.x + task / chunks.count * o.length;
    parts[task] = part_of(reduction, table, row + chunks.first(chunk), chunks.length(chunk));
  });
  for (std::int64_t row = 0; row < o.outer; ++row) {
    o.out[row] = combined(reduction, parts + row * chunks.count, chunks.count, o.length);
  }
}

}  // namespace

void reduce(Reduction reduction, const ReduceOperands& operands, Context& context) {
  const ReduceOperands& o = operands;
  if (o.inner == 1) return reduce_rows(reduction, o, context);
  const ReductionTable& table = tables.at(context.isa());
  for_each_column(o, context, [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
    table.columns(reduction, o.x + outer * o.length * o.inner + first, o.length, o.inner, count,
                  o.out + outer * o.inner + first);
  });
}

void cum_sum(const ReduceOperands& operands, SumOrder order, bool exclusive, Context& context) {
  const ReduceOperands& o = operands;
  const ReductionTable& table = tables.at(context.isa());
  const bool is_reverse = order == SumOrder::kReverse && o.length > 0;
  const std::int64_t start = is_reverse ? (o.length - 1) * o.inner : 0;
  const std::int64_t stride = is_reverse ? -o.inner : o.inner;
  const auto add = [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
    const std::int64_t at = outer * o.length * o.inner + start + first;
    table.sums_of_columns(o.x + at, o.length, stride, count, exclusive, o.out + at);
  };
  if (o.inner != 1) return for_each_column(o, context, add);
  const Chunks rows = cut(o.outer, kPartElements / std::max<std::int64_t>(o.length, 1));
  context.pool().for_each(rows.count, [&](std::int64_t task, unsigned) {
    for (std::int64_t i = 0; i < rows.length(task); ++i) add(rows.first(task) + i, 0, 1);
  });
}

void softmax_along(const ReduceOperands& operands, Context& context) {
  const ReduceOperands& o = operands;
  if (o.inner == 1) {
    softmax({.x = o.x,
             .x_stride = o.length,
             .out = o.out,
             .out_stride = o.length,
             .rows = o.outer,
             .width = o.length},
            context);
    return;
  }
  const ReductionTable& table = tables.at(context.isa());
  for_each_column(o, context, [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
    const std::int64_t at = outer * o.length * o.inner + first;
    table.softmax_columns(o.x + at, o.length, o.inner, count, o.out + at);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE
