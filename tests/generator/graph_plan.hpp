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

/// An op, or a call where `callee` is not negative. Values are positions in Plan::values.
struct PlannedStep {
  OpPattern op;
  std::string path;
  int callee = -1;
  std::vector<std::size_t> operands;
  std::vector<std::size_t> results;
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
};

/// Every graph is called; in a plan for kProgram once, as storage ids are shared with the caller.
Plan make_plan(IRContext& context, const GeneratorOptions& options);

}  // namespace mir::test
