// Reads executable programs from JSON, and writes modules as such.
#include "program_input.hpp"

#include <fmt/format.h>

#include "mir/codes/weights.hpp"
#include "program/program_json.hpp"

namespace mir::tools {

const SourceFile* program_as_text(const SourceFile& file, SourceManager& sources,
                                  Diagnostics& diagnostics) {
  const std::string_view text = file.text();
  // No module begins like this.
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return &file;
  auto module = program_text(file, diagnostics);
  if (!module) return nullptr;
  const SourceFile* source = sources.add(file.name(), *std::move(module));
  if (source == nullptr) {
    Error error = SourceManager::full(file.name());
    diagnostics.error(error.code, {}, std::move(error.message));
  }
  return source;
}

ExitCode write_program(const Run& run, std::span<Module* const> modules) {
  if (modules.size() != 1)
    return run.report(Error{diag::kProgramMalformed,
                            fmt::format("{} modules, a program is made of one", modules.size())});
  Diagnostics diagnostics = run.diagnostics();
  const auto json = program_json(*modules.front(), diagnostics);
  return json ? run.write_output(*json)
              : run.report(diagnostics, modules.front()->context().sources());
}

}  // namespace mir::tools
