// Binds dimension symbols to numbers, and reports contradictions with their origins.
#include "plan/binder.hpp"

#include <fmt/format.h>

#include "ir/ports.hpp"
#include "ir/type_extents.hpp"
#include "mir/codes/inputs.hpp"
#include "plan/schedule.hpp"

namespace mir {

std::string DimPlace::text(const IRContext& context) const {
  switch (kind) {
    case Kind::kCaller:
      return "the caller";
    case Kind::kInput: {
      // A block reads values of the blocks before it, which are no arguments.
      const Block* const of = value->argument_of();
      const ValueName stated =
          of == nullptr ? value->name() : of->parent()->input_port(value->index());
      return fmt::format("extent {} of input {} '%{}'", dim, number, name_text(stated, context));
    }
    case Kind::kResult:
      return fmt::format("extent {} of result {} of '{}'", dim, number, name);
    case Kind::kCache:
      return fmt::format("the length of cache '@{}'", name);
  }
  return {};
}

Binder::Binder(IRContext& context, const DimBindings& given, SymbolDeclarations declarations)
    : context_(context), declarations_(std::move(declarations)) {
  restart(given);
}

void Binder::restart(const DimBindings& given) {
  bindings_ = given;
  origins_.clear();
  for (const auto& [symbol, value] : given.entries()) origins_.emplace_back(symbol, DimPlace{});
}

void Binder::restart_within(const Binder& outer, const std::function<bool(Symbol)>& is_own) {
  if (declarations_.empty()) declarations_ = outer.declarations_;
  bindings_.clear();
  origins_.clear();
  for (const auto& [symbol, value] : outer.bindings_.entries()) {
    if (is_own(symbol)) continue;
    bindings_.bind(symbol, value);
    origins_.emplace_back(symbol, DimPlace{});
  }
}

void Binder::take(const Binder& other) {
  for (const auto& [symbol, value] : other.bindings_.entries()) {
    if (bindings_.find(symbol) == value) continue;
    std::erase_if(origins_, [name = symbol](const auto& origin) { return origin.first == name; });
    bindings_.bind(symbol, value);
    origins_.emplace_back(symbol, DimPlace{});
  }
}

std::string Binder::origins_of(std::span<const Symbol> symbols) const {
  std::string text;
  for (const Symbol symbol : symbols) {
    const auto value = bindings_.find(symbol);
    for (const auto& [each, origin] : origins_) {
      if (each != symbol || !value) continue;
      text += fmt::format("{}'${}' is {} by {}", text.empty() ? " where " : ", ",
                          context_.text(symbol), *value, origin.text(context_));
    }
  }
  return text;
}

Result<void> Binder::check_declared(Symbol symbol, std::int64_t value,
                                    const DimPlace& place) const {
  const SymbolDeclaration* declared = declarations_.find(symbol);
  if (declared == nullptr || declared->admits(value)) return {};
  return Error{diag::kSymbolOutOfRange,
               fmt::format("'${}' is {} by {}, its declaration admits {}", context_.text(symbol),
                           value, place.text(context_), declared->text())};
}

Result<void> Binder::check_relations(Symbol symbol, const DimBindings& values,
                                     const DimPlace& place) const {
  const SymbolRelation* broken =
      declarations_.relations().broken_by(symbol, context_.dims(), values);
  if (broken == nullptr) return {};
  std::vector<Symbol> others = broken->symbols(context_.dims());
  std::erase(others, symbol);
  return Error{diag::kSymbolOutOfRange,
               fmt::format("'${}' is {} by {}, the module requires {}{}", context_.text(symbol),
                           *values.find(symbol), place.text(context_),
                           broken->text(context_.dims()), origins_of(others))};
}

Result<void> Binder::check_given() const {
  for (const auto& [symbol, value] : bindings_.entries()) {
    if (auto checked = check_declared(symbol, value, {}); !checked) return checked;
    if (auto checked = check_relations(symbol, bindings_, {}); !checked) return checked;
  }
  return {};
}

Result<Binder::Outcome> Binder::bind(Symbol symbol, std::int64_t value, const DimPlace& place) {
  if (auto checked = check_declared(symbol, value, place); !checked) {
    return std::move(checked).error();
  }
  if (!declarations_.relations().places_of(symbol).empty()) {
    DimBindings values = bindings_;
    values.bind(symbol, value);
    if (auto checked = check_relations(symbol, values, place); !checked) {
      return std::move(checked).error();
    }
  }
  bindings_.bind(symbol, value);
  origins_.emplace_back(symbol, place);
  return Outcome::kHolds;
}

Result<Binder::Outcome> Binder::require(Dim dim, std::int64_t value, const DimPlace& place) {
  DimTable& dims = context_.dims();
  if (dim.is_unknown()) return Outcome::kHolds;
  if (const auto known = dims.evaluate(dim, bindings_)) {
    if (*known == value) return Outcome::kHolds;
    return Error{diag::kSymbolConflict,
                 fmt::format("{} is {}, expected {} = {}{}", place.text(context_), value,
                             dims.print(dim), *known, origins_of(dims.symbols(dim)))};
  }
  if (const Symbol symbol = symbol_alone(dim); symbol && value >= 0) {
    return bind(symbol, value, place);
  }
  const auto solution = dims.solve(dim, value, bindings_);
  if (solution && solution->second >= 0) {
    return bind(solution->first, solution->second, place);
  }
  int unbound = 0;
  for (const Symbol symbol : dims.symbols(dim)) unbound += bindings_.find(symbol) ? 0 : 1;
  if (unbound > 1) return Outcome::kOpen;
  return Error{diag::kSymbolConflict,
               fmt::format("{} is {}, which {} cannot be{}", place.text(context_), value,
                           dims.print(dim), origins_of(dims.symbols(dim)))};
}

void Binder::bind_if_it_fits(Dim dim, std::int64_t value) {
  if (!require(dim, value, {})) return;
}

}  // namespace mir
