// What a random module computes, free of any form of text.
#pragma once

#include <string>
#include <vector>

#include "module_generator.hpp"
#include "op_templates.hpp"

namespace mir::test {

/// A value: an input of a graph, a result, or a constant.
struct PlannedValue {
  const TensorType* type = nullptr;
  std::string constant;  ///< its attribute list, empty for others
};

struct PlannedStep;

/// A part of a graph that may run several times or not at all.
struct PlannedRegion {
  std::vector<std::size_t> arguments;
  std::vector<PlannedStep> steps;
  std::vector<std::size_t> outputs;  ///< in the first part of a loop, the condition before them
};

enum class PlannedControl {
  kNone,
  kIf,      ///< two regions; the operand is the condition
  kFor,     ///< one region; the operands are the bounds, the step and what is carried
  kWhile,   ///< two regions, of which the first one decides; the operands are carried
  kSwitch,  ///< a region for any index, then one for each case; the operand is the index
};

/// An op; a call, if `callee` is not negative; or control flow, unless `control` is kNone. Values
/// are positions in Plan::values.
struct PlannedStep {
  OpPattern op;
  std::string path;
  int callee = -1;
  std::vector<std::size_t> operands;
  std::vector<std::size_t> results;
  PlannedControl control = PlannedControl::kNone;
  bool in_blocks = false;             ///< written as blocks and branches
  std::vector<std::int64_t> cases{};  ///< of kSwitch
  std::vector<PlannedRegion> regions{};
};

struct PlannedGraph {
  std::string name;
  std::vector<std::size_t> inputs;
  std::vector<PlannedStep> steps;
  std::vector<std::size_t> outputs;
};

/// A parameter under its whole name.
struct PlannedParameter {
  std::string name;
  const TensorType* type = nullptr;
};

struct Plan {
  std::vector<PlannedValue> values;
  std::vector<PlannedGraph>
      graphs;  ///< each calls only earlier ones; the last is the module's body
  std::vector<PlannedParameter> parameters;
  bool has_control_flow = false;
};

/// Every graph is called; in a plan for kProgram once, as storage ids are shared with the caller.
Plan make_plan(IRContext& context, const GeneratorOptions& options);

}  // namespace mir::test
