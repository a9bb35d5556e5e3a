// Gives symbolic extents values.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "ir/extent_prover.hpp"
#include "ir/extent_walk.hpp"
#include "ir/op_places.hpp"
#include "ir/symbol_declarations.hpp"
#include "ir/symbol_scopes.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/call_graph.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/standard_passes.hpp"
#include "passes/symbols/substitute_extents.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

constexpr std::string_view kOption = "SYMBOL";

class SymbolBinding {
 public:
  explicit SymbolBinding(PassRun& run)
      : run_(run),
        context_(run.module().context()),
        rewriter_(run.module()),
        calls_(run.module()) {}

  PassResult apply() {
    for (const auto& [name, value] : run_.options().keyed_integers(kOption)) {
      bindings_.bind(context_.intern(name.starts_with('$') ? name.substr(1) : name), value);
    }
    if (!check_declarations()) return PassResult::kFailed;
    if (!find_values_of_graphs() || !find_relations()) return PassResult::kFailed;
    ExtentSubstitution substitution(rewriter_);
    std::vector<std::pair<Region*, DimBindings>> bodies;
    for (Op* graph : calls_.graphs()) {
      if (graph->first_region() == nullptr) continue;
      bodies.emplace_back(graph->first_region(), values_.at(graph));
    }
    substitution.apply(bodies);
    bool has_failed = refuse_conflict(run_, substitution);
    if (const auto negative = substitution.negative()) {
      run_.diagnostics().error(
          diag::kPipeline, run_.module().top()->span(),
          fmt::format("extent {} is {}", context_.dims().print(negative->extent), negative->value));
      has_failed = true;
    }
    for (const auto& [symbol, value] : bindings_.entries()) {
      if (substitution.bound().contains(symbol)) continue;
      refuse(symbol, substitution.bound());
      has_failed = true;
    }
    drop_declarations();
    set_relations();
    return has_failed ? PassResult::kFailed : run_.result();
  }

 private:
  /// The numbers that symbols of graphs have: those that all calls determine alike. A graph that
  /// nothing calls has the symbols of the module, but for those that its ops bind. Callers come
  /// before what they call.
  bool find_values_of_graphs() {
    std::vector<Op*> order = calls_.bottom_up();
    std::ranges::reverse(order);
    for (Op* graph : order) {
      const bool is_called = graph == run_.module().top() || values_.contains(graph);
      const DimBindings values =
          values_.try_emplace(graph, is_called ? bindings_ : values_of_uncalled(*graph))
              .first->second;
      if (graph->first_region() == nullptr) continue;
      if (!check_inherited(*graph, values)) return false;
      for_each_scope(*graph->first_region(), values,
                     [&](Region& region, const DimBindings& visible) {
                       for_each_child(region, [&](Op& op) { add_call(op, visible); });
                     });
    }
    return true;
  }

  DimBindings values_of_uncalled(const Op& graph) const {
    if (graph.first_region() == nullptr) return bindings_;
    auto bound = symbols_owned_by(*graph.first_region());
    for (const Value& argument : graph.first_region()->entry_arguments()) {
      for_each_symbol_of(argument.type(), context_.dims(), [&](Symbol each) { bound.erase(each); });
    }
    return without(bindings_, bound);
  }

  void add_call(Op& call, const DimBindings& visible) {
    Op* const graph = isa<CallGraphOp>(&call) ? called_graph(call) : nullptr;
    if (graph == nullptr) return;
    const DimBindings numbers = numbers_passed(call, *graph, visible);
    const auto [known, is_new] = values_.try_emplace(graph, numbers);
    if (is_new) return;
    DimBindings common;
    for (const auto& [symbol, value] : known->second.entries()) {
      if (numbers.find(symbol) == value) {
        common.bind(symbol, value);
      } else {
        differing_[graph].insert(symbol);
      }
    }
    for (const auto& [symbol, value] : numbers.entries()) {
      if (!common.find(symbol)) differing_[graph].insert(symbol);
    }
    known->second = common;
  }

  /// A symbol that the graph takes from around its calls must have one number there.
  bool check_inherited(const Op& graph, const DimBindings& values) {
    const auto differing = differing_.find(&graph);
    if (differing == differing_.end()) return true;
    const auto owned = symbols_owned_by(*graph.first_region());
    const auto used = symbols_of_scope(*graph.first_region());
    for (const Symbol symbol : differing->second) {
      if (values.find(symbol) || owned.contains(symbol) || !used.contains(symbol)) continue;
      run_.diagnostics().error(
          diag::kPipeline, graph.span(),
          fmt::format("'${}' has several values in '@{}', which takes it from around its calls",
                      context_.text(symbol), context_.text(graph.symbol())));
      return false;
    }
    return true;
  }

  /// No extent of the module has the symbol, or only graphs whose calls determine it.
  void refuse(Symbol symbol, const std::set<Symbol>& bound) {
    const auto graph = std::ranges::find_if(calls_.graphs(), [&](const Op* each) {
      return each->first_region() != nullptr && each != run_.module().top() &&
             symbols_of_scope(*each->first_region()).contains(symbol);
    });
    if (graph != calls_.graphs().end()) {
      run_.diagnostics().error(
          diag::kPipeline, (*graph)->span(),
          fmt::format("'${}' is a symbol of graph '@{}', whose calls determine its value",
                      context_.text(symbol), context_.text((*graph)->symbol())));
      return;
    }
    NearestName nearest(context_.text(symbol));
    for (const std::string_view each : symbols_of_extents(run_.module())) nearest.offer(each);
    for (const Symbol each : bound) nearest.offer(context_.text(each));
    Diagnostic& problem = run_.diagnostics().error(
        diag::kPipeline, run_.module().top()->span(),
        fmt::format("no extent of the module has the symbol '{}'", context_.text(symbol)));
    suggest(problem, nearest.best());
  }

