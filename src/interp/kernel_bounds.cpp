// note [magnitudes]: the bounds of products and sums are multiples of the same op on absolute
// values. The reference kernel computes that, so shapes, strides, groups and padding are its own.
#include "interp/kernel_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/parameters.hpp"
#include "ir/op_table.hpp"
#include "kernels/fast/elementwise.hpp"
#include "kernels/fast/rows.hpp"
#include "plan/work.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

using Bounds = std::vector<double>;

constexpr double kUnit = 0x1p-24;       // half a unit in the last place, relative
constexpr double kTiny = 0x1p-149;      // the smallest Float32
constexpr std::int64_t kLeastRun = 16;  // of blocks, whose sums are rounded one by one

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(tensor.elements()));
  elements_as_doubles(tensor, 0, numbers);
  return numbers;
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (const double each : numbers_of(tensor)) largest = std::max(largest, std::fabs(each));
  return largest;
}

/// One unit in the last place of a Float32 near `value`.
double unit_at(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

/// f(i) for each element.
template <class F>
Bounds each_of(const Tensor& expected, F f) {
  Bounds bounds(static_cast<std::size_t>(expected.elements()));
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = f(i);
  return bounds;
}

// -- magnitudes -----------------------------------------------------------------------------------

/// |x| in Float32; indices stay as they are.
Result<Tensor> magnitude_of(const Tensor& x) {
  if (!is_float(x.dtype())) return x;
  auto out = Tensor::allocate(DType::kFloat32, x.shape());
  if (!out) return out;
  const auto to = out->as_mutable<float>();
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    to[static_cast<std::size_t>(i)] = static_cast<float>(std::fabs(element_as_double(x, i)));
  }
  return out;
}

/// What the terms of a weight in blocks add up to at the most: a scale times a code and a minimum
/// may cancel. A minimum is hardly larger than the largest weight of its run, so |s c| + |m| is
/// within three times that.
Result<Tensor> magnitude_of_blocks(const Tensor& blocks) {
  auto real = dequantise(blocks);
  if (!real) return real;
  auto out = magnitude_of(*real);
  if (!out) return out;
  const auto to = out->as_mutable<float>();
  for (std::size_t first = 0; first < to.size(); first += kLeastRun) {
    const auto run = to.subspan(first, std::min<std::size_t>(kLeastRun, to.size() - first));
    std::ranges::fill(run, 3 * *std::ranges::max_element(run));
  }
  return out;
}

bool has_blocks(const BoundedStep& step) {
  for (const OwnedParameter& owned : owned_parameters(step.op)) {
    const auto found = step.environment.parameters->find(owned.symbol);
    if (found != step.environment.parameters->end() && rounds_activations(found->second.dtype()))
      return true;
  }
  return false;
}

Result<ParameterTable> parameter_magnitudes(const BoundedStep& step) {
  ParameterTable table;
  for (const OwnedParameter& owned : owned_parameters(step.op)) {
    const auto found = step.environment.parameters->find(owned.symbol);
    if (found == step.environment.parameters->end()) continue;
    const Tensor& stored = found->second;
    const bool is_block = info(stored.dtype()).type_class == DTypeClass::kBlock;
    auto magnitude = is_block ? magnitude_of_blocks(stored) : magnitude_of(stored);
    if (!magnitude) return std::move(magnitude).error();
    table.emplace(owned.symbol, *std::move(magnitude));
  }
  return table;
}

/// The op on absolute values. See note [magnitudes].
Result<std::vector<double>> magnitudes(const BoundedStep& step) {
  const auto parameters = parameter_magnitudes(step);
  if (!parameters) return parameters.error();
  std::vector<Tensor> operands;
  for (const Tensor& each : step.operands) {
    auto magnitude = magnitude_of(each);
    if (!magnitude) return std::move(magnitude).error();
    operands.push_back(*std::move(magnitude));
  }
  EvalEnvironment environment = step.environment;
  environment.parameters = &*parameters;
  auto results = evaluate(step.op, operands, environment);
  if (!results) return std::move(results).error();
  return numbers_of(results->front());
}

// -- bounds ---------------------------------------------------------------------------------------

double depth_of(const BoundedStep& step, const Tensor& expected) {
  std::vector<TensorExtents> operands;
  for (const Tensor& each : step.operands) operands.push_back({each.dtype(), each.shape()});
  const TensorExtents result{expected.dtype(), expected.shape()};
  const double flop =
      work_of(step.op, operands, std::span(&result, 1), *step.environment.parameters).flop;
  return flop / 2 / static_cast<double>(std::max<std::int64_t>(expected.elements(), 1));
}

