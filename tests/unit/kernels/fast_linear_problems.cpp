#include <fmt/format.h>

#include <bit>

#include "fast_problem.hpp"
#include "fast_weights.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/ref/quantise.hpp"

namespace mir::fast::test {
namespace {

struct LinearShape {
  std::int64_t rows, outputs, depth;
};

constexpr LinearShape kLinearShapes[] = {
    {1, 3, 0},    {2, 5, 0},   {1, 1, 1},     {0, 5, 7},    {1, 23, 5},    {1, 24, 256},
    {1, 49, 257}, {2, 25, 64}, {3, 13, 17},   {4, 48, 191}, {5, 12, 193},  {7, 31, 512},
    {8, 64, 63},  {9, 97, 33}, {31, 47, 100}, {32, 24, 65}, {33, 51, 385}, {65, 3, 1031}};

/// Infinities and NaN in every third row, and between all rows, where nothing may be read.
void plant(FloatValues& x, std::int64_t stride, std::int64_t depth) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / stride;
    const auto k = static_cast<std::int64_t>(i) % stride;
    if (k >= depth) x[i] = std::nanf("");
    if (row % 3 == 0 && k == depth - 1) x[i] = HUGE_VALF;
    if (row % 6 == 0 && k == depth / 2) x[i] = -HUGE_VALF;
  }
}

Problem linear_problem(DType dtype, const LinearShape& s, bool biased, bool is_odd = false) {
  const std::int64_t x_stride = s.depth + 1, out_stride = s.outputs + 2;
  const auto memory = [&](std::int64_t stride, std::int64_t width) {
    return s.rows == 0 ? 0 : (s.rows - 1) * stride + width;
  };
  FloatValues x = random_floats(memory(x_stride, s.depth), 21);
  if (is_odd) plant(x, x_stride, s.depth);
  const FloatValues bias = random_floats(s.outputs, 22);
  const Weights weights(dtype, s.outputs, s.depth, 23);
  Problem problem{.name = fmt::format("linear of {} x {} x {} in {}{}{}", s.rows, s.outputs,
                                      s.depth, info(dtype).name, biased ? " with bias" : "",
                                      is_odd ? ", odd activations" : ""),
                  .out_size = static_cast<std::size_t>(memory(out_stride, s.outputs))};
  const double steps =
      static_cast<double>(std::min<std::int64_t>(s.depth, 256) + s.depth / 256 + 2);
  for (std::int64_t m = 0; m < s.rows; ++m) {
    for (std::int64_t n = 0; n < s.outputs; ++n) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < s.depth; ++k) {
        const double product = static_cast<double>(x[static_cast<std::size_t>(m * x_stride + k)]) *
                               weights.values[static_cast<std::size_t>(n * s.depth + k)];
        sum += product;
        magnitude += std::fabs(product);
      }
      const double b = biased ? bias[static_cast<std::size_t>(n)] : 0.0;
      problem.places.push_back(static_cast<std::size_t>(m * out_stride + n));
      problem.want.push_back(sum + b);
      const double slack = 0x1p-24 * (steps * magnitude + std::fabs(sum + b));
      problem.slack.push_back(std::isfinite(slack) ? slack : 1);
    }
  }
  problem.run = [=](float* to, Context& context) {
    const Packed packed(weights, context);
    linear(packed.matrix,
           {.rows = {.x = x.data(), .x_stride = x_stride, .rows = s.rows},
            .out = to,
            .out_stride = out_stride,
            .epilogue = {.bias = biased ? bias.data() : nullptr}},
           context);
  };
  return problem;
}

double bfloat(float value) {
  return ref::widen(ref::narrow_to_bfloat16(value));
}

