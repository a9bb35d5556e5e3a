#include <unordered_set>

#include "ir/extent_walk.hpp"
#include "mir/walk.hpp"
#include "support/pointer_table.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// Looks for dimension symbols, and reports those that nothing binds.
class BoundSymbols {
 public:
  explicit BoundSymbols(Reporter& reporter)
      : reporter_(reporter), context_(reporter.module().context()) {}

  void bind(const Region& region) {
    for (const Value& argument : region.entry_arguments()) {
      for_each_symbol(argument.type(), [&](Symbol symbol) { bound_.insert(symbol); });
    }
  }

  /// A cache's length is bound before the run.
  void bind_past(const Op& op) {
    const Attr* past = op.is(OpId::kLinalgKVCache) ? op.attribute(key::kPast) : nullptr;
    if (past == nullptr) return;
    for_each_symbol(*past, [&](Symbol symbol) { bound_.insert(symbol); });
  }

  /// A block takes the extents that are passed.
  void bind_arguments(const Region& region) {
    for (const Block* block : region.blocks()) {
      for_each_symbol_joined_by(*block, [&](Symbol symbol) { bound_.insert(symbol); });
    }
  }

  /// An extent that a rule leaves unknown may have a name of its own: the run finds it out.
  void bind_results(const Op& op) {
    for_each_symbol_found_out(op, [&](Symbol symbol) { bound_.insert(symbol); });
  }

  void check(const Op& op) {
    if (op.has(Trait::kTemplate)) return;  // its symbols are variables
    const auto check = [&](Symbol symbol) { report(op, symbol); };
    for (const Use& use : op.operand_uses()) {
      if (use.value()->is_free()) check_once(use.value()->type(), check);
    }
    for (const Value& result : op.results()) check_once(result.type(), check);
    for (const NamedAttr& each : op.attributes()) check_once(*each.value, check);
  }

 private:
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
    const auto* tensor = dyn_cast<TensorType>(type);
    if (tensor == nullptr) return;
    for (const Dim dim : tensor->dims()) for_each_symbol(dim, visit);
  }
  template <class Visit>
  void for_each_symbol(Dim dim, const Visit& visit) {
    if (!dim.is_symbolic() || dim.is_pack()) return;
    for (const Symbol symbol : context_.dims().symbols(dim)) visit(symbol);
  }
  template <class Visit>
  void for_each_symbol(const Attr& value, const Visit& visit) {
    if (value.kind() == AttrKind::kDim) for_each_symbol(value.dim(), visit);
    if (value.kind() == AttrKind::kArray) {
      for (const Attr* each : value.elements()) for_each_symbol(*each, visit);
    }
    if (value.kind() == AttrKind::kDict) {
      for (const NamedAttr& each : value.entries()) for_each_symbol(*each.value, visit);
    }
  }

  void report(const Op& op, Symbol symbol) {
    if (!bound_.insert(symbol).second) return;  // each is reported once
    reporter_.report(ConstraintId::symbol_c2, op, [&] {
      return fmt::format("no input and no cache binds '${}'", text(op, symbol));
    });
  }

  Reporter& reporter_;
  IRContext& context_;
  std::unordered_set<Symbol> bound_;
  PointerTable<char> seen_;  // types and attributes
};

}  // namespace

void bound_symbols(const Census& census, Reporter& reporter) {
  // A program's inputs are bound by its instructions.
  if (!reporter.wants(ConstraintId::symbol_c2) || census.has_fragments) return;
  const Region& body = reporter.module().body();
  BoundSymbols symbols(reporter);
  symbols.bind(body);
  for (const Op* graph : census.graphs) {
    if (graph->first_region() != nullptr) symbols.bind(*graph->first_region());
  }
  for_each_op(body, [&](const Op& op) {
    symbols.bind_past(op);
    symbols.bind_results(op);
  });
  for_each_region(body, [&](const Region& region) {
    if (region.has_several_blocks()) symbols.bind_arguments(region);
  });
  for_each_op(body, [&](const Op& op) { symbols.check(op); });
}

}  // namespace mir::checks
