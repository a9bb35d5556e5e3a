#include <fmt/format.h>

#include "fast_problem.hpp"
#include "kernels/fast/reduction.hpp"
#include "kernels/ref/reduce.hpp"
#include "kernels/ref/softmax.hpp"

namespace mir::fast::test {
namespace {

using ref::test::Array;

struct ReduceShape {
  std::int64_t outer, length, inner;

  std::int64_t elements() const { return outer * length * inner; }
};

constexpr ReduceShape kReduceShapes[] = {
    {0, 5, 1},    {1, 1, 1},     {3, 7, 1},     {2, 64, 1},     {5, 65, 1},   {1, 257, 1},
    {4001, 3, 1}, {1, 32768, 1}, {1, 32769, 1}, {2, 100003, 1}, {1, 5, 0},    {2, 3, 2},
    {1, 1, 64},   {3, 17, 63},   {2, 33, 65},   {1, 300, 127},  {2, 2, 1031}, {1, 1009, 7}};

/// Random elements; of special ones some NaN, infinities and zeros of both signs.
FloatValues reduced_elements(const ReduceShape& shape, bool is_special) {
  FloatValues x = random_floats(shape.elements(), 61, 1000.0);
  constexpr float kSpecial[] = {0.0F, -0.0F, HUGE_VALF, -HUGE_VALF, 1e-42F, -1e-42F};
  for (std::size_t i = 0; is_special && i < x.size(); ++i) {
    if (i % 3 != 2) x[i] = kSpecial[i / 3 % (i % 5 == 0 ? 6 : 2)];
    if (i % 97 == 96) x[i] = i % 2 == 0 ? std::nanf("1") : -std::nanf("2");
  }
  return x;
}

Problem reduce_problem(Reduction reduction, const ReduceShape& s, bool is_special) {
  static constexpr const char* kNames[] = {"sum", "mean", "max", "min"};
  using Reference =
      Result<void> (*)(const ref::View&, std::optional<std::int64_t>, const ref::MutableView&);
  static constexpr Reference kRefs[] = {ref::reduce_sum, ref::mean, ref::reduce_max,
                                        ref::reduce_min};
  const auto which = static_cast<std::size_t>(reduction);
  const FloatValues x = reduced_elements(s, is_special);
  Array out(DType::kFloat64, {s.outer, s.inner});
  (void)kRefs[which](in_double(x, {s.outer, s.length, s.inner}), 1, out);
  const auto results = static_cast<std::size_t>(s.outer * s.inner);
  Problem problem{.name = fmt::format("{} of {} x {} x {}{}", kNames[which], s.outer, s.length,
                                      s.inner, is_special ? ", special ones" : ""),
                  .out_size = results,
                  .places = all_places(results),
                  .want = out.values(),
                  .slack = std::vector<double>(results, 0.0)};
  const bool sums = reduction == Reduction::kSum || reduction == Reduction::kMean;
  for (std::size_t i = 0; sums && i < results; ++i) {
    const auto inner = static_cast<std::size_t>(s.inner), n = static_cast<std::size_t>(s.length);
    double magnitude = 0;
    for (std::size_t k = 0; k < n; ++k)
      magnitude += std::fabs(x[(i / inner * n + k) * inner + i % inner]);
    const double count = static_cast<double>(s.length);
    if (reduction == Reduction::kMean) magnitude /= count;
    problem.slack[i] = count * 0x1p-52 * magnitude + 0.5 * float_ulp(problem.want[i]);
  }
  problem.run = [=](float* to, Context& context) {
    reduce(reduction,
           {.x = x.data(), .out = to, .outer = s.outer, .length = s.length, .inner = s.inner},
           context);
  };
  return problem;
}

Problem cum_sum_problem(const ReduceShape& s, SumOrder order, bool exclusive, bool is_special) {
  const bool in_place = is_special;
  const FloatValues x = reduced_elements(s, is_special);
  const ref::Dims extents{s.outer, s.length, s.inner};
  Array out(DType::kFloat32, extents);
  require_ok(ref::cum_sum(
      Array(DType::kFloat32, extents, {x.begin(), x.end()}),
      {.axis = 1, .exclusive = exclusive, .reverse = order == SumOrder::kReverse}, out));
  return {.name = fmt::format("running sums{}{} of {} x {} x {}{}", exclusive ? ", exclusive" : "",
                              order == SumOrder::kReverse ? ", reverse" : "", s.outer, s.length,
                              s.inner, in_place ? " in place" : ""),
          .out_size = x.size(),
          .places = all_places(x.size()),
          .before = in_place ? x : FloatValues(),
          .run =
              [=](float* to, Context& context) {
                cum_sum({.x = in_place ? to : x.data(),
                         .out = to,
                         .outer = s.outer,
                         .length = s.length,
                         .inner = s.inner},
                        order, exclusive, context);
              },
          .want = out.values(),
          .slack = std::vector<double>(x.size(), 0.0)};
}

Problem softmax_along_problem(const ReduceShape& s, double scale, bool in_place) {
  const FloatValues x = random_floats(s.elements(), 62, scale);
  Array out(DType::kFloat64, {s.outer, s.length, s.inner});
  require_ok(ref::softmax(in_double(x, {s.outer, s.length, s.inner}), 1, out));
  Problem problem{.name = fmt::format("softmax along {} x {} x {} of {}{}", s.outer, s.length,
                                      s.inner, scale, in_place ? " in place" : ""),
                  .out_size = x.size(),
                  .places = all_places(x.size()),
                  .before = in_place ? x : FloatValues(),
                  .want = out.values()};
  for (std::size_t i = 0; i < x.size(); ++i) {
    // The maximum of a column is at most `scale`.
    problem.slack.push_back(0x1p-24 * (scale - x[i] + 48) * problem.want[i] + 0x1p-125);
  }
  problem.run = [=](float* to, Context& context) {
    softmax_along({.x = in_place ? to : x.data(),
                   .out = to,
                   .outer = s.outer,
                   .length = s.length,
                   .inner = s.inner},
                  context);
  };
  return problem;
}

}  // namespace

Problems reduction_problems() {
  Problems problems;
  for (const ReduceShape& shape : kReduceShapes) {
    for (const Reduction reduction :
         {Reduction::kSum, Reduction::kMean, Reduction::kMax, Reduction::kMin}) {
      problems.push_back(reduce_problem(reduction, shape, false));
      problems.push_back(reduce_problem(reduction, shape, true));
    }
    for (const SumOrder order : {SumOrder::kForward, SumOrder::kReverse}) {
      for (const bool exclusive : {false, true}) {
        problems.push_back(cum_sum_problem(shape, order, exclusive, false));
        problems.push_back(cum_sum_problem(shape, order, exclusive, true));
      }
    }
    problems.push_back(softmax_along_problem(shape, 4, false));
    problems.push_back(softmax_along_problem(shape, 90, true));
  }
  for (const ReduceShape& shape : {ReduceShape{2, 0, 1}, ReduceShape{2, 0, 3}}) {
    problems.push_back(reduce_problem(Reduction::kSum, shape, false));
    problems.push_back(reduce_problem(Reduction::kMean, shape, false));
  }
  return problems;
}

}  // namespace mir::fast::test
