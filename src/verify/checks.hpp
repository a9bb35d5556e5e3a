// The concerns of verification, one file each.
#pragma once

#include <fmt/format.h>

#include <string>

#include "mir/ir/module.hpp"
#include "mir/ir/writer.hpp"
#include "mir/support/diagnostic.hpp"

namespace mir::checks {

/// Reports at an op.
inline Diagnostic& report(Diagnostics& diagnostics, const Op& op, DiagCode code,
                          std::string message) {
  return diagnostics.error(code, op.span(), std::move(message));
}

inline std::string_view text(const Op& op, Symbol symbol) {
  return op.module().context().text(symbol);
}

void structure(const Op& op, Diagnostics& diagnostics);
void terminators(const Module& module, Diagnostics& diagnostics);
void attributes(const Op& op, Diagnostics& diagnostics);
void types(const Op& op, Diagnostics& diagnostics);
void order(const Module& module, Diagnostics& diagnostics);
void calls(const Module& module, Diagnostics& diagnostics);
void weights(const Op& op, Diagnostics& diagnostics);

/// Whether two types can describe one value: equal, or tensors that differ only in extents of
/// which one is unknown.
bool compatible(const Type* a, const Type* b);

}  // namespace mir::checks
