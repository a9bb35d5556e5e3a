// IR to text.
#pragma once

#include <string>

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

/// Canonical text of one module, of several, or of all modules of a context in order.
std::string print(const Module& module);
std::string print(std::span<Module* const> modules);
std::string print(const IRContext& context);
/// The same in pieces, for text that need not be kept.
void print(std::span<Module* const> modules, const LayoutPrinter::Sink& sink);
/// The modules with what is left of the text they were read from, its aliases included; a module
/// that does not come from it is printed canonically.
std::string print(std::span<Module* const> modules, const SyntaxTree& source);

/// The printer under the name the MLLM IR document gives it: `IRPrinter().print(module)`.
class IRPrinter {
 public:
  std::string print(const Module& module) const { return mir::print(module); }
};

}  // namespace mir
