// A dialect with regions, branches, calls and folds, for tests of what rows declare.
#pragma once

#include "mir/context.hpp"
#include "mir/op.hpp"
#include "read.hpp"

namespace mir::test {

inline std::vector<RegionEdge> scope_edges(const Op& op) {
  return {{.to = 0, .operand_count = op.operand_count()},
          {.from = 0, .operand_count = op.result_count()}};
}
/// The region gets an index before the operands.
inline std::vector<RegionEdge> indexed_edges(const Op& op) {
  return {{.to = 0, .operand_count = op.operand_count(), .first_target = 1},
          {.from = 0, .operand_count = op.result_count()}};
}
/// The op has a result before those of the region.
inline std::vector<RegionEdge> counted_edges(const Op& op) {
  return {{.to = 0, .operand_count = op.operand_count()},
          {.from = 0, .operand_count = op.result_count(), .first_target = 1}};
}
/// The region does not get all of its arguments.
inline std::vector<RegionEdge> partial_edges(const Op& op) {
  return {{.to = 0}, {.from = 0, .operand_count = op.result_count()}};
}
inline std::vector<RegionEdge> loop_edges(const Op& op) {
  const std::uint32_t carried = op.operand_count();
  return {{.operand_count = carried},
          {.to = 0, .operand_count = carried},
          {.from = 0, .to = 0, .operand_count = carried},
          {.from = 0, .operand_count = carried}};
}
inline std::vector<RegionEdge> if_edges(const Op& op) {
  return {{.to = 0},
          {.to = 1},
          {.from = 0, .operand_count = op.result_count()},
          {.from = 1, .operand_count = op.result_count()}};
}
inline std::optional<Symbol> callee_attribute(const Op& op) {
  const Attr* name = op.attribute("callee");
  if (name == nullptr) return std::nullopt;
  return op.module().context().intern(name->text());
}
/// half(half(x)) -> x, and a half of the numbers of a constant stays as they are.
inline std::vector<FoldedResult> fold_half(const Op& op) {
  const Op* before = op.operand(0)->defining_op();
  if (before != nullptr && before->kind() == op.kind()) return {{.value = before->operand(0)}};
  const Attr* numbers = op.operand(0)->attribute(op.module().context().intern("constant"));
  return numbers == nullptr ? std::vector<FoldedResult>()
                            : std::vector<FoldedResult>{{.constant = numbers}};
}

inline constexpr AttrRow kCallAttributes[] = {
    {.name = "callee", .type = AttrType::kSymbolRef, .required = true, .summary = "the graph"}};

inline constexpr OpRow kFlowRows[] = {
    {.name = "scope",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(1),
     .traits = Trait::kPure,
     .region_flow = scope_edges},
    {.name = "indexed",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(1),
     .traits = Trait::kPure,
     .region_flow = indexed_edges},
    {.name = "counted",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(1),
     .traits = Trait::kPure,
     .region_flow = counted_edges},
    {.name = "partial",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(1),
     .traits = Trait::kPure,
     .region_flow = partial_edges},
    {.name = "loop",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(1),
     .region_flow = loop_edges},
    {.name = "if", .results = at_least(0), .regions = exactly(2), .region_flow = if_edges},
    {.name = "yield", .operands = at_least(0), .traits = Trait::kTerminator | Trait::kPure},
    {.name = "br",
     .operands = at_least(0),
     .successors = exactly(1),
     .traits = Trait::kTerminator,
     .effects = Effect::kControl},
    {.name = "graph",
     .regions = exactly(1),
     .traits = Trait::kSymbol | Trait::kIsolated | Trait::kCallable},
    {.name = "call",
     .operands = at_least(0),
     .results = at_least(0),
     .callee = callee_attribute,
     .attributes = kCallAttributes},
    {.name = "half",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .fold = fold_half},
    {.name = "store",
     .operands = at_least(0),
     .effects = Effect::kWritesState,
     .resource = [](const Op& op) { return op.path(); }},
    {.name = "load",
     .results = at_least(0),
     .effects = Effect::kReadsState,
     .resource = [](const Op& op) { return op.path(); }},
};
inline constexpr Dialect kFlowDialect{.name = "flow", .rows = kFlowRows, .summary = "Flow."};

/// `text` with `$` for a tensor type, read into a context that knows the dialect.
class FlowReading {
 public:
  explicit FlowReading(std::string text) {
    register_builtin_dialects(context);
    REQUIRE(context.register_dialect(kFlowDialect));
    for (auto at = text.find('$'); at != text.npos; at = text.find('$', at)) {
      text.replace(at, 1, "tensor<[2], Float32, CPU>");
    }
    const SourceFile* file = context.sources().add("flow.mir", text);
    modules = read_modules(*file, context, diagnostics);
    for (const std::string& error : lines_of(diagnostics, context)) MESSAGE(error);
    REQUIRE_FALSE(diagnostics.has_errors());
  }
  Module& module() { return *modules.front(); }

  IRContext context;
  Diagnostics diagnostics{0};
  std::vector<Module*> modules;
};

}  // namespace mir::test
