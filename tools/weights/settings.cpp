#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace mir::tools {
namespace {

constexpr Option kOptions[] = {
    {.name = "output", .letter = 'o', .argument = "FILE", .help = "convert: the file to write"},
    {.name = "format",
     .argument = "FORMAT",
     .help = "convert: what to write, if the name of FILE does not tell",
     .choices = "safetensors npz mllm gguf"},
    {.name = "rename",
     .argument = "PATTERN=NAME",
     .help =
         "convert: give tensors other names; each * of NAME is what that * of PATTERN stood for, "
         "and of several patterns the first that matches counts",
     .repeatable = true},
    {.name = "dtype",
     .argument = "[PATTERN=]TYPE",
     .help = "convert: make float tensors and blocks f32, f16, bf16, q8_0, q4_0 or q4_a32; of "
             "several the last "
             "that matches counts; norms and odd rows are never made blocks",
     .repeatable = true},
    {.name = "unpack",
     .argument = "PATTERN=LAYOUT:NxK",
     .help = "convert: packed weights of linear layers as values; LAYOUT is an impl_type or a tile "
             "such "
             "as qsi4c32p4x8, N and K are out_channels and in_channels",
     .repeatable = true},
    {.name = "only",
     .argument = "PATTERN",
     .help = "convert: leave out tensors that match no such pattern",
     .repeatable = true},
    {.name = "metadata",
     .argument = "KEY=TEXT",
     .help = "convert: text to store in safetensors and GGUF files",
     .repeatable = true},
    {.name = "show-metadata", .help = "list: show what the file says about itself, too"},
    {.name = "atol", .argument = "X", .help = "diff: absolute tolerance (0)"},
    {.name = "rtol", .argument = "X", .help = "diff: relative tolerance (0)"},
    {.name = "module", .argument = "NAME", .help = "match: the module where the file has several"},
};

struct CommandRow {
  std::string_view name;
  WeightsCommand command;
  std::size_t fewest_files;
  std::size_t most_files;
  std::string_view operands;
};

constexpr std::size_t kAny = 1000;
constexpr CommandRow kCommands[] = {
    {"list", WeightsCommand::kList, 1, kAny, "one file or more"},
    {"stats", WeightsCommand::kStats, 1, kAny, "one file or more"},
    {"diff", WeightsCommand::kDiff, 2, 2, "two files"},
    {"match", WeightsCommand::kMatch, 2, kAny, "a module and one file or more"},
    {"convert", WeightsCommand::kConvert, 1, kAny, "one file or more"},
};

Error usage(std::string text) {
  return {DiagCode::kUsage, std::move(text)};
}

Result<double> tolerance_of(const Arguments& arguments, std::string_view option) {
  const auto text = arguments.value(option, "0");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) return value;
  return usage(fmt::format("--{} is a number from 0 on, found '{}'", option, text));
}

Result<TypeChoice> type_choice(std::string_view text) {
  const auto equals = text.rfind('=');
  const bool has_pattern = equals != std::string_view::npos;
  const auto name = has_pattern ? text.substr(equals + 1) : text;
  const auto dtype = target_type(name);
  if (!dtype)
    return usage(fmt::format("--dtype is f32, f16, bf16, q8_0, q4_0 or q4_a32, found '{}'", name));
  return TypeChoice{NamePattern(has_pattern ? text.substr(0, equals) : "*"), *dtype};
}

Result<TensorFormat> output_format(const Arguments& arguments, const std::string& path) {
  const auto format =
      arguments.has("format") ? target_format(arguments.value("format")) : format_of_path(path);
  if (format) return *format;
  return usage(fmt::format("the name '{}' tells no format: choose one with --format", path));
}

Result<ConversionRules> conversion_rules(const Arguments& arguments, const std::string& path) {
  ConversionRules rules;
  const auto format = output_format(arguments, path);
  if (!format) return format.error();
  rules.format = *format;
  for (const auto& text : arguments.values("rename")) {
    auto renaming = Renaming::parse(text);
    if (!renaming)
      return usage(
          fmt::format("--rename is PATTERN=NAME with at most as many * in NAME, found '{}'", text));
    rules.renamings.push_back(*std::move(renaming));
  }
  for (const auto& text : arguments.values("dtype")) {
    auto choice = type_choice(text);
    if (!choice) return choice.error();
    rules.types.push_back(*std::move(choice));
  }
  for (const auto& text : arguments.values("unpack")) {
    auto rule = UnpackRule::parse(text);
    if (!rule)
      return usage(
          fmt::format("--unpack is PATTERN=LAYOUT:NxK with a layout that has a fixed width, "
                      "found '{}'",
                      text));
    rules.unpacked.push_back(*std::move(rule));
  }
  for (const auto& text : arguments.values("only")) rules.only.emplace_back(text);
  for (const std::string_view text : arguments.values("metadata")) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return usage(fmt::format("--metadata is KEY=TEXT, found '{}'", text));
    rules.metadata[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return rules;
}

/// Options are for the command that their help names.
Result<void> check_options(const Arguments& arguments, std::string_view command) {
  for (const Option& option : kOptions) {
    if (arguments.has(option.name) && !option.help.starts_with(command))
      return usage(fmt::format("--{} is not for {}", option.name, command));
  }
  return {};
}

}  // namespace

const ToolInfo kWeightsTool = {
    .name = "mllm-weights",
    .summary =
        "Lists, checks, compares and converts files of weights: safetensors, GGUF, .mllm, npz.",
    .operands = "list|stats|diff|match|convert file...",
    .options = kOptions,
    .examples = {{{"mllm-weights match model.mir model.safetensors",
                   "say which parameters are missing, odd or unused"},
                  {"mllm-weights convert model.safetensors -o small.gguf --dtype=q8_0",
                   "quantise matrices and show what it cost"}}},
};

Result<WeightsSettings> weights_settings(const Arguments& arguments) {
  WeightsSettings settings;
  const auto& operands = arguments.operands();
  if (operands.empty()) return usage("expected a command: list, stats, diff, match or convert");
  const auto* row = std::ranges::find(kCommands, operands.front(), &CommandRow::name);
  if (row == std::end(kCommands))
    return usage(fmt::format("'{}' is no command: expected list, stats, diff, match or convert",
                             operands.front()));
  settings.command = row->command;
  settings.files.assign(operands.begin() + 1, operands.end());
  if (settings.files.size() < row->fewest_files || settings.files.size() > row->most_files)
    return usage(fmt::format("{} takes {}", row->name, row->operands));
  if (auto checked = check_options(arguments, row->name); !checked) return checked.error();
  const auto absolute = tolerance_of(arguments, "atol");
  const auto relative = tolerance_of(arguments, "rtol");
  if (!absolute || !relative) return absolute ? relative.error() : absolute.error();
  settings.tolerance = {.abs = *absolute, .rel = *relative};
  if (row->command != WeightsCommand::kConvert) return settings;
  settings.output = arguments.value("output");
  if (settings.output.empty()) return usage("convert needs --output");
  auto rules = conversion_rules(arguments, settings.output);
  if (!rules) return rules.error();
  settings.rules = *std::move(rules);
  return settings;
}

}  // namespace mir::tools
