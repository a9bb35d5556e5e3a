// The options of mllm-weights.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "conversion.hpp"
#include "option.hpp"
#include "option_pages.hpp"
#include "weight_files.hpp"

namespace mir::tools {

extern const ToolInfo kWeightsTool;

enum class WeightsCommand : std::uint8_t { kList, kStats, kDiff, kMatch, kConvert };

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
     WeightsCommand::kConvert}};

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
      match{options, "match"};

  Option<std::string> output{convert,
                             {.name = "output",
                              .letter = 'o',
                              .argument = "FILE",
                              .help = "write to FILE",
                              .is_needed = true},
                             written_file(kTensorFileEndings)};
  Option<TensorFormat> format{convert,
                              {.name = "format",
                               .argument = "FORMAT",
                               .help = "write this format",
                               .otherwise = "the extension of FILE"},
                              choice_of(written_formats())};
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
                              .argument = "[PATTERN=]TYPE",
                              .help = "convert float tensors and blocks; the last match wins"},
                             type_rule()};
  Option<std::string> types_of{
      convert,
      {.name = "types-of",
       .argument = "MODULE",
       .help = "convert each tensor to the type of the parameter of its name in MODULE; rules of "
               "--dtype win"},
      read_file_name("*.mir")};
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
  Flag show_metadata{list, {.name = "show-metadata", .help = "also show the metadata of the file"}};
  Option<double> atol{diff,
                      {.name = "atol", .argument = "X", .help = "absolute tolerance"},
                      number<double>({.least = 0}),
                      0};
  Option<double> rtol{diff,
                      {.name = "rtol", .argument = "X", .help = "relative tolerance"},
                      number<double>({.least = 0}),
                      0};
  Option<std::string> module{
      match,
      {.name = "module", .argument = "NAME", .help = "read this module of a file with several"},
      symbol_name(ReferenceKind::kModule)};

  /// What `convert` does; an error when nothing says in which format.
  Result<ConversionRules> rules() const;
};

}  // namespace mir::tools
