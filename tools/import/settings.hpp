// The options of mllm-import.
#pragma once

#include <cstdint>
#include <string>

#include "option.hpp"

namespace mir::tools {

inline constexpr Choice<bool> kScoredTokens[] = {{"all", false}, {"last", true}};
inline constexpr Choice<bool> kStoredTypes[] = {
    {"file", true, "parameters that the file stores in blocks have the type of the blocks"},
    {"Float32", false, "blocks are decoded when a run needs them"}};

inline constexpr Choice<bool> kImportedParts[] = {
    {"all", false, "inputs for images included"},
    {"text", true, "its decoder of text; tensors of the other parts stay unused"}};

struct ImportSettings {
  OptionSet& options;

  OptionGroup model{options, "Model"};
  Option<std::string> family{
      options,
      {.name = "family",
       .argument = "FILE",
       .help = "read FILE, a dialect with an op 'ModelOp', and import the model as its family"},
      read_file_name("*.mir")};
  Option<bool> part{
      options,
      {.name = "part", .argument = "WHICH", .help = "import the model, or a part of it"},
      choice(kImportedParts),
      false};
  Option<bool> logits{
      options,
      {.name = "logits", .argument = "WHICH", .help = "compute the logits of these tokens"},
      choice(kScoredTokens),
      false};
  Flag padding{
      options,
      {.name = "padding", .help = "add an input %mask to an encoder: 1 for tokens, 0 for padding"}};
  Option<std::int64_t> context{
      options,
      {.name = "context",
       .argument = "N",
       .help = "choose the rotary tables that depend on the length for sequences of N tokens",
       .otherwise = "the positions of the model"},
      number<std::int64_t>()};
  Option<bool> weight_types{options,
                            {.name = "weight-types",
                             .argument = "WHICH",
                             .help = "types of parameters that are stored in blocks"},
                            choice(kStoredTypes),
                            true};
  Flag model_op{options,
                {.name = "model-op",
                 .help = "write the one op of the model and its config instead of its layers; the "
                         "module needs --dialect to run"}};
  Option<std::size_t> try_configs{
      options,
      {.name = "try-configs",
       .argument = "N",
       .help = "import nothing: verify each family with N random configs that it accepts"},
      number<std::size_t>({.least = 1, .most = 100'000})};
  Flag quiet{options, {.name = "quiet", .help = "do not show what was imported"}};
};

}  // namespace mir::tools
