// From a schedule to nodes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/fusion.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/plan_parts.hpp"

namespace mir {

class PlanBuilder {
 public:
  PlanBuilder(const Schedule& schedule, const PlanOptions& options, const PlanResources& resources);
  PlanParts build();

 private:
  void find_symbols();
  bool is_known(Dim dim) const;
  void find_caches();
  void add_value(const ScheduledValue& scheduled);
  bool can_plan(const ScheduledValue& scheduled) const;
  std::vector<bool> steps_without_fusion() const;
  bool has_planned_values(std::size_t step) const;
  PlanValueIndex add_copy(std::size_t step, PlanValueIndex from);
  PlanValueIndex row_major(std::size_t step, PlanValueIndex index);
  bool computes_on_codes(std::size_t step) const;
  const ref::Quantisation* codes_of(const Value& value) const;
  PlanValueIndex in_order(std::size_t step, PlanValueIndex index, OperandOrder order);

  void add_step(std::size_t step);
  void add_group(const FusedGroup& group);
  bool add_products(const FusedGroup& group);
  bool add_gated(const FusedGroup& group);
  LinearInput linear_input(const FusedGroup& group);
  bool add_convolution(std::size_t step);
  std::optional<LinearPart> linear_part(std::size_t step);
  const Tensor* acquire_weight(const Op& op);
  void release_weight(const Op& op);
  const fast::PackedMatrix* cached_weight(Symbol symbol, std::int64_t outputs, std::int64_t depth);
  const fast::PackedMatrix* packed_weight(const Op& op, std::int64_t outputs, std::int64_t depth);
  void add_reference(std::size_t step);
  /// What a Linear on codes is besides its weight.
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
  bool add_quantised_linear(std::size_t number);
  PlanValueIndex add_floats(PlanValueIndex like);
  PlanValueIndex reals_of(std::size_t step, PlanValueIndex index, const ref::Quantisation& codes);
  void add_attention(const FusedGroup& group);
  void add_view(std::size_t step);
  bool add_permutation(std::size_t step);
  bool sink(PlanValueIndex from, PlanValueIndex to, const std::vector<std::uint8_t>& order);
  std::unique_ptr<PlanNode> fast_node(const PlannedStep& step);
  void add_fast_or_reference(std::size_t step);
  void add(std::unique_ptr<PlanNode> node);

  bool add_cache(std::size_t step);

  const ParameterTable& parameters() const { return resources_.parameters->table(); }
  std::size_t producer_step(PlanValueIndex index) const { return graph_.producer(index); }
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
  std::map<Symbol, std::size_t> cache_writers_;  // steps of each cache
  std::set<Symbol> symbols_;                     // what runs bind before their first step
};

}  // namespace mir
