// Error bounds of fast kernels relative to the reference kernels on the same operands.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/evaluate.hpp"
#include "mir/compute.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// A step that both sets of kernels computed.
struct BoundedStep {
  const Op& op;
  std::span<const Tensor> operands;
  EvalEnvironment environment;  ///< that of the reference kernels, which may evaluate more
  Activations activations = Activations::kFloat32;
};

/// Error bound of a fast kernel: the bound that it documents, for the operands of a step, plus the
/// rounding of the reference kernel.
struct ErrorBound {
  /// Returns a distance for each element of `expected`, a result by the reference kernel.
  Result<std::vector<double>> (*distances)(const ErrorBound& bound, const BoundedStep& step,
                                           const Tensor& expected) = nullptr;
  // Bound of functions of one element, in units in the last place: `ulps`, plus `ulps_of_exponent`
  // for each unit of the exponent to which they take e.
  double ulps = 0;
  double ulps_of_exponent = 0;
  double (*exponent)(double x) = nullptr;  ///< null: 0
  /// True if kernels round activations and weights as the run requests.
  bool takes_activations = false;
  /// Bound of results that are codes; no value if it depends on what the codes mean.
  std::optional<double> codes = {};
};

namespace distances {

Result<std::vector<double>> zero(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> function(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> product(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> sum(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> softmax(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> rms_norm(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> layer_norm(const ErrorBound&, const BoundedStep&,
                                       const Tensor& expected);
Result<std::vector<double>> rope(const ErrorBound&, const BoundedStep&, const Tensor& expected);
Result<std::vector<double>> attention(const ErrorBound&, const BoundedStep&,
                                      const Tensor& expected);

}  // namespace distances

/// Kernels that move elements, or round once as the reference kernels do.
inline constexpr ErrorBound kSameNumber = {distances::zero};
/// fast/elementwise.hpp.
constexpr ErrorBound in_ulps(double ulps, double ulps_of_exponent = 0,
                             double (*exponent)(double x) = nullptr) {
  return {distances::function, ulps, ulps_of_exponent, exponent};
}
/// fast/matrix/linear.hpp and product.hpp; the bias and the reference round once each. A sum in
/// Float32 near the middle of two codes may round to the next one.
inline constexpr ErrorBound kProductBound = {.distances = distances::product, .codes = 1};
inline constexpr ErrorBound kLinearBound = {
    .distances = distances::product, .takes_activations = true, .codes = 1};
/// fast/reduction.hpp.
inline constexpr ErrorBound kSumBound = {distances::sum};
/// fast/rows.hpp.
inline constexpr ErrorBound kSoftmaxBound = {distances::softmax};
inline constexpr ErrorBound kRmsNormBound = {distances::rms_norm};
inline constexpr ErrorBound kLayerNormBound = {distances::layer_norm};
/// fast/rope.hpp.
inline constexpr ErrorBound kRopeBound = {distances::rope};
/// fast/attention.hpp.
inline constexpr ErrorBound kAttentionBound = {distances::attention};

/// Returns, for each element of `expected`, a result by the reference kernels, the distance within
/// which the fast kernel's must be: that of the row of the op, 0 for an op without one. Returns no
/// value where the bound depends on what codes mean, or on the ops in control flow: the tolerance
/// of the element type counts.
Result<std::optional<std::vector<double>>> kernel_bounds(const BoundedStep& step,
                                                         const Tensor& expected);

}  // namespace mir
