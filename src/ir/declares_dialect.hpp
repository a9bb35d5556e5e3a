// Dialects that texts declare.
#pragma once

#include <algorithm>
#include <span>
#include <string>

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
                  OpId::kPatternRewrite) ||
           (op->is(OpId::kCfReturn) && op->operand_count() == 0);
  };
  if (module.body().has_several_blocks()) return false;
  const auto ops = module.body().only_block().ops();
  return ops.begin() != ops.end() && !(*ops.begin())->is(OpId::kCfReturn) &&
         std::ranges::all_of(ops, declares);
}

/// True for modules whose text can be a file of dialects: one declares a dialect, and the others
/// have nothing but patterns.
inline bool are_dialects(std::span<Module* const> modules) {
  return std::ranges::any_of(modules, [](const Module* each) { return declares_dialect(*each); }) &&
         std::ranges::all_of(modules, [](const Module* each) {
           return declares_dialect(*each) || has_only_declarations(*each);
         });
}

/// True for a dialect that a text declares, not for one of the build or of a plug-in.
inline bool is_declared(const Dialect* dialect) {
  return dialect != nullptr && !dialect->text.empty();
}

/// The modules that declare the dialects of texts, in the order in which they were read.
inline std::string text_of_declared_dialects(const IRContext& context) {
  std::string text;
  for (const Dialect* each : context.dialects()) text += each->text;
  return text;
}

}  // namespace mir
