// Vectorised comparisons and logical functions, and the loops that broadcast their operands.
#include "kernels/fast/compare.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/compare.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"

#ifndef MIR_KERNELS_FAST_COMPARE_TYPES_
#define MIR_KERNELS_FAST_COMPARE_TYPES_

namespace mir::fast {

/// Elements of an operand are its step apart, 0 or 1.
struct CompareTable {
  void (*floats)(Comparison comparison, const float* a, std::int64_t a_step, const float* b,
                 std::int64_t b_step, std::byte* out, std::int64_t count);
  void (*ints)(Comparison comparison, const std::int32_t* a, std::int64_t a_step,
               const std::int32_t* b, std::int64_t b_step, std::byte* out, std::int64_t count);
  void (*logical)(Logical function, const std::uint8_t* a, std::int64_t a_step,
                  const std::uint8_t* b, std::int64_t b_step, std::byte* out, std::int64_t count);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

/// The first `count` elements of a vector, or the one that serves all.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_part(D d, const T* from, std::int64_t step, std::int64_t first,
                                std::int64_t count) {
  constexpr auto kAll = static_cast<std::int64_t>(hn::MaxLanes(D()));
  if (step == 0) return hn::Set(d, *from);
  if (count == kAll) return hn::LoadU(d, from + first);
  T padded[kAll] = {};
  std::copy_n(from + first, count, padded);
  return hn::LoadU(d, padded);
}

/// out[i] = f(vectors of a and of b), a vector of bytes, for `count` elements.
template <class D, class T = hn::TFromD<D>, class F>
HWY_INLINE void for_pairs(D d, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step,
                          std::byte* out, std::int64_t count, F f) {
  constexpr auto kAll = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const hn::Rebind<std::uint8_t, D> bytes;
  for (std::int64_t i = 0; i < count; i += kAll) {
    const std::int64_t n = std::min(kAll, count - i);
    const auto truths = f(load_part(d, a, a_step, i, n), load_part(d, b, b_step, i, n));
    std::uint8_t stored[kAll];
    hn::StoreU(truths, bytes, stored);
    std::memcpy(out + i, stored, static_cast<std::size_t>(n));
  }
}

template <class D, class T = hn::TFromD<D>>
void compare(Comparison comparison, const T* a, std::int64_t a_step, const T* b,
             std::int64_t b_step, std::byte* out, std::int64_t count) {
  const D d;
  const hn::RebindToSigned<D> ints;
  using V = hn::Vec<D>;
  const auto run = [=](auto holds) {
    for_pairs(d, a, a_step, b, b_step, out, count, [=](V x, V y) HWY_ATTR {
      const auto ones = hn::IfThenElseZero(hn::RebindMask(ints, holds(x, y)), hn::Set(ints, 1));
      return hn::DemoteTo(hn::Rebind<std::uint8_t, D>(), ones);
    });
  };
  switch (comparison) {
    case Comparison::kEqual:
      return run([](V x, V y) HWY_ATTR { return hn::Eq(x, y); });
    case Comparison::kNotEqual:
      // Highway's Ne is false of NaN with vectors of 512 bits.
      return run([](V x, V y) HWY_ATTR { return hn::Not(hn::Eq(x, y)); });
    case Comparison::kLess:
      return run([](V x, V y) HWY_ATTR { return hn::Lt(x, y); });
    case Comparison::kLessEqual:
      return run([](V x, V y) HWY_ATTR { return hn::Or(hn::Lt(x, y), hn::Eq(x, y)); });
    case Comparison::kGreater:
      return run([](V x, V y) HWY_ATTR { return hn::Gt(x, y); });
    case Comparison::kGreaterEqual:
      return run([](V x, V y) HWY_ATTR { return hn::Or(hn::Gt(x, y), hn::Eq(x, y)); });
  }
}

using Ints = hn::RebindToSigned<Floats>;
using Truths = hn::CappedTag<std::uint8_t, 64>;

void logical(Logical function, const std::uint8_t* a, std::int64_t a_step, const std::uint8_t* b,
             std::int64_t b_step, std::byte* out, std::int64_t count) {
  const Truths d;
  using V = hn::Vec<Truths>;
  // The smaller of a byte and 1 is its truth.
  const auto run = [=](auto f) {
    for_pairs(d, a, a_step, b, b_step, out, count, [=](V x, V y) HWY_ATTR {
      return f(hn::Min(x, hn::Set(d, 1)), hn::Min(y, hn::Set(d, 1)));
    });
  };
  switch (function) {
    case Logical::kAnd:
      return run([](V x, V y) HWY_ATTR { return hn::And(x, y); });
    case Logical::kOr:
      return run([](V x, V y) HWY_ATTR { return hn::Or(x, y); });
    case Logical::kXor:
    case Logical::kNot:
      return run([](V x, V y) HWY_ATTR { return hn::Xor(x, y); });
  }
}

}  // namespace

