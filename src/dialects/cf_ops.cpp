// Op rows of the cf dialect, and the region edges of conditions and loops.
#include "dialects/tables.hpp"
#include "mir/op.hpp"

namespace mir::dialect_tables {

namespace {

/// One of two regions, which pass the results.
std::vector<RegionEdge> if_edges(const Op& op) {
  return {{.to = 0},
          {.to = 1},
          {.from = 0, .operand_count = op.result_count()},
          {.from = 1, .operand_count = op.result_count()}};
}

/// The operands after the bounds and step are carried; the region sees the index before them.
std::vector<RegionEdge> for_edges(const Op& op) {
  constexpr std::uint32_t kBounds = 3;
  const std::uint32_t carried = op.result_count();
  return {{.first_operand = kBounds, .operand_count = carried},
          {.to = 0, .first_operand = kBounds, .operand_count = carried, .first_target = 1},
          {.from = 0, .to = 0, .operand_count = carried, .first_target = 1},
          {.from = 0, .operand_count = carried}};
}

/// The first region decides, by the first value that it passes, whether the others go to the
/// second region or are the results.
std::vector<RegionEdge> while_edges(const Op& op) {
  const auto arguments = [&](std::uint32_t region) {
    return op.region_count() <= region || op.region(region)->empty()
               ? 0
               : static_cast<std::uint32_t>(op.region(region)->entry_arguments().size());
  };
  return {{.to = 0, .operand_count = op.operand_count()},
          {.from = 0, .to = 1, .first_operand = 1, .operand_count = arguments(1)},
          {.from = 0, .first_operand = 1, .operand_count = op.result_count()},
          {.from = 1, .to = 0, .operand_count = arguments(0)}};
}

constexpr AttrRow kSwitchAttributes[] = {
    {.name = "cases",
     .type = AttrType::kInts,
     .required = true,
     .summary = "the index for which control goes to each successor but the first one"},
};

constexpr OpRow kCfRows[] = {
    {.name = "ReturnOp",
     .operands = at_least(0),
     .traits = Trait::kTerminator,
     .effects = Effect::kControl,
     .page = "structure",
     .summary = "Ends a graph and returns its operands to the caller.",
     .example = "cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> ()"},
    {.name = "IfOp",
     .operands = exactly(1),
     .results = at_least(0),
     .regions = exactly(2),
     .traits = Trait::kPortableOnly,
     .region_flow = if_edges,
     .version = 2,
     .page = "control-flow",
     .summary = "Runs its first region if the condition holds, else the second one.",
     .example = "cf.IfOp (%0:tensor<[1], Bool, CPU>) -> (%1:tensor<[2], Float32, CPU>) { "
                "() -> (%2:tensor<[2], Float32, CPU>) { "
                "cf.YieldOp (%2:tensor<[2], Float32, CPU>) -> () } "
                "() -> (%3:tensor<[2], Float32, CPU>) { "
                "cf.YieldOp (%3:tensor<[2], Float32, CPU>) -> () } }"},
    {.name = "ForOp",
     .operands = at_least(3),
     .results = at_least(0),
     .regions = exactly(1),
     .traits = Trait::kPortableOnly,
     .region_flow = for_edges,
     .version = 2,
     .page = "control-flow",
     .summary = "Runs its region for each index from a first one to before a last one.",
     .example = "cf.ForOp (%0:tensor<[1], Int32, CPU>, %1:tensor<[1], Int32, CPU>, "
                "%2:tensor<[1], Int32, CPU>, %3:tensor<[2], Float32, CPU>) -> "
                "(%4:tensor<[2], Float32, CPU>) { "
                "(%5:tensor<[1], Int32, CPU>, %6:tensor<[2], Float32, CPU>) -> "
                "(%6:tensor<[2], Float32, CPU>) { "
                "cf.YieldOp (%6:tensor<[2], Float32, CPU>) -> () } }"},
    {.name = "WhileOp",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(2),
     .traits = Trait::kPortableOnly,
     .region_flow = while_edges,
     .version = 2,
     .page = "control-flow",
     .summary = "Runs its second region as long as the condition of the first one holds.",
     .example = "cf.WhileOp (%0:tensor<[1], Bool, CPU>) -> (%1:tensor<[1], Bool, CPU>) { "
                "(%2:tensor<[1], Bool, CPU>) -> (%2:tensor<[1], Bool, CPU>) { "
                "cf.ConditionOp (%2:tensor<[1], Bool, CPU>, %2:tensor<[1], Bool, CPU>) -> () } "
                "(%3:tensor<[1], Bool, CPU>) -> (%4:tensor<[1], Bool, CPU>) { "
                "linalg.CPU.NotOp (%3:tensor<[1], Bool, CPU>) -> (%4:tensor<[1], Bool, CPU>) "
                "cf.YieldOp (%4:tensor<[1], Bool, CPU>) -> () } }"},
    {.name = "YieldOp",
     .operands = at_least(0),
     .traits = Trait::kTerminator | Trait::kPure | Trait::kPortableOnly,
     .page = "control-flow",
     .summary = "Ends a region of control flow and passes its operands on.",
     .example = "cf.YieldOp (%0:tensor<[2], Float32, CPU>) -> ()"},
    {.name = "ConditionOp",
     .operands = at_least(1),
     .traits = Trait::kTerminator | Trait::kPure | Trait::kPortableOnly,
     .page = "control-flow",
     .summary = "Ends the first region of a WhileOp: whether to go on, and the values to pass on.",
     .example = "cf.ConditionOp (%0:tensor<[1], Bool, CPU>, %1:tensor<[2], Float32, CPU>) -> ()"},
    {.name = "BranchOp",
     .successors = exactly(1),
     .traits = Trait::kTerminator | Trait::kPure | Trait::kPortableOnly,
     .version = 2,
     .page = "control-flow",
     .summary = "Ends a block and goes on to another one.",
     .example = "cf.BranchOp () -> () [^next(%0:tensor<[2], Float32, CPU>)]"},
    {.name = "CondBranchOp",
     .operands = exactly(1),
     .successors = exactly(2),
     .traits = Trait::kTerminator | Trait::kPure | Trait::kPortableOnly,
     .version = 2,
     .page = "control-flow",
     .summary =
         "Ends a block and goes on to its first successor if the condition holds, else to the "
         "second one.",
     .example = "cf.CondBranchOp (%0:tensor<[1], Bool, CPU>) -> () "
                "[^yes(%1:tensor<[2], Float32, CPU>), ^no]"},
    {.name = "SwitchOp",
     .operands = exactly(1),
     .successors = at_least(1),
     .traits = Trait::kTerminator | Trait::kPure | Trait::kPortableOnly,
     .attributes = kSwitchAttributes,
     .version = 2,
     .page = "control-flow",
     .summary =
         "Ends a block and goes on to the successor of the case that the index is, else to the "
         "first one.",
     .example = "cf.SwitchOp [cases:[0, 7]] (%0:tensor<[1], Int32, CPU>) -> () "
                "[^other, ^zero(%1:tensor<[2], Float32, CPU>), ^seven]"},
};
static_assert(are_sound(DialectId::kCf, kCfRows));

}  // namespace

constinit const Dialect kCf{.name = "cf", .rows = kCfRows, .summary = "Control flow."};

}  // namespace mir::dialect_tables
