// Dialects that texts declare.
#pragma once

#include <algorithm>

#include "mir/module.hpp"

namespace mir {

/// True if the module may declare a dialect: ops of dialect `dialect` were created in it.
inline bool declares_dialect(const Module& module) {
  return module.has_made(OpId::kDialectOp) || module.has_made(OpId::kDialectType) ||
         module.has_made(OpId::kDialectAttribute);
}

/// True if a module has declarations of dialects and patterns, and nothing else that could run.
inline bool has_only_declarations(const Module& module) {
  const auto declares = [](const Op* op) {
    return op->is(OpId::kDialectOp, OpId::kDialectType, OpId::kDialectAttribute,
                  OpId::kPatternRewrite);
  };
  if (module.body().has_several_blocks()) return false;
  const auto ops = module.body().only_block().ops();
  return ops.begin() != ops.end() && std::ranges::all_of(ops, declares);
}

/// True for a dialect that a text declares, not for one of the build or of a plug-in.
inline bool is_declared(const Dialect* dialect) {
  return dialect != nullptr && !dialect->text.empty();
}

}  // namespace mir
