// note [magnitudes]: the bounds of products and sums are multiples of the same op on absolute
// values. The reference kernel computes that, so shapes, strides, groups and padding are its own.
#include "plan/kernel_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/parameters.hpp"
#include "kernels/fast/rows.hpp"
#include "mir/control_flow.hpp"
#include "plan/fast_ops.hpp"
#include "plan/step_work.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

using Distances = std::vector<double>;

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
Distances each_of(const Tensor& expected, F f) {
  Distances bounds(static_cast<std::size_t>(expected.elements()));
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

/// Upper bounds of the sums of absolute terms of a weight in blocks, where a scale times a code and
/// a minimum may cancel. A minimum is hardly larger than the largest weight of its run, so |s c| +
/// |m| is within three times that.
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

// -- distances ------------------------------------------------------------------------------------

double depth_of(const BoundedStep& step, const Tensor& expected) {
  std::vector<TensorExtents> operands;
  for (const Tensor& each : step.operands) operands.push_back({each.dtype(), each.shape()});
  const TensorExtents result{expected.dtype(), expected.shape()};
  const double flop =
      work_of({step.op, operands, std::span(&result, 1), *step.environment.parameters}).flop;
  return flop / 2 / static_cast<double>(std::max<std::int64_t>(expected.elements(), 1));
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

}  // namespace

namespace distances {

Result<std::vector<double>> zero(const ErrorBound&, const BoundedStep&, const Tensor& expected) {
  return Distances(static_cast<std::size_t>(expected.elements()), 0.0);
}

Result<std::vector<double>> product(const ErrorBound& bound, const BoundedStep& step,
                                    const Tensor& expected) {
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
  if (bound.takes_activations && step.activations == Activations::kBFloat16) {
    share += 0x1p-6 * 0.51;  // 2^-6.99
    least += 0x1p-125 * depth;
  }
  return each_of(expected, [&](std::size_t i) {
    const double want = std::fabs(element_as_double(expected, static_cast<std::int64_t>(i)));
    return (share + 2 * kUnit) * (*sums)[i] + 2 * kUnit * want + least;
  });
}

Result<std::vector<double>> sum(const ErrorBound&, const BoundedStep& step,
                                const Tensor& expected) {
  const auto sums = magnitudes(step);
  if (!sums) return sums.error();
  const auto length = static_cast<double>(step.operands[0].elements()) /
                      static_cast<double>(std::max<std::int64_t>(expected.elements(), 1));
  return each_of(expected, [&](std::size_t i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    return length * 0x1p-52 * (*sums)[i] + unit_at(want);
  });
}

Result<std::vector<double>> function(const ErrorBound& bound, const BoundedStep& step,
                                     const Tensor& expected) {
  constexpr double kVanishes = 200;  // e^-200 is 0 in Float32
  return each_of(expected, [&](std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    const double x = element_as_double(step.operands[0], at);
    const double v = bound.exponent == nullptr ? 0 : std::fabs(bound.exponent(x));
    const double ulps = v < kVanishes ? bound.ulps + bound.ulps_of_exponent * v + 1 : 1;
    return ulps * unit_at(element_as_double(expected, at));
  });
}

/// fast/rows.hpp; m - x_i is at most -log out_i.
Result<std::vector<double>> softmax(const ErrorBound&, const BoundedStep&, const Tensor& expected) {
  return each_of(expected, [&](std::size_t i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    const double below = want > 0 ? -std::log(want) : 0;
    return kUnit * (std::max(below, 0.0) + 49) * want + 0x1p-125;
  });
}

Result<std::vector<double>> rms_norm(const ErrorBound&, const BoundedStep&,
                                     const Tensor& expected) {
  return each_of(expected, [&](std::size_t i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    return (fast::kRmsNormError + kUnit) * std::fabs(want) + kTiny;
  });
}

/// fast/rows.hpp: z times the weight is the result without its bias.
Result<std::vector<double>> layer_norm(const ErrorBound&, const BoundedStep& step,
                                       const Tensor& expected) {
  const auto weight = largest_parameter(step, ".weight", 1),
             bias = largest_parameter(step, ".bias", 0);
  return each_of(expected, [&](std::size_t i) {
    const double want = std::fabs(element_as_double(expected, static_cast<std::int64_t>(i)));
    return kUnit * (32 * *weight + 24 * (want + *bias) + 2 * want) + kTiny;
  });
}

/// fast/rope.hpp.
Result<std::vector<double>> rope(const ErrorBound&, const BoundedStep& step,
                                 const Tensor& expected) {
  const double tables = std::max({1.0, largest_of(step.operands[1]), largest_of(step.operands[2])});
  const double bound = 3 * 0x1p-23 * tables * largest_of(step.operands[0]);
  return each_of(expected, [&](std::size_t) { return bound + kTiny; });
}

/// fast/attention.hpp; sum_d |q_d k_d| is at most the product of the lengths.
Result<std::vector<double>> attention(const ErrorBound&, const BoundedStep& step,
                                      const Tensor& expected) {
  const Tensor &q = step.operands[0], &k = step.operands[1], &v = step.operands[2];
  const auto width = static_cast<double>(q.shape()[3]), keys = static_cast<double>(k.shape()[1]);
  const double a = longest_row(q) * longest_row(k) / std::sqrt(width);
  const double bound = kUnit * (2 * a * (width + 8) + 257 + keys / 16) * largest_of(v) + kTiny;
  return each_of(expected, [&](std::size_t) { return bound; });
}

}  // namespace distances

Result<std::optional<std::vector<double>>> kernel_bounds(const BoundedStep& step,
                                                         const Tensor& expected) {
  const auto* const codes = step.environment.quantisations;
  const FastOp* row = find_fast_op(step.op);
  const bool runs_others =
      step.op.first_region() != nullptr || callee_of(step.op) || step.op.has(Trait::kTerminator);
  if (row == nullptr && runs_others) return std::optional<Distances>();
  const ErrorBound& bound = row == nullptr ? kSameNumber : row->bound;
  if (codes != nullptr && touches_codes(step.op, *codes)) {
    const bool gives_codes = info(expected.dtype()).type_class == DTypeClass::kQuantised;
    if (!bound.codes || !gives_codes) return std::optional<Distances>();
    return std::optional(Distances(static_cast<std::size_t>(expected.elements()), *bound.codes));
  }
  if (!is_real(expected.dtype())) return std::optional<Distances>();
  auto distances = bound.distances(bound, step, expected);
  if (!distances) return std::move(distances).error();
  return std::optional(*std::move(distances));
}

}  // namespace mir
