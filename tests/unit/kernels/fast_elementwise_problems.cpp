#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "fast_broadcast.hpp"
#include "fast_problem.hpp"
#include "kernels/fast/elementwise.hpp"
#include "kernels/ref/elementwise.hpp"
#include "kernels/ref/unary.hpp"

namespace mir::fast::test {
namespace {

using ref::test::Array;

/// Random elements, with what is special among them.
FloatValues elements(std::int64_t count, unsigned seed) {
  FloatValues values = random_floats(count, seed, 30.0);
  const double special[] = {0.0,           -0.0,   HUGE_VAL, -HUGE_VAL, std::nan(""), 1e-40,
                            -88.5,         -100.0, -103.5,   -150.0,    88.7,         3e38,
                            0.5,           -2.5,   1.5,      -0.3,      8388607.5,    4194303.5,
                            -2147483904.0, 1e-4,   0.9,      -1.0,      1.01,         3.9};
  for (std::size_t i = 0; i < values.size(); i += 3) {
    values[i] = static_cast<float>(special[i / 3 % std::size(special)]);
  }
  return values;
}

/// Extents of operands of one rank, and of what they broadcast to.
struct Broadcast {
  ref::Dims a, b, out;
};

const Broadcast kBroadcasts[] = {
    {{}, {}, {}},
    {{0}, {1}, {0}},
    {{1}, {1}, {1}},
    {{7}, {1}, {7}},
    {{1}, {1}, {9}},
    {{3, 1}, {3, 1}, {3, 4}},
    {{17}, {17}, {17}},
    {{5, 13}, {1, 13}, {5, 13}},
    {{13, 5}, {13, 1}, {13, 5}},
    {{7, 6, 5}, {1, 6, 1}, {7, 6, 5}},
    {{8191}, {8191}, {8191}},
    {{8193}, {1}, {8193}},
    {{6667, 3}, {1, 3}, {6667, 3}},
    {{71, 7, 40}, {1, 7, 1}, {71, 7, 40}},
    {{130, 128}, {130, 1}, {130, 128}},
    {{9, 1, 33}, {9, 7, 33}, {9, 7, 33}},
    {{33, 1}, {1, 65}, {33, 65}},
    {{2, 1, 5, 1, 9}, {1, 3, 1, 17, 1}, {2, 3, 5, 17, 9}},
    {{3, 2, 1, 1, 6, 1, 2, 3}, {1, 1, 4, 1, 6, 5, 2, 1}, {3, 2, 4, 1, 6, 5, 2, 3}}};

Problem binary_problem(Binary op, const Broadcast& shapes, bool swapped, bool in_place) {
  using Reference = Result<void> (*)(const ref::View&, const ref::View&, const ref::MutableView&);
  static constexpr Reference kRefs[] = {ref::add, ref::sub,     ref::mul,    ref::div,
                                        ref::rem, ref::maximum, ref::minimum};
  const auto which = static_cast<std::size_t>(op);
  const auto filled = [](const ref::Dims& extents, unsigned seed) {
    auto array = std::make_shared<Array>(DType::kFloat32, extents);
    const FloatValues values = elements(static_cast<std::int64_t>(array->size()), seed);
    for (std::size_t i = 0; i < values.size(); ++i) array->set(i, values[i]);
    return array;
  };
  const auto a = filled(shapes.a, 1), b = filled(shapes.b, 2);
  Array out(DType::kFloat32, shapes.out);
  (void)kRefs[which](swapped ? *b : *a, swapped ? *a : *b, out);
  const std::size_t count = out.size();
  const std::vector<double> before = in_place ? a->values() : std::vector<double>();
  return {.name = fmt::format("{} of {{{}}} and {{{}}}{}{}", name_of(op), fmt::join(shapes.a, ", "),
                              fmt::join(shapes.b, ", "), swapped ? " swapped" : "",
                              in_place ? " in place" : ""),
          .out_size = count,
          .places = all_places(count),
          .before = FloatValues(before.begin(), before.end()),
          .run =
              [=, dims = shapes.out](float* to, Context& context) {
                auto* const bytes = reinterpret_cast<std::byte*>(to);
                BroadcastOperand left = broadcast(*a, dims), right = broadcast(*b, dims);
                if (in_place) left.data = bytes;
                if (swapped) std::swap(left, right);
                binary(op, left, right, result(bytes, dims), context);
              },
          .want = out.values(),
          .slack = std::vector<double>(count, 0.0)};
}

/// How a function's bound reads: ulps + factor |v|, v the exponent that it takes e to.
struct Function {
  Unary function;
  Result<void> (*reference)(const ref::View&, const ref::MutableView&);
  double ulps;
  double factor = 0;
  double (*exponent)(double) = [](double) { return 0.0; };
};

constexpr Function kFunctions[] = {
    {Unary::kAbs, ref::abs, 0},
    {Unary::kNeg, ref::neg, 0},
    {Unary::kSign, ref::sign, 0},
    {Unary::kFloor, ref::floor, 0},
    {Unary::kCeil, ref::ceil, 0},
    {Unary::kRound, ref::round, 0},
    {Unary::kTrunc, ref::trunc, 0},
    {Unary::kSqrt, ref::sqrt, 0.5},
    {Unary::kRsqrt, ref::rsqrt, kRsqrtUlp},
    {Unary::kTanh, ref::tanh, kTanhUlp},
    {Unary::kErf, ref::erf, kErfUlp},
    {Unary::kRelu, ref::relu, 0},
    {Unary::kExp, ref::exp, kExpUlp},
    {Unary::kLog, ref::log, kLogUlp},
    {Unary::kSin, ref::sin, kCircularUlp},
    {Unary::kCos, ref::cos, kCircularUlp},
    {Unary::kSigmoid, ref::sigmoid, kUnaryUlp, kSigmoidExponentUlp,
     [](double x) { return std::min(x, 0.0); }},
    {Unary::kSilu, ref::silu, kUnaryUlp, kSigmoidExponentUlp,
     [](double x) { return std::min(x, 0.0); }},
    {Unary::kGelu, ref::gelu, kUnaryUlp, kGeluExponentUlp,
     [](double x) { return x < 0 ? 1.5957691216 * (x + 0.044715 * x * x * x) : 0.0; }},
    {Unary::kQuickGelu, ref::quick_gelu, kUnaryUlp, kQuickGeluExponentUlp,
     [](double x) { return x < 0 ? 1.702 * x : 0.0; }},
};

/// What the function may be off at x, of which `want` is the value.
double slack_at(const Function& f, double x, double want) {
  if (f.ulps == 0) return 0;
  const double v = std::fabs(f.exponent(x));
  const double off = v < 200 ? (f.ulps + f.factor * v) * float_ulp(want) : 0x1p-149;
  return std::isfinite(want) ? off : 1.0;  // infinities must be equal, whatever the sign of slack
}

Problem unary_problem(const Function& f, std::int64_t n, bool in_place) {
  const FloatValues x = elements(n, 3);
  const auto count = static_cast<std::size_t>(n);
  Array out(DType::kFloat64, {n});
  require_ok(f.reference(in_double(x, {n}), out));
  std::vector<double> want(count), slack(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float rounded = static_cast<float>(out[i]);
    want[i] = std::isinf(rounded) ? rounded : out[i];
    slack[i] = slack_at(f, x[i], want[i]);
  }
  return {
      .name = fmt::format("{} of {}{}", name_of(f.function), n, in_place ? " in place" : ""),
      .out_size = count,
      .places = all_places(count),
      .before = in_place ? x : FloatValues(),
      .run = [=](float* to,
                 Context& context) { unary(f.function, in_place ? to : x.data(), to, n, context); },
      .want = std::move(want),
      .slack = std::move(slack)};
}

Problem clip_problem(float low, float high, std::int64_t n) {
  const FloatValues x = elements(n, 4);
  Array out(DType::kFloat32, {n});
  const auto bound = [](float value) { return Array(DType::kFloat32, {}, {value}); };
  require_ok(
      ref::clip(Array(DType::kFloat32, {n}, {x.begin(), x.end()}), bound(low), bound(high), out));
  const auto count = static_cast<std::size_t>(n);
  return {.name = fmt::format("clip of {} to {}, {}", n, low, high),
          .out_size = count,
          .places = all_places(count),
          .run = [=](float* to, Context& context) { clip(x.data(), low, high, to, n, context); },
          .want = out.values(),
          .slack = std::vector<double>(count, 0.0)};
}

}  // namespace

Problems elementwise_problems() {
  Problems problems;
  for (const Broadcast& shapes : kBroadcasts) {
    const bool may_overwrite = shapes.a == shapes.out;
    for (const Binary op : {Binary::kAdd, Binary::kSub, Binary::kMul, Binary::kDiv, Binary::kRem,
                            Binary::kMaximum, Binary::kMinimum}) {
      problems.push_back(binary_problem(op, shapes, false, false));
      problems.push_back(binary_problem(op, shapes, true, may_overwrite));
    }
  }
  for (const Function& f : kFunctions) {
    for (const std::int64_t count : {0, 1, 3, 7, 8, 9, 16, 31, 8192, 20011}) {
      problems.push_back(unary_problem(f, count, count % 2 == 1));
    }
  }
  for (const std::int64_t count : {0, 1, 7, 33, 20011}) {
    problems.push_back(clip_problem(-1.5F, 2, count));
    problems.push_back(clip_problem(0, -HUGE_VALF, count));
    problems.push_back(clip_problem(std::nanf(""), 100, count));
  }
  return problems;
}

}  // namespace mir::fast::test
