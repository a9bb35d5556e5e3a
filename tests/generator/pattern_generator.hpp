// Random patterns that are right by construction, and faults planted into them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/rewrite_patterns.hpp"
#include "pattern_rules.hpp"

namespace mir::test {

/// One choice for the variables of a pattern: a module with the ops of the first region, and one
/// with those of the second. They have equal inputs.
struct PatternInstance {
  std::string before, after;
  RewriteClaim claim{};
};

/// A pattern as text, and what it was made of.
class GeneratedPattern {
 public:
  /// Equal seeds give equal patterns. The regions are made of one random graph by equations that
  /// are known to hold (`term_rules`), so each replaces the other within the claim.
  static GeneratedPattern make(std::uint64_t seed, std::string name);

  /// The same with a fault of a random kind. No value if the pattern has no place for it. It may be
  /// harmless: see `instance`.
  std::optional<GeneratedPattern> with_fault(std::uint64_t seed, std::string name) const;

  /// `pattern.RewriteOp @name ...`
  std::string text() const;
  const std::string& name() const { return name_; }
  /// What was planted; empty: nothing.
  const std::string& fault() const { return fault_; }
  /// The equations that were used.
  const std::vector<std::string>& rules() const { return rules_; }
  RewriteClaim claim() const;
  /// Whether each rewrite leaves fewer ops, where nothing else uses the matched ones.
  bool shrinks() const;
  /// Whether it matches only where nothing else uses an inner value.
  bool counts_users() const { return counts_users_; }

  /// A random instance, by a way of its own: it shares nothing with what reads and matches
  /// patterns. Its types and attributes may be refused by the ops.
  PatternInstance instance(std::uint64_t seed) const;

 private:
  friend class PatternMaker;
  std::string type_of(const Term& input) const;
  std::string graph_text(const std::vector<TermPtr>& results, bool is_match) const;
  Assignment assignment(Random& random) const;
  std::string module_text(const std::vector<TermPtr>& results, const Assignment& values) const;

  std::string name_, fault_;
  std::vector<std::string> rules_;
  const TypeDomain* domain_ = nullptr;
  bool is_ranked_ = false, is_typed_ = false, counts_users_ = false, shares_ = true;
  std::string device_ = "D";
  unsigned benefit_ = 1;
  RewriteClaim::Kind claim_ = RewriteClaim::Kind::kBits;
  std::vector<TermVariable> variables_;
  std::vector<TermPtr> match_, rewrite_;
};

}  // namespace mir::test
