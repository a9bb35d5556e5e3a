// The options of mllm-weights.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "conversion.hpp"
#include "dialect_files.hpp"
#include "option.hpp"
#include "option_pages.hpp"
#include "recipe_plan.hpp"
#include "report_format.hpp"
#include "tools/interp/run_settings.hpp"
#include "weight_files.hpp"

namespace mir::tools {

extern const ToolInfo kWeightsTool;

enum class WeightsCommand : std::uint8_t { kList, kStats, kDiff, kMatch, kConvert, kInvent, kPlan };

inline constexpr CommandRow<WeightsCommand> kWeightsCommands[] = {
    {{.name = "list",
      .summary = "list name, type, extents and bytes of every tensor",
      .operands = "one file or more"},
     WeightsCommand::kList},
    {{.name = "stats",
      .summary = "show range, mean, deviation and counts of every tensor",
      .operands = "one file or more"},
     WeightsCommand::kStats},
    {{.name = "diff",
      .summary = "compare two files; exit with 1 if they differ",
      .operands = "two files",
      .fewest = 2,
      .most = 2},
     WeightsCommand::kDiff},
    {{.name = "match",
      .summary = "compare files with the parameters of a module, which is the first operand",
      .operands = "a module and one file or more",
      .fewest = 2},
     WeightsCommand::kMatch},
    {{.name = "convert",
      .summary = "write one file in another format, with other types or other names",
      .operands = "one file or more"},
     WeightsCommand::kConvert},
    {{.name = "invent",
      .summary = "write a file with random weights for the parameters of a module",
      .operands = "a module",
      .fewest = 1,
      .most = 1},
     WeightsCommand::kInvent},
    {{.name = "plan",
      .summary = "choose types of weights for a budget, measured by runs of a module, which is the "
                 "first operand",
      .operands = "a module and one file or more",
      .fewest = 2},
     WeightsCommand::kPlan}};

enum class PlanKernels : std::uint8_t { kRef, kFast };
inline constexpr Choice<PlanKernels> kPlanKernels[] = {{"ref", PlanKernels::kRef},
                                                       {"fast", PlanKernels::kFast}};
/// A format of weight files for `convert`, or of tables for `plan`.
struct WrittenFormat {
  std::optional<TensorFormat> file{};
  std::optional<TableFormat> table{};
  friend bool operator==(const WrittenFormat&, const WrittenFormat&) = default;
};
Argument<WrittenFormat> written_format();
/// `ITEM,ITEM..` for tensors of any type.
Result<Tolerance> parse_tolerance(std::string_view text);

/// The name of a type that values are converted to.
Argument<DType> target_type_name();
/// `[PATTERN=]TYPE`
Argument<TypeRule> type_rule();
/// `KEY=TEXT`
using MetadataEntry = std::pair<std::string, std::string>;
std::optional<MetadataEntry> parse_metadata(std::string_view text);

/// The pattern of tensor names in a rule.
template <class Rule, class Pattern>
References<Rule> pattern_of(Pattern pattern) {
  constexpr auto kKind = ReferenceKind::kTensor;
  return {{kKind}, [pattern](const Rule& rule) {
            return std::vector<Reference>{{kKind, std::string(std::invoke(pattern, rule).text())}};
          }};
}

struct WeightsSettings {
  OptionSet& options;
  Command<WeightsCommand> command{options, kWeightsCommands};
  OptionSet convert{options, "convert"}, list{options, "list"}, diff{options, "diff"},
      match{options, "match"}, plan{options, "plan"}, invent{options, "invent"},
      modules{options, "convert invent match plan"}, one_module{options, "match plan"},
      files{options, "convert invent"}, written{options, "convert invent plan"};

