// Dialect conversion by patterns that other passes have.

#include <fmt/format.h>

#include "mir/codes/passes.hpp"
#include "mir/conversion.hpp"
#include "passes/standard_passes.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

/// The pass whose patterns an option names; null after reporting that there is none.
const Pass* find_patterns(const PassRegistry& registry, std::string_view name, PassRun& run) {
  const Pass* pass = registry.find(name);
  if (pass != nullptr && pass->patterns) return pass;
  Diagnostic& problem = run.diagnostics().error(diag::kPipeline, run.module().top()->span(),
                                                fmt::format("'{}' is no pass with patterns", name));
  NearestName nearest(name);
  for (const auto& [each, with] : registry.passes()) {
    if (with.patterns) nearest.offer(each);
  }
  suggest(problem, nearest.best());
  return nullptr;
}

/// Reports a name that is neither that of an op nor that of a dialect.
bool is_known(PassRun& run, std::string_view name) {
  const IRContext& context = run.module().context();
  if (context.find_dialect(name) != nullptr) return true;
  const auto kind = context.find_kind(name);
  if (kind && context.info(*kind).row != nullptr) return true;
  NearestName nearest(name);
  std::vector<std::string> known;
  for (const Dialect* dialect : context.dialects()) {
    for (const OpRow& row : dialect->rows) {
      known.push_back(fmt::format("{}.{}", dialect->name, row.name));
    }
  }
  for (const std::string& each : known) nearest.offer(each);
  Diagnostic& problem =
      run.diagnostics().error(diag::kPipeline, run.module().top()->span(),
                              fmt::format("'{}' is neither an operation nor a dialect", name));
  suggest(problem, nearest.best());
  return false;
}

bool set(ConversionTarget& target, PassRun& run, std::string_view option, Legality legality) {
  bool good = true;
  for (const std::string_view name : run.options().texts(option)) {
    good = is_known(run, name) && good;
    if (name.find('.') == name.npos) {
      target.set_dialect(std::string(name), legality);
    } else {
      target.set(std::string(name), legality);
    }
  }
  return good;
}

PassResult run_conversion(const PassRegistry& registry, PassRun& run) {
  IRContext& context = run.module().context();
  Diagnostics& diagnostics = run.diagnostics();
  const PassOptions& options = run.options();
  ConversionTarget target;
  bool good = set(target, run, "legal", Legality::kLegal);
  good = set(target, run, "illegal", Legality::kIllegal) && good;
  PatternSet set;
  for (const std::string_view name : options.texts("patterns")) {
    const Pass* pass = find_patterns(registry, name, run);
    good = pass != nullptr && good;
    if (pass == nullptr) continue;
    const PatternSet patterns = pass->patterns(context, PassOptions(pass->options));
    good = good && !patterns.problems().has_errors();
    diagnostics.append(Diagnostics(patterns.problems()));
    for (const RewritePattern& each : patterns.patterns()) set.add(each);
  }
  if (!good) return PassResult::kFailed;
  ConversionOptions how = run.conversion_options();
  how.is_full = options.flag("full");
  return convert(run.module(), target, FrozenPatterns(std::move(set)), how, diagnostics)
             ? run.result()
             : PassResult::kFailed;
}

PassOption names(std::string_view name, std::string_view summary) {
  return {.name = std::string(name),
          .kind = PassOption::Kind::kText,
          .is_list = true,
          .summary = std::string(summary)};
}

}  // namespace

Pass convert_pass(const PassRegistry& registry) {
  return {
      .name = "convert",
      .summary = "applies patterns to illegal operations until none is left, or fails",
      .takes = PassForm::kPortable,
      .is_idempotent = true,
      .options = {names("patterns", "the passes whose patterns are applied"),
                  names("illegal", "operations and dialects of which none may remain"),
                  names("legal", "operations and dialects that may remain"),
                  {.name = "full", .summary = "operations that `legal` does not name are illegal"}},
      .run = [&registry](PassRun& run) { return run_conversion(registry, run); }};
}

}  // namespace mir