/// Activations and weights rounded to BFloat16, the rest in double.
Problem bfloat_problem(DType dtype, const LinearShape& s, bool is_special) {
  const std::int64_t x_stride = s.depth + 3, out_stride = s.outputs + 1;
  FloatValues x = random_floats(s.rows * x_stride, 27);
  // Ties to even, what rounds up to infinity, what is subnormal, infinity and NaN.
  constexpr float kSpecial[] = {0x1.01p0F,
                                0x1.03p0F,
                                0x1.010002p0F,
                                3.4e38F,
                                1e-40F,
                                -1e-39F,
                                -HUGE_VALF,
                                0x1.fep-127F,
                                -0.0F,
                                0x1p-149F,
                                std::bit_cast<float>(0x7fffffffU),
                                0x1.ffp126F};
  for (std::size_t i = 0; is_special && i < x.size(); i += 2) {
    x[i] = kSpecial[i / 2 % (i < x.size() / 2 ? 3 : std::size(kSpecial))];
  }
  const FloatValues residual = random_floats(s.rows * s.outputs, 28);
  const Weights weights(dtype, s.outputs, s.depth, 29);
  Problem problem{
      .name = fmt::format("linear of {} x {} x {} in {} with bf16 activations{}", s.rows, s.outputs,
                          s.depth, info(dtype).name, is_special ? ", special ones" : ""),
      .out_size = static_cast<std::size_t>(s.rows == 0 ? 0 : s.rows * out_stride - 1)};
  const double steps =
      static_cast<double>(std::min<std::int64_t>(s.depth, 256) + s.depth / 256 + 2);
  for (std::int64_t m = 0; m < s.rows; ++m) {
    for (std::int64_t n = 0; n < s.outputs; ++n) {
      double sum = 0, magnitude = 0, vanishing = 0;
      for (std::int64_t k = 0; k < s.depth; ++k) {
        const double value = bfloat(x[static_cast<std::size_t>(m * x_stride + k)]);
        const double factor = bfloat(weights.values[static_cast<std::size_t>(n * s.depth + k)]);
        sum += value * factor;
        magnitude += std::fabs(value * factor);
        vanishing += 1 + std::fabs(value) + std::fabs(factor);
      }
      sum += residual[static_cast<std::size_t>(m * s.outputs + n)];
      problem.places.push_back(static_cast<std::size_t>(m * out_stride + n));
      problem.want.push_back(sum);
      problem.slack.push_back(0x1p-24 * (steps * magnitude + std::fabs(sum)) +
                              0x1p-125 * vanishing);
    }
  }
  problem.run = [=](float* to, Context& context) {
    const Packed packed(weights, context, Activations::kBFloat16);
    linear(packed.matrix,
           {.rows = {.x = x.data(), .x_stride = x_stride, .rows = s.rows},
            .out = to,
            .out_stride = out_stride,
            .epilogue = {.residual = residual.data(), .residual_stride = s.outputs}},
           context);
  };
  return problem;
}

constexpr LinearShape kBlockShapes[] = {{0, 5, 256},   {1, 1, 256},  {1, 16, 512}, {1, 37, 768},
                                        {2, 15, 256},  {3, 33, 512}, {4, 64, 256}, {7, 31, 1024},
                                        {33, 17, 256}, {65, 3, 2304}};

/// Activations with runs that have no scale, a subnormal one, values far apart, and values in or
/// just below the middle between two codes.
FloatValues activations(std::int64_t rows, std::int64_t stride) {
  FloatValues x = random_floats(rows * stride, 24);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i / 32 % 7 == 3) x[i] = 0;
    if (i / 32 % 7 == 4) x[i] *= i % 3 == 0 ? 1e30F : 1e-30F;
    if (i / 32 % 7 == 5) x[i] *= 1e-42F;
    constexpr float kMiddles[] = {127, 0x1.fffffep-2F, -0x1.fffffep-2F, 0.5F, -1.5F, 2.5F, 126.5F};
    if (i / 32 % 7 == 6) x[i] = kMiddles[i % 7];
  }
  return x;
}

/// All of one magnitude, so codes of 127 and -127, in patterns of signs that differ from row to
/// row.
FloatValues largest_activations(std::int64_t rows, std::int64_t depth) {
  FloatValues x(static_cast<std::size_t>(rows * depth));
  for (std::int64_t i = 0; i < rows * depth; ++i) {
    constexpr std::int64_t kPeriods[] = {1 << 20, 1, 2, 4, 8, 16};
    const std::int64_t period = kPeriods[i / depth % 6];
    x[static_cast<std::size_t>(i)] = i % depth / period % 2 == 0 ? 1.0F : -1.0F;
  }
  return x;
}

