#include "mir/kernels/ref/convolution.hpp"

#include <fmt/format.h>

#include <optional>

#include "evaluators.hpp"
#include "mir/kernels/ref/movement.hpp"
#include "mir/kernels/ref/pad.hpp"

namespace mir::eval {

namespace {

/// The attribute, one entry per spatial dimension.
ref::Dims per_dimension(const EvalCall& call, std::string_view key, std::size_t spatial,
                        std::int64_t otherwise) {
  return call.has(key) ? call.integers(key) : ref::Dims(spatial, otherwise);
}

/// The weight [out, in / groups, kernel..]; without `kernel_size` the parameter's own extents.
Result<Tensor> conv_weight(const EvalCall& call, std::size_t spatial, std::int64_t inputs,
                           std::int64_t outputs) {
  Shape shape{outputs, inputs};
  if (call.has("kernel_size")) {
    const ref::Dims kernel = call.integers("kernel_size");
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    return call.parameter(".weight", std::move(shape));
  }
  auto found = call.parameter(".weight");
  if (!found || found->shape().size() == spatial + 2) return found;
  return call.error(DiagCode::kMissingAttribute, "attribute 'kernel_size' is missing");
}

}  // namespace

Result<void> conv(EvalCall& call) {
  if (call.string("impl_type").starts_with("QNN_LPBQ_")) {
    return call.error(DiagCode::kNotExecutable, fmt::format("weights of form '{}' are not computed",
                                                            call.string("impl_type")));
  }
  const Shape& x = call.operand(0).shape();
  const std::size_t spatial = x.size() - 2;
  const std::int64_t outputs = call.result().shape()[1];
  const ref::ConvOptions options{.stride = per_dimension(call, "stride", spatial, 1),
                                 .padding = per_dimension(call, "padding", spatial, 0),
                                 .dilation = per_dimension(call, "dilation", spatial, 1),
                                 .groups = call.has("groups") ? call.integer("groups") : 1};
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
  const std::string_view mode = call.string("mode");
  const bool cubic = mode == "bicubic";
  return ref::interpolate(call.in(0),
                          {.sampling = mode == "nearest" ? ref::Sampling::kNearest
                                       : cubic           ? ref::Sampling::kCubic
                                                         : ref::Sampling::kLinear,
                           .align_corners = call.boolean("align_corners"),
                           .antialias = call.boolean("antialias") && (cubic || mode == "bilinear")},
                          call.out());
}

Result<void> pad(EvalCall& call) {
  const std::string_view mode = call.string("mode");
  const ref::Dims margins = call.integers("pad");
  ref::Dims before(call.operand(0).shape().size(), 0);
  for (std::size_t i = 0; i < margins.size(); i += 2)
    before[before.size() - 1 - i / 2] = margins[i];
  auto value = Tensor::allocate(call.operand(0).dtype(), {});
  auto stated = Tensor::allocate(DType::kFloat64, {});
  if (!value || !stated) return value ? stated.error() : value.error();
  // Zero bytes are 0 in every type, those that have no conversion included.
  if (call.number("value") != 0) {
    stated->as_mutable<double>()[0] = call.number("value");
    const auto cast = ref::cast(call.view(*stated), call.view_to_write(*value));
    if (!cast) return cast;
  }
  return ref::pad(call.in(0), before,
                  mode == "reflect"     ? ref::PadMode::kReflect
                  : mode == "replicate" ? ref::PadMode::kReplicate
                  : mode == "circular"  ? ref::PadMode::kCircular
                                        : ref::PadMode::kConstant,
                  call.view(*value), call.out());
}

}  // namespace mir::eval