/// fast/matrix/linear.hpp and product.hpp; the bias and the reference round once each.
Result<Bounds> product_bounds(const BoundedStep& step, const Tensor& expected) {
  const auto sums = magnitudes(step);
  if (!sums) return sums.error();
  const double depth = depth_of(step, expected);
  double share = kUnit * (256 + depth / 256);
  if (has_blocks(step)) {
    // Activations are rounded to 8 bits first. That adds half a code to each at the most, which is
    // 1/254 of the largest of its run: much less than what doubles the sum.
    share = 2 * kUnit * (2 * depth / kLeastRun + 4);
  }
  double least = kTiny;
  if (step.activations == Activations::kBFloat16 && step.op.is(OpId::kLinalgLinear)) {
    share += 0x1p-6 * 0.51;  // 2^-6.99
    least += 0x1p-125 * depth;
  }
  return each_of(expected, [&](std::size_t i) {
    const double want = std::fabs(element_as_double(expected, static_cast<std::int64_t>(i)));
    return (share + 2 * kUnit) * (*sums)[i] + 2 * kUnit * want + least;
  });
}

/// fast/reduction.hpp.
Result<Bounds> sum_bounds(const BoundedStep& step, const Tensor& expected) {
  const auto sums = magnitudes(step);
  if (!sums) return sums.error();
  const auto length = static_cast<double>(step.operands[0].elements()) /
                      static_cast<double>(std::max<std::int64_t>(expected.elements(), 1));
  return each_of(expected, [&](std::size_t i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    return length * 0x1p-52 * (*sums)[i] + unit_at(want);
  });
}

struct FunctionRow {
  OpId op;
  double ulps;
  double factor = 0;
  double (*exponent)(double) = [](double) { return 0.0; };
};

constexpr double negative_part(double x) {
  return x < 0 ? x : 0;
}

/// fast/elementwise.hpp; the exponents are those of its functions.
constexpr OpTable kFunctions({
    FunctionRow{OpId::kLinalgExp, fast::kExpUlp},
    FunctionRow{OpId::kLinalgLog, fast::kLogUlp},
    FunctionRow{OpId::kLinalgSin, fast::kCircularUlp},
    FunctionRow{OpId::kLinalgCos, fast::kCircularUlp},
    FunctionRow{OpId::kLinalgSigmoid, fast::kUnaryUlp, fast::kSigmoidExponentUlp, negative_part},
    FunctionRow{OpId::kLinalgSiLU, fast::kUnaryUlp, fast::kSigmoidExponentUlp, negative_part},
    FunctionRow{OpId::kLinalgGELU, fast::kUnaryUlp, fast::kGeluExponentUlp,
                [](double x) { return x < 0 ? 1.5957691216 * (x + 0.044715 * x * x * x) : 0.0; }},
    FunctionRow{OpId::kLinalgQuickGELU, fast::kUnaryUlp, fast::kQuickGeluExponentUlp,
                [](double x) { return 1.702 * negative_part(x); }},
});

Result<Bounds> function_bounds(const BoundedStep& step, const Tensor& expected) {
  constexpr double kVanishes = 200;  // e^-200 is 0 in Float32
  const FunctionRow& row = *kFunctions.find(step.op);
  return each_of(expected, [&](std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    const double v = std::fabs(row.exponent(element_as_double(step.operands[0], at)));
    const double ulps = v < kVanishes ? row.ulps + row.factor * v + 1 : 1;
    return ulps * unit_at(element_as_double(expected, at));
  });
}

/// fast/rows.hpp; m - x_i is at most -log out_i.
Result<Bounds> softmax_bounds(const BoundedStep&, const Tensor& expected) {
  return each_of(expected, [&](std::size_t i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    const double below = want > 0 ? -std::log(want) : 0;
    return kUnit * (std::max(below, 0.0) + 49) * want + 0x1p-125;
  });
}

Result<Bounds> rms_norm_bounds(const BoundedStep&, const Tensor& expected) {
  return each_of(expected, [&](std::size_t i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    return (fast::kRmsNormError + kUnit) * std::fabs(want) + kTiny;
  });
}

/// The largest magnitude of a parameter; `otherwise` without it.
Result<double> largest_parameter(const BoundedStep& step, std::string_view suffix,
                                 double otherwise) {
  for (const OwnedParameter& owned : owned_parameters(step.op)) {
    const auto found = step.environment.parameters->find(owned.symbol);
    if (owned.suffix == suffix && found != step.environment.parameters->end())
      return largest_of(found->second);
  }
  return otherwise;
}

