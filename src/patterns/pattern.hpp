// A `pattern.RewriteOp` as what it asks of a match and what it makes. docs/patterns.md is the
// language.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "patterns/template.hpp"

namespace mir::patterns {

/// How the next op of a match is found.
struct MatchStep {
  enum class Way : std::uint8_t {
    kRoot,
    kDefinition,  ///< it defines a value that is bound
    kUser,        ///< it uses a value that is bound
  };
  std::uint32_t op = 0;
  Way way = Way::kRoot;
  std::uint32_t value = 0;
  std::uint32_t operand = 0;  ///< of a user: at which position
};

struct Pattern {
  std::string name{};
  unsigned benefit = 1;
  std::string claim{};  ///< "bits", "value", "bound"
  double relative = 0, absolute = 0, largest = 0;
  std::int64_t version = 1;  ///< of the module that states it
  Span at{};

  std::vector<std::string> variables{};  ///< their names: "$n", "T"
  GraphTemplate match{}, rewrite{};
  std::vector<MatchStep> steps{};
  std::vector<std::pair<std::uint32_t, Expression>> lets{};
  std::vector<Condition> conditions{};

  const OpTemplate& root() const { return match.ops[steps.front().op]; }
};

/// Reads a `pattern.RewriteOp`: a pattern for each choice of its classes and for each number of
/// operands. None after reporting what is wrong with it (MIR0924, or the code of the fact).
std::vector<std::shared_ptr<const Pattern>> read_patterns(const Op& op, Diagnostics& diagnostics);
/// The first of them; null after an error.
std::shared_ptr<const Pattern> read_pattern(const Op& op, Diagnostics& diagnostics);

}  // namespace mir::patterns
