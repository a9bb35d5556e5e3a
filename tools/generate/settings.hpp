// The options of mllm-make-decoder.
#pragma once

#include <cstdint>
#include <string>

#include "option.hpp"
#include "tools/generate/generation.hpp"
#include "tools/generate/qwen2_decoder.hpp"
#include "verification.hpp"
#include "weight_files.hpp"

namespace mir::tools {

inline constexpr Choice<DType> kProjections[] = {
    {"Float32", DType::kFloat32},       {"Float16", DType::kFloat16},
    {"BFloat16", DType::kBFloat16},     {"Q8_0", DType::kGgufQ8_0, "GGUF"},
    {"Q4_0", DType::kGgufQ4_0, "GGUF"}, {"Q4_A32", DType::kMirQ4A32, ".mllm"}};
inline constexpr Choice<bool> kIsLast[] = {{"all", false}, {"last", true}};
/// True if a file of this name is one of those that are written.
inline bool is_decoder_file(std::string_view name) {
  return name.starts_with("model.");
}
inline constexpr generate::DecoderShape kSmall;
inline constexpr generate::Sampling kSampling;
using Extent = Option<std::int64_t>;

struct DecoderSettings {
  OptionSet& options;

  OptionGroup files{options, "Files"};
  Option<std::string> output{options,
                             {.name = "output",
                              .letter = 'o',
                              .argument = "FOLDER",
                              .help = "write the files to this folder",
                              .is_needed = true},
                             written_folder(is_decoder_file)};
  Option<std::string> weights{
      options,
      {.name = "weights",
       .argument = "SPEC",
       .help =
           "take weights from random:SEED, splat:V or a file; rotary tables are always computed"},
      any_file(references_of_weights()),
      "random:1"};
  Flag no_weights{options, {.name = "no-weights", .help = "write only model.mir"}};
  Option<DType> projections{
      options,
      {.name = "projections", .argument = "TYPE", .help = "type of linear weights"},
      choice(kProjections),
      kSmall.projection_dtype};

  OptionGroup shape{options, "Shape of the model"};
  Extent layers{options,
                {.name = "layers", .argument = "N", .help = "number of layers"},
                number<std::int64_t>(),
                kSmall.layers};
  Extent hidden{
      options,
      {.name = "hidden", .argument = "N", .help = "extent of the hidden state of a token"},
      number<std::int64_t>(),
      kSmall.hidden};
  Extent heads{options,
               {.name = "heads", .argument = "N", .help = "number of query heads"},
               number<std::int64_t>(),
               kSmall.heads};
  Extent kv_heads{options,
                  {.name = "kv-heads", .argument = "N", .help = "number of key and value heads"},
                  number<std::int64_t>(),
                  kSmall.kv_heads};
  Extent head_dim{options,
                  {.name = "head-dim",
                   .argument = "N",
                   .help = "extent of a head",
                   .otherwise = "hidden / heads"},
                  number<std::int64_t>()};
  Extent ffn{options,
             {.name = "ffn", .argument = "N", .help = "inner extent of the feed-forward block"},
             number<std::int64_t>(),
             kSmall.ffn};
  Extent vocab{options,
               {.name = "vocab", .argument = "N", .help = "number of token ids"},
               number<std::int64_t>(),
               kSmall.vocab};
  Extent max_positions{
      options,
      {.name = "max-positions", .argument = "N", .help = "length of the longest sequence"},
      number<std::int64_t>(),
      kSmall.max_positions};
  Option<double> rope_theta{
      options,
      {.name = "rope-theta", .argument = "X", .help = "base of the rotary frequencies"},
      number<double>(),
      kSmall.rope_theta};
  Option<double> rms_epsilon{
      options,
      {.name = "rms-epsilon", .argument = "X", .help = "epsilon of the RMS norms"},
      number<double>(),
      kSmall.rms_epsilon};
  Option<bool> last_logits{
      options,
      {.name = "logits", .argument = "WHICH", .help = "compute the logits of these tokens"},
      choice(kIsLast),
      kSmall.last_logits};

  OptionGroup generation{options, "Generating text"};
  Extent generate{options,
                  {.name = "generate",
                   .argument = "N",
                   .help = "also write generate.mir, which generates N tokens after a prompt"},
                  number<std::int64_t>()};
  Option<double> top_p{options,
                       {.name = "top-p",
                        .argument = "X",
                        .help = "sample from the smallest set of tokens with "
                                "total probability X",
                        .needs = "generate"},
                       number<double>(),
                       kSampling.top_p};
  Extent top_k{options,
               {.name = "top-k",
                .argument = "K",
                .help = "sample from the K likeliest tokens",
                .needs = "generate"},
               number<std::int64_t>(),
               kSampling.top_k};
  Option<double> temperature{options,
                             {.name = "temperature",
                              .argument = "X",
                              .help = "divide the logits by X before sampling",
                              .needs = "generate"},
                             number<double>(),
                             kSampling.temperature};
  VerificationSettings verification{options};
};

}  // namespace mir::tools
