// Reports dimension symbols that nothing binds.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/context/language_versions.hpp"
#include "ir/extent_walk.hpp"
#include "ir/joined_extents.hpp"
#include "ir/own_symbols.hpp"
#include "ir/type_extents.hpp"
#include "mir/call_graph.hpp"
#include "mir/walk.hpp"
#include "support/pointer_table.hpp"
#include "verify/checks.hpp"
#include "verify/declared_extents.hpp"
#include "verify/weights.hpp"

namespace mir::checks {

namespace {

using SymbolSet = std::unordered_set<Symbol>;

/// Looks for dimension symbols, and reports those that nothing binds. Before kSymbolsVersion, all
/// graphs have the symbols of the module; from then on, what one graph binds means nothing in
/// another one, unless that calls it.
class BoundSymbols {
 public:
  BoundSymbols(const Census& census, Reporter& reporter)
      : reporter_(reporter),
        context_(reporter.module().context()),
        calls_(reporter.module(), census.graphs, census.calls),
        are_shared_(reporter.module().version() < kSymbolsVersion) {}

  void run() {
    for (const Op* graph : calls_.graphs()) {
      if (graph->first_region() != nullptr) bind(*graph, *graph->first_region());
    }
    if (are_shared_) {
      return for_each_op(reporter_.module(), [&](const Op& op) { check(op); });
    }
    for (const Op* graph : calls_.graphs()) {
      if (graph->first_region() == nullptr) continue;
      graph_ = graph;
      seen_ = {};
      // The attributes of a graph are stated in its symbols.
      if (graph != reporter_.module().top()) check(*graph);
      for_each_op(*graph->first_region(), [&](const Op& op) {
        if (!is_graph(op)) check(op);
      });
    }
  }

 private:
  void bind(const Op& graph, const Region& body) {
    SymbolSet& bound = bound_[are_shared_ ? nullptr : &graph];
    const auto add = [&](Symbol symbol) { bound.insert(symbol); };
    for (const Value& argument : body.entry_arguments()) for_each_symbol(argument.type(), add);
    for_each_op(body, [&](const Op& op) {
      // The length of a cache is the same wherever it is used.
      const Attr* past = op.is(OpId::kLinalgKVCache) ? op.attribute(key::kPast) : nullptr;
      if (past != nullptr) for_each_symbol(*past, [&](Symbol symbol) { lengths_.insert(symbol); });
      if (op.first_region() != nullptr || may_bind(op, bound)) bind_results(op, bound);
    });
    for_each_region(body, [&](const Region& region) {
      if (!region.has_several_blocks()) return;
      for (const Block* block : region.blocks()) for_each_symbol_joined_by(*block, add);
    });
  }

  /// True if a result has a symbol that is not bound yet.
  bool may_bind(const Op& op, const SymbolSet& bound) {
    bool may = false;
    for (const Value& result : op.results()) {
      for_each_symbol(result.type(), [&](Symbol symbol) { may = may || !bound.contains(symbol); });
    }
    return may;
  }

  /// An extent that a rule leaves unknown may have a name of its own: the run finds it out, unless
  /// only the declared type tells the extent.
  void bind_results(const Op& op, SymbolSet& bound) {
    std::vector<Symbol> found;
    for_each_symbol_found_out(op, [&](Symbol symbol) { found.push_back(symbol); });
    if (found.empty()) return;
    for (const DeclaredExtent& each : declared_extents(op, reporter_.prover())) {
      const TensorType* type = op.result(each.result)->tensor_type();
      if (type == nullptr || each.dim >= type->rank()) continue;
      for_each_symbol_of(type->dims()[each.dim], context_.dims(),
                         [&](Symbol symbol) { std::erase(found, symbol); });
    }
    bound.insert(found.begin(), found.end());
  }

