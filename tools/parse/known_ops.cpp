#include "known_ops.hpp"

#include <algorithm>
#include <iterator>

#include "eval/evaluate.hpp"
#include "mir/dialects.hpp"
#include "plan/fast_ops.hpp"

namespace mir::tools {

namespace {

/// What the execution plan itself carries out.
constexpr OpId kStructure[] = {OpId::kBuiltinModule, OpId::kCfReturn,   OpId::kGraphCallGraph,
                               OpId::kGraphSubGraph, OpId::kTensorFree, OpId::kTensorRegister};

bool is_run(OpId op) {
  return is_executable(op) || std::ranges::find(kStructure, op) != std::end(kStructure);
}

}  // namespace

std::string known_ops(std::string (*list)(const IRContext& context, const OpSupport& support)) {
  IRContext context;
  register_builtin_dialects(context);
  return list(context, {.ref = is_run, .fast = has_fast_node});
}

std::string known_types() {
  IRContext context;
  register_builtin_dialects(context);
  return list_types(context);
}

}  // namespace mir::tools
