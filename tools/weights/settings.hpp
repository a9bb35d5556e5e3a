// The options of mllm-weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "conversion.hpp"
#include "option.hpp"
#include "option_pages.hpp"

namespace mir::tools {

extern const ToolInfo kWeightsTool;

enum class WeightsCommand : std::uint8_t { kList, kStats, kDiff, kMatch, kConvert };

inline constexpr CommandRow<WeightsCommand> kWeightsCommands[] = {
    {{.name = "list",
      .summary = "name, type, extents and bytes of every tensor",
      .operands = "one file or more"},
     WeightsCommand::kList},
    {{.name = "stats",
      .summary = "range, mean, deviation and counts of every tensor",
      .operands = "one file or more"},
     WeightsCommand::kStats},
    {{.name = "diff",
      .summary = "what differs between two files; exit status 1 if anything does",
      .operands = "two files",
      .fewest = 2,
      .most = 2},
     WeightsCommand::kDiff},
    {{.name = "match",
      .summary = "whether files have the parameters of a module, which comes first",
      .operands = "a module and one file or more",
      .fewest = 2},
     WeightsCommand::kMatch},
    {{.name = "convert",
      .summary = "write one file in another format, other types or under other names",
      .operands = "one file or more"},
     WeightsCommand::kConvert}};

/// `[PATTERN=]TYPE`
Argument<TypeChoice> type_choice();
/// `KEY=TEXT`
using MetadataEntry = std::pair<std::string, std::string>;
std::optional<MetadataEntry> parse_metadata(std::string_view text);

struct WeightsSettings {
  OptionSet& options;
  Command<WeightsCommand> command{options, kWeightsCommands};
  OptionSet convert{options, "convert"}, list{options, "list"}, diff{options, "diff"},
      match{options, "match"};

  Option<std::string> output{convert,
                             {.name = "output",
                              .letter = 'o',
                              .argument = "FILE",
                              .help = "the file to write",
                              .is_needed = true},
                             any_file(kTensorFileEndings)};
  Option<TensorFormat> format{convert,
                              {.name = "format",
                               .argument = "FORMAT",
                               .help = "what to write",
                               .otherwise = "as the name of FILE ends"},
                              choice_of(written_formats())};
  OptionList<Renaming> rename{
      convert,
      {.name = "rename",
       .argument = "PATTERN=NAME",
       .help =
           "give tensors other names; each * of NAME becomes what that * of PATTERN matched, and "
           "of several patterns the first that matches counts"},
      read_by(Renaming::parse, "PATTERN=NAME with at most as many * in NAME")};
  OptionList<TypeChoice> dtype{
      convert,
      {.name = "dtype",
       .argument = "[PATTERN=]TYPE",
       .help = "other types for float tensors and blocks, of several the last that matches (norms "
               "and odd rows never become blocks)"},
      type_choice()};
  OptionList<UnpackRule> unpack{
      convert,
      {.name = "unpack",
       .argument = "PATTERN=LAYOUT:NxK",
       .help = "packed weights of linear layers as values; LAYOUT is an impl_type or a tile such "
               "as qsi4c32p4x8, N and K are out_channels and in_channels"},
      read_by(UnpackRule::parse, "PATTERN=LAYOUT:NxK with a layout that has a fixed width")};
  OptionList<std::string> only{convert,
                               {.name = "only",
                                .argument = "PATTERN",
                                .help = "leave out tensors that match no such pattern"},
                               any_text()};
  OptionList<MetadataEntry> metadata{
      convert,
      {.name = "metadata",
       .argument = "KEY=TEXT",
       .help = "text to store in safetensors and GGUF files; of .mllm the key is model_name"},
      read_by(parse_metadata, "KEY=TEXT")};
  Flag show_metadata{
      list, {.name = "show-metadata", .help = "show what the file says about itself, too"}};
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
      {.name = "module", .argument = "NAME", .help = "the module where the file has several"},
      symbol_name()};

  /// What `convert` does; an error when nothing says in which format.
  Result<ConversionRules> rules() const;
};

}  // namespace mir::tools
