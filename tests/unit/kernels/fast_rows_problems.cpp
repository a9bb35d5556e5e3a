#include <fmt/format.h>

#include <optional>

#include "fast_problem.hpp"
#include "kernels/fast/rope.hpp"
#include "kernels/fast/rows.hpp"
#include "kernels/ref/norm.hpp"
#include "kernels/ref/rope.hpp"
#include "kernels/ref/softmax.hpp"

namespace mir::fast::test {
namespace {

using ref::test::Array;

struct RowsShape {
  std::int64_t rows, width;
};

constexpr RowsShape kRowsShapes[] = {{0, 5},    {3, 0},    {1, 1},    {5, 2},    {4, 7},
                                     {3, 8},    {2, 9},    {7, 16},   {2, 31},   {3, 33},
                                     {2, 64},   {5, 65},   {1, 255},  {1, 257},  {2, 513},
                                     {20, 517}, {2, 1025}, {3001, 3}, {1, 1536}, {1, 20011}};

/// Rows of x and of the output, each with a gap after it.
struct RowsLayout {
  RowsShape shape;
  std::int64_t x_stride, out_stride;
  bool in_place;

  RowsLayout(RowsShape of, bool in_place_)
      : shape(of),
        x_stride(of.width + 3),
        out_stride(in_place_ ? x_stride : of.width + 2),
        in_place(in_place_) {}

  std::int64_t memory(std::int64_t stride) const {
    return shape.rows == 0 ? 0 : (shape.rows - 1) * stride + shape.width;
  }
  std::vector<std::size_t> places(std::int64_t stride) const {
    std::vector<std::size_t> places;
    for (std::int64_t i = 0; i < shape.rows * shape.width; ++i) {
      places.push_back(static_cast<std::size_t>(i / shape.width * stride + i % shape.width));
    }
    return places;
  }
  Rows rows(const float* x, float* out) const {
    return {.x = in_place ? out : x,
            .x_stride = x_stride,
            .out = out,
            .out_stride = out_stride,
            .rows = shape.rows,
            .width = shape.width};
  }
};

/// A problem without `want` and `slack`, and its input as rows without gaps.
struct Rowwise {
  RowsLayout layout;
  FloatValues x;
  FloatValues dense;
  Problem problem;

  Rowwise(const char* name, RowsShape shape, bool in_place, double scale, double middle = 0)
      : layout(shape, in_place), x(random_floats(layout.memory(layout.x_stride), 7, scale)) {
    for (float& v : x) v = static_cast<float>(v + middle);
    for (const std::size_t place : layout.places(layout.x_stride)) dense.push_back(x[place]);
    problem.name = fmt::format("{} of {} x {} around {}{}", name, shape.rows, shape.width, middle,
                               in_place ? " in place" : "");
    problem.out_size = static_cast<std::size_t>(layout.memory(layout.out_stride));
    problem.places = layout.places(layout.out_stride);
    if (in_place) problem.before = x;
  }