  bool is_bound(Symbol symbol) const {
    if (lengths_.contains(symbol)) return true;
    if (are_shared_) return bound_.at(nullptr).contains(symbol);
    if (bound_.at(graph_).contains(symbol)) return true;
    // A graph takes over what is bound where it is called. One that nothing calls belongs to no
    // run.
    std::unordered_set<const Op*> seen = {graph_};
    std::vector<const Op*> open = {graph_};
    while (!open.empty()) {
      const Op* graph = open.back();
      open.pop_back();
      const auto calls = calls_.calls_of(*graph);
      if (calls.empty() && graph != reporter_.module().top()) return is_bound_anywhere(symbol);
      for (const Op* call : calls) {
        const Op* caller = graph_around(*call);
        if (const auto bound = bound_.find(caller);
            bound != bound_.end() && bound->second.contains(symbol)) {
          return true;
        }
        if (seen.insert(caller).second) open.push_back(caller);
      }
    }
    return false;
  }

  bool is_bound_anywhere(Symbol symbol) const {
    return std::ranges::any_of(bound_,
                               [&](const auto& each) { return each.second.contains(symbol); });
  }

  static const Op* graph_around(const Op& op) {
    const Op* at = op.parent_op();
    while (!is_graph(*at) && at->parent_op() != nullptr) at = at->parent_op();
    return at;
  }

  void check(const Op& op) {
    if (op.has(Trait::kTemplate)) return;  // its symbols are variables
    const auto check = [&](Symbol symbol) { report(op, symbol); };
    for (const Use& use : op.operand_uses()) {
      if (use.value()->is_free()) check_once(use.value()->type(), check);
    }
    for (const Value& result : op.results()) check_once(result.type(), check);
    if (op.is(OpId::kTensorRegister)) check_parameter(op);
    for (const NamedAttr& each : op.attributes()) {
      if (has_own_symbols(op.row(), context_.text(each.key), *each.value)) continue;
      check_once(*each.value, check);
    }
  }

  /// The symbols of a parameter have no values before a run, even if inputs bind them.
  void check_parameter(const Op& op) {
    const TensorType* type = op.result_count() == 1 ? op.result()->tensor_type() : nullptr;
    if (type == nullptr || std::ranges::none_of(type->dims(), &Dim::is_symbolic)) return;
    bool is_told = false;
    for_each_symbol(type, [&](Symbol symbol) { is_told = is_told || reported_.contains(symbol); });
    if (!is_told) report_parameter(op, *type, reporter_);
  }

  template <class Visit>
  void check_once(const Type* type, const Visit& visit) {
    if (type == nullptr || seen_[type] != 0) return;
    seen_[type] = 1;
    for_each_symbol(type, visit);
  }
  template <class Visit>
  void check_once(const Attr& value, const Visit& visit) {
    if (seen_[&value] != 0) return;
    seen_[&value] = 1;
    for_each_symbol(value, visit);
  }

  template <class Visit>
  void for_each_symbol(const Type* type, const Visit& visit) {
    for_each_symbol_of(type, context_.dims(), visit);
  }
  template <class Visit>
  void for_each_symbol(const Attr& value, const Visit& visit) {
    if (value.kind() == AttrKind::kDim) for_each_symbol_of(value.dim(), context_.dims(), visit);
    if (value.kind() == AttrKind::kArray) {
      for (const Attr* each : value.elements()) for_each_symbol(*each, visit);
    }
    if (value.kind() == AttrKind::kDict) {
      for (const NamedAttr& each : value.entries()) for_each_symbol(*each.value, visit);
    }
  }

  void report(const Op& op, Symbol symbol) {
    if (is_bound(symbol) || !reported_.insert(symbol).second) return;
    reporter_.report(ConstraintId::symbol_c2, op, [&] {
      return fmt::format("no input and no cache binds '${}'", text(op, symbol));
    });
  }

  Reporter& reporter_;
  IRContext& context_;
  CallGraph calls_;
  bool are_shared_;
  const Op* graph_ = nullptr;                       // which is checked
  std::unordered_map<const Op*, SymbolSet> bound_;  // by each graph; if shared, by all for null
  SymbolSet lengths_;                               // of caches
  SymbolSet reported_;
  PointerTable<char> seen_;  // types and attributes, in one graph unless symbols are shared
};

}  // namespace

void bound_symbols(const Census& census, Reporter& reporter) {
  // A program's inputs are bound by its instructions.
  if (!reporter.wants(ConstraintId::symbol_c2) || census.has_fragments) return;
  BoundSymbols(census, reporter).run();
}

}  // namespace mir::checks
