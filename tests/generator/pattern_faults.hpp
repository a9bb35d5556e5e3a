// Changes of a term that are no equations.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "pattern_rules.hpp"

namespace mir::test {

struct TermFault {
  std::string_view name;
  /// The changed term, of the same type for most shapes; no value where there is no place for it.
  std::optional<TermPtr> (*plant)(const TermPtr& term, TermScope& scope);
};
std::span<const TermFault> term_faults();

}  // namespace mir::test
