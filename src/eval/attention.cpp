// Evaluators of the attention ops.
#include "kernels/ref/attention.hpp"

#include <cstdint>
#include <vector>

#include "eval/evaluators.hpp"
#include "kernels/ref/common/indices.hpp"
#include "mir/codes/runs.hpp"
#include "mir/linalg_ops.hpp"

namespace mir::eval {

Result<void> flash_attention2(EvalCall& call) {
  std::vector<std::int64_t> positions;
  if (call.operand_count() > 3) positions = ref::all_indices(call.in(3));
  return ref::attention({.q = call.in(0), .k = call.in(1), .v = call.in(2), .positions = positions},
                        {.causal = linalg::FlashAttention2(call).causal_mask(), .window = {}},
                        call.out(), nullptr);
}

Result<void> swa_sink_attention(EvalCall& call) {
  const linalg::FlashAttention2SwaSink options(call);
  ref::View sinks;
  if (options.s_aux_enable()) sinks = call.in(3);
  return ref::attention({.q = call.in(0),
                         .k = call.in(1),
                         .v = call.in(2),
                         .sinks = options.s_aux_enable() ? &sinks : nullptr},
                        {.window = options.sliding_window()}, call.out(), nullptr);
}

Result<void> paged_attention(EvalCall& call) {
  const ref::View rows = call.in(3);
  const bool has_mask = call.operand_count() > 4;
  const ref::View mask = has_mask ? call.in(4) : ref::View{};
  ref::MutableView weights;
  const bool wants_weights = linalg::PagedAttn(call).need_attn_weights();
  if (wants_weights) weights = call.out(1);
  return ref::attention({.q = call.in(0),
                         .k = call.in(1),
                         .v = call.in(2),
                         .key_rows = &rows,
                         .value_rows = &rows,
                         .mask = has_mask ? &mask : nullptr},
                        {.causal = false, .window = {}}, call.out(),
                        wants_weights ? &weights : nullptr);
}

namespace {

/// A store [T, B, H, D] as [B, T, H, D].
ref::View batch_first(EvalCall& call, const ref::View& store) {
  const auto swapped = [&](std::span<const std::int64_t> dims) {
    return call.keep({dims[1], dims[0], dims[2], dims[3]});
  };
  return {store.dtype, store.data, swapped(store.extents), swapped(store.strides)};
}

}  // namespace

Result<void> radix_attention(EvalCall& call) {
  if (call.operand_count() < 5) {
    return call.error(diag::kNotExecutable,
                      "operands 1 and 2 are machine addresses, which mean nothing here; give row "
                      "numbers, and the keys and values as operands 3 and 4");
  }
  const ref::View key_rows = call.in(1), value_rows = call.in(2);
  const bool has_sinks = call.has(key::kSAuxEnable) && call.boolean(key::kSAuxEnable);
  const ref::View sinks = has_sinks ? call.in(5) : ref::View{};
  ref::AttentionOptions options;
  if (call.has(key::kSlidingWindow)) options.window = call.integer(key::kSlidingWindow);
  return ref::attention({.q = call.in(0),
                         .k = batch_first(call, call.in(3)),
                         .v = batch_first(call, call.in(4)),
                         .key_rows = &key_rows,
                         .value_rows = &value_rows,
                         .sinks = has_sinks ? &sinks : nullptr},
                        options, call.out(), nullptr);
}

}  // namespace mir::eval
