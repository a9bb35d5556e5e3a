// From a schedule to nodes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/fusion.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/plan_node.hpp"

namespace mir {

/// Where a value of a plan lives.
enum class Home : std::uint8_t {
  kInput,      ///< memory of the caller
  kConstant,   ///< a tensor of the session
  kParameter,  ///< likewise
  kOwn,        ///< a place in the plan's block
  kView,       ///< the bytes of another value
  kCache,      ///< what a node says when it runs
};

/// A value: what its type says and in which order its dimensions lie in memory.
struct PlanValue {
  Home home = Home::kOwn;
  DType dtype = DType::kFloat32;
  std::uint8_t rank = 0;
  /// Dimension i is number memory[i] of those in memory, outermost first; row-major: 0, 1, 2, ...
  std::array<std::uint8_t, TensorRef::kMaxRank> memory = {};
  PlanSlot base = 0;            ///< kView: of which value, through no other view
  std::uint32_t first_dim = 0;  ///< of its extents among all extents of the plan
  Symbol parameter = {};        ///< kParameter

  bool is_row_major() const {
    for (std::uint8_t i = 0; i < rank; ++i) {
      if (memory[i] != i) return false;
    }
    return home != Home::kCache;
  }
};

struct PlanParts {
  std::vector<PlanValue> values;
  std::vector<Dim> dims;  ///< of all values, one after the other
  std::vector<std::unique_ptr<PlanNode>> nodes;
};

class PlanBuilder {
 public:
  PlanBuilder(const Schedule& schedule, const PlanOptions& options, const PlanResources& resources);
  Result<PlanParts> build();

 private:
  void find_symbols();
  bool is_known(Dim dim) const;
  Result<void> add_value(const Slot& slot);
  Result<void> set_type(PlanValue& value, const Value& typed);
  PlanSlot add_copy(std::size_t step, PlanSlot from);
  PlanSlot row_major(std::size_t step, PlanSlot slot);
  bool computes_on_codes(std::size_t step) const;
  const ref::Quantisation* codes_of(const Value& value) const;
  PlanSlot in_order(std::size_t step, PlanSlot slot, OperandOrder order);

  Result<void> add_step(std::size_t step);
  Result<void> add_group(const FusedGroup& group);
  bool add_products(const FusedGroup& group);
  bool add_gated(const FusedGroup& group);
  LinearInput linear_input(const FusedGroup& group);
  bool add_convolution(std::size_t step);
  std::optional<LinearPart> linear_part(std::size_t step);
  const Tensor* acquire_weight(const Op& op);
  void release_weight(const Op& op);
  const fast::PackedMatrix* cached_weight(Symbol symbol, std::int64_t outputs, std::int64_t depth);
  const fast::PackedMatrix* packed_weight(const Op& op, std::int64_t outputs, std::int64_t depth);
  Result<void> add_reference(std::size_t step);
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
  PlanSlot add_floats(PlanSlot like);
  PlanSlot reals_of(std::size_t step, PlanSlot slot, const ref::Quantisation& codes);
  void add_attention(const FusedGroup& group);
  void add_view(std::size_t step);
  bool add_permutation(std::size_t step);
  bool sink(PlanSlot from, PlanSlot to, const std::vector<std::uint8_t>& order);
  std::unique_ptr<PlanNode> fast_node(const StepSlots& slots);
  Result<void> add_fast_or_reference(std::size_t step);
  void add(std::unique_ptr<PlanNode> node);

  std::size_t producer_step(PlanSlot slot) const { return graph_.producer(slot); }
  const Step& step_at(std::size_t step) const { return schedule_.steps()[step]; }
  std::vector<PlanSlot> operands_of(std::size_t step) const;
  std::vector<PlanSlot> results_of(std::size_t step) const;

  const Schedule& schedule_;
  const PlanOptions& options_;
  const PlanResources& resources_;
  StepGraph graph_;
  PlanParts parts_;
  std::unordered_map<PlanSlot, PlanSlot> copies_;  // row-major copies of values
  std::unordered_map<PlanSlot, PlanSlot> reals_;   // Float32 values that codes stand for
  std::unordered_map<PlanSlot, PlanNode*> producers_;
  std::set<Symbol> caches_;
  std::set<Symbol> symbols_;  // what runs bind before their first step
};

}  // namespace mir
