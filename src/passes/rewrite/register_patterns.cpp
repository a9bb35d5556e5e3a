// Registers a pass for each text of patterns.
#include <fmt/format.h>

#include <algorithm>

#include "ir/declares_dialect.hpp"
#include "mir/codes/passes.hpp"
#include "mir/parse.hpp"
#include "mir/pass.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "passes/rewrite/pattern_text.hpp"

namespace mir {

namespace {

/// A file of patterns.
struct OwnedText {
  std::string name, text;
};

bool has_pattern(const Module& module) {
  bool has = false;
  for_each_op(module, [&](const Op& op) { has = has || op.is(OpId::kPatternRewrite); });
  return has;
}

}  // namespace

PatternSet read_again(const PatternText& from, std::size_t module, IRContext& context) {
  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add(std::string(from.name), std::string(from.text));
  const auto tree = parse(*file, diagnostics);
  PatternSet set;
  if (!tree) return set;
  const std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  if (module < modules.size()) add_patterns(set, *modules[module], diagnostics);
  for (Module* each : modules) context.release(*each);
  // The text was sound in a context of its own. In this one, another text may have declared a
  // dialect that it declares or uses.
  if (diagnostics.has_errors()) set.set_problems(std::move(diagnostics));
  return set;
}

Pass pass_of(std::string_view name, std::string_view summary) {
  return {.name = std::string(name),
          .summary = std::string(summary),
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges>()};
}

std::optional<std::vector<std::string>> register_patterns(PassRegistry& registry,
                                                          IRContext& context,
                                                          const SourceFile& file,
                                                          Diagnostics& diagnostics) {
  const auto tree = parse(file, diagnostics);
  if (!tree) return std::nullopt;
  const std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  const auto text = std::make_shared<const OwnedText>(
      OwnedText{std::string(file.name()), std::string(file.text())});
  std::vector<std::string> names;
  const bool are_all_dialects =
      std::ranges::all_of(modules, [](const Module* each) { return declares_dialect(*each); });
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (!verify(*modules[i], diagnostics)) continue;
    // Patterns may stand beside the dialect whose ops they use.
    if (declares_dialect(*modules[i]) && !are_all_dialects) continue;
    const std::string name(context.text(modules[i]->name()));
    const Span at = modules[i]->top()->span();
    if (!has_pattern(*modules[i])) {
      diagnostics.error(diag::kBadPattern, at,
                        fmt::format("module '@{}' has no pattern.RewriteOp", name));
      continue;
    }
    Pass pass = pass_of(name, fmt::format("applies the patterns of {}", file.name()));
    pass.patterns = [text, i](IRContext& other, const PassOptions&) {
      return read_again({text->name, text->text}, i, other);
    };
    const auto added = registry.try_add(pattern_pass(std::move(pass)));
    if (!added) {
      diagnostics.error(diag::kBadPattern, at, added.error().message);
      continue;
    }
    names.push_back(name);
  }
  if (diagnostics.has_errors()) return std::nullopt;
  return names;
}

}  // namespace mir
