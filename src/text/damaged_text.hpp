// Facts about unreadable text that resolve leaves for verification.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

class Op;

/// Notes of a module (see Module::notes) whose text has errors of syntax.
struct DamagedText {
  std::vector<Span> places;                 ///< in order
  std::unordered_set<const Op*> parents;    ///< ops whose regions have these places
  std::unordered_set<std::string> symbols;  ///< that these places mention, without `@`
  std::unordered_set<std::uint32_t> names;  ///< raw names of values that they mention
  std::unordered_set<const Op*> open;      ///< parents of those that break off before their results
  std::unordered_set<const Op*> headless;  ///< ops with bodies whose heads are these places
  bool head = false;                       ///< that of the module is one of these places
  bool may_call = false;                   ///< one of these places may be a call ...
  bool may_declare = false;                ///< ... or a declaration of a symbol
};

}  // namespace mir
