// Finds and reads facts granted by --assume, --symbolic-dim and sidecar files.
#include "granted.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/recovery.hpp"
#include "mir/context.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "support/file_io.hpp"
#include "support/platform/file_system.hpp"

namespace mir::tools {

Completion complete_facts() {
  Completion offered{.words = {"rms_eps=", "layer_norm_eps=", "packed_weights="}};
  IRContext context;
  register_builtin_dialects(context);
  for (const Dialect* dialect : context.dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (!row.type_name.empty()) offered.words.push_back(fmt::format("{}.", row.type_name));
    }
  }
  return offered;
}

References<SymbolicDim> references_of_symbolic_dim() {
  return {
      {ReferenceKind::kFact}, [](const SymbolicDim& each) {
        return std::vector<Reference>{{ReferenceKind::kFact, fmt::format("input{}", each.input)}};
      }};
}

bool are_of_text(std::span<const std::string> facts) {
  return std::ranges::all_of(facts, [](const std::string& fact) {
    UpgradeOptions options;
    return grant(options, fact) && !options.texts.empty();
  });
}

namespace {

Result<std::string> text_of_sidecar(const std::string& path, const FileOpener& files) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  if (!files) return read_file(path, kLargest);
  const auto file = files(path);
  if (!file) return file.error();
  return std::string(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
}

Result<void> read_sidecar(UpgradeOptions& options, const std::string& path,
                          const FileOpener& files) {
  const auto text = text_of_sidecar(path, files);
  if (!text) return text.error();
  auto granted = grant_sidecar(options, *text, fmt::format("'{}'", path));
  if (granted) return granted;
  return Error{granted.error().code, fmt::format("'{}': {}", path, granted.error().message)};
}

}  // namespace

std::string find_sidecar(const FactSettings& facts, const std::string& path) {
  if (path == "-" || facts.sidecar.is_given()) return {};
  std::string sidecar = sidecar_name(path);
  if (!is_regular_file(sidecar)) return {};
  IRContext context;
  const auto file = read_source(path, context.sources());
  if (!file) return {};
  // A text that was upgraded in its own file is portable.
  Diagnostics unreported(1);
  const auto modules = read_modules(**file, context, unreported);
  const bool is_portable =
      !modules.empty() &&
      std::ranges::all_of(modules, [](const Module* module) { return module->is_portable(); });
  return is_portable ? std::string() : sidecar;
}

void remark_sidecar(const std::string& sidecar, const std::string& path, Diagnostics& diagnostics) {
  if (sidecar.empty()) return;
  diagnostics.remark(diag::kLostMeaning, {},
                     fmt::format("'{}': facts of '{}' are used", path, sidecar));
}

Result<UpgradeOptions> read_grants(const FactSettings& facts, const std::string& found,
                                   const FileOpener& files) {
  UpgradeOptions options;
  if (!found.empty()) {
    if (auto read = read_sidecar(options, found, {}); !read) return read.error();
  }
  for (const std::string& path : *facts.sidecar) {
    if (auto read = read_sidecar(options, path, files); !read) return read.error();
  }
  for (const std::string& fact : *facts.assume) {
    if (const auto granted = grant(options, fact); !granted) return granted.error();
  }
  options.symbolic_dims = *facts.symbolic_dim;
  return options;
}

}  // namespace mir::tools
