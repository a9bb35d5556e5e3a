// The options of a run that a pack can carry: inputs, weights and comparisons.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dialect_files.hpp"
#include "granted.hpp"
#include "option.hpp"
#include "weight_files.hpp"
#include "weights/tensor_formats.hpp"

namespace mir::tools {

/// Runs after the first.
struct Stage {
  std::optional<std::string> graph;  ///< none: what the run before ran
  std::size_t count = 1;

  static constexpr std::size_t kMost = 1'000'000;
  /// `[GRAPH*]COUNT` or `@GRAPH`, with or without `@`
  static std::optional<Stage> parse(std::string_view text);
};

/// `TYPE=GRAPH`, with or without `@`: the name of an op and the graph that computes it.
using OpBinding = std::pair<std::string, std::string>;
std::optional<OpBinding> parse_op_binding(std::string_view text);
/// The ops that have a row and no kernel.
Completion complete_op_bindings();
/// Completions of --tolerance.
Completion complete_tolerances();

/// References of arguments. `port` is the kind of the port before the `=`.
References<std::string> references_of_spec(ReferenceKind port);
References<std::string> references_of_feed();
References<std::string> references_of_binding();
References<Stage> references_of_stage();
References<OpBinding> references_of_op_binding();

/// Arguments that name files of a pack, and ports, are read when those are known.
struct RunSettings {
  OptionSet& options;

  OptionGroup inputs{options, "Module, weights and inputs"};
  OptionList<std::string> weights{options,
                                  {.name = "weights",
                                   .letter = 'w',
                                   .argument = "SPEC",
                                   .help = "load parameters from FILE (safetensors, gguf, mllm, "
                                           "npz), random:SEED or splat:V; the last one wins"},
                                  any_file(references_of_weights(), kTensorFileEndings)};
  OptionList<std::string> input{
      options,
      {.name = "input",
       .letter = 'i',
       .argument = "[PORT=]SPEC",
       .help = "set an input, or each other one with *=SPEC, to FILE.npy, FILE.npz:MEMBER, "
               "FILE.raw[:TYPE], numbers, random:SEED (other ones for each name), zeros or iota"},
      any_file(references_of_spec(ReferenceKind::kInput), "npy npz raw bin")};
  OptionList<std::string> bind{
      options,
      {.name = "bind", .argument = "S=N", .help = "set a dimension symbol for the first run"},
      any_text(references_of_binding())};
  Option<std::string> module{
      options,
      {.name = "module", .argument = "NAME", .help = "run this module, by name or position"},
      symbol_name(ReferenceKind::kModule)};
  Option<std::string> entry{
      options,
      {.name = "entry", .argument = "GRAPH", .help = "run this graph instead of the module's body"},
      symbol_name(ReferenceKind::kGraph)};
  DialectSettings dialects{options};
  OptionList<OpBinding> bind_op{
      options,
      {.name = "bind-op",
       .argument = "TYPE=GRAPH",
       .help = "run a graph of the module for each op of this type, which has no kernel"},
      read_by(parse_op_binding, "TYPE=GRAPH", references_of_op_binding(), complete_op_bindings)};

  OptionGroup further{options, "Runs after the first"};
  OptionList<Stage> then{
      options,
      {.name = "then",
       .argument = "[GRAPH*]N",
       .help = "run the same graph, or GRAPH, N more times and keep the caches"},
      read_by(Stage::parse, fmt::format("[GRAPH*]N with N up to {}", Stage::kMost),
              references_of_stage())};
  OptionList<std::string> feed{options,
                               {.name = "feed",
                                .argument = "IN=SOURCE",
                                .help = "set an input of the --then runs: %OUT or argmax(%OUT) of "
                                        "the previous run, $past, or an --input SPEC"},
                               any_text(references_of_feed())};
  FactSettings facts{options};

  OptionGroup comparison{options, "Comparing outputs"};
  OptionList<std::string> expect{
      options,
      {.name = "expect",
       .argument = "[PORT=]SPEC",
       .help = "compare an output with this tensor and exit with 1 if "
               "they differ; {run} is the number of the run"},
      any_file(references_of_spec(ReferenceKind::kOutput), "npy npz raw bin")};
  OptionList<std::string> tolerance{
      options,
      {.name = "tolerance",
       .argument = "[TYPE:]ITEMS",
       .help = "compare by these limits, separated by commas: exact, abs=X, rel=X, ulp=X, "
               "correlation=X, cosine=X, topK=X"},
      any_text(kRefersToNothing, complete_tolerances)};

  /// Returns the number of runs.
  std::size_t run_count() const;
};

}  // namespace mir::tools
