// Lists all registered ops with their rows, kernels and documentation.
#include "known_ops.hpp"

#include <algorithm>
#include <iterator>

#include "eval/evaluate.hpp"
#include "plan/fast_ops.hpp"

namespace mir::tools {

namespace {

/// Ops that the execution plan itself carries out.
constexpr OpId kStructure[] = {OpId::kBuiltinModule, OpId::kCfReturn,   OpId::kGraphCallGraph,
                               OpId::kGraphSubGraph, OpId::kTensorFree, OpId::kTensorRegister};

bool is_run(OpId op) {
  return is_executable(op) || std::ranges::find(kStructure, op) != std::end(kStructure);
}

const OpSupport kSupport{.ref = is_run, .fast = has_fast_node};

}  // namespace

std::string ops_text(const IRContext& context) {
  return list_ops(context, kSupport);
}

std::string ops_description(const IRContext& context, std::string_view part) {
  return describe_ops(context, kSupport, part);
}

std::string ops_markdown(const IRContext& context) {
  return ops_index(context, kSupport);
}

}  // namespace mir::tools
