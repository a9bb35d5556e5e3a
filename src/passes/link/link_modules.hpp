// Several modules as one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// Treatment of a graph whose name an earlier module has taken.
enum class NameCollision : std::uint8_t {
  kRefuse,
  kRename,  ///< the later graph becomes `@name.1`, `@name.2`, ...; its calls follow
};

/// Returns a module with the name, body and graphs of the first module and the graphs of all
/// others, whose bodies become graphs with the names of their modules. All modules are portable and
/// of one context, which does not list the result; there is at least one. A parameter that several
/// modules declare is one parameter, and caches of one name are one cache. Null after reporting a
/// dump, a name that is taken, or a parameter that is declared with different types.
std::unique_ptr<Module> link_modules(std::span<Module* const> modules, NameCollision collision,
                                     Diagnostics& diagnostics);

}  // namespace mir
