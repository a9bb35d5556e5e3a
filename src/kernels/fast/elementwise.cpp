// Vectorised arithmetic and functions on Float32, and the loops that broadcast their operands.
#include "kernels/fast/elementwise.hpp"

#include <algorithm>

#include "kernels/fast/elementwise_table.hpp"
#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/elementwise.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_functions-inl.h"
#include "kernels/fast/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

/// out[i] = f(lanes of i), a vector at a time, as stored; f(i, count) loads the lanes that it
/// needs.
template <class F>
HWY_INLINE void for_each_vector(float* out, std::int64_t count, F f) {
  const std::int64_t whole = count - count % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) store_results(f(i, kLanes), out + i, kLanes);
  if (whole < count) store_results(f(whole, count - whole), out + whole, count - whole);
}

template <class Op>
void with_vector(const float* a, const float* b, float* out, std::int64_t count, Op op) {
  for_each_vector(out, count, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    return op(load_first(a + i, n), load_first(b + i, n));
  });
}

template <class Op>
void combine(const float* a, std::int64_t a_step, const float* b, std::int64_t b_step, float* out,
             std::int64_t count, Op op) {
  if (a_step == 1 && b_step == 1) return with_vector(a, b, out, count, op);
  const FloatVector first_a = hn::Set(Floats(), *a), first_b = hn::Set(Floats(), *b);
  for_each_vector(out, count, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    return op(a_step == 0 ? first_a : load_first(a + i, n),
              b_step == 0 ? first_b : load_first(b + i, n));
  });
}

void binary(Binary op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
            float* out, std::int64_t count) {
  const auto run = [=](auto f) { combine(a, a_step, b, b_step, out, count, f); };
  using V = FloatVector;
  switch (op) {
    case Binary::kAdd:
      return run([](V x, V y) HWY_ATTR { return hn::Add(x, y); });
    case Binary::kMul:
      return run([](V x, V y) HWY_ATTR { return hn::Mul(x, y); });
    case Binary::kSub:
      return run([](V x, V y) HWY_ATTR { return hn::Sub(x, y); });
    case Binary::kDiv:
      return run([](V x, V y) HWY_ATTR { return hn::Div(x, y); });
    case Binary::kRem:
      return run([](V x, V y) HWY_ATTR { return rem(x, y); });
    case Binary::kMaximum:
      return run([](V x, V y) HWY_ATTR { return larger(x, y); });
    case Binary::kMinimum:
      return run([](V x, V y) HWY_ATTR { return smaller(x, y); });
  }
}

template <class F>
void apply(const float* x, float* out, std::int64_t count, F f) {
  for_each_vector(out, count,
                  [=](std::int64_t i, std::int64_t n) HWY_ATTR { return f(load_first(x + i, n)); });
}

void unary(Unary function, const float* x, float* out, std::int64_t count) {
  using V = FloatVector;
  switch (function) {
    case Unary::kAbs:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::Abs(v); });
    case Unary::kNeg:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::Xor(v, hn::SignBit(Floats())); });
    case Unary::kSign:
      return apply(x, out, count, [](V v) HWY_ATTR { return sign(v); });
    // Rounding of Highway 1.0.3 loses the sign of a zero where no instruction does it.
    case Unary::kFloor:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::CopySign(hn::Floor(v), v); });
    case Unary::kCeil:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::CopySign(hn::Ceil(v), v); });
    case Unary::kRound:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::CopySign(hn::Round(v), v); });
    case Unary::kTrunc:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::CopySign(hn::Trunc(v), v); });
    case Unary::kSqrt:
      return apply(x, out, count, [](V v) HWY_ATTR { return hn::Sqrt(v); });
    case Unary::kRsqrt:
      return apply(x, out, count,
                   [](V v) HWY_ATTR { return hn::Div(hn::Set(Floats(), 1.0F), hn::Sqrt(v)); });
    case Unary::kRelu:
      return apply(x, out, count, [](V v) HWY_ATTR { return relu(v); });
    case Unary::kExp:
      return apply(x, out, count, [](V v) HWY_ATTR { return exp(v); });
    case Unary::kLog:
      return apply(x, out, count, [](V v) HWY_ATTR { return log(v); });
    case Unary::kSin:
      return apply(x, out, count, [](V v) HWY_ATTR { return circular<false>(v); });
    case Unary::kCos:
      return apply(x, out, count, [](V v) HWY_ATTR { return circular<true>(v); });
    case Unary::kTanh:
      return apply(x, out, count, [](V v) HWY_ATTR { return tanh(v); });
    case Unary::kErf:
      return apply(x, out, count, [](V v) HWY_ATTR { return erf(v); });
    case Unary::kSigmoid:
      return apply(x, out, count, [](V v) HWY_ATTR { return sigmoid(v); });
    case Unary::kSilu:
      return apply(x, out, count, [](V v) HWY_ATTR { return silu(v); });
    case Unary::kGelu:
      return apply(x, out, count, [](V v) HWY_ATTR { return gelu(v); });
    case Unary::kQuickGelu:
      return apply(x, out, count, [](V v) HWY_ATTR { return quick_gelu(v); });
  }
}

/// Comparisons that a NaN fails keep one in x, and make one in a bound no bound.
void clip(const float* x, float low, float high, float* out, std::int64_t count) {
  const FloatVector least = hn::Set(Floats(), low), most = hn::Set(Floats(), high);
  apply(x, out, count, [=](FloatVector v) HWY_ATTR {
    const FloatVector raised = hn::IfThenElse(hn::Lt(v, least), least, v);
    return hn::IfThenElse(hn::Gt(raised, most), most, raised);
  });
}

}  // namespace

constexpr ElementwiseTable kTable = {.binary = binary, .unary = unary, .clip = clip};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/broadcast_runs.hpp"
#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(ElementwiseTable);

/// Calls body(first, count) for parts of [0, count).
template <class Body>
void for_each_chunk(std::int64_t count, Context& context, Body body) {
  const Chunks chunks = cut(count, kTaskElements, 64);
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    body(chunks.first(task), chunks.length(task));
  });
}

}  // namespace

const ElementwiseTable& elementwise_table(IsaLevel isa) {
  return tables.at(isa);
}

void binary(Binary op, const BroadcastOperand& a, const BroadcastOperand& b,
            const BroadcastResult& out, Context& context) {
  const ElementwiseTable& table = tables.at(context.isa());
  const auto* const left = reinterpret_cast<const float*>(a.data);
  const auto* const right = reinterpret_cast<const float*>(b.data);
  auto* const to = reinterpret_cast<float*>(out.data);
  for_each_run<2>({&a, &b}, out, context, [&](const Run<2>& run) {
    table.binary(op, left + run.at[0], run.step[0], right + run.at[1], run.step[1], to + run.out,
                 run.count);
  });
}

void unary(Unary function, const float* x, float* out, std::int64_t count, Context& context) {
  const ElementwiseTable& table = tables.at(context.isa());
  for_each_chunk(count, context, [&](std::int64_t first, std::int64_t n) {
    table.unary(function, x + first, out + first, n);
  });
}

void clip(const float* x, float low, float high, float* out, std::int64_t count, Context& context) {
  const ElementwiseTable& table = tables.at(context.isa());
  for_each_chunk(count, context, [&](std::int64_t first, std::int64_t n) {
    table.clip(x + first, low, high, out + first, n);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE
