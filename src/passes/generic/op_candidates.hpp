// Ops that may have had a generic op as the end of their body, with the attributes that it shows.
#pragma once

#include <vector>

#include "mir/op.hpp"
#include "passes/schedule/loop_form.hpp"

namespace mir {

/// A generic op with one result whose type is known.
struct GenericRoot {
  Op& op;
  LoopForm form;
  const TensorType& result;
  const Op* only = nullptr;  ///< the op of the region if there is exactly one
};

/// An op before it is created, whose result has the type of the root.
struct OpCandidate {
  OpId op = OpId::kNone;
  std::vector<Value*> operands{};
  std::vector<NamedAttr> attributes{};
  Symbol path{};  ///< of an op that owns weights; empty: none
};
using OpCandidates = std::vector<OpCandidate>;

namespace op_candidates {

// Each appends ops of one kind, if the root looks like the end of their body. The caller compares
// their bodies with the root, so an op too many does no harm.

void add_elementwise(OpId op, const GenericRoot& root, OpCandidates& all);
void add_clone(OpId op, const GenericRoot& root, OpCandidates& all);
void add_transpose(OpId op, const GenericRoot& root, OpCandidates& all);
void add_permute(OpId op, const GenericRoot& root, OpCandidates& all);
void add_repeat(OpId op, const GenericRoot& root, OpCandidates& all);
void add_view(OpId op, const GenericRoot& root, OpCandidates& all);
void add_slice(OpId op, const GenericRoot& root, OpCandidates& all);
void add_reduction(OpId op, const GenericRoot& root, OpCandidates& all);
void add_cum_sum(OpId op, const GenericRoot& root, OpCandidates& all);
void add_product(OpId op, const GenericRoot& root, OpCandidates& all);
void add_einsum(OpId op, const GenericRoot& root, OpCandidates& all);
void add_mean(OpId op, const GenericRoot& root, OpCandidates& all);
void add_softmax(OpId op, const GenericRoot& root, OpCandidates& all);
void add_linear(OpId op, const GenericRoot& root, OpCandidates& all);
void add_convolution(OpId op, const GenericRoot& root, OpCandidates& all);
void add_norm(OpId op, const GenericRoot& root, OpCandidates& all);
void add_embedding(OpId op, const GenericRoot& root, OpCandidates& all);
void add_mask(OpId op, const GenericRoot& root, OpCandidates& all);
void add_rotation(OpId op, const GenericRoot& root, OpCandidates& all);

}  // namespace op_candidates

}  // namespace mir
