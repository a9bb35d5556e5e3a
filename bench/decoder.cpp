// Writes the one op of a model and expands its layers.
#include "decoder.hpp"

#include <fmt/format.h>

#include "mir/pass.hpp"
#include "mir/verify.hpp"
#include "tools/import/family.hpp"

namespace mir::bench {

Module* decoder_module(IRContext& context, const DecoderShape& shape, Diagnostics& diagnostics) {
  if (!tools::toolkit_families(context, diagnostics)) return nullptr;
  const std::string text = fmt::format(
      "@main [mir_version:2] (%ids:tensor<[$B, $S], Int64, CPU>) -> (%logits) {{\n"
      "    qwen2.ModelOp [num_hidden_layers:{}, hidden_size:{}, num_attention_heads:{}, "
      "num_key_value_heads:{}, intermediate_size:{}, vocab_size:{}, max_position_embeddings:{}, "
      "last_logits:true] (%ids) -> (%logits)\n"
      "    cf.ReturnOp (%logits) -> ()\n}}\n",
      shape.layers, shape.hidden, shape.heads, shape.kv_heads, shape.ffn, shape.vocab,
      shape.positions);
  const auto modules =
      read_modules(*context.sources().add("decoder.mir", text), context, diagnostics);
  if (diagnostics.has_errors() || !verify(*modules.front(), diagnostics)) return nullptr;
  const std::string steps = fmt::format(
      "expand-layers,decompose{{only-bodies}},quantize-weights{{*_proj.weight={0},"
      "lm_head.weight={0}}}",
      name_of(shape.linears));
  PassRegistry registry;
  register_standard_passes(registry);
  const auto pipeline =
      registry.read_pipeline(*context.sources().add("pipeline", steps), diagnostics);
  if (!pipeline || !run_pipeline(*modules.front(), *pipeline, {}, diagnostics)) return nullptr;
  return verify(*modules.front(), diagnostics) ? modules.front() : nullptr;
}

}  // namespace mir::bench
