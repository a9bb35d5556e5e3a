// Registers dialects declared in files of an option or of MIR_DIALECT_PATH.
#include "dialect_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "ir/declares_dialect.hpp"
#include "mir/codes/names.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "tool.hpp"

namespace mir::tools {

namespace {

/// The files of a folder whose names end in `.mir`, by name; otherwise the path itself.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& each : std::filesystem::directory_iterator(path, error)) {
    if (each.path().extension() == ".mir") files.push_back(each.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> files_of_environment() {
  std::vector<std::string> files;
  const char* variable = std::getenv("MIR_DIALECT_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon != 0) {
      const auto some = files_of(std::string(rest.substr(0, colon)));
      files.insert(files.end(), some.begin(), some.end());
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return files;
}

Result<const SourceFile*> open_text(const std::string& path, SourceManager& sources,
                                    const FileOpener& files) {
  if (!files) return read_source(path, sources);
  const auto file = files(path);
  if (!file) return file.error();
  const auto* const text = reinterpret_cast<const char*>(file->bytes.data());
  const SourceFile* source = sources.add(file->origin, std::string(text, file->bytes.size()));
  if (source == nullptr) return SourceManager::full(file->origin);
  return source;
}

bool read_dialects(const std::string& path, IRContext& context, Diagnostics& diagnostics,
                   const FileOpener& files) {
  const auto source = open_text(path, context.sources(), files);
  if (!source) {
    diagnostics.error(source.error().code, {}, source.error().message);
    return false;
  }
  const std::size_t errors = diagnostics.error_count();
  const std::vector<Module*> modules = read_modules(**source, context, diagnostics);
  const bool has_patterns = are_dialects(modules);
  for (Module* module : modules) {
    if (!has_patterns && !declares_dialect(*module) && diagnostics.error_count() == errors) {
      diagnostics.error(diag::kBadDeclaration, module->top()->span(),
                        fmt::format("module '@{}' of '{}' declares no dialect",
                                    context.text(module->name()), path));
    }
    context.release(*module);
  }
  return diagnostics.error_count() == errors;
}

}  // namespace

std::vector<std::string> dialect_paths(const DialectSettings& settings) {
  std::vector<std::string> paths = files_of_environment();
  paths.insert(paths.end(), settings.files->begin(), settings.files->end());
  return paths;
}

bool register_dialects(const DialectSettings& settings, IRContext& context,
                       Diagnostics& diagnostics, const FileOpener& files) {
  register_builtin_dialects(context);
  const std::vector<std::string> always = files_of_environment();
  return std::ranges::all_of(always,
                             [&](const std::string& path) {
                               return read_dialects(path, context, diagnostics, {});
                             }) &&
         std::ranges::all_of(*settings.files, [&](const std::string& path) {
           return read_dialects(path, context, diagnostics, files);
         });
}

}  // namespace mir::tools
