// Values of the symbols of a module's extents.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "ir/extent_walk.hpp"
#include "mir/codes/usage.hpp"
#include "mir/session.hpp"
#include "support/suggest.hpp"

namespace mir {

std::vector<std::string> extent_symbols(const Module& module) {
  const auto symbols = symbols_of_extents(module);
  return {symbols.begin(), symbols.end()};
}

Result<void> check_bindings(const DimBindings& bindings, const Module& module) {
  if (bindings.entries().empty()) return {};
  const auto known = symbols_of_extents(module);
  for (const auto& [symbol, value] : bindings.entries()) {
    const std::string_view name = module.context().text(symbol);
    if (known.contains(name)) continue;
    NearestName nearest(name);
    for (const std::string_view each : known) nearest.offer(each);
    const std::string_view meant = nearest.best();
    const std::string hint = meant.empty() ? "" : fmt::format("; did you mean '${}'?", meant);
    const std::string all =
        known.empty() ? "it has none" : fmt::format("it has ${}", fmt::join(known, ", $"));
    return Error{diag::kUsage, fmt::format("no extent of module '{}' has '${}'; {}{}",
                                           module.context().text(module.name()), name, all, hint)};
  }
  return {};
}

}  // namespace mir
