// Evaluators of normalisations, softmax and the causal mask.
#include "kernels/ref/norm.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/evaluators.hpp"
#include "kernels/ref/common/indices.hpp"
#include "kernels/ref/softmax.hpp"
#include "mir/linalg_ops.hpp"

namespace mir::eval {

Result<void> rms_norm(EvalCall& call) {
  const linalg::RMSNorm stated(call);
  const ref::RmsNormOptions options{.epsilon = stated.epsilon(),
                                    .add_unit_offset = stated.add_unit_offset()};
  std::optional<ref::View> scale;
  Tensor owned;
  if (call.operand_count() == 2) {
    scale = call.in(1);
  } else if (call.owns(".weight")) {
    auto weight = call.parameter(".weight", {call.operand(0).shape().back()});
    if (!weight) return std::move(weight).error();
    owned = *std::move(weight);
    scale = call.view(owned);
  }
  return ref::rms_norm(call.in(0), scale ? &*scale : nullptr, options, call.out());
}

namespace {

/// The layer norm of `x` over its trailing dimensions with the parameters that the op owns.
Result<void> normalise(EvalCall& call, const ref::View& x, std::int64_t dims,
                       const ref::MutableView& out) {
  const auto row = x.extents.last(static_cast<std::size_t>(dims));
  std::optional<ref::View> views[2];
  Tensor tensors[2];
  constexpr std::string_view kSuffixes[] = {".weight", ".bias"};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.owns(kSuffixes[i])) continue;
    auto found = call.parameter(kSuffixes[i], Shape(row.begin(), row.end()));
    if (!found) return std::move(found).error();
    tensors[i] = *std::move(found);
    views[i] = call.view(tensors[i]);
  }
  return ref::layer_norm(x, views[0] ? &*views[0] : nullptr, views[1] ? &*views[1] : nullptr,
                         {.epsilon = call.number(key::kEps), .normalised_dims = dims}, out);
}

/// Dimension 1 of [N, C, H, W] moved to the end.
ref::Dims channels_last(std::span<const std::int64_t> dims) {
  return {dims[0], dims[2], dims[3], dims[1]};
}

}  // namespace

Result<void> layer_norm(EvalCall& call) {
  const auto dims = call.attribute(key::kNormalizedShape)->elements().size();
  return normalise(call, call.in(0), static_cast<std::int64_t>(dims), call.out());
}

Result<void> layer_norm_2d(EvalCall& call) {
  const ref::View x = call.in(0);
  const auto extents = call.keep(channels_last(x.extents));
  const auto strides = call.keep(channels_last(x.strides));
  return normalise(call, {x.dtype, x.data, extents, strides}, 1,
                   {x.dtype, call.out().data, extents, strides});
}

Result<void> softmax(EvalCall& call) {
  return ref::softmax(call.in(0), linalg::Softmax(call).axis(), call.out());
}

Result<void> causal_mask(EvalCall& call) {
  const linalg::CausalMask options(call);
  std::optional<std::int64_t> window;
  if (options.sliding_window()) window = options.window_size();
  std::vector<std::int64_t> positions;
  if (call.operand_count() > 1) positions = ref::all_indices(call.in(1));
  return ref::causal_mask(call.in(0), window, options.masks_one_query(), call.out(), positions);
}

}  // namespace mir::eval