/// fast/rows.hpp: z times the weight is the result without its bias.
Result<Bounds> layer_norm_bounds(const BoundedStep& step, const Tensor& expected) {
  const auto weight = largest_parameter(step, ".weight", 1),
             bias = largest_parameter(step, ".bias", 0);
  return each_of(expected, [&](std::size_t i) {
    const double want = std::fabs(element_as_double(expected, static_cast<std::int64_t>(i)));
    return kUnit * (32 * *weight + 24 * (want + *bias) + 2 * want) + kTiny;
  });
}

/// fast/rope.hpp.
Result<Bounds> rope_bounds(const BoundedStep& step, const Tensor& expected) {
  const double bound = 3 * 0x1p-23 * largest_of(step.operands[0]);
  return each_of(expected, [&](std::size_t) { return bound + kTiny; });
}

/// The largest length of a vector along the last dimension.
double longest_row(const Tensor& tensor) {
  const std::int64_t width = tensor.rank() == 0 ? 1 : tensor.shape().back();
  const std::vector<double> numbers = numbers_of(tensor);
  double longest = 0, squares = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % static_cast<std::size_t>(width) == 0) squares = 0;
    squares += numbers[i] * numbers[i];
    longest = std::max(longest, squares);
  }
  return std::sqrt(longest);
}

/// fast/attention.hpp; sum_d |q_d k_d| is at most the product of the lengths.
Result<Bounds> attention_bounds(const BoundedStep& step, const Tensor& expected) {
  const Tensor &q = step.operands[0], &k = step.operands[1], &v = step.operands[2];
  const auto width = static_cast<double>(q.shape()[3]), keys = static_cast<double>(k.shape()[1]);
  const double a = longest_row(q) * longest_row(k) / std::sqrt(width);
  const double bound = kUnit * (2 * a * (width + 8) + 257 + keys / 16) * largest_of(v) + kTiny;
  return each_of(expected, [&](std::size_t) { return bound; });
}

struct BoundRow {
  OpId op;
  Result<Bounds> (*bounds)(const BoundedStep& step, const Tensor& expected);
};

/// What fast kernels round otherwise than the reference kernels do. All others move elements or
/// round once, as the reference kernels do.
constexpr OpTable kBounds({
    BoundRow{OpId::kLinalgLinear, product_bounds},
    BoundRow{OpId::kLinalgMatMul, product_bounds},
    BoundRow{OpId::kLinalgConv1D, product_bounds},
    BoundRow{OpId::kLinalgConv2D, product_bounds},
    BoundRow{OpId::kLinalgConv3D, product_bounds},
    BoundRow{OpId::kLinalgReduceSum, sum_bounds},
    BoundRow{OpId::kLinalgMean, sum_bounds},
    BoundRow{OpId::kLinalgExp, function_bounds},
    BoundRow{OpId::kLinalgLog, function_bounds},
    BoundRow{OpId::kLinalgSin, function_bounds},
    BoundRow{OpId::kLinalgCos, function_bounds},
    BoundRow{OpId::kLinalgSigmoid, function_bounds},
    BoundRow{OpId::kLinalgSiLU, function_bounds},
    BoundRow{OpId::kLinalgGELU, function_bounds},
    BoundRow{OpId::kLinalgQuickGELU, function_bounds},
    BoundRow{OpId::kLinalgSoftmax, softmax_bounds},
    BoundRow{OpId::kLinalgRMSNorm, rms_norm_bounds},
    BoundRow{OpId::kLinalgLayerNorm, layer_norm_bounds},
    BoundRow{OpId::kLinalgRoPE, rope_bounds},
    BoundRow{OpId::kLinalgMultimodalRoPE, rope_bounds},
    BoundRow{OpId::kLinalgVisionRoPE, rope_bounds},
    BoundRow{OpId::kLinalgFlashAttention2, attention_bounds},
});

}  // namespace

Result<std::optional<std::vector<double>>> kernel_bounds(const BoundedStep& step,
                                                         const Tensor& expected) {
  const auto* const codes = step.environment.quantisations;
  const BoundRow* row = kBounds.find(step.op);
  const bool is_product = row != nullptr && row->bounds == product_bounds;
  if (codes != nullptr && touches_codes(step.op, *codes)) {
    const bool gives_codes = info(expected.dtype()).type_class == DTypeClass::kQuantised;
    if (!is_product || !gives_codes) return std::optional<Bounds>();
    // A sum in Float32 near the middle of two codes may round to the next one.
    return std::optional(Bounds(static_cast<std::size_t>(expected.elements()), 1.0));
  }
  if (!is_real(expected.dtype())) return std::optional<Bounds>();
  if (row == nullptr) {
    return std::optional(Bounds(static_cast<std::size_t>(expected.elements()), 0.0));
  }
  auto bounds = row->bounds(step, expected);
  if (!bounds) return std::move(bounds).error();
  return std::optional(*std::move(bounds));
}

}  // namespace mir