  Option<std::string> output{files,
                             {.name = "output",
                              .letter = 'o',
                              .argument = "FILE",
                              .help = "write to FILE",
                              .is_needed = true},
                             written_file(kTensorFileEndings)};
  Option<WrittenFormat> format{written,
                               {.name = "format",
                                .argument = "FORMAT",
                                .help = "write in this format",
                                .otherwise = "the extension of FILE; table"},
                               written_format()};
  OptionList<Renaming> rename{
      convert,
      {.name = "rename",
       .argument = "PATTERN=NAME",
       .help = "rename tensors; each * of NAME is what that * of PATTERN matched; the first match "
               "wins"},
      read_by(Renaming::parse, "PATTERN=NAME with at most as many * in NAME",
              pattern_of<Renaming>(&Renaming::pattern))};
  OptionList<TypeRule> dtype{convert,
                             {.name = "dtype",
                              .argument = "[PATTERN=]TYPE[/OTHER]",
                              .help = "convert float tensors and blocks to TYPE, such as f16 "
                                      "(Float16) or q4_0, or to OTHER if TYPE does not fit; the "
                                      "last match wins"},
                             type_rule()};
  Option<std::string> types_of{
      convert,
      {.name = "types-of",
       .argument = "MODULE",
       .help = "convert each tensor to the type of the parameter of its name in MODULE; rules of "
               "--dtype win"},
      read_file_name("*.mir")};
  Flag allow_overflow{convert,
                      {.name = "allow-overflow",
                       .help = "convert numbers beyond the largest one of a float type to "
                               "infinities, in Float8E4M3 to 448, and report how many there are",
                       .needs = "dtype types-of"}};
  OptionList<UnpackRule> unpack{
      convert,
      {.name = "unpack",
       .argument = "PATTERN=LAYOUT:NxK",
       .help = "unpack linear weights from LAYOUT, an impl_type or a tile as qsi4c32p4x8; NxK is "
               "out x in channels"},
      read_by(UnpackRule::parse, "PATTERN=LAYOUT:NxK with a layout that has a fixed width",
              pattern_of<UnpackRule>(&UnpackRule::pattern))};
  OptionList<std::string> only{
      convert,
      {.name = "only", .argument = "PATTERN", .help = "keep only tensors that match a PATTERN"},
      any_text(itself(ReferenceKind::kTensor))};
  OptionList<MetadataEntry> metadata{
      convert,
      {.name = "metadata",
       .argument = "KEY=TEXT",
       .help = "store this text in the file; a .mllm file has only the key model_name"},
      read_by(parse_metadata, "KEY=TEXT", kRefersToNothing)};
  Option<std::string> weights{
      invent,
      {.name = "weights",
       .argument = "SPEC",
       .help = "the tensors that runs with --weights=SPEC have: random:SEED or splat:V"},
      any_text(kRefersToNothing),
      "random:1"};
  Flag show_metadata{list, {.name = "show-metadata", .help = "also show the metadata of the file"}};
  Option<Tolerance> tolerance{diff,
                              {.name = "tolerance",
                               .argument = "ITEMS",
                               .help = "compare by these limits, separated by commas: abs=X, "
                                       "rel=X, ulp=X, correlation=X, cosine=X",
                               .otherwise = "equal numbers"},
                              read_by(parse_tolerance, kRefersToNothing, complete_tolerances)};
  DialectSettings dialects{modules};
  Option<std::string> module{
      one_module,
      {.name = "module", .argument = "NAME", .help = "read this module, by name or position"},
      symbol_name(ReferenceKind::kModule)};

  OptionList<std::string> input{
      plan,
      {.name = "input",
       .letter = 'i',
       .argument = "[PORT=]SPEC",
       .help = "set an input to FILE.npy, FILE.npz:MEMBER, numbers, random:SEED, zeros or iota; "
               "an input that is set N times makes N runs"},
      any_file(references_of_spec(ReferenceKind::kInput), "npy npz raw bin")};
  OptionList<std::string> prefill{
      plan,
      {.name = "prefill",
       .argument = "[PORT=]SPEC",
       .help = "set an input of a run before each run, which fills the caches"},
      any_file(references_of_spec(ReferenceKind::kInput), "npy npz raw bin")};
  OptionList<std::string> bind{
      plan,
      {.name = "bind", .argument = "S=N", .help = "set a dimension symbol"},
      any_text(references_of_binding())};
  OptionList<DType> candidate{plan,
                              {.name = "candidate",
                               .argument = "TYPE",
                               .help = "try this type for each layer",
                               .otherwise = "q8_0, q4_k and q4_0"},
                              target_type_name()};
  OptionList<std::string> layers{
      plan,
      {.name = "layers", .argument = "PATTERN", .help = "change only layers that match a PATTERN"},
      any_text(itself(ReferenceKind::kTensor))};
  Option<std::uint64_t> budget{
      plan,
      {.name = "budget",
       .argument = "SIZE",
       .help = "choose the best types with which the layers fit in SIZE (as 2GiB)"},
      byte_size()};
  Option<double> min_cosine{
      plan,
      {.name = "min-cosine",
       .argument = "X",
       .help = "choose the smallest types with this cosine of outputs, from 0 to 1"},
      number<double>({.least = 0, .most = 1})};
  Option<double> min_top1{plan,
                          {.name = "min-top1",
                           .argument = "X",
                           .help = "choose the smallest types that keep the largest element of "
                                   "this share of rows, from 0 to 1"},
                          number<double>({.least = 0, .most = 1})};
  Option<PlanKernels> kernels{plan,
                              {.name = "kernels", .argument = "SET", .help = "run these kernels"},
                              choice(kPlanKernels),
                              PlanKernels::kFast};
  Option<std::string> recipe{plan,
                             {.name = "recipe",
                              .argument = "FILE",
                              .help = "write the chosen types as a pipeline for mllm-opt -p @FILE",
                              .needs = "budget min-cosine min-top1"},
                             written_file()};

  /// Returns the format of the file to be written; an error if no option determines it.
  Result<TensorFormat> file_format() const;
  /// Returns the rules of `convert`; an error if no option determines the format.
  Result<ConversionRules> rules() const;
  /// Returns the format of a plan.
  Result<TableFormat> plan_format() const;
};

}  // namespace mir::tools
