// Evaluators of rotary embeddings.
#include "kernels/ref/rope.hpp"

#include "eval/evaluators.hpp"
#include "mir/linalg_ops.hpp"

namespace mir::eval {

namespace {

Result<void> rotate(EvalCall& call, std::string_view layout, std::int64_t partial_dim) {
  const ref::RopeOptions options{
      .layout = layout == "BSHD" ? ref::RopeLayout::kBSHD : ref::RopeLayout::kBHSD,
      .partial_dim = partial_dim};
  return ref::rope(call.in(0), call.in(1), call.in(2), options, call.out());
}

}  // namespace

Result<void> rope(EvalCall& call) {
  const linalg::RoPE options(call);
  return rotate(call, options.input_type(), options.partial_dim());
}

Result<void> multimodal_rope(EvalCall& call) {
  return rotate(call, linalg::MultimodalRoPE(call).input_type(), -1);
}

Result<void> vision_rope(EvalCall& call) {
  return rotate(call, "BSHD", -1);
}

}  // namespace mir::eval
