// From a schedule to nodes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/fuse/fused_groups.hpp"
#include "plan/execution_plan.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/phases.hpp"
#include "plan/plan_parts.hpp"

namespace mir {

class PlanBuilder {
 public:
  PlanBuilder(const Schedule& schedule, const PlanOptions& options, const PlanResources& resources);
  PlanParts build();

  // Methods that rows of fast ops name; see FastOp::build. The row admits the step, unless it
  // computes on codes.

  /// The operand's bytes under the result's extents.
  bool add_view(std::size_t step);
  bool add_match_shape(std::size_t step);
  /// The operand's bytes with dimensions in another order.
  bool add_permutation(std::size_t step);
  /// Rows of the table, which stays in the element type of its file where that is possible.
  bool add_embedding(std::size_t step);
  /// Appends to a cache in place.
  bool add_cache(std::size_t step);
  /// A product with the packed weight where each image is one patch, else over gathered patches.
  bool add_convolution(std::size_t step);
  /// A product with the packed weight.
  bool add_linear(std::size_t step);
  /// A product with a packed matrix if the second factor is a parameter or a constant.
  bool add_matmul(std::size_t step);
  /// A product of codes where both factors have 8 bits, else in Float32.
  bool add_linear_on_codes(std::size_t step);

 private:
  void find_caches();
  bool may_move(std::size_t step) const;
  void add_value(ValueIndex index);
  bool can_plan(ValueIndex index) const;
  std::vector<FusedGroup> groups() const;
  std::vector<bool> steps_without_fusion() const;
  bool has_phase_of_operands(std::size_t step) const;
  bool has_planned_values(std::size_t step) const;
  PlanValueIndex add_copy(std::size_t step, PlanValueIndex from);
  PlanValueIndex row_major(std::size_t step, PlanValueIndex index);
  bool computes_on_codes(std::size_t step) const;
  const ref::Quantisation* codes_of(const Value& value) const;
  PlanValueIndex in_order(std::size_t step, PlanValueIndex index, OperandOrder order);

  void add_step(std::size_t step);
  void add_group(const FusedGroup& group);
  bool can_normalise(std::size_t step) const;
  bool add_products(const FusedGroup& group);
  bool add_gated(const FusedGroup& group);
  bool add_chain(const FusedGroup& group);
  void add_rotation(const FusedGroup& group);
  LinearInput linear_input(const FusedGroup& group);
  std::optional<LinearPart> linear_part(std::size_t step);
  const fast::PackedMatrix* packed_factor(std::size_t step);
  const Tensor* fixed_tensor(PlanValueIndex index) const;
  const Tensor* acquire_weight(const Op& op);
  void release_weight(const Op& op);
  const fast::PackedMatrix* cached_weight(Symbol symbol, std::int64_t outputs, std::int64_t depth);
  const fast::PackedMatrix* packed_weight(const Op& op, std::int64_t outputs, std::int64_t depth);
  void add_reference(std::size_t step);
  /// Quantisations, bias and extents of a Linear on codes.
  struct CodeStep {
    const ref::Quantisation* x = nullptr;  ///< null: Float32
    const ref::Quantisation* y = nullptr;  ///< likewise
    const ref::Quantisation* weight = nullptr;
    Tensor bias = {};  ///< undefined: none
    std::int64_t outputs = 0, depth = 0;
    bool is_transposed = false;  ///< the weight is [depth, outputs]
  };
  std::optional<CodeStep> code_step(const Op& op);
  const fast::PackedMatrix* packed_codes(const Op& op, const CodeStep& step);
  PlanValueIndex add_floats(PlanValueIndex like);
  PlanValueIndex reals_of(std::size_t step, PlanValueIndex index, const ref::Quantisation& codes);
  void add_attention(const FusedGroup& group);
  bool sink(PlanValueIndex from, PlanValueIndex to, const std::vector<std::uint8_t>& order);
  bool add_fast(std::size_t step);
  bool add_node(std::size_t step, const FastOp& row);
  void add(std::unique_ptr<PlanNode> node);

  const ParameterTable& parameters() const { return resources_.parameters->table(); }
  const Step& step_at(std::size_t step) const { return schedule_.steps()[step]; }
  std::vector<PlanValueIndex> operands_of(std::size_t step) const;
  std::vector<PlanValueIndex> results_of(std::size_t step) const;
  PlannedStep planned(std::size_t step) const;

  const Schedule& schedule_;
  const PlanOptions& options_;
  const PlanResources& resources_;
  StepGraph graph_;
  PlanParts parts_;
  std::unordered_map<PlanValueIndex, PlanValueIndex> copies_;  // row-major copies of values
  std::unordered_map<PlanValueIndex, PlanValueIndex> reals_;   // Float32 values of codes
  std::unordered_map<PlanValueIndex, PlanNode*> producers_;
  std::map<Symbol, std::size_t> cache_writers_;       // steps of each cache
  std::map<Symbol, std::size_t> last_nested_writer_;  // the last step with steps of it in regions
  Phases phases_;
};

}  // namespace mir
