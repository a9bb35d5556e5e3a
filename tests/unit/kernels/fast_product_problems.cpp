#include <fmt/format.h>

#include <limits>

#include "fast_problem.hpp"
#include "kernels/fast/matrix/product.hpp"
#include "kernels/fast/movement.hpp"
#include "kernels/ref/convolution.hpp"
#include "kernels/ref/matmul.hpp"

namespace mir::fast::test {
namespace {

using ref::test::Array;

/// Of which a product gives the sums that bounds are in.
Array magnitudes(const FloatValues& values, const ref::Dims& extents) {
  Array array = in_double(values, extents);
  for (std::size_t i = 0; i < values.size(); ++i) array.set(i, std::fabs(values[i]));
  return array;
}

/// The bound of product.hpp: `sums` are of the factors' magnitudes.
std::vector<double> product_slack(const Array& sums, std::int64_t depth,
                                  const std::vector<double>& want, bool biased) {
  const double steps = 256 + static_cast<double>(depth) / 256;
  std::vector<double> slack;
  for (std::size_t i = 0; i < want.size(); ++i) {
    slack.push_back(0x1p-24 * (steps * sums[i] + (biased ? std::fabs(want[i]) : 0)) + 0x1p-149);
  }
  return slack;
}

/// What there is besides random weights: infinities of both signs and NaN, first, last and between.
enum class Factors { kFinite, kOdd };

/// No bound where numbers are not finite: results are then equal.
void be_exact_where_odd(const std::vector<double>& want, std::vector<double>& slack) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(want[i]) || !std::isfinite(slack[i])) slack[i] = 1;
  }
}

void plant(FloatValues& weight) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (weight.empty()) return;
  weight.front() = kInfinity;
  for (std::size_t i = 7; i < weight.size(); i += 41) {
    weight[i] = i % 3 == 0 ? kInfinity : i % 3 == 1 ? -kInfinity : std::nanf("");
  }
  weight.back() = -kInfinity;
}

struct MatMulShape {
  std::int64_t heads, kv_heads, rows, depth, columns;
  bool transpose_a, transpose_b;
};

constexpr MatMulShape kMatMulShapes[] = {
    {1, 1, 0, 3, 4, false, false},     {1, 1, 3, 0, 4, false, false},
    {1, 1, 3, 4, 0, false, true},      {1, 1, 1, 1, 1, true, true},
    {2, 2, 1, 5, 24, false, false},    {3, 1, 4, 7, 23, false, true},
    {4, 2, 5, 16, 25, true, false},    {1, 1, 8, 255, 47, false, false},
    {2, 1, 9, 257, 48, true, true},    {1, 1, 383, 3, 49, false, true},
    {1, 1, 385, 17, 96, false, false}, {1, 1, 401, 2, 1, true, false},
    {14, 2, 3, 64, 129, false, true},  {1, 1, 2, 1031, 7, false, false},
    {1, 1, 1545, 3, 9, false, false},  {16, 16, 33, 80, 33, false, false},
};

/// Out has a gap after each row.
Problem matmul_problem(const MatMulShape& s, Factors weights = Factors::kFinite) {
  const FloatValues a = random_floats(s.heads * s.rows * s.depth, 31);
  FloatValues b = random_floats(s.kv_heads * s.depth * s.columns, 32);
  if (weights == Factors::kOdd) plant(b);
  const ref::Dims a_extents =
      s.transpose_a ? ref::Dims{s.heads, s.depth, s.rows} : ref::Dims{s.heads, s.rows, s.depth};
  const ref::Dims b_extents = s.transpose_b ? ref::Dims{s.kv_heads, s.columns, s.depth}
                                            : ref::Dims{s.kv_heads, s.depth, s.columns};
  const ref::MatMulOptions options{s.transpose_a, s.transpose_b};
  Array out(DType::kFloat64, {s.heads, s.rows, s.columns});
  Array sums(DType::kFloat64, {s.heads, s.rows, s.columns});
  require_ok(ref::matmul(in_double(a, a_extents), in_double(b, b_extents), options, out));
  require_ok(ref::matmul(magnitudes(a, a_extents), magnitudes(b, b_extents), options, sums));
  const std::int64_t out_row = s.columns + 3;
  Problem problem{
      .name = fmt::format("matmul of {} heads ({}), {} x {} x {}{}{}", s.heads, s.kv_heads, s.rows,
                          s.depth, s.columns, s.transpose_a ? ", a transposed" : "",
                          s.transpose_b ? ", b transposed" : "") +
              (weights == Factors::kOdd ? ", odd weights" : ""),
      .out_size = static_cast<std::size_t>(s.heads * s.rows * out_row),
      .want = out.values(),
      .slack = product_slack(sums, s.depth, out.values(), false)};
  be_exact_where_odd(problem.want, problem.slack);
  for (std::int64_t i = 0; i < s.heads * s.rows * s.columns; ++i) {
    problem.places.push_back(static_cast<std::size_t>(i / s.columns * out_row + i % s.columns));
  }
  problem.run = [=](float* to, Context& context) {
    MatMulOperands operands{.a = a.data(),
                            .b = b.data(),
                            .out = to,
                            .rows = s.rows,
                            .depth = s.depth,
                            .columns = s.columns,
                            .a_row = s.transpose_a ? 1 : s.depth,
                            .a_step = s.transpose_a ? s.rows : 1,
                            .b_step = s.transpose_b ? 1 : s.columns,
                            .b_column = s.transpose_b ? s.depth : 1,
                            .out_row = out_row,
                            .batch_rank = 1};
    operands.batches[0] = s.heads;
    operands.b_repeats[0] = s.heads / s.kv_heads;
    operands.a_strides[0] = s.rows * s.depth;
    operands.b_strides[0] = s.depth * s.columns;
    operands.out_strides[0] = s.rows * out_row;
    matmul(operands, context);
  };
  return problem;
}

