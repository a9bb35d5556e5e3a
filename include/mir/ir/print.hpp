// IR to text.
#pragma once

#include <string>

#include "mir/ir/module.hpp"
#include "mir/syntax/layout.hpp"

namespace mir {

/// Feeds the printer with the tokens of a module. Every name printed means the value it names when
/// the text is read back: where a name would mean another value (a pass moved a use past a new
/// version of a storage id), the value is printed under a fresh number instead.
void raise(const Module& module, LayoutPrinter& printer);

/// Canonical text of one module, or of all modules of a context in order.
std::string print(const Module& module);
std::string print(const IRContext& context);

/// The printer under the name the MLLM IR document gives it: `IRPrinter().print(module)`.
class IRPrinter {
 public:
  std::string print(const Module& module) const { return mir::print(module); }
};

}  // namespace mir
