// Rewrite patterns, and the driver that applies them until none matches.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/rewriter.hpp"

namespace mir {

// What a pattern declares.

/// How far the results after a rewrite may be from those before it.
struct RewriteClaim {
  enum class Kind : std::uint8_t {
    kBits,   ///< the same bits
    kValue,  ///< the same numbers; a NaN may have another sign or payload
    kBound,  ///< within `absolute + relative * |before|`, for inputs of the domain
  };
  Kind kind = Kind::kBits;
  double relative = 0, absolute = 0;
  // The domain: inputs for which the bound holds.
  bool only_finite = false;
  double largest = std::numeric_limits<double>::infinity();  ///< magnitude
};

/// The ops that can be the root of a pattern: those with one of the names that have all the traits.
struct RootKinds {
  std::vector<std::string> names{};  ///< "linalg.AddOp"; empty: any name
  Trait traits = Trait::kNone;
  bool must_fold = false;  ///< only ops whose row has a fold

  bool admit(const OpKindInfo& kind) const;
};

struct RewritePattern;

/// The ops and values that a pattern matched, or the condition that failed and the op at which it
/// failed.
class PatternMatch {
 public:
  /// `ops` begins with the root. The pattern gives each value its meaning by position. `plan` is
  /// what its rewrite needs beyond that.
  static PatternMatch of(std::vector<Op*> ops, std::vector<Value*> values = {},
                         std::shared_ptr<const void> plan = nullptr) {
    assert(!ops.empty());
    PatternMatch match;
    match.ops_ = std::move(ops);
    match.values_ = std::move(values);
    match.plan_ = std::move(plan);
    return match;
  }
  /// `condition` completes the sentence "it does not match because ...". It must live as long as
  /// the pattern.
  static PatternMatch failed(std::string_view condition, const Op& at) {
    PatternMatch match;
    match.condition_ = condition;
    match.failed_at_ = &at;
    return match;
  }

  explicit operator bool() const { return failed_at_ == nullptr; }
  Op& root() const { return *ops_.front(); }
  std::span<Op* const> ops() const { return ops_; }
  Value& value(std::size_t i) const { return *values_[i]; }
  std::span<Value* const> values() const { return values_; }
  /// The plan of this match, which must have this type.
  template <class T>
  const T& plan() const {
    assert(plan_ != nullptr);
    return *static_cast<const T*>(plan_.get());
  }
  std::string_view condition() const { return condition_; }
  /// Null if the pattern matched.
  const Op* failed_at() const { return failed_at_; }

 private:
  PatternMatch() = default;

  std::vector<Op*> ops_;
  std::vector<Value*> values_;
  std::shared_ptr<const void> plan_;
  std::string_view condition_;
  const Op* failed_at_ = nullptr;
};

/// Why a pattern does not match an op.
struct PatternMismatch {
  const RewritePattern* pattern = nullptr;
  std::string condition;  ///< completes "it does not match because ..."
  const Op* at = nullptr;
};

/// The ops that must define the first operands of a root. The greedy driver asks this before it
/// matches a pattern, since most ops that could be roots fail here. Admits every root that the
/// pattern matches.
struct OperandDefinitions {
  static constexpr OpKind kConstant{~std::uint32_t{0}};  ///< a constant, or no operand at all
  static constexpr OpKind kNoOp{~std::uint32_t{1}};      ///< another value that no op defines

  std::optional<OpKind> first{}, second{};  ///< of operands 0 and 1; no value: anything
  bool commute = false;                     ///< the two may stand in either order

  bool admit(OpKind one, OpKind other) const {
    const auto fits = [](const std::optional<OpKind>& wanted, OpKind kind) {
      return !wanted || *wanted == kind;
    };
    return (fits(first, one) && fits(second, other)) ||
           (commute && fits(first, other) && fits(second, one));
  }
};

/// A rewrite of one op, its root, and of the ops around it. What it declares is checked while it
/// is applied.
struct RewritePattern {
  std::string name;  ///< unique in its set
  /// Of several patterns that match, the one with the greatest benefit is applied; of equal ones
  /// the one that was added first. The results must be right in any order.
  unsigned benefit = 1;
  RootKinds roots{};
  OperandDefinitions definitions{};
  /// The ops that the rewrite creates: "linalg.AddOp", or "linalg" for any op of the dialect.
  std::vector<std::string> makes{};
  RewriteClaim claim{};
  /// Compares the IR around the root with the pattern. Must not edit.
  std::function<PatternMatch(Op& root)> match{};
  /// Rewrites what match() returned. May edit only the root's graph, and must edit something. The
  /// IR must verify afterwards. The rewriter has no insertion point. New ops have the locations of
  /// the matched ops, fused, unless they state their own.
  std::function<void(Rewriter& rewriter, const PatternMatch& match)> rewrite{};
  /// Optional. Why the pattern does not match, in more words than a failed match() has.
  std::function<PatternMismatch(Op& root)> explain{};

