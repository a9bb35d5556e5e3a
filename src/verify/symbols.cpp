#include <algorithm>

#include "ir/mention.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// Whether `first` is another op, which is reported.
bool is_second(const Op& op, Symbol symbol, const Op* first, Reporter& reporter) {
  if (first == nullptr || first == &op) return false;
  note(reporter.report(
           ConstraintId::symbol_c1, op,
           [&] { return fmt::format("symbol '@{}' is declared twice", text(op, symbol)); }),
       *first, "first declared here");
  return true;
}

/// A view in a dump has the storage of what it views, and so its symbol.
bool names_an_operand(const Op& op, const Value& result) {
  const auto uses = op.operand_uses();
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    const StatedMention mention = mention_of(use);
    return use.value()->name() == result.name() && mention.has_symbol &&
           mention.symbol == result.symbol();
  });
}

}  // namespace

void symbols(const Census& census, Reporter& reporter) {
  if (!reporter.wants(ConstraintId::symbol_c1)) return;
  const Module& module = reporter.module();
  // As many as there are different ones: none is declared twice.
  if (census.symbol_count == module.declared_symbol_count()) return;
  for (const Op* each : census.declarations) {
    const Op& op = *each;
    if (op.row() == nullptr) continue;
    if (op.has(Trait::kSymbol)) {
      const auto symbol = module.declared_symbol(&op);
      if (symbol && is_second(op, *symbol, module.lookup_op(*symbol), reporter)) continue;
    }
    for (const Value& result : op.results()) {
      if (!result.has_symbol()) continue;
      if (!module.is_portable() && names_an_operand(op, result)) continue;
      const Value* first = module.lookup_value(result.symbol());
      if (first != nullptr) is_second(op, result.symbol(), first->defining_op(), reporter);
    }
  }
}

}  // namespace mir::checks