  ref::Dims extents() const { return {layout.shape.rows, layout.shape.width}; }
  Array input() const { return in_double(dense, extents()); }
  std::size_t column(std::size_t i) const {
    return i % static_cast<std::size_t>(layout.shape.width);
  }
  std::size_t row(std::size_t i) const { return i / static_cast<std::size_t>(layout.shape.width); }
};

Problem rms_norm_problem(RowsShape shape, bool weighted, bool offset, double scale) {
  constexpr float kEpsilon = 1e-6F;
  Rowwise r("rms_norm", shape, offset, scale);
  const FloatValues weight = random_floats(shape.width, 8);
  const Array exact_weight = in_double(weight, {shape.width});
  Array out(DType::kFloat64, r.extents());
  const ref::View view = exact_weight;
  require_ok(ref::rms_norm(r.input(), weighted ? &view : nullptr,
                           {.epsilon = kEpsilon, .add_unit_offset = offset}, out));
  r.problem.want = out.values();
  for (const double v : r.problem.want) {
    r.problem.slack.push_back(kRmsNormError * std::fabs(v) + 0x1p-149);
  }
  r.problem.run = [=, x = r.x, layout = r.layout](float* to, Context& context) {
    rms_norm(layout.rows(x.data(), to),
             {.weight = weighted ? weight.data() : nullptr,
              .epsilon = kEpsilon,
              .add_unit_offset = offset},
             context);
  };
  return r.problem;
}

/// The bound of rows.hpp, from a row's own mean and root in long double.
std::vector<double> layer_norm_slack(const Rowwise& r, const FloatValues& weight, double epsilon,
                                     const std::vector<double>& want) {
  std::vector<double> slack;
  long double mean = 0, root = 1;
  for (std::size_t i = 0; i < r.dense.size(); ++i) {
    if (r.column(i) == 0) {
      const auto width = static_cast<std::size_t>(r.layout.shape.width);
      long double sum = 0, squares = 0;
      for (std::size_t j = i; j < i + width; ++j) sum += r.dense[j];
      mean = sum / width;
      for (std::size_t j = i; j < i + width; ++j) {
        squares += (r.dense[j] - mean) * (r.dense[j] - mean);
      }
      root = std::sqrt(squares / width + static_cast<long double>(epsilon));
    }
    const double z = static_cast<double>(std::fabs(r.dense[i] - mean) / root);
    const double w = weight.empty() ? 1.0 : std::fabs(weight[r.column(i)]);
    slack.push_back(0x1p-24 * (w * (32 + 24 * z) + std::fabs(want[i])) + 0x1p-149);
  }
  return slack;
}

Problem layer_norm_problem(RowsShape shape, bool weighted, bool biased, double scale,
                           double middle) {
  constexpr float kEpsilon = 1e-5F;
  Rowwise r("layer_norm", shape, biased, scale, middle);
  const FloatValues weight = random_floats(weighted ? shape.width : 0, 9);
  const FloatValues bias = random_floats(biased ? shape.width : 0, 10);
  const Array weights = in_double(weight, {shape.width}), biases = in_double(bias, {shape.width});
  const ref::View weight_view = weights, bias_view = biases;
  Array out(DType::kFloat64, r.extents());
  require_ok(ref::layer_norm(r.input(), weighted ? &weight_view : nullptr,
                             biased ? &bias_view : nullptr, {.epsilon = kEpsilon}, out));
  r.problem.want = out.values();
  r.problem.slack = layer_norm_slack(r, weight, kEpsilon, r.problem.want);
  r.problem.run = [=, x = r.x, layout = r.layout](float* to, Context& context) {
    layer_norm(layout.rows(x.data(), to), weighted ? weight.data() : nullptr,
               biased ? bias.data() : nullptr, kEpsilon, context);
  };
  return r.problem;
}

Problem softmax_problem(RowsShape shape, bool in_place, double scale) {
  Rowwise r("softmax", shape, in_place, scale);
  Array out(DType::kFloat64, r.extents());
  require_ok(ref::softmax(r.input(), -1, out));
  r.problem.want = out.values();
  double most = 0;
  for (std::size_t i = 0; i < r.dense.size(); ++i) {
    if (r.column(i) == 0) {
      const auto first = r.dense.begin() + static_cast<std::ptrdiff_t>(i);
      most = *std::max_element(first, first + shape.width);
    }
    r.problem.slack.push_back(0x1p-24 * (most - r.dense[i] + 48) * out[i] + 0x1p-125);
  }
  r.problem.run = [x = r.x, layout = r.layout](float* to, Context& context) {
    softmax(layout.rows(x.data(), to), context);
  };
  return r.problem;
}

Problem causal_mask_problem(RowsShape shape, std::int64_t queries,
                            std::optional<std::int64_t> window, bool in_place) {
  Rowwise r("causal_mask", shape, in_place, 5);
  const auto& [rows, width] = shape;
  const Array x(DType::kFloat32, {rows / queries, queries, width},
                std::vector<double>(r.dense.begin(), r.dense.end()));
  Array out(DType::kFloat32, {rows / queries, queries, width});
  require_ok(ref::causal_mask(x, window, true, out));
  r.problem.want = out.values();
  r.problem.slack.assign(r.problem.want.size(), 0.0);
  r.problem.name += fmt::format(", {} queries, window {}", queries, window.value_or(0));
  r.problem.run = [=, input = r.x, layout = r.layout](float* to, Context& context) {
    causal_mask(layout.rows(input.data(), to), queries, window, context);
  };
  return r.problem;
}

struct RopeShape {
  std::int64_t batches, heads, positions, width, rotated;
  bool one_table;
};

constexpr RopeShape kRopeShapes[] = {
    {1, 1, 1, 2, 2, true},    {2, 3, 5, 7, 6, false},    {1, 2, 3, 16, 16, true},
    {2, 1, 4, 34, 34, false}, {1, 14, 37, 64, 64, true}, {3, 2, 2, 80, 40, true},
    {2, 2, 3, 9, 0, true},    {0, 2, 3, 8, 8, true},     {1, 2, 0, 8, 8, true}};

/// x as [batches, positions, heads, width] in memory, out as [batches, heads, positions, width],
/// or both like x when in place.
Problem rope_problem(const RopeShape& s, bool in_place) {
  const std::int64_t count = s.batches * s.heads * s.positions * s.width;
  const std::int64_t half = s.rotated / 2, columns = half + 1;
  const std::int64_t tables = s.one_table ? 1 : s.batches;
  const FloatValues x = random_floats(count, 11);
  const FloatValues sin = random_floats(tables * s.positions * columns, 12, 1.0);
  const FloatValues cos = random_floats(tables * s.positions * columns, 13, 1.0);
  Array all = in_double(x, {s.batches, s.positions, s.heads, s.width});
  Array out(DType::kFloat64, {s.batches, s.positions, s.heads, s.width});
  require_ok(ref::rope(all, in_double(sin, {tables, s.positions, columns}),
                       in_double(cos, {tables, s.positions, columns}),
                       {.layout = ref::RopeLayout::kBSHD, .partial_dim = s.rotated}, out));
  const std::int64_t from[3] = {s.positions * s.heads * s.width, s.width, s.heads * s.width};
  const std::int64_t split[3] = {s.heads * s.positions * s.width, s.positions * s.width, s.width};
  Problem problem{.name = fmt::format("rope of {} x {} x {} x {}, {} rotated{}", s.batches, s.heads,
                                      s.positions, s.width, s.rotated, in_place ? " in place" : ""),
                  .out_size = static_cast<std::size_t>(count),
                  .before = in_place ? x : FloatValues(),
                  .want = out.values()};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t d = i % s.width, h = i / s.width % s.heads;
    const std::int64_t p = i / s.width / s.heads % s.positions;
    const std::int64_t b = i / s.width / s.heads / s.positions;
    const auto place = b * split[0] + h * split[1] + p * split[2] + d;
    problem.places.push_back(static_cast<std::size_t>(in_place ? i : place));
    const std::int64_t other = d < half ? i + half : i - half;
    problem.slack.push_back(d >= s.rotated
                                ? 0.0
                                : 0x1.8p-23 * (std::fabs(x[static_cast<std::size_t>(i)]) +
                                               std::fabs(x[static_cast<std::size_t>(other)])));
  }
  problem.run = [=](float* to, Context& context) {
    RopeOperands operands{.x = in_place ? to : x.data(),
                          .out = to,
                          .batches = s.batches,
                          .heads = s.heads,
                          .positions = s.positions,
                          .width = s.width,
                          .sin = sin.data(),
                          .cos = cos.data(),
                          .table_stride = columns,
                          .table_batch_stride = s.one_table ? 0 : s.positions * columns,
                          .rotated = s.rotated};
    std::copy_n(from, 3, operands.x_strides);
    std::copy_n(in_place ? from : split, 3, operands.out_strides);
    rope(operands, context);
  };
  return problem;
}

}  // namespace

