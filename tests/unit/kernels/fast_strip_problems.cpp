#include <fmt/format.h>

#include "fast_problem.hpp"
#include "kernels/fast/strips.hpp"
#include "kernels/ref/common/extreme.hpp"
#include "kernels/ref/numeric.hpp"

namespace mir::fast::test {
namespace {

/// Steps of the operands of a sum of products.
struct ProductShape {
  std::int64_t columns, terms, x_column, x_term, y_column, y_term;
  bool has_y = true;
};

constexpr ProductShape kProductShapes[] = {
    {0, 3, 1, 1, 1, 1},           {1, 0, 1, 1, 1, 1},
    {1, 1, 0, 0, 0, 0},           {7, 5, 0, 1, 1, 7},
    {8, 5, 0, 1, 1, 8},           {33, 17, 0, 1, 1, 33},
    {64, 40, 1, 64, 0, 1},        {65, 9, 2, 1, 0, 3},
    {31, 13, 1, 31, 1, 31},       {19, 23, 0, 1, 23, 1},
    {40, 3, 3, 1, 40, 2},         {16, 257, 257, 1, 0, 1},
    {129, 2, 1, 1, 1, 1},         {100, 11, 1, 100, 0, 0, false},
    {37, 41, 41, 1, 0, 0, false}, {12, 30, 0, 1, 0, 0, false}};

double number_at(const FloatValues& values, std::int64_t at) {
  return static_cast<double>(values[static_cast<std::size_t>(at)]);
}

std::int64_t reach(const ProductShape& s, std::int64_t column, std::int64_t term) {
  return std::max<std::int64_t>(0, s.columns - 1) * column +
         std::max<std::int64_t>(0, s.terms - 1) * term + 1;
}

Problem product_problem(const ProductShape& s) {
  const FloatValues x = random_floats(reach(s, s.x_column, s.x_term), 81),
                    y = random_floats(reach(s, s.y_column, s.y_term), 82);
  const auto count = static_cast<std::size_t>(s.columns);
  std::vector<double> sums(count);
  for (std::int64_t c = 0; c < s.columns; ++c) {
    double& sum = sums[static_cast<std::size_t>(c)];
    sum = 0.5;
    for (std::int64_t t = 0; t < s.terms; ++t) {
      const double a = number_at(x, c * s.x_column + t * s.x_term);
      sum += s.has_y ? a * number_at(y, c * s.y_column + t * s.y_term) : a;
    }
  }
  Problem problem{.name = fmt::format("{} sums of {} products, steps {} and {}", s.columns, s.terms,
                                      s.x_column, s.y_column),
                  .out_size = 2 * count,
                  .places = all_places(2 * count),
                  .slack = std::vector<double>(2 * count, 0.0)};
  // The double in two parts: what it rounds to, and what is left.
  for (const double sum : sums) problem.want.push_back(ref::narrow_to_float(sum));
  for (const double sum : sums) {
    problem.want.push_back(ref::narrow_to_float((sum - ref::narrow_to_float(sum)) * 0x1p24));
  }
  problem.run = [=](float* out, Context& context) {
    std::vector<double> found(count, 0.5);
    strip_kernels(context.isa())
        .add_products({.x = x.data(),
                       .x_column = s.x_column,
                       .x_term = s.x_term,
                       .y = s.has_y ? y.data() : nullptr,
                       .y_column = s.y_column,
                       .y_term = s.y_term,
                       .sums = found.data(),
                       .columns = s.columns,
                       .terms = s.terms});
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = ref::narrow_to_float(found[i]);
      out[count + i] = ref::narrow_to_float((found[i] - static_cast<double>(out[i])) * 0x1p24);
    }
  };
  return problem;
}

using Scalar = double (*)(double a, double b);
struct ArithmeticCase {
  const char* name;
  StripArithmetic::Function StripArithmetic::*function;
  Scalar scalar;
};
constexpr ArithmeticCase kArithmetic[] = {
    {"add", &StripArithmetic::add, [](double a, double b) { return a + b; }},
    {"div", &StripArithmetic::div, [](double a, double b) { return a / b; }},
    {"max", &StripArithmetic::max, ref::extreme_of<1, double>},
    {"min", &StripArithmetic::min, ref::extreme_of<-1, double>},
    {"mul", &StripArithmetic::mul, [](double a, double b) { return a * b; }},
    {"neg", &StripArithmetic::neg, [](double a, double) { return -a; }},
    {"sub", &StripArithmetic::sub, [](double a, double b) { return a - b; }},
};

/// Widens two strips, computes, rounds. Zeros of both signs, infinities and NaN are among them.
Problem strip_problem(const ArithmeticCase& each, std::int64_t count, std::int64_t a_step,
                      std::int64_t b_step) {
  constexpr float kSpecial[] = {0.0F, -0.0F, HUGE_VALF, -HUGE_VALF, 1e-42F, 3e38F};
  FloatValues a = random_floats(3 * count + 1, 83, 3e38), b = random_floats(3 * count + 1, 84);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i % 2 == 0) a[i] = kSpecial[i / 2 % 6];
    if (i % 3 == 0) b[i] = kSpecial[i / 3 % 6];
    if (i % 41 == 40) a[i] = std::nanf("1");
    if (i % 37 == 36) b[i] = -std::nanf("2");
  }
  const auto size = static_cast<std::size_t>(count);
  const std::int64_t a_first = a_step < 0 ? -a_step * count : 0;
  Problem problem{
      .name = fmt::format("{} of {}, steps {} and {}", each.name, count, a_step, b_step),
      .out_size = size,
      .places = all_places(size),
      .slack = std::vector<double>(size, 0.0)};
  for (std::int64_t i = 0; i < count; ++i) {
    problem.want.push_back(ref::narrow_to_float(
        each.scalar(number_at(a, a_first + i * a_step), number_at(b, i * b_step))));
  }
  problem.run = [=](float* out, Context& context) {
    const StripKernels& kernels = strip_kernels(context.isa());
    std::vector<double> x(size + 1), y(size + 1);
    kernels.widen(a.data() + a_first, a_step, x.data(), a_step == 0 ? 1 : count);
    kernels.widen(b.data(), b_step, y.data(), b_step == 0 ? 1 : count);
    (kernels.arithmetic.*each.function)(x.data(), a_step == 0 ? 0 : 1, y.data(),
                                        b_step == 0 ? 0 : 1, x.data(), a_step == 0 ? 0 : count);
    std::vector<double> made(size);
    if (a_step == 0) {
      (kernels.arithmetic.*each.function)(x.data(), 0, y.data(), b_step == 0 ? 0 : 1, made.data(),
                                          count);
    } else {
      std::copy_n(x.begin(), size, made.begin());
    }
    kernels.narrow(made.data(), 1, out, 1, count);
  };
  return problem;
}

}  // namespace

Problems strip_problems() {
  Problems problems;
  for (const ProductShape& each : kProductShapes) problems.push_back(product_problem(each));
  for (const ArithmeticCase& each : kArithmetic) {
    for (const std::int64_t count : {0, 1, 7, 8, 9, 64, 129}) {
      problems.push_back(strip_problem(each, count, 1, 1));
    }
    problems.push_back(strip_problem(each, 21, 0, 1));
    problems.push_back(strip_problem(each, 21, 1, 0));
    problems.push_back(strip_problem(each, 21, 3, 2));
    problems.push_back(strip_problem(each, 24, 2, 1));
    problems.push_back(strip_problem(each, 21, -1, 1));
    problems.push_back(strip_problem(each, 21, 0, 0));
  }
  return problems;
}

}  // namespace mir::fast::test
