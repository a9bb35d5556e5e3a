// Dialects that texts declare.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// True if the module may declare a dialect: ops of dialect `dialect` were created in it.
inline bool declares_dialect(const Module& module) {
  return module.has_made(OpId::kDialectOp) || module.has_made(OpId::kDialectType) ||
         module.has_made(OpId::kDialectAttribute);
}

/// True for a dialect that a text declares, not for one of the build or of a plug-in.
inline bool is_declared(const Dialect* dialect) {
  return dialect != nullptr && !dialect->text.empty();
}

}  // namespace mir