  /// The head of the module may exclude a value.
  bool check_declarations() {
    for (const SymbolDeclaration& each : symbol_declarations(run_.module())) {
      const auto value = bindings_.find(each.name);
      if (!value || each.admits(*value)) continue;
      run_.diagnostics().error(diag::kSymbolOutOfRange, run_.module().top()->span(),
                               fmt::format("'${}' is {} by the pass, its declaration admits {}",
                                           context_.text(each.name), *value, each.text()));
      return false;
    }
    const ExtentProver prover(context_, symbol_declarations(run_.module()));
    if (const SymbolRelation* broken = prover.impossible_for(bindings_)) {
      return refuse_relation(diag::kSymbolOutOfRange, *broken,
                             fmt::format("{}, the module requires", values_text(*broken)));
    }
    return true;
  }

  /// "'$S' is 6 by the pass"
  std::string values_text(const SymbolRelation& relation) const {
    std::string text;
    for (const Symbol symbol : relation.symbols(context_.dims())) {
      const auto value = bindings_.find(symbol);
      if (!value) continue;
      text += fmt::format("{}'${}' is {} by the pass", text.empty() ? "" : ", ",
                          context_.text(symbol), *value);
    }
    return text;
  }

  bool refuse_relation(DiagCode code, const SymbolRelation& relation, std::string_view reason) {
    const Module& module = run_.module();
    run_.diagnostics().error(code,
                             value_span(context_.sources(), module.top()->span(), key::kWhere.text),
                             fmt::format("{} {}", reason, relation.text(context_.dims())));
    return false;
  }

  // -- relations ----------------------------------------------------------------------------------

  /// Puts numbers into the relations. A head has one text for all scopes, so a relation must have
  /// the same numbers in each scope that has another of its symbols.
  bool find_relations() {
    const SymbolDeclarations declarations = symbol_declarations(run_.module());
    for (const SymbolRelation& relation : declarations.relations().all()) {
      std::optional<SymbolRelation> left;
      bool is_good = true, is_bound = false;
      for_each_scope_with_symbols([&](const auto& symbols, const DimBindings& values) {
        if (!is_good) return;
        const auto here = relation.substitute(context_.dims(), [&](Symbol symbol) {
          const auto value = values.find(symbol);
          is_bound = is_bound || value;
          return value ? std::optional(Dim(*value)) : std::nullopt;
        });
        if (!here || is_false(*here)) {
          is_good = refuse_relation(diag::kSymbolOutOfRange, relation,
                                    "the pass gives symbols values for which this does not hold:");
          return;
        }
        const auto is_here = [&](Symbol symbol) { return symbols.contains(symbol); };
        if (std::ranges::none_of(here->symbols(context_.dims()), is_here)) return;
        if (!left) left = here;
        if (left->text(context_.dims()) == here->text(context_.dims())) return;
        is_good = refuse_relation(diag::kPipeline, relation,
                                  "graphs or regions have different numbers for the relation");
      });
      if (!is_good) return false;
      if (left || !is_bound) relations_.push_back(left.value_or(relation));
    }
    return true;
  }

  bool is_false(const SymbolRelation& relation) const {
    return relation.symbols(context_.dims()).empty() &&
           !relation.holds(context_.dims(), {}).value_or(false);
  }

  template <class Visit>
  void for_each_scope_with_symbols(const Visit& visit) {
    for (Op* graph : calls_.graphs()) {
      if (graph->first_region() == nullptr) continue;
      for_each_scope(*graph->first_region(), values_.at(graph),
                     [&](const Region& region, const DimBindings& visible) {
                       visit(symbols_of_scope(region), visible);
                     });
    }
  }

  void set_relations() {
    Op& head = *run_.module().top();
    const Attr* where = head.attribute(key::kWhere);
    if (where == nullptr) return;
    const Attr* left = relations_attribute(relations_, context_);
    const SymbolDeclarations before = symbol_declarations(run_.module());
    if (left == relations_attribute(before.relations().all(), context_)) return;
    if (left != nullptr) return rewriter_.set_attribute(head, key::kWhere, left);
    rewriter_.remove_attribute(head, key::kWhere);
  }

  /// A symbol without an extent needs no declaration. Those of graphs keep theirs.
  void drop_declarations() {
    Op& head = *run_.module().top();
    const Attr* symbols = head.attribute(key::kSymbols);
    if (symbols == nullptr || symbols->kind() != AttrKind::kDict) return;
    std::vector<NamedAttr> kept(symbols->entries().begin(), symbols->entries().end());
    const auto used = symbols_of_extents(run_.module());
    std::erase_if(kept, [&](const NamedAttr& each) {
      return bindings_.find(each.key) && !used.contains(context_.text(each.key));
    });
    if (kept.size() == symbols->entries().size()) return;
    if (!kept.empty()) return rewriter_.set_attribute(head, key::kSymbols, context_.dict(kept));
    rewriter_.remove_attribute(head, key::kSymbols);
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
  CallGraph calls_;
  DimBindings bindings_;                   // of the module
  std::vector<SymbolRelation> relations_;  // between the symbols that stay
  std::unordered_map<const Op*, DimBindings> values_;
  std::unordered_map<const Op*, std::set<Symbol>> differing_;  // values differ between calls
};

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
          .run = [](PassRun& run) { return SymbolBinding(run).apply(); }};
}

}  // namespace mir
