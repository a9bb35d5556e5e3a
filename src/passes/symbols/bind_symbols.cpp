// Gives symbolic extents values.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ir/symbol_declarations.hpp"
#include "mir/rewriter.hpp"
#include "passes/standard_passes.hpp"
#include "passes/symbols/substitute_extents.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

constexpr std::string_view kOption = "SYMBOL";

class SymbolBinding {
 public:
  explicit SymbolBinding(PassRun& run)
      : run_(run), context_(run.module().context()), rewriter_(run.module()) {}

  PassResult apply() {
    for (const auto& [name, value] : run_.options().keyed_integers(kOption)) {
      bindings_.bind(context_.intern(name.starts_with('$') ? name.substr(1) : name), value);
    }
    if (!check_declarations()) return PassResult::kFailed;
    drop_declarations();
    ExtentSubstitution substitution(rewriter_, bindings_);
    substitution.apply(run_.module());
    bool has_failed = refuse_conflict(run_, substitution);
    if (const auto extent = substitution.negative()) {
      refuse_negative(*extent);
      has_failed = true;
    }
    for (const auto& [symbol, value] : bindings_.entries()) {
      if (substitution.bound().contains(symbol)) continue;
      refuse(symbol, substitution.found());
      has_failed = true;
    }
    return has_failed ? PassResult::kFailed : run_.result();
  }

 private:
  /// No extent of the module has the symbol.
  void refuse(Symbol symbol, const std::set<Symbol>& others) {
    NearestName nearest(context_.text(symbol));
    for (const Symbol each : others) nearest.offer(context_.text(each));
    Diagnostic& problem = run_.diagnostics().error(
        DiagCode::kPipeline, run_.module().top()->span(),
        fmt::format("no extent of the module has the symbol '{}'", context_.text(symbol)));
    suggest(problem, nearest.best());
  }

  void refuse_negative(Dim extent) {
    run_.diagnostics().error(DiagCode::kPipeline, run_.module().top()->span(),
                             fmt::format("extent {} is {}", context_.dims().print(extent),
                                         context_.dims().substitute(extent, bindings_).constant()));
  }

  /// The head of the module may exclude a value.
  bool check_declarations() {
    for (const SymbolDeclaration& each : symbol_declarations(run_.module())) {
      const auto value = bindings_.find(each.name);
      if (!value || each.admits(*value)) continue;
      run_.diagnostics().error(DiagCode::kSymbolOutOfRange, run_.module().top()->span(),
                               fmt::format("'${}' is {} by the pass, its declaration admits {}",
                                           context_.text(each.name), *value, each.text()));
      return false;
    }
    return true;
  }

  /// A symbol without an extent needs no declaration.
  void drop_declarations() {
    Op& head = *run_.module().top();
    const Symbol key = context_.intern(kSymbolsKey);
    const Attr* symbols = head.attribute(key);
    if (symbols == nullptr || symbols->kind() != AttrKind::kDict) return;
    std::vector<NamedAttr> kept(symbols->entries().begin(), symbols->entries().end());
    std::erase_if(kept,
                  [&](const NamedAttr& each) { return bindings_.find(each.key).has_value(); });
    if (kept.size() == symbols->entries().size()) return;
    if (!kept.empty()) return rewriter_.set_attribute(head, key, context_.dict(kept));
    rewriter_.remove_attribute(head, key);
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
  DimBindings bindings_;
};

constexpr std::string_view kSymbolicExtent =
    R"(@main [mir_version:1] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[$S, 8], Float32, CPU>) {
    linalg.CPU.ViewOp [to_shape:[$S, 8]] (%x) -> (%y:tensor<[$S, 8], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

}  // namespace

Pass bind_symbols_pass() {
  return {.name = "bind-symbols",
          .summary = "replaces symbols of extents by numbers: bind-symbols{S=4}",
          .takes = PassForm::kPortable,
          .options = {{.name = std::string(kOption),
                       .kind = PassOption::Kind::kInteger,
                       .is_keyed = true,
                       .summary = "the value of the symbol `$SYMBOL`",
                       .least = 0}},
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases>(),
          .example = std::string(kSymbolicExtent),
          .example_options = "S=4",
          .run = [](PassRun& run) { return SymbolBinding(run).apply(); }};
}

}  // namespace mir
