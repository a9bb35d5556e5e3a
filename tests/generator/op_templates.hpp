// Every op as a pattern that can be filled in with other extents: the examples of the rows.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "mir/context.hpp"

namespace mir::test {

using Random = std::mt19937_64;

/// A number below `bound`, which must not be 0; the same on every platform.
inline std::uint64_t below(Random& random, std::uint64_t bound) {
  return random() % bound;
}

/// One op without its values: what it takes, what it gives, what it says.
struct OpPattern {
  const OpRow* row = nullptr;
  std::string spelling;  ///< "linalg.CPU.LinearOp"
  std::vector<const TensorType*> operands;
  std::vector<std::string> operand_attributes;  ///< `[constant:[1]]`, empty for most
  std::vector<const TensorType*> results;
  std::vector<NamedAttr> attributes;
};

/// A parameter that an op with a name owns.
struct Parameter {
  std::string suffix;
  const TensorType* type = nullptr;
};

/// Patterns of the portable graph-level ops of one context, one for each row that has a rule.
class OpTemplates {
 public:
  explicit OpTemplates(IRContext& context);

  std::span<const OpPattern> all() const { return patterns_; }
  /// `pattern` with other extents, and with symbols in places if `symbolic`, else with none. Types
  /// and attributes fit each other: the row's rule gives the results.
  OpPattern vary(const OpPattern& pattern, Random& random, bool symbolic) const;
  /// What the op owns; none where an extent is not constant.
  std::optional<std::vector<Parameter>> parameters(const OpPattern& pattern) const;

 private:
  bool read(const OpRow& row);
  OpPattern traced(const OpPattern& pattern) const;
  std::optional<OpPattern> try_extents(const OpPattern& pattern, Random& random, int boldness,
                                       bool symbolic) const;

  IRContext& context_;
  std::vector<OpPattern> patterns_;
};

}  // namespace mir::test
