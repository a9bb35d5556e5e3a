// Generic bodies of operations: what each op of linalg is as loops over index maps.
#pragma once

#include <span>
#include <string_view>

#include "mir/rewrite_patterns.hpp"
#include "passes/analysis/parameter_types.hpp"

namespace mir {

/// One op of linalg and its body of generic ops, which has the bits of the op's reference kernel.
struct GenericBody {
  OpId op = OpId::kNone;
  std::string_view text;  ///< the body in words; of an op without one, the reason
  /// Why this op has no body; empty if it has one. Null if no op of the kind has one.
  std::string_view (*why_not)(const Op& op) = nullptr;
  /// Creates the body at the insertion point and returns its result.
  Value* (*build)(Rewriter& rewriter, const Op& op) = nullptr;
  bool owns_weights = false;  ///< generic_weights.hpp has its body

  bool has_body() const { return build != nullptr || owns_weights; }
};

/// All ops of linalg.
std::span<const GenericBody> generic_bodies();

/// Patterns for the ops with a body; those that own weights only if `parameters`, which must
/// outlive the patterns, is not null. They leave the regions of generic ops as they are.
PatternSet generic_body_patterns(const ParameterTypes* parameters);

}  // namespace mir
