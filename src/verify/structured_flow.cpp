// Control flow of the cf dialect: ends of regions, conditions, bounds of loops, cases.
#include <set>

#include "ir/declares_dialect.hpp"
#include "ir/one_element.hpp"
#include "mir/control_flow.hpp"
#include "verify/checks.hpp"
#include "weights/elements.hpp"

namespace mir::checks {

namespace {

void check_condition(const Op& op, const Value& value, Reporter& reporter) {
  if (is_one_element(value.type(), is_condition)) return;
  reporter.report(ConstraintId::control_c2, op, [&] {
    return fmt::format("the condition of '{}' is {}, expected one Bool", op.name(),
                       value.type()->spelling());
  });
}

/// A number that a constant value states; no value for others.
std::optional<std::int64_t> stated_integer(const Value& value) {
  const Attr* only = Constant{.attributes = value.attributes()}.number();
  return only != nullptr && only->kind() == AttrKind::kInt ? std::optional(only->integer())
                                                           : std::nullopt;
}

void check_bounds(const Op& loop, Reporter& reporter) {
  constexpr std::string_view kNames[] = {"lower bound", "upper bound", "step"};
  const Type* const type = loop.operand(0)->type();
  for (std::uint32_t i = 0; i < std::size(kNames); ++i) {
    const Type* found = loop.operand(i)->type();
    if (is_one_element(found, is_index) && (found == nullptr || type == nullptr || found == type))
      continue;
    reporter.report(ConstraintId::control_c3, loop, [&] {
      return fmt::format(
          "the {} of '{}' is {}, expected one {}", kNames[i], loop.name(), found->spelling(),
          i == 0 || type == nullptr ? "Int32 or Int64"
                                    : "number of type " + std::string(type->spelling()));
    });
    return;
  }
  const auto arguments = loop.region(0)->empty() ? ValueRange() : loop.region(0)->entry_arguments();
  const bool takes_index = arguments.size() == loop.result_count() + 1 &&
                           (arguments[0].type() == type || arguments[0].type() == nullptr);
  if (!takes_index) {
    reporter.report(ConstraintId::control_c3, loop, [&] {
      return fmt::format("the region of '{}' takes an index of the type of the bounds and {} more",
                         loop.name(), loop.result_count());
    });
  }
  const auto step = stated_integer(*loop.operand(2));
  if (!step || *step > 0) return;
  reporter.report(ConstraintId::control_c4, loop, [&] {
    return fmt::format("the step of '{}' is {}, expected a number above 0", loop.name(), *step);
  });
}

/// The op that must end a region of the op.
OpId end_of(const Op& op, std::uint32_t region) {
  return op.is(OpId::kCfWhile) && region == 0 ? OpId::kCfCondition : OpId::kCfYield;
}

void check_region(const Op& op, std::uint32_t number, Reporter& reporter) {
  const Region& region = *op.region(number);
  const OpId wanted = end_of(op, number);
  if (region.empty()) {
    reporter.report(ConstraintId::control_c1, op, [&] {
      return fmt::format("region {} of '{}' is empty, expected an end by '{}'", number, op.name(),
                         kOpNames[static_cast<std::size_t>(wanted)]);
    });
    return;
  }
  for (const Block* block : region.blocks()) {
    const Op* last = block->terminator();
    if (last == nullptr && region.has_several_blocks()) continue;  // block_c3
    if (last != nullptr && !leaves_region(*last)) continue;
    if (last != nullptr && last->is(wanted)) {
      if (!region.has_signature()) continue;
      const std::uint32_t first = last->is(OpId::kCfCondition) ? 1 : 0;
      region_results(
          region, *last, first, [&] { return fmt::format("region {} of '{}'", number, op.name()); },
          reporter);
      continue;
    }
    reporter.report(ConstraintId::control_c1, last == nullptr ? op : *last, [&] {
      return fmt::format("region {} of '{}' must end with '{}'", number, op.name(),
                         kOpNames[static_cast<std::size_t>(wanted)]);
    });
  }
}

/// One case for each successor but the first, each once.
void check_cases(const Op& op, Reporter& reporter) {
  const Value& index = *op.operand(0);
  if (!is_one_element(index.type(), is_index)) {
    reporter.report(ConstraintId::control_c5, op, [&] {
      return fmt::format("the index of '{}' is {}, expected one Int32 or Int64", op.name(),
                         index.type()->spelling());
    });
  }
  const Attr* const cases = op.attribute(key::kCases);
  if (cases == nullptr || cases->kind() != AttrKind::kArray) return;  // attribute_c2, attribute_c3
  const std::size_t wanted = op.extra().successors.size() - 1;
  if (cases->elements().size() != wanted) {
    reporter.report_at(ConstraintId::control_c5, op, {key::kCases}, [&] {
      return fmt::format(
          "'{}' has {} cases and {} successors, expected one case for each but the first",
          op.name(), cases->elements().size(), wanted + 1);
    });
  }
  const auto dtype = index.tensor_type() == nullptr ? std::nullopt : index.tensor_type()->dtype();
  for (const Attr* each : cases->elements()) {
    const bool is_known = dtype && is_index(*dtype) && each->kind() == AttrKind::kInt;
    if (!is_known || encode_element(*dtype, each->spelling())) continue;
    reporter.report_at(ConstraintId::control_c5, op, {key::kCases}, [&] {
      return fmt::format("case {} of '{}' is not a value of its index, {}", each->spelling(),
                         op.name(), name_of(*dtype));
    });
  }
  std::set<std::int64_t> seen;
  for (const Attr* each : cases->elements()) {
    if (each->kind() != AttrKind::kInt || seen.insert(each->integer()).second) continue;
    reporter.report_at(ConstraintId::control_c5, op, {key::kCases}, [&] {
      return fmt::format("case {} of '{}' is stated twice", each->integer(), op.name());
    });
  }
}

}  // namespace

void control_flow(const Op& op, Reporter& reporter) {
  if (op.is(OpId::kCfYield, OpId::kCfCondition)) {
    const Op* around = op.parent_op();
    // What a region of a declared op returns to is up to its dialect.
    const bool is_open = op.is(OpId::kCfYield) && is_declared(around->info().dialect);
    const bool has_flow = around->is(OpId::kLinalgGeneric, OpId::kLoopKernel, OpId::kLoopNest) ||
                          (around->row() != nullptr && around->row()->region_flow != nullptr);
    if (!has_flow && !is_open) {
      reporter.report(ConstraintId::control_c1, op, [&] {
        return fmt::format("'{}' ends no region of '{}'", op.name(), around->name());
      });
    }
  }
  if (op.is(OpId::kCfCondition, OpId::kCfIf, OpId::kCfCondBranch)) {
    check_condition(op, *op.operand(0), reporter);
  }
  if (op.is(OpId::kCfSwitch)) check_cases(op, reporter);
  if (!op.is(OpId::kCfIf, OpId::kCfFor, OpId::kCfWhile, OpId::kGraphFused, OpId::kLinalgGeneric,
             OpId::kLoopKernel, OpId::kLoopNest)) {
    return;
  }
  for (std::uint32_t i = 0; i < op.region_count(); ++i) check_region(op, i, reporter);
  if (op.is(OpId::kCfFor)) check_bounds(op, reporter);
}

}  // namespace mir::checks
