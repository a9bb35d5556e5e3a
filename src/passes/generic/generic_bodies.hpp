// Generic bodies of operations: what each op of linalg is as loops over index maps.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "mir/rewrite_patterns.hpp"
#include "passes/analysis/parameter_types.hpp"

namespace mir {

struct GenericRoot;
struct OpCandidate;

/// One op of linalg and its body of generic ops, which has the bits of the op's reference kernel.
struct GenericBody {
  /// When recompose{from=generic} looks for the op. Ops that are found first win.
  enum class Search : std::uint8_t {
    kCompound,  ///< before all others: several generic ops, or weights
    kSimple,
    kGeneral,  ///< if no simple op has the body
  };

  OpId op = OpId::kNone;
  std::string_view text;  ///< the body in words; of an op without one, the reason
  /// Why this op has no body; empty if it has one. Null if no op of the kind has one.
  std::string_view (*why_not)(const Op& op) = nullptr;
  /// Creates the body at the insertion point and returns its result.
  Value* (*build)(Rewriter& rewriter, const Op& op) = nullptr;
  bool owns_weights = false;  ///< generic_weights.hpp has its body
  /// Appends ops of this kind that may have a generic op as the end of their body. Null if the op
  /// has no body, or another op with the same body is found in its place.
  void (*add_candidates)(OpId op, const GenericRoot& root, std::vector<OpCandidate>& all) = nullptr;
  Search search = Search::kSimple;
  std::string_view found_as{};  ///< the op that is found in its place; empty: the op itself

  bool has_body() const { return build != nullptr || owns_weights; }
};

/// All ops of linalg.
std::span<const GenericBody> generic_bodies();

/// Patterns for the ops with a body; those that own weights only if `parameters`, which must
/// outlive the patterns, is not null. They leave the regions of generic ops as they are.
PatternSet generic_body_patterns(const ParameterTypes* parameters);

}  // namespace mir