Problems rows_problems() {
  Problems problems;
  for (const RowsShape& shape : kRowsShapes) {
    problems.push_back(rms_norm_problem(shape, true, false, 2));
    problems.push_back(rms_norm_problem(shape, true, true, 1e-3));
    problems.push_back(rms_norm_problem(shape, false, false, 1e25));  // squares overflow
    problems.push_back(layer_norm_problem(shape, true, true, 2, 0));
    problems.push_back(layer_norm_problem(shape, false, true, 3, 1000));
    problems.push_back(layer_norm_problem(shape, true, true, 1, 1e7));
    problems.push_back(layer_norm_problem(shape, true, false, 1e25, 0));
    problems.push_back(softmax_problem(shape, false, 2));
    problems.push_back(softmax_problem(shape, true, 80));
    problems.push_back(causal_mask_problem(shape, 1, 2, false));
  }
  for (const std::int64_t queries : {2, 5, 10}) {
    for (const std::int64_t keys : {1, 5, 9, 33}) {
      problems.push_back(causal_mask_problem({10, keys}, queries, {}, queries == 5));
      problems.push_back(causal_mask_problem({10, keys}, queries, 3, queries == 5));
    }
  }
  return problems;
}

Problems rope_problems() {
  Problems problems;
  for (const RopeShape& shape : kRopeShapes) {
    problems.push_back(rope_problem(shape, false));
    problems.push_back(rope_problem(shape, true));
  }
  return problems;
}

}  // namespace mir::fast::test
