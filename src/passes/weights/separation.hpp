// Weights of an op as operands, and the ops in its place, for rewrites that separate them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/rewrite_patterns.hpp"
#include "mir/rewriter.hpp"
#include "passes/analysis/parameter_types.hpp"

namespace mir {

/// A parameter that an op owns.
struct OwnedWeight {
  const TensorType* type = nullptr;  ///< null: the op owns none
  Symbol symbol{};
};

struct SeparationPlan {
  OwnedWeight weight{};
  OwnedWeight bias{};
};

inline PatternMatch failed_separation(std::string_view condition, const Op& at) {
  return PatternMatch::failed(condition, at);
}

/// A match of the op whose rewrite reads the plan.
template <class Plan>
PatternMatch matched_separation(Op& op, Plan plan) {
  return PatternMatch::of({&op}, {}, std::make_shared<const Plan>(std::move(plan)));
}

/// The parameters of the op. No value if one is not declared as a tensor of numbers that are
/// elements of `dtype`, with the extents that the op computes with.
std::optional<SeparationPlan> weights_of(const Op& op, const ParameterTypes& parameters,
                                         DType dtype);

/// Why the weights of an op cannot become operands of products and sums; empty if they can.
std::string_view why_not_single(const Op& op);

/// Creates ops in front of the root of a match.
class SeparatedOps {
 public:
  SeparatedOps(Rewriter& rewriter, Op& root);

  Value* parameter(const OwnedWeight& owned);
  Value* make(OpId kind, std::vector<Value*> operands, const Type* type,
              std::vector<NamedAttr> attributes = {});

  /// The elements of `x` under other extents.
  Value* view(Value* x, std::span<const Dim> dims);
  Value* permute(Value* x, std::span<const std::int64_t> axes);
  /// Rows of `x` times rows of `weight`.
  Value* product(Value* x, Value* weight, const Type* type);
  /// The sum with the bias, if there is one.
  Value* biased(Value* x, const OwnedWeight& bias);

  const Type* type_like(const Value& x, std::span<const Dim> dims);
  const Attr* list(std::span<const Dim> dims);
  IRContext& context() { return context_; }
  void replace_root(Value* by) { rewriter_.replace(root_, std::span(&by, 1)); }

 private:
  Rewriter& rewriter_;
  Op& root_;
  IRContext& context_;
};

/// Convolutions of Float32 with weights of their own, as products of patches.
PatternMatch match_convolution(Op& op, const ParameterTypes& parameters);
void separate_convolution(Rewriter& rewriter, const PatternMatch& match);

}  // namespace mir
