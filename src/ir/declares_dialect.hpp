// Modules that declare dialects.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// Whether the module may declare a dialect: ops of dialect `dialect` were made in it.
inline bool declares_dialect(const Module& module) {
  return module.has_made(OpId::kDialectOp) || module.has_made(OpId::kDialectType) ||
         module.has_made(OpId::kDialectAttribute);
}

}  // namespace mir
