// Resolves and indexes a text unit by unit.
#include "text/read_text.hpp"

#include <utility>

#include "mir/parse.hpp"

namespace mir {

std::optional<std::vector<Module*>> read_whole_modules(SourceTokens& source, IRContext& context,
                                                       Diagnostics& diagnostics) {
  Diagnostics of_modules = diagnostics;
  Resolver resolver(context, source.file(), of_modules);
  const bool is_whole = parse_units(source.file(), diagnostics, [&](Unit&& unit) {
    resolver.add(unit);
    source.add(unit);
    return true;
  });
  source.finish();
  std::vector<Module*> modules = resolver.finish();
  if (!is_whole) return std::nullopt;
  diagnostics = std::move(of_modules);
  return modules;
}

}  // namespace mir