  /// Whether `makes` declares ops of this name, "linalg.AddOp".
  bool declares(std::string_view kind) const;
};

class PatternSet {
 public:
  void add(RewritePattern pattern) { patterns_.push_back(std::move(pattern)); }
  std::span<const RewritePattern> patterns() const { return patterns_; }
  /// Notes the errors for which patterns are missing. A pass reports them and fails.
  void set_problems(Diagnostics problems) { problems_ = std::move(problems); }
  const Diagnostics& problems() const { return problems_; }

 private:
  friend class FrozenPatterns;
  std::vector<RewritePattern> patterns_;
  Diagnostics problems_;
};

/// Patterns prepared for matching. May be used by several threads at once.
class FrozenPatterns {
 public:
  explicit FrozenPatterns(PatternSet set);
  FrozenPatterns(const FrozenPatterns&) = delete;
  FrozenPatterns& operator=(const FrozenPatterns&) = delete;

  /// In the order in which they were added.
  std::span<const RewritePattern> patterns() const { return patterns_; }
  /// The name under which statistics count the rewrites of a pattern.
  std::string_view label(std::size_t pattern) const { return labels_[pattern]; }
  /// Positions of the patterns whose root can be of this kind, in the order in which they are
  /// tried.
  std::vector<std::uint32_t> with_root(const OpKindInfo& kind) const;

 private:
  std::vector<RewritePattern> patterns_;
  std::vector<std::string> labels_;
  std::vector<std::uint32_t> rank_;  // of each pattern in the order of benefit
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_name_;
  std::vector<std::uint32_t> of_any_name_;
};

/// Adds the patterns of a module: each `pattern.RewriteOp` in its body. They match modules of the
/// same context. Returns false after reporting patterns with errors (MIR0924), which are left out.
bool add_patterns(PatternSet& set, const Module& module, Diagnostics& diagnostics);

// Applying patterns.

/// Counts the rewrites of several drivers, one by one, shows them, and can stop them.
struct RewriteWatch {
  std::optional<std::uint64_t> limit{};  ///< stop after so many rewrites
  /// Called after each: its number from 1, the pattern, and a description of the root as it was.
  std::function<void(std::uint64_t number, std::string_view pattern, std::string_view root)>
      trace{};
  /// Called before each rewrite, with what matched, and after it.
  std::function<void(const RewritePattern& pattern, const PatternMatch& match)> before{};
  std::function<void(const RewritePattern& pattern)> after{};
  std::uint64_t made = 0;

  bool is_over() const { return limit && made >= *limit; }
};

struct GreedyOptions {
  RewriteWatch* watch = nullptr;
  bool checks_claims = true;  ///< check what patterns declare of themselves
};

struct GreedyReport {
  bool has_failed = false;  ///< after reporting; the IR verifies, but patterns may still match
  bool has_changed = false;
  std::uint64_t visited = 0;           ///< ops that were there at first
  std::uint64_t removed = 0;           ///< dead ops that were erased
  std::uint64_t sweeps = 0;            ///< how often all ops were visited in order
  std::vector<std::uint64_t> applied;  ///< rewrites by pattern; empty if there were none
};

/// Applies patterns to the ops of a region and of regions nested in it, but not in graphs there,
/// until none matches. Erases dead ops, and constants without uses.
///
/// All ops are visited in text order. Then follow, in the order of the events: new ops, ops with
/// changed operands, attributes or types and their users, and definitions that lost a use. If
/// anything changed, all ops are visited again, until a sweep changes nothing. The result does not
/// depend on addresses, ids or threads.
///
/// Fails after reporting (MIR0922) patterns that undo each other, match their own result or change
/// nothing: a chain of rewrites of one op that is longer than the number of ops, or more than
/// 8 rewrites for each op and 10,000. Fails after reporting (MIR0921) a pattern that edits while it
/// matches, or creates ops that it does not declare.
GreedyReport rewrite_greedily(Module& module, Region& region, const FrozenPatterns& patterns,
                              const GreedyOptions& options, Diagnostics& diagnostics);

/// The patterns whose root can be the op and that do not match it, in the order in which they are
/// tried.
std::vector<PatternMismatch> mismatches(const FrozenPatterns& patterns, Op& op);

}  // namespace mir
