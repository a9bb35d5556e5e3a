// Generic bodies of single ops: why an op has none, and what makes the body.
#pragma once

#include <string_view>

#include "mir/op.hpp"
#include "mir/rewriter.hpp"

namespace mir::generic_rules {

/// Returns why an operand or result is not supported; empty if all are.
std::string_view why_not_values(const Op& op);

// Return why an op has no body although other ops of its kind have one; empty if it has one. Its
// operands and results must be supported.
std::string_view always(const Op& op);
std::string_view why_not_elementwise(const Op& op);
std::string_view why_not_where(const Op& op);
std::string_view why_not_repeat(const Op& op);
std::string_view why_not_view(const Op& op);
std::string_view why_not_slice(const Op& op);
std::string_view why_not_reduction(const Op& op);
std::string_view why_not_extreme(const Op& op);
std::string_view why_not_mean(const Op& op);
std::string_view why_not_cum_sum(const Op& op);
std::string_view why_not_softmax(const Op& op);
std::string_view why_not_product(const Op& op);
std::string_view why_not_einsum(const Op& op);
std::string_view why_not_mask(const Op& op);
std::string_view why_not_rotation(const Op& op);

// Create the body at the insertion point and return its result.
Value* elementwise_body(Rewriter& rewriter, const Op& op);
Value* copy_body(Rewriter& rewriter, const Op& op);
Value* transpose_body(Rewriter& rewriter, const Op& op);
Value* permute_body(Rewriter& rewriter, const Op& op);
Value* repeat_body(Rewriter& rewriter, const Op& op);
Value* view_body(Rewriter& rewriter, const Op& op);
Value* slice_body(Rewriter& rewriter, const Op& op);
Value* sum_body(Rewriter& rewriter, const Op& op);
Value* mean_body(Rewriter& rewriter, const Op& op);
Value* cum_sum_body(Rewriter& rewriter, const Op& op);
Value* softmax_body(Rewriter& rewriter, const Op& op);
Value* product_body(Rewriter& rewriter, const Op& op);
Value* einsum_body(Rewriter& rewriter, const Op& op);
Value* mask_body(Rewriter& rewriter, const Op& op);
Value* rotation_body(Rewriter& rewriter, const Op& op);

}  // namespace mir::generic_rules
