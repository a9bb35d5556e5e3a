// IR to tokens.
#pragma once

#include "mir/module.hpp"
#include "syntax/layout.hpp"
#include "syntax/source_tokens.hpp"

namespace mir {

/// Feeds the printer with the tokens of a module. Every name printed means the value it names when
/// the text is read back: where a name would mean another value (a pass moved a use past a new
/// version of a storage id), the value is printed under a fresh number instead.
///
/// With `source`, the index of the text that the module was read from, ops that nothing changed
/// since go out with their own spelling and comments, changed ones with their comments, new ones
/// canonically. Comments of removed ops go with them.
void raise(const Module& module, LayoutPrinter& printer, const SourceTokens* source = nullptr);
/// The modules with what is left of the text they were read from, its aliases included; a module
/// that does not come from it is printed canonically.
void raise(std::span<Module* const> modules, LayoutPrinter& printer, const SourceTokens& source);

}  // namespace mir
