// Values that the head of a module declares for the symbols of its extents.
#include <set>
#include <unordered_set>

#include "ir/extent_walk.hpp"
#include "mir/walk.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Where the head of a module has the number of its version; empty if its text is not there, or if
/// a pass has set another version.
Span version_number(const Module& module) {
  constexpr std::string_view kKey = "mir_version";
  constexpr std::size_t kMostText = 4096;
  const Span head = module.top()->span();
  const SourceFile* file = module.context().sources().file_of(head.begin);
  if (file == nullptr || head.begin < file->base()) return {};
  const std::string_view text = file->text().substr(head.begin - file->base(), kMostText);
  std::size_t at = text.find(kKey);
  if (at == text.npos) return {};
  at += kKey.size();
  while (at < text.size() && (is_blank(text[at]) || text[at] == ':' || text[at] == '"')) ++at;
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (text.substr(at, end - at) != std::to_string(module.version())) return {};
  const auto position = [&](std::size_t offset) {
    return head.begin + static_cast<SourcePos>(offset);
  };
  return {position(at), position(end)};
}

void check_version(const Op& head, Reporter& reporter) {
  Diagnostic* kept = reporter.report(ConstraintId::version_c1, head, [&] {
    return fmt::format("'{}' in the head of a module needs mir_version:{}", kSymbolsKey,
                       kSymbolsVersion);
  });
  const Span number = version_number(reporter.module());
  if (kept != nullptr && number.begin != number.end) {
    kept->fix(number, std::to_string(kSymbolsVersion));
  }
}

void check_structure(const Attr& symbols, const Op& head, Reporter& reporter) {
  for (const SymbolDeclarationError& error :
       errors_of_symbol_declarations(symbols, reporter.module().context())) {
    Diagnostic* kept =
        reporter.report(ConstraintId::symbol_c4, head, [&] { return error.message; });
    if (kept != nullptr) suggest(*kept, error.nearest);
  }
}

void check_uses(const Op& head, Reporter& reporter) {
  if (!reporter.wants(ConstraintId::symbol_c5)) return;
  const std::set<std::string_view> used = symbols_of_extents(reporter.module());
  for (const SymbolDeclaration& each : symbol_declarations(reporter.module())) {
    const std::string_view name = text(head, each.name);
    if (used.contains(name)) continue;
    Diagnostic* kept = reporter.report(ConstraintId::symbol_c5, head, [&] {
      return fmt::format("no extent of the module has the declared symbol '${}'", name);
    });
    NearestName nearest(name);
    for (const std::string_view symbol : used) nearest.offer(symbol);
    if (kept != nullptr) suggest(*kept, nearest.best());
  }
}

/// Extents against the declarations: each once, where it is met first.
class ExtentChecks {
 public:
  ExtentChecks(Reporter& reporter, ExtentProver& prover) : reporter_(reporter), prover_(prover) {}

  void check(Dim extent, const Op& place) {
    if (!extent.is_symbolic() || extent.is_pack() || !seen_.insert(extent.expr()).second) return;
    if (check(ExtentRelation::kDefined, extent, place)) {
      check(ExtentRelation::kAtLeast, extent, place);
    }
  }

 private:
  bool check(ExtentRelation relation, Dim extent, const Op& place) {
    const ExtentProof& proof = prover_.prove(relation, extent, Dim());
    const auto print = [&] { return prover_.text(relation, extent, Dim()); };
    if (proof.verdict == ExtentVerdict::kRefuted) {
      reporter_.report(ConstraintId::symbol_c6, place, [&] {
        return fmt::format("extent {} is not valid for all values of its symbols: {}",
                           reporter_.module().context().dims().print(extent),
                           prover_.counterexample_text(proof, extent, Dim()));
      });
    } else if (proof.verdict == ExtentVerdict::kUndecided) {
      reporter_.report(ConstraintId::symbol_c7, place, [&] {
        return fmt::format("{} is neither proved nor refuted and is checked at run time", print());
      });
    }
    return proof.verdict != ExtentVerdict::kRefuted;
  }

  Reporter& reporter_;
  ExtentProver& prover_;
  std::unordered_set<const DimExpr*> seen_;
};

/// An op of a pattern or in one: its symbols are variables.
bool is_template(const Op& op) {
  for (const Op* each = &op; each != nullptr; each = each->parent_op()) {
    if (each->has(Trait::kTemplate)) return true;
  }
  return false;
}

}  // namespace

void declared_symbols(Reporter& reporter) {
  const Module& module = reporter.module();
  const Op& head = *module.top();
  const Attr* symbols = head.attribute(kSymbolsKey);
  if (symbols == nullptr || symbols->kind() != AttrKind::kDict || !module.is_portable()) return;
  if (module.version() < kSymbolsVersion) return check_version(head, reporter);
  check_structure(*symbols, head, reporter);
  check_uses(head, reporter);
  ExtentProver* prover = reporter.prover();
  if (prover == nullptr || !reporter.wants_any(ConstraintId::symbol_c6, ConstraintId::symbol_c7)) {
    return;
  }
  ExtentChecks checks(reporter, *prover);
  for_each_extent(module, [&](Dim extent, const Op& op) {
    if (!is_template(op)) checks.check(extent, op);
  });
}

}  // namespace mir::checks