enum class Numbers : std::uint8_t { kMixed, kInfinite, kLargest };

/// As the reference has it: x rounded to 8 bits, the rest in double.
Problem block_problem(DType dtype, const LinearShape& s, Numbers numbers = Numbers::kMixed) {
  constexpr const char* kNames[] = {"", " of infinities", " of the largest numbers"};
  const std::int64_t out_stride = s.outputs + 2;
  const bool is_largest = numbers == Numbers::kLargest;
  FloatValues x = is_largest ? largest_activations(s.rows, s.depth) : activations(s.rows, s.depth);
  if (numbers == Numbers::kInfinite) {
    x[40] = std::numeric_limits<float>::infinity();
    x.back() = std::numeric_limits<float>::quiet_NaN();
  }
  const FloatValues bias = random_floats(s.outputs, 25);
  const Weights weights(dtype, s.outputs, s.depth, 26, is_largest);
  ref::test::Array rounded(DType::kFloat64, {s.rows, s.depth});
  require_ok(ref::round_activations(in_double(x, {s.rows, s.depth}), rounded));
  Problem problem{.name = fmt::format("linear of {} x {} x {} in {}{}", s.rows, s.outputs, s.depth,
                                      info(dtype).name, kNames[static_cast<int>(numbers)]),
                  .out_size = static_cast<std::size_t>(s.rows == 0 ? 0 : s.rows * out_stride - 2)};
  const double steps = static_cast<double>(s.depth / block_type(dtype).run + 4);
  for (std::int64_t m = 0; m < s.rows; ++m) {
    for (std::int64_t n = 0; n < s.outputs; ++n) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < s.depth; ++k) {
        const auto at = static_cast<std::size_t>(n * s.depth + k);
        const double value = rounded[static_cast<std::size_t>(m * s.depth + k)];
        sum += value * weights.values[at];
        magnitude += std::fabs(value) * weights.magnitude(at);
      }
      sum += bias[static_cast<std::size_t>(n)];
      problem.places.push_back(static_cast<std::size_t>(m * out_stride + n));
      problem.want.push_back(sum);
      problem.slack.push_back(0x1p-24 * (steps * magnitude + std::fabs(sum)) + 0x1p-149);
    }
  }
  problem.run = [=](float* to, Context& context) {
    const Packed packed(weights, context);
    linear(packed.matrix,
           {.rows = {.x = x.data(), .x_stride = s.depth, .rows = s.rows},
            .out = to,
            .out_stride = out_stride,
            .epilogue = {.bias = bias.data()}},
           context);
  };
  return problem;
}

}  // namespace

Problems block_problems() {
  Problems problems;
  for (const BlockType& type : kBlockTypes) {
    for (const LinearShape& shape : kBlockShapes) {
      problems.push_back(block_problem(type.dtype, shape));
    }
    problems.push_back(block_problem(type.dtype, {5, 19, 512}, Numbers::kInfinite));
    problems.push_back(block_problem(type.dtype, {6, 19, 512}, Numbers::kLargest));
  }
  return problems;
}

Problems linear_problems() {
  Problems problems;
  for (const LinearShape& shape : kLinearShapes) {
    problems.push_back(linear_problem(DType::kFloat32, shape, shape.rows % 2 == 1));
    problems.push_back(linear_problem(DType::kBFloat16, shape, shape.rows % 2 == 0));
    problems.push_back(linear_problem(DType::kFloat16, shape, false));
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16})
      problems.push_back(linear_problem(dtype, shape, false, true));
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
      problems.push_back(bfloat_problem(dtype, shape, false));
    }
  }
  problems.push_back(bfloat_problem(DType::kFloat32, {9, 27, 67}, true));
  return problems;
}

}  // namespace mir::fast::test
