// IR to text.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "mir/module.hpp"

namespace mir {

class SyntaxTree;

/// Canonical text of one module, of several, or of all modules of a context in order. Every name
/// printed means the value it names when the text is read back: where a name would mean another
/// value (a pass moved a use past a new version of a storage id), the value is printed under a
/// fresh number.
std::string print(const Module& module);
std::string print(std::span<Module* const> modules);
std::string print(const IRContext& context);
/// One op with what is inside it, or the ops of a region, as the text of their module has them.
std::string print(const Op& op);
std::string print(const Region& region);
/// The same in pieces, for text that need not be kept.
void print(std::span<Module* const> modules, const std::function<void(std::string_view)>& sink);
/// The modules with what is left of the text they were read from, its aliases included; a module
/// that does not come from it is printed canonically.
std::string print(std::span<Module* const> modules, const SyntaxTree& source);

}  // namespace mir
