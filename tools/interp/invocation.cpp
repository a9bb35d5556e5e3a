// Merges the options of a command line with those of a pack.
#include "invocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/usage.hpp"
#include "mir/parse.hpp"

namespace mir::tools {

Result<Invocation> Invocation::of_module(const std::string& path, RunSettings& settings) {
  Invocation invocation{.path = path, .settings = settings};
  auto read = invocation.find_facts(settings);
  if (read) read = invocation.read_settings();
  if (!read) return std::move(read).error();
  return invocation;
}

Result<Invocation> Invocation::create(const std::string& path, RunSettings& settings) {
  if (path == "-" || !Pack::is_at(path)) return of_module(path, settings);
  Invocation invocation{.path = path, .settings = settings};
  auto read = invocation.open_pack(settings);
  if (read) read = invocation.read_settings();
  if (!read) return std::move(read).error();
  return invocation;
}

Result<void> Invocation::find_facts(RunSettings& settings_of_run) {
  found_sidecar = find_sidecar(settings.facts, path);
  return found_sidecar.empty() ? Result<void>() : settings_of_run.facts.sidecar.take(found_sidecar);
}

Result<void> Invocation::open_pack(RunSettings& settings_of_run) {
  auto opened = Pack::open(path);
  if (!opened) return std::move(opened).error();
  pack = *std::move(opened);
  const OptionSet& rows = settings_of_run.options;
  const bool computes_otherwise = std::ranges::any_of(kPackOptions, [&](const PackOption& option) {
    return option.computes && rows.find(option.name)->is_given();
  });
  for (const auto& [option, values] : pack->arguments()) {
    OptionRow* row = rows.find(option);
    if (row->is_given()) {
      if (row == &settings_of_run.input) pack_inputs = values;
      continue;
    }
    if (row == &settings_of_run.expect && computes_otherwise) {
      leaves_expectations = true;
      continue;
    }
    of_pack.insert(option);
    for (const std::string& value : values) {
      if (auto taken = row->take(value); !taken) return taken;
    }
  }
  return {};
}

Result<void> Invocation::read_settings() {
  for (const std::string& text : *settings.tolerance) {
    if (auto added = tolerances.add(text); !added) return added;
  }
  auto granted = read_grants(settings.facts, {}, files(settings.facts.sidecar));
  if (!granted) return std::move(granted).error();
  assumed = *std::move(granted);
  for (const std::string& text : *settings.feed) {
    auto feed = parse_feed(text, files(settings.feed));
    if (!feed) return Error{diag::kUsage, feed.error().message};
    feeds.push_back(*std::move(feed));
  }
  for (const auto& [op, graph] : *settings.bind_op) {
    if (!bound_ops.emplace(op, graph).second)
      return Error{diag::kUsage, fmt::format("--bind-op binds '{}' twice", op)};
  }
  return {};
}

FileOpener Invocation::files(const OptionRow& option) const {
  if (!of_pack.contains(option.name())) return {};
  return pack->files(&option == &settings.weights ? MemberCheck::kNone : MemberCheck::kHash);
}

InputDefaults Invocation::input_defaults() const {
  if (pack_inputs.empty()) return {};
  return {.arguments = pack_inputs, .files = pack->files(MemberCheck::kHash)};
}

bool Invocation::register_dialects(IRContext& context, Diagnostics& diagnostics) const {
  return tools::register_dialects(settings.dialects, context, diagnostics,
                                  files(settings.dialects.files));
}

Result<const SourceFile*> Invocation::read(SourceManager& sources) const {
  if (!pack) return read_source(path, sources);
  const auto file = pack->file(pack->module(), MemberCheck::kHash);
  if (!file) return file.error();
  const auto* const text = reinterpret_cast<const char*>(file->bytes.data());
  const SourceFile* source = sources.add(file->origin, std::string(text, file->bytes.size()));
  if (source == nullptr) return SourceManager::full(file->origin);
  return source;
}

}  // namespace mir::tools
