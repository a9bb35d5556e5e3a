// Patterns that are written as two terms: `match:"Neg(Neg(%x))", rewrite:"%x"`.
#pragma once

#include <memory>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir::patterns {

/// True if the op states a term in place of a region.
bool is_short_form(const Op& op);

/// A module whose one op is the pattern in its long form, at the place of `op`. Null after
/// reporting what is wrong with the terms (MIR0924).
std::unique_ptr<Module> long_form(const Op& op, Diagnostics& diagnostics);

}  // namespace mir::patterns
