// The making of plans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph_plan.hpp"

namespace mir::test {

class Planner {
 public:
  Planner(IRContext& context, const GeneratorOptions& options)
      : context_(context), options_(options), templates_(context), random_(options.seed) {}

  Plan run();

 private:
  /// The values of a region are visible in it alone. Inputs of the graph that it needs stay
  /// visible.
  class Scope;

  bool one_in(std::uint64_t n) { return below(random_, n) == 0; }

  // graph_plan.cpp
  void graph(int index, bool is_last);
  /// True if a graph, or one that it calls, appends to a cache: a second call would not begin where
  /// its `past` says.
  bool keeps_state(int graph) const;
  std::size_t add_value(const TensorType* type, std::string constant = {});
  /// A visible value of the type, or a new input of the graph.
  std::size_t operand(const TensorType* type);
  void results(PlannedStep& step, std::span<const TensorType* const> types);
  void add_step(PlannedStep step);
  void call(int callee);
  bool can_occur(const OpRow& row) const;
  bool is_too_large(const TensorType& type) const;
  bool is_too_large(const OpPattern& op) const;
  void op();
  bool name(PlannedStep& step);
  std::string drawn_name(const std::string& own);
  std::string cache_name(const std::string& path);
  void choose_outputs();
  void bind_symbols();

  // control_plan.cpp
  void control();
  void add_if();
  void add_switch();
  void add_for();
  void add_while();
  /// A few ops, calls and, unless it is deep enough, control flow.
  void add_steps();
  PlannedRegion arm(std::vector<const TensorType*>& types, bool is_first);
  /// Adds an op with these operands and one result of this type.
  std::size_t compute(std::string_view op, std::vector<std::size_t> operands,
                      const TensorType* type, std::vector<NamedAttr> attributes = {});
  std::size_t number(const TensorType* type, std::int64_t value);
  bool is_on_cpu(std::size_t value) const;
  /// A value of the same type, which often is another one.
  std::size_t changed(std::size_t value);
  /// Any of the last visible values.
  std::size_t recent();
  std::vector<std::size_t> some_values();
  std::vector<const TensorType*> types_of(const std::vector<std::size_t>& values) const;
  std::vector<std::size_t> arguments(const std::vector<const TensorType*>& types);
  /// An integer that kernels of all kinds compute alike.
  std::size_t index();
  std::size_t condition();

  IRContext& context_;
  const GeneratorOptions& options_;
  OpTemplates templates_;
  Random random_;
  Plan plan_;
  PlannedGraph graph_;
  std::vector<PlannedStep>* steps_ = nullptr;  // of the region that is being made
  std::size_t step_count_ = 0;                 // of the graph so far, those of regions included
  int depth_ = 0;                              // of the region that is being made
  std::vector<std::size_t> indices_;           // of the loops around it
  std::vector<std::size_t> visible_;           // in the region that is being made
  std::vector<int> uncalled_;
  std::vector<std::string> names_;  // of ops and caches
  std::unordered_set<std::string> caches_;
};

}  // namespace mir::test
