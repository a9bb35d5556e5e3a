// Validating rewrites by running both sides.
#pragma once

#include <cstdint>
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
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;  ///< outputs of the first
  std::vector<Tensor> actual;    ///< of the second; none if it does not run
  std::string difference;        ///< "result 0, element 3: 1 before, 2 after"
};

/// The result of trying a pattern. It is a test and no proof.
struct PatternVerdict {
  enum class Kind : std::uint8_t {
    kKept,      ///< no instance broke the claim
    kRefuted,   ///< see `counterexample`
    kUntested,  ///< too few instances could be drawn; see `reason`
  };
  Kind kind = Kind::kKept;
  std::string pattern;
  RewriteClaim claim{};
  std::uint64_t instances = 0;  ///< that matched and ran
  std::uint64_t elements = 0;   ///< of results that were compared
  std::uint64_t exact = 0;      ///< instances in Float64 on integers, where numbers must be equal
  std::vector<DType> whole{};   ///< element types of which all values were tried
  std::string reason{};
  std::optional<Counterexample> counterexample{};
};

/// Tries the patterns of a module that verifies: draws types, attributes, constants and inputs that
/// the first region admits, applies the pattern, and runs both with reference kernels. A run that
/// fails before the rewrite is no trial; one that fails only afterwards refutes the pattern.
///
/// For `bits` and `value`, inputs hold all bit patterns, and all values of types up to 16 bits are
/// tried where a pattern has one input and only elementwise ops. For `bound`, inputs are finite, of
/// magnitude `largest` (1000 if the pattern has none) at most. If only sums, products and moves
/// take part, integers in Float64 are tried, too, where the results must be equal.
std::vector<PatternVerdict> validate_patterns(const Module& patterns,
                                              const ValidationOptions& options);

/// The result of running two modules on the same inputs.
struct ChangeVerdict {
  PatternVerdict::Kind kind = PatternVerdict::Kind::kKept;
  std::uint64_t runs = 0;
  std::uint64_t elements = 0;  ///< of results that were compared
  std::string reason{};        ///< of kUntested
  std::optional<Counterexample> counterexample{};
};

/// Runs two portable modules that verify and have equal inputs and outputs, one made from the other
/// by passes, on `count` random inputs with random weights of equal names. Symbolic extents are
/// small numbers. Every second run continues the caches of the one before. Results must be equal,
/// any NaN being equal to any other; with `bound`, they may differ by that times the largest finite
/// magnitude of the result before. A run that fails before the change is no trial.
ChangeVerdict validate_change(const Module& before, const Module& after,
                              const ValidationOptions& options,
                              std::optional<double> bound = std::nullopt);

/// A verdict on one line: "pattern 'neg.neg' keeps 'value': 1000 instances, 5230 elements, ...".
std::string spelling(const PatternVerdict& verdict);

}  // namespace mir