constexpr CompareTable kTable = {
    .floats = compare<Floats>, .ints = compare<Ints>, .logical = logical};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/broadcast_runs.hpp"
#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(CompareTable);

template <class Relation>
void relate_longs(const Run<2>& run, const std::int64_t* a, const std::int64_t* b, std::byte* out,
                  Relation holds) {
  for (std::int64_t i = 0; i < run.count; ++i) {
    out[i] = static_cast<std::byte>(holds(a[i * run.step[0]], b[i * run.step[1]]));
  }
}

void compare_longs(Comparison comparison, const Run<2>& run, const std::int64_t* a,
                   const std::int64_t* b, std::byte* out) {
  switch (comparison) {
    case Comparison::kEqual:
      return relate_longs(run, a, b, out, std::equal_to<>());
    case Comparison::kNotEqual:
      return relate_longs(run, a, b, out, std::not_equal_to<>());
    case Comparison::kLess:
      return relate_longs(run, a, b, out, std::less<>());
    case Comparison::kLessEqual:
      return relate_longs(run, a, b, out, std::less_equal<>());
    case Comparison::kGreater:
      return relate_longs(run, a, b, out, std::greater<>());
    case Comparison::kGreaterEqual:
      return relate_longs(run, a, b, out, std::greater_equal<>());
  }
}

constexpr std::byte kTrue{1};

}  // namespace

bool is_comparable(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kInt32 || dtype == DType::kInt64;
}

void compare(Comparison comparison, DType dtype, const BroadcastOperand& a,
             const BroadcastOperand& b, const BroadcastResult& out, Context& context) {
  const CompareTable& table = tables.at(context.isa());
  for_each_run<2>({&a, &b}, out, context, [&](const Run<2>& run) {
    std::byte* const to = out.data + run.out;
    const auto elements = [&]<class T>(T, const BroadcastOperand& operand, std::size_t i) {
      return reinterpret_cast<const T*>(operand.data) + run.at[i];
    };
    switch (dtype) {
      case DType::kFloat32:
        return table.floats(comparison, elements(float{}, a, 0), run.step[0],
                            elements(float{}, b, 1), run.step[1], to, run.count);
      case DType::kInt32:
        return table.ints(comparison, elements(std::int32_t{}, a, 0), run.step[0],
                          elements(std::int32_t{}, b, 1), run.step[1], to, run.count);
      default:
        return compare_longs(comparison, run, elements(std::int64_t{}, a, 0),
                             elements(std::int64_t{}, b, 1), to);
    }
  });
}

void logical(Logical function, const BroadcastOperand& a, const BroadcastOperand& b,
             const BroadcastResult& out, Context& context) {
  const CompareTable& table = tables.at(context.isa());
  const BroadcastOperand all_true{.data = &kTrue};
  const BroadcastOperand& other = function == Logical::kNot ? all_true : b;
  for_each_run<2>({&a, &other}, out, context, [&](const Run<2>& run) {
    const auto* const left = reinterpret_cast<const std::uint8_t*>(a.data) + run.at[0];
    const auto* const right = reinterpret_cast<const std::uint8_t*>(other.data) + run.at[1];
    table.logical(function, left, run.step[0], right, run.step[1], out.data + run.out, run.count);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE
