// Reads pass pipelines from options, with completion of pass names.
#include "pipelines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/parse.hpp"
#include "passes/pipeline/foreign_passes.hpp"
#include "tool.hpp"

namespace mir::tools {

std::vector<std::string_view> names_of_passes(const PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const auto& [name, pass] : registry.passes()) names.push_back(name);
  for (const auto& [name, pipeline] : registry.pipelines()) names.push_back(name);
  return names;
}

std::string did_you_mean_pass(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view foreign = pass_called_elsewhere(name);
  return foreign.empty() ? did_you_mean(name, known) : fmt::format("; did you mean '{}'?", foreign);
}

Completion complete_passes(const PassRegistry& registry) {
  Completion offered{.is_list = true};
  for (const std::string_view name : names_of_passes(registry)) offered.words.emplace_back(name);
  return offered;
}

Argument<std::string> pipeline_text(const PassRegistry& registry) {
  const auto file_of = [](const std::string& text) {
    std::vector<Reference> files;
    if (text.starts_with('@')) files.push_back({ReferenceKind::kReadFile, text.substr(1)});
    return files;
  };
  return any_text({{ReferenceKind::kReadFile}, file_of},
                  [&registry] { return complete_passes(registry); });
}

std::optional<Pipeline> read_pipelines(const OptionList<std::string>& texts,
                                       std::span<const std::string> otherwise,
                                       const PassRegistry& registry, SourceManager& sources,
                                       Diagnostics& diagnostics) {
  Pipeline all;
  if (!texts.is_given()) {
    for (const std::string& name : otherwise) all.items.push_back({.pass = registry.find(name)});
  }
  for (const std::string& text : *texts) {
    const bool is_file = text.starts_with('@');
    auto file =
        is_file ? read_source(text.substr(1), sources)
                : Result<const SourceFile*>(sources.add(fmt::format("--{}", texts.name()), text));
    if (!file) {
      diagnostics.error(file.error().code, {}, file.error().message);
      return std::nullopt;
    }
    auto pipeline = registry.read_pipeline(**file, diagnostics);
    if (!pipeline) return std::nullopt;
    std::ranges::move(pipeline->items, std::back_inserter(all.items));
  }
  return all;
}

}  // namespace mir::tools
