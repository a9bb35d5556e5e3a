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
  bool head = false;                        ///< that of the module is one of these places
};

}  // namespace mir
