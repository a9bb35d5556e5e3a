#include "binder.hpp"

#include <fmt/format.h>

namespace mir {

Binder::Binder(IRContext& context, const DimBindings& given) : context_(context), bindings_(given) {
  for (const auto& [symbol, value] : given.entries()) origins_.emplace_back(symbol, "the caller");
}

std::string Binder::origins_of(Dim dim) const {
  std::string text;
  for (const Symbol symbol : context_.dims().symbols(dim)) {
    const auto value = bindings_.find(symbol);
    for (const auto& [each, origin] : origins_) {
      if (each != symbol || !value) continue;
      text += fmt::format("{}'${}' is {} by {}", text.empty() ? " where " : ", ",
                          context_.text(symbol), *value, origin);
    }
  }
  return text;
}

Result<Binder::Outcome> Binder::require(Dim dim, std::int64_t value, const std::string& place) {
  DimTable& dims = context_.dims();
  if (dim.is_unknown()) return Outcome::kHolds;
  if (const auto known = dims.evaluate(dim, bindings_)) {
    if (*known == value) return Outcome::kHolds;
    return Error{DiagCode::kSymbolConflict,
                 fmt::format("{} is {}, expected {} = {}{}", place, value, dims.print(dim), *known,
                             origins_of(dim))};
  }
  const auto solution = dims.solve(dim, value, bindings_);
  if (solution && solution->second >= 0) {
    bindings_.bind(solution->first, solution->second);
    origins_.emplace_back(solution->first, place);
    return Outcome::kHolds;
  }
  int unbound = 0;
  for (const Symbol symbol : dims.symbols(dim)) unbound += bindings_.find(symbol) ? 0 : 1;
  if (unbound > 1) return Outcome::kOpen;
  return Error{DiagCode::kSymbolConflict, fmt::format("{} is {}, which {} cannot be{}", place,
                                                      value, dims.print(dim), origins_of(dim))};
}

}  // namespace mir
