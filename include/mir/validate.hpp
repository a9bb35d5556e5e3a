// Validating rewrites by running both sides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/tensor.hpp"

namespace mir {

struct ValidationOptions {
  /// How many instances of a pattern, or inputs of a module, are tried.
  std::uint64_t count = 1000;
  /// Equal seeds give equal trials.
  std::uint64_t seed = 0;
};

/// Two programs that differ on some inputs by more than was claimed.
struct Counterexample {
  std::string before, after;  ///< portable modules with equal inputs and outputs
  std::string dialects{};     ///< modules that declare the dialects that both may use
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;  ///< outputs of the first
  std::vector<Tensor> actual;    ///< of the second; none if it does not run
  std::string difference;        ///< "result 0, element 3: 1 before, 2 after"
};

/// Fewer instances of a pattern that ran leave it undecided, unless fewer were requested.
inline constexpr std::uint64_t kLeastInstances = 20;
/// Fewer compared elements for each of these instances leave it undecided.
inline constexpr std::uint64_t kLeastElements = 2;
/// Inputs of fewer ranks leave a pattern undecided, if it leaves the rank open and more ran or
/// could be tried.
inline constexpr std::size_t kLeastRanks = 2;
/// Fewer runs of a module leave it undecided, unless fewer were requested.
inline constexpr std::uint64_t kLeastRuns = 5;

/// The result of trying a pattern. It is a test, not a proof.
struct PatternVerdict {
  static constexpr std::size_t kMostRank = 4;

  enum class Kind : std::uint8_t {
    kKept,       ///< no instance broke the claim
    kRefuted,    ///< see `counterexample`
    kUndecided,  ///< too little could be compared; see `reason`
  };
  Kind kind = Kind::kKept;
  std::string pattern;  ///< its name, with the variant if it has several
  Span at{};            ///< of the pattern
  RewriteClaim claim{};
  std::uint64_t instances = 0;  ///< that matched and ran
  std::uint64_t elements = 0;   ///< of results that were compared
  std::uint64_t stopped = 0;    ///< instances whose run before the rewrite ends with an error
  std::uint64_t exact = 0;      ///< instances in Float64 on integers, where numbers must be equal
  std::vector<DType> whole{};   ///< element types of which all values were tried
  // Cases that the first region admits as far as it is known, but in no instance that ran.
  std::vector<DType> missing_types{};           ///< of inputs
  std::vector<std::size_t> missing_ranks{};     ///< of inputs, up to kMostRank
  std::vector<std::string> missing_branches{};  ///< sides of `||`, values of open attributes
  std::string reason{};
  std::optional<Counterexample> counterexample{};
};

/// Tries the patterns of a module that verifies: draws types, attributes, constants and inputs that
/// the first region admits, applies the pattern, and runs both with reference kernels. A run that
/// fails before the rewrite does not count; one that fails only afterwards refutes the pattern.
/// The instances of a count are the first ones of every larger count.
///
/// For `bits` and `value`, inputs hold all bit patterns, and all values of types up to 16 bits are
/// tried where a pattern has one input and only elementwise ops. For `bound`, inputs are finite, of
/// magnitude `largest` (1000 if the pattern has none) at most. If only sums, products and moves
/// take part, integers in Float64 are tried, too, where the results must be equal. Results that are
/// not finite before the rewrite are not compared under a `bound`.
std::vector<PatternVerdict> validate_patterns(const Module& patterns,
                                              const ValidationOptions& options);

/// The result of running two modules on the same inputs.
struct ChangeVerdict {
  PatternVerdict::Kind kind = PatternVerdict::Kind::kKept;
  std::uint64_t runs = 0;
  std::uint64_t elements = 0;      ///< of results that were compared
  std::uint64_t stopped = 0;       ///< inputs on which both modules end with an error
  std::uint64_t stopped_once = 0;  ///< inputs on which only the first one does
  std::string reason{};            ///< of kUndecided
  std::optional<Counterexample> counterexample{};
};

/// Runs two portable modules that verify and have equal inputs and outputs, one made from the other
/// by passes, on `count` random inputs with random weights of equal names. Symbolic extents are
/// small numbers. Every second run continues the caches of the one before. Results must be equal,
/// any NaN being equal to any other; with `bound`, inputs are finite, and results may differ by
/// that times the largest finite magnitude of the result before. A run that fails before the change
/// is counted apart, not as a trial. Extents `?` of inputs and symbols that only a run finds are
/// drawn, too.
ChangeVerdict validate_change(const Module& before, const Module& after,
                              const ValidationOptions& options,
                              std::optional<double> bound = std::nullopt);

/// Tries each rewrite that a run makes, by running what the pattern matched and what it made of
/// that, as modules of their own. Works while the run does: attach it with watch().
///
/// `count` inputs are drawn for each rewrite, fewer for large ones; rewrites of one pattern that
/// differ only in names are tried once. The results must keep the claim of the pattern. Inputs are
/// random, small integers, and special or, for a bound, finite ones of its domain. Not tried are
/// rewrites of ops with regions or calls, rewrites whose results nothing uses, and rewrites of ops
/// that do not run alone.
class RewriteValidation {
 public:
  /// `whole` is the module as it was before the run, which has its parameters; it must outlive
  /// this.
  RewriteValidation(const Module& whole, const ValidationOptions& options);
  ~RewriteValidation();

  /// Sets the functions of the watch that see each rewrite.
  void watch(RewriteWatch& watch);

  struct Refuted {
    std::uint64_t number = 0;  ///< of the rewrite, from 1
    std::string pattern;
    Span at;  ///< of its root
    Counterexample counterexample;
  };
  struct Report {
    std::uint64_t rewrites = 0;
    std::uint64_t different = 0;  ///< tried, but for names
    std::uint64_t runs = 0;
    std::uint64_t untried = 0;
    std::string reason{};              ///< of the first that was not tried
    std::optional<Refuted> refuted{};  ///< the first; no other is tried then
  };
  const Report& report() const;

 private:
  class Trials;
  std::unique_ptr<Trials> trials_;
};

/// A verdict on one line: "pattern 'neg.neg' keeps 'value': 1000 instances, 5230 elements, ...".
std::string spelling(const PatternVerdict& verdict);

}  // namespace mir
