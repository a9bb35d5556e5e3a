// Evaluators of convolutions, interpolation and padding.
#include "kernels/ref/convolution.hpp"

#include <initializer_list>
#include <utility>

#include "eval/evaluators.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/pad.hpp"
#include "mir/codes/verification.hpp"
#include "mir/linalg_ops.hpp"
#include "weights/elements.hpp"

namespace mir::eval {

namespace {

/// The attribute, one entry per spatial dimension.
ref::Dims per_dimension(const EvalCall& call, AttrKey key, std::size_t spatial,
                        std::int64_t otherwise) {
  return call.has(key) ? call.integers(key) : ref::Dims(spatial, otherwise);
}

/// The weight [out, in / groups, kernel..]; without `kernel_size` the parameter's own extents.
Result<Tensor> conv_weight(EvalCall& call, std::size_t spatial, std::int64_t inputs,
                           std::int64_t outputs) {
  Shape shape{outputs, inputs};
  if (call.has(key::kKernelSize)) {
    const ref::Dims kernel = call.integers(key::kKernelSize);
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    return call.parameter(".weight", std::move(shape));
  }
  auto found = call.parameter(".weight");
  if (!found || found->shape().size() == spatial + 2) return found;
  return call.error(diag::kMissingAttribute, "attribute 'kernel_size' is missing");
}

ref::ConvOptions conv_options(const EvalCall& call, std::size_t spatial) {
  return {.stride = per_dimension(call, key::kStride, spatial, 1),
          .padding = per_dimension(call, key::kPadding, spatial, 0),
          .dilation = per_dimension(call, key::kDilation, spatial, 1),
          .groups = call.has(key::kGroups) ? call.integer(key::kGroups) : 1};
}

/// The view whose dimension i is dimension order[i] of `view`.
ref::View reordered(EvalCall& call, const ref::View& view, std::initializer_list<int> order) {
  ref::Dims extents, strides;
  for (const int dim : order) {
    extents.push_back(view.extents[static_cast<std::size_t>(dim)]);
    strides.push_back(view.strides[static_cast<std::size_t>(dim)]);
  }
  return {view.dtype, view.data, call.keep(std::move(extents)), call.keep(std::move(strides))};
}

/// Conv2D on x [N, H, W, Cin] with the weight [Kh, Kw, Cin, Cout].
Result<void> conv_channels_last(EvalCall& call) {
  const ref::ConvOptions options = conv_options(call, 2);
  ref::Dims extents = call.integers(key::kKernelSize);
  if (extents.size() == 1) extents.push_back(extents[0]);
  if (extents.size() != 2) {
    return call.error(diag::kMissingAttribute, "attribute 'kernel_size' is missing");
  }
  extents.push_back(call.operand(0).shape()[3] / options.groups);
  extents.push_back(call.result().shape()[3]);
  const auto weight = call.parameter(".weight", extents);
  if (!weight) return weight.error();
  const ref::MutableView out = call.out();
  const ref::View to = reordered(call, out, {0, 3, 1, 2});
  const ref::View from = reordered(call, call.view(*weight), {3, 2, 0, 1});
  const ref::View x = reordered(call, call.in(0), {0, 3, 1, 2});
  const ref::MutableView y{to.dtype, out.data, to.extents, to.strides};
  if (!call.owns(".bias")) return ref::conv(x, from, nullptr, options, y);
  const auto bias = call.parameter(".bias", {extents[3]});
  if (!bias) return bias.error();
  const ref::View offset = call.view(*bias);
  return ref::conv(x, from, &offset, options, y);
}

}  // namespace

Result<void> conv(EvalCall& call) {
  if (call.string(key::kImplType).starts_with("QNN_LPBQ_")) return conv_channels_last(call);
  const Shape& x = call.operand(0).shape();
  const std::size_t spatial = x.size() - 2;
  const std::int64_t outputs = call.result().shape()[1];
  const ref::ConvOptions options = conv_options(call, spatial);
  const auto weight = conv_weight(call, spatial, x[1] / options.groups, outputs);
  if (!weight) return weight.error();
  if (!call.owns(".bias")) {
    return ref::conv(call.in(0), call.view(*weight), nullptr, options, call.out());
  }
  const auto bias = call.parameter(".bias", {outputs});
  if (!bias) return bias.error();
  const ref::View offset = call.view(*bias);
  return ref::conv(call.in(0), call.view(*weight), &offset, options, call.out());
}

Result<void> interpolate(EvalCall& call) {
  const linalg::Interpolate options(call);
  const std::string_view mode = options.mode();
  const bool cubic = mode == "bicubic";
  return ref::interpolate(call.in(0),
                          {.sampling = mode == "nearest" ? ref::Sampling::kNearest
                                       : cubic           ? ref::Sampling::kCubic
                                                         : ref::Sampling::kLinear,
                           .align_corners = options.align_corners(),
                           .antialias = options.antialias() && (cubic || mode == "bilinear")},
                          call.out());
}

Result<void> pad(EvalCall& call) {
  const std::string_view mode = linalg::Pad(call).mode();
  const ref::Dims margins = call.integers(key::kPad);
  ref::Dims before(call.operand(0).shape().size(), 0);
  for (std::size_t i = 0; i < margins.size(); i += 2)
    before[before.size() - 1 - i / 2] = margins[i];
  const auto value = element_of(call.operand(0).dtype(), call.number_text(key::kValue));
  if (!value) return value.error();
  return ref::pad(call.in(0), before,
                  mode == "reflect"     ? ref::PadMode::kReflect
                  : mode == "replicate" ? ref::PadMode::kReplicate
                  : mode == "circular"  ? ref::PadMode::kCircular
                                        : ref::PadMode::kConstant,
                  call.view(*value), call.out());
}

}  // namespace mir::eval
