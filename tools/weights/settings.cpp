#include "settings.hpp"

#include <fmt/format.h>

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

Argument<TypeChoice> type_choice() {
  const auto types = choice(kTargetTypes);
  const auto read = [types](std::string_view option, std::string_view text) -> Result<TypeChoice> {
    const auto equals = text.rfind('=');
    const bool has_pattern = equals != std::string_view::npos;
    const std::string_view name = has_pattern ? text.substr(equals + 1) : text;
    const NamePattern pattern(has_pattern ? text.substr(0, equals) : "*");
    if (const auto dtype = target_type(name)) return TypeChoice{pattern, *dtype};
    return types.read(option, name).error();
  };
  return {.read = read,
          .note = [types](const TypeChoice*) { return types.note(nullptr); },
          .completion = types.completion,
          .refers = pattern_of<TypeChoice>(&TypeChoice::pattern)};
}

std::optional<MetadataEntry> parse_metadata(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return MetadataEntry{text.substr(0, equals), text.substr(equals + 1)};
}

Result<ConversionRules> WeightsSettings::rules() const {
  const auto wanted = format.is_given() ? *format : format_of_path(*output);
  if (!wanted)
    return Error{DiagCode::kUsage,
                 fmt::format("the name '{}' tells no format: choose one with --format", *output)};
  ConversionRules rules{.format = *wanted,
                        .renamings = *rename,
                        .types = *dtype,
                        .only = {only->begin(), only->end()},
                        .unpacked = *unpack,
                        .metadata = {}};
  for (const auto& [key, text] : *metadata) rules.metadata[key] = text;
  return rules;
}

}  // namespace mir::tools
