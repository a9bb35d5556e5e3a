#include "program_input.hpp"

#include <fmt/format.h>

#include "program/program_json.hpp"

namespace mir::tools {

Result<const SourceFile*> program_as_text(const SourceFile& file, SourceManager& sources) {
  const std::string_view text = file.text();
  // No module begins like this.
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return &file;
  auto module = program_text(text);
  if (!module) {
    return Error{module.error().code, fmt::format("'{}': {}", file.name(), module.error().message)};
  }
  const SourceFile* source = sources.add(file.name(), *std::move(module));
  if (source == nullptr) return SourceManager::full(file.name());
  return source;
}

ExitCode write_program(const Run& run, std::span<Module* const> modules) {
  if (modules.size() != 1)
    return run.report(Error{DiagCode::kProgramMalformed,
                            fmt::format("{} modules, a program is made of one", modules.size())});
  Diagnostics diagnostics = run.diagnostics();
  const auto json = program_json(*modules.front(), diagnostics);
  return json ? run.write_output(*json)
              : run.report(diagnostics, modules.front()->context().sources());
}

}  // namespace mir::tools
