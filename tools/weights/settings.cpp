// Parses arguments of mllm-weights, and collects the rules of `convert`.
#include "settings.hpp"

#include <fmt/format.h>

#include "interp/tolerance.hpp"
#include "mir/codes/usage.hpp"

namespace mir::tools {

const ToolInfo kWeightsTool = {
    .name = "mllm-weights",
    .summary = "Lists, checks, compares and converts weight files: safetensors, GGUF, .mllm, npz.",
    .operands = "file...",
    .examples = {{{"mllm-weights match model.mir model.safetensors",
                   "list missing, different and unused parameters"},
                  {"mllm-weights convert model.safetensors -o small.gguf --dtype=q8_0",
                   "quantise matrices and show the errors"}}},
    .files = "mir safetensors gguf mllm npz json",
    .files_behind = files_behind,
};

namespace {

Argument<DType> short_type_name() {
  std::vector<Choice<DType>> names;
  for (const TargetType& each : target_types()) names.push_back({each.word, each.dtype});
  return choice_of(names);
}

}  // namespace

Argument<DType> target_type_name() {
  const auto types = short_type_name();
  const auto read = [types](std::string_view option, std::string_view text) -> Result<DType> {
    const auto dtype = target_type(text);
    return dtype ? Result<DType>(*dtype) : types.read(option, text);
  };
  return {.read = read,
          .note = [types](const DType*) { return types.note(nullptr); },
          .completion = types.completion};
}

Argument<TypeRule> type_rule() {
  const auto types = short_type_name();
  const auto read = [types](std::string_view option, std::string_view text) -> Result<TypeRule> {
    if (auto rule = TypeRule::parse(text)) return *std::move(rule);
    std::string_view type = text.substr(text.rfind('=') + 1);
    const auto slash = type.find('/');
    if (slash != type.npos && target_type(type.substr(0, slash))) type.remove_prefix(slash + 1);
    return types.read(option, type).error();
  };
  return {.read = read,
          .note = [types](const TypeRule*) { return types.note(nullptr); },
          .completion = types.completion,
          .refers = pattern_of<TypeRule>(&TypeRule::pattern)};
}

std::optional<MetadataEntry> parse_metadata(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return MetadataEntry{text.substr(0, equals), text.substr(equals + 1)};
}

Argument<WrittenFormat> written_format() {
  std::vector<Choice<WrittenFormat>> formats;
  for (const Choice<TensorFormat>& each : written_formats())
    formats.push_back({each.word, {.file = each.value}});
  for (const Choice<TableFormat>& each : kTableFormats)
    formats.push_back({each.word, {.table = each.value}});
  auto format = choice_of(std::move(formats));
  format.note = [](const WrittenFormat*) {
    return ": safetensors, npz, mllm or gguf; for a plan table, csv or json";
  };
  return format;
}

Result<Tolerance> parse_tolerance(std::string_view text) {
  TolerancePolicy policy;
  if (text.find(':') != text.npos)
    return Error{diag::kUsage, fmt::format("tolerance '{}' is for one type, expected items for "
                                           "all",
                                           text)};
  if (auto added = policy.add(text); !added) return std::move(added).error();
  return policy.of(DType::kFloat64);
}

Result<TableFormat> WeightsSettings::plan_format() const {
  if (!format.is_given()) return TableFormat::kTable;
  if (format->table) return *format->table;
  return Error{diag::kUsage, fmt::format("plan writes table, csv or json, found --format={}",
                                         format.given().front())};
}

Result<TensorFormat> WeightsSettings::file_format() const {
  if (format.is_given() && !format->file)
    return Error{diag::kUsage, fmt::format("the output is a file of weights, found --format={}",
                                           format.given().front())};
  const auto wanted = format.is_given() ? format->file : format_of_path(*output);
  if (!wanted)
    return Error{diag::kUsage,
                 fmt::format("the name '{}' tells no format: choose one with --format", *output)};
  return *wanted;
}

Result<ConversionRules> WeightsSettings::rules() const {
  const auto wanted = file_format();
  if (!wanted) return wanted.error();
  ConversionRules rules{.format = *wanted,
                        .renamings = *rename,
                        .parameters = {},
                        .types = *dtype,
                        .only = {only->begin(), only->end()},
                        .unpacked = *unpack,
                        .metadata = {},
                        .allows_overflow = allow_overflow.is_given()};
  for (const auto& [key, text] : *metadata) rules.metadata[key] = text;
  return rules;
}

}  // namespace mir::tools
