// Checks that symbols are unique and stated once.
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// True if `first` is another op, which is reported.
bool is_second(const Op& op, Symbol symbol, const Op* first, Reporter& reporter) {
  if (first == nullptr || first == &op) return false;
  // Reading a dialect reports two ops of one name, also where no module is verified.
  if (op.is_in(DialectId::kDialect) && op.kind() == first->kind()) return true;
  note(reporter.report(
           ConstraintId::symbol_c1, op,
           [&] { return fmt::format("symbol '@{}' is declared twice", text(op, symbol)); }),
       *first, "first declared here");
  return true;
}

const Attr* stated_symbol(const Op& op) {
  const Attr* stated = op.attribute(key::kSymbol);
  return stated != nullptr && stated->kind() == AttrKind::kString ? stated : nullptr;
}

/// `@name`, or the symbol of the result of a table's entry, beside `[symbol:name]`. Registers have
/// a constraint of their own.
void check_one_name(const Op& op, Reporter& reporter) {
  const Attr* stated = stated_symbol(op);
  if (stated == nullptr || op.is(OpId::kTensorRegister)) return;
  const auto check = [&](Symbol symbol) {
    if (text(op, symbol) == stated->text()) return;
    reporter.report_at(ConstraintId::symbol_c3, op, {key::kSymbol}, [&] {
      return fmt::format("'{}' is named '@{}', its attribute 'symbol' is '{}'", op.name(),
                         text(op, symbol), stated->text());
    });
  };
  if (op.has_symbol()) check(op.symbol());
  for (const Value& result : op.results()) {
    if (result.has_symbol()) check(result.symbol());
  }
}

}  // namespace

void symbols(const Census& census, Reporter& reporter) {
  if (reporter.wants(ConstraintId::symbol_c3)) {
    for (const Op* each : census.declarations) check_one_name(*each, reporter);
  }
  if (!reporter.wants(ConstraintId::symbol_c1)) return;
  const Module& module = reporter.module();
  // As many as there are different ones: none is declared twice.
  if (census.symbol_count == module.declared_symbol_count()) return;
  for (const Op* each : census.declarations) {
    const Op& op = *each;
    const auto symbol = module.declared_symbol(&op);
    if (symbol && is_second(op, *symbol, module.lookup_op(*symbol), reporter)) continue;
    for (const Value& result : op.results()) {
      if (!result.has_symbol()) continue;
      const Value* first = module.lookup_value(result.symbol());
      if (first != nullptr) is_second(op, result.symbol(), first->defining_op(), reporter);
    }
  }
}

}  // namespace mir::checks