struct ConvShape {
  std::int64_t batches, groups, inputs, outputs;
  ConvOperands::Spatial x, kernel, stride, padding, dilation;
};

constexpr ConvShape kConvShapes[] = {
    {1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
    {2, 1, 3, 5, {1, 1, 17}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}, {1, 1, 1}},
    {1, 2, 4, 6, {1, 1, 40}, {1, 1, 5}, {1, 1, 2}, {0, 0, 2}, {1, 1, 2}},
    {1, 1, 3, 16, {1, 13, 11}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {2, 3, 2, 4, {1, 9, 30}, {1, 2, 3}, {1, 2, 3}, {0, 0, 2}, {1, 2, 1}},
    {1, 1, 3, 9, {1, 28, 28}, {1, 14, 14}, {1, 14, 14}, {0, 0, 0}, {1, 1, 1}},
    {1, 1, 40, 390, {1, 5, 10}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {3, 1, 3, 7, {2, 6, 6}, {2, 3, 3}, {2, 3, 3}, {0, 0, 0}, {1, 1, 1}},
    {1, 1, 2, 3, {5, 4, 3}, {3, 2, 2}, {1, 1, 1}, {2, 1, 1}, {1, 1, 1}},
    {1, 8, 1, 1, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {0, 3, 3}, {1, 2, 2}},  // depthwise
    {0, 1, 2, 2, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
    {1, 1, 0, 2, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
};

Problem conv_problem(const ConvShape& s, bool biased, Factors weights = Factors::kFinite) {
  ref::Dims x_extents{s.batches, s.groups * s.inputs};
  ref::Dims weight_extents{s.groups * s.outputs, s.inputs};
  ref::Dims out_extents{s.batches, s.groups * s.outputs};
  ConvOperands::Spatial places;
  std::int64_t x_count = s.batches * s.groups * s.inputs;
  std::int64_t weight_count = s.groups * s.outputs * s.inputs, taps = 1;
  for (std::size_t i = 0; i < ConvOperands::kSpatial; ++i) {
    places[i] =
        (s.x[i] + 2 * s.padding[i] - s.dilation[i] * (s.kernel[i] - 1) - 1) / s.stride[i] + 1;
    x_extents.push_back(s.x[i]);
    weight_extents.push_back(s.kernel[i]);
    out_extents.push_back(places[i]);
    x_count *= s.x[i];
    taps *= s.kernel[i];
  }
  weight_count *= taps;
  const FloatValues x = random_floats(x_count, 33);
  FloatValues weight = random_floats(weight_count, 34);
  if (weights == Factors::kOdd) plant(weight);
  const FloatValues bias = random_floats(s.groups * s.outputs, 35);
  const ref::ConvOptions options{.stride = {s.stride.begin(), s.stride.end()},
                                 .padding = {s.padding.begin(), s.padding.end()},
                                 .dilation = {s.dilation.begin(), s.dilation.end()},
                                 .groups = s.groups};
  Array out(DType::kFloat64, out_extents), sums(DType::kFloat64, out_extents);
  const Array exact_bias = in_double(bias, {s.groups * s.outputs});
  const ref::View bias_view = exact_bias;
  require_ok(ref::conv(in_double(x, x_extents), in_double(weight, weight_extents),
                       biased ? &bias_view : nullptr, options, out));
  require_ok(ref::conv(magnitudes(x, x_extents), magnitudes(weight, weight_extents), nullptr,
                       options, sums));
  auto slack = product_slack(sums, s.inputs * taps, out.values(), biased);
  be_exact_where_odd(out.values(), slack);
  return {.name = fmt::format("conv of {} x {} x {}, {} taps, {} groups{}{}", s.batches, s.inputs,
                              s.outputs, taps, s.groups, biased ? ", biased" : "",
                              weights == Factors::kOdd ? ", odd weights" : ""),
          .out_size = out.size(),
          .places = all_places(out.size()),
          .run =
              [=](float* to, Context& context) {
                conv({.x = x.data(),
                      .weight = weight.data(),
                      .bias = biased ? bias.data() : nullptr,
                      .out = to,
                      .batches = s.batches,
                      .groups = s.groups,
                      .inputs = s.inputs,
                      .outputs = s.outputs,
                      .x_extents = s.x,
                      .kernel = s.kernel,
                      .out_extents = places,
                      .stride = s.stride,
                      .padding = s.padding,
                      .dilation = s.dilation,
                      .weight_is_finite = weights == Factors::kFinite},
                     context);
              },
          .want = out.values(),
          .slack = std::move(slack)};
}

/// x [a, b, c, d] to out [c, a, d, b] or any other order, with a gap after each last dimension. x
/// is read as it lies or from its end.
Problem copy_problem(const std::array<std::int64_t, 4>& extents,
                     const std::array<std::size_t, 4>& order, bool backwards) {
  std::int64_t count = 1;
  std::array<std::int64_t, 4> from_strides = {}, to_strides = {};
  for (std::size_t i = 4; i-- > 0;) {
    from_strides[i] = count;
    count *= extents[i];
  }
  std::int64_t step = 1;
  for (std::size_t i = 4; i-- > 0;) {
    to_strides[order[i]] = step;
    step *= extents[order[i]] + (i == 3 ? 2 : 0);
  }
  const FloatValues x = random_floats(count, 36);
  Problem problem{
      .name = fmt::format("copy of {} x {} x {} x {}, inner {}{}", extents[0], extents[1],
                          extents[2], extents[3], order[3], backwards ? ", backwards" : ""),
      .out_size = static_cast<std::size_t>(count == 0 ? 0 : step)};
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < 4; ++d) {
      place += i / from_strides[d] % extents[d] * to_strides[d];
    }
    problem.places.push_back(static_cast<std::size_t>(place));
    problem.want.push_back(x[static_cast<std::size_t>(backwards ? count - 1 - i : i)]);
    problem.slack.push_back(0);
  }
  if (backwards) {
    for (std::int64_t& stride : from_strides) stride = -stride;
  }
  problem.run = [=](float* to, Context& context) {
    const float* const from = x.data() + (backwards && count > 0 ? count - 1 : 0);
    CopyOperands operands{.from = reinterpret_cast<const std::byte*>(from),
                          .to = reinterpret_cast<std::byte*>(to),
                          .element_bytes = sizeof(float),
                          .rank = 4};
    std::ranges::copy(extents, operands.extents.begin());
    std::ranges::copy(from_strides, operands.from_strides.begin());
    std::ranges::copy(to_strides, operands.to_strides.begin());
    copy(operands, context);
  };
  return problem;
}

}  // namespace

Problems product_problems() {
  Problems problems;
  for (const MatMulShape& shape : kMatMulShapes) {
    problems.push_back(matmul_problem(shape));
    problems.push_back(matmul_problem(shape, Factors::kOdd));
  }
  for (const ConvShape& shape : kConvShapes) {
    problems.push_back(conv_problem(shape, true));
    problems.push_back(conv_problem(shape, false));
    problems.push_back(conv_problem(shape, true, Factors::kOdd));
  }
  return problems;
}

Problems movement_problems() {
  Problems problems;
  for (const std::array<std::int64_t, 4>& extents : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                                     {2, 3, 4, 5},
                                                     {0, 3, 4, 5},
                                                     {1, 17, 1, 33},
                                                     {3, 64, 16, 17},
                                                     {1, 5, 1, 70000},
                                                     {2, 1, 1, 20000}}) {
    for (const std::array<std::size_t, 4>& order :
         {std::array<std::size_t, 4>{0, 1, 2, 3}, {0, 2, 1, 3}, {3, 2, 1, 0}, {0, 1, 3, 2}}) {
      problems.push_back(copy_problem(extents, order, false));
      problems.push_back(copy_problem(extents, order, true));
    }
  }
  return problems;
}

}  // namespace mir::fast::test
