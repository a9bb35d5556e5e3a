// Checks programs: addresses, jumps, bindings, kernels and constants.
#include <algorithm>

#include "ir/mention.hpp"
#include "program/program_code.hpp"
#include "verify/execution.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

std::optional<std::uint64_t> address_of(const Op& op) {
  return op.dump_facts().address;
}

bool is_numbered(const Op& op) {
  return address_of(op).value_or(DumpFacts::kUnnumbered) != DumpFacts::kUnnumbered;
}

void check_fragments(const ProgramCode& code, Reporter& reporter) {
  for (const prog::Fragment& fragment : code.fragments()) {
    const Op& op = *fragment.op;
    if (fragment.kind == prog::FragmentKind::kUnknown) {
      reporter.report(fragment_c1, op, [&] {
        return fmt::format("fragment '@{}' is of kind '{}', expected code, data or table",
                           text(op, op.symbol()), op.angle(1));
      });
    } else if (fragment.kind == prog::FragmentKind::kCode && code.code() != nullptr &&
               &fragment != code.code()) {
      note(reporter.report(fragment_c1, op,
                           [&] {
                             return fmt::format("'@{}' is a second code fragment",
                                                text(op, op.symbol()));
                           }),
           *code.code()->op, "the first one");
    }
  }
}

ConstraintId constraint_of(const prog::Defect& defect) {
  switch (defect.kind) {
    case prog::Defect::Kind::kMissing:
      return field_c1;
    case prog::Defect::Kind::kWrongKind:
      return field_c2;
    case prog::Defect::Kind::kSeveralBlocks:
      return fragment_c1;
    case prog::Defect::Kind::kOutOfRange:
      break;
  }
  return defect.field->name == key::kType ? bind_c3 : bind_c4;
}

void check_fields(const ProgramCode& code, Reporter& reporter) {
  // In a portable module, attributes of every op are checked elsewhere.
  const bool is_known = reporter.module().is_portable();
  for (const prog::Defect& defect : code.defects()) {
    if (is_known && defect.field != nullptr && defect.kind != prog::Defect::Kind::kOutOfRange) {
      continue;
    }
    const AttributePlace place{defect.field == nullptr ? "" : defect.field->name};
    reporter.report_at(constraint_of(defect), *defect.op, place,
                       [&] { return prog::describe(defect); });
  }
}

/// A fragment is numbered from 0, or not at all.
void check_addresses(const ProgramCode& code, Reporter& reporter) {
  for (const prog::Fragment& fragment : code.fragments()) {
    const auto numbered = [](const prog::Instruction& each) { return is_numbered(*each.op); };
    if (std::ranges::none_of(fragment.instructions, numbered)) continue;
    std::uint64_t next = 0;
    for (const prog::Instruction& each : fragment.instructions) {
      const auto found = address_of(*each.op);
      if (!found) continue;
      if (*found != next) {
        reporter.report(fragment_c2, *each.op, [&] {
          return fmt::format("address {:#x} where {:#x} is expected", *found, next);
        });
      }
      next = *found == DumpFacts::kUnnumbered ? next + 1 : *found + 1;
    }
  }
}

void check_jump(const ProgramCode& code, const Op& op, const prog::Jump& jump, Reporter& reporter) {
  if (!jump.has_label) {
    reporter.report(jump_c1, op, [&] {
      return fmt::format("no label of the code is named '{}'", text(op, jump.label));
    });
    return;
  }
  const Op& label = *code.instructions()[jump.target].op;
  if (!jump.distance || !is_numbered(op) || !is_numbered(label)) return;
  // Addresses are 64-bit numbers of any text: the difference is taken modulo 2^64.
  const std::uint64_t distance = *address_of(label) - *address_of(op);
  if (static_cast<std::uint64_t>(*jump.distance) == distance) return;
  note(reporter.report(jump_c2, op,
                       [&] {
                         return fmt::format(
                             "offset {} does not lead to label '{}', which is {} away",
                             *jump.distance, text(op, jump.label),
                             static_cast<std::int64_t>(distance));
                       }),
       label, "the label");
}

void check_jumps(const ProgramCode& code, Reporter& reporter) {
  for (const prog::Instruction& each : code.instructions()) {
    if (const auto* jump = each.as<prog::Jump>()) check_jump(code, *each.op, *jump, reporter);
  }
}

/// Positions of one direction are 0, 1, .. once each, in any order.
void check_binds(const ProgramCode& code, Reporter& reporter, prog::Direction direction) {
  const bool is_input = direction == prog::Direction::kInput;
  std::vector<std::pair<std::int64_t, const Op*>> binds;
  for (const prog::Instruction& each : code.instructions()) {
    const auto* bind = each.as<prog::Bind>();
    if (bind == nullptr || bind->direction != direction || !bind->position) continue;
    binds.emplace_back(*bind->position, each.op);
  }
  std::ranges::stable_sort(binds, {}, &std::pair<std::int64_t, const Op*>::first);
  std::int64_t next = 0;
  for (const auto& [position, op] : binds) {
    if (position != next) {
      const std::int64_t found = position, expected = next;
      reporter.report(is_input ? bind_c1 : bind_c2, *op, [&] {
        return fmt::format("{} {} is bound where {} is expected", is_input ? "input" : "output",
                           found, expected);
      });
    }
    next = position == std::numeric_limits<std::int64_t>::max() ? position : position + 1;
  }
}

void check_spec(const Op& op, const prog::Launch& launch, const prog::Kernel& kernel,
                Reporter& reporter) {
  const auto check = [&](std::string_view key, const Attr* mine, const Attr* its) {
    if (mine == nullptr || its == nullptr || mine == its) return;
    note(reporter.report_at(launch_c2, op, {key},
                            [&] {
                              return fmt::format("{} of the launch is {}, kernel '{}' has {}", key,
                                                 mine->spelling(), launch.name, its->spelling());
                            }),
         *kernel.op, "the kernel");
  };
  check(key::kOpType, launch.spec.type, kernel.spec.type);
  check(key::kOpOptions, launch.spec.options, kernel.spec.options);
}

void check_kernels(const ProgramCode& code, Reporter& reporter) {
  for (const prog::Instruction& each : code.instructions()) {
    const auto* launch = each.as<prog::Launch>();
    if (launch == nullptr || launch->kernel == prog::kOutside) continue;
    const prog::Kernel& kernel = code.kernels()[launch->kernel];
    // Without kernels symbols are not flattened yet.
    if (code.declares_kernels() && !kernel.is_declared) {
      reporter.report(launch_c1, *each.op,
                      [&] { return fmt::format("no kernel is named '{}'", launch->name); });
      continue;
    }
    check_spec(*each.op, *launch, kernel, reporter);
  }
}

void check_constant(const ProgramCode& code, const Use& use, Reporter& reporter) {
  const Value* declared = code.declared(use.value()->name());
  const Attr* stated = declared == nullptr ? nullptr : declared->attribute(key::kConstant);
  if (stated == nullptr) return;
  for (const NamedAttr& printed : mention_of(use).attributes) {
    if (printed.key != key::kConstant || printed.value == stated) continue;
    note(reporter.report_at(constant_c1, *use.user(), MentionPlace{use.index()},
                            [&] {
                              return fmt::format(
                                  "operand {} is printed with {}, the table states {}", use.index(),
                                  printed.value->spelling(), stated->spelling());
                            }),
         *declared->defining_op(), "declared here");
  }
}

/// Mentions of constants against the tables.
void check_constants(const ProgramCode& code, Reporter& reporter) {
  if (code.table_constants().empty()) return;
  for (const prog::Instruction& each : code.instructions()) {
    for (const Use& use : each.op->operand_uses()) check_constant(code, use, reporter);
  }
}

/// Reports the first instruction of each stretch that never runs.
void check_unreachable(const ProgramCode& code, const Execution& execution, Reporter& reporter) {
  std::vector<bool> runs(reporter.module().op_id_end());
  for (const Op* op : execution.executed()) runs[op->id()] = true;
  bool before = true;
  for (const prog::Instruction& each : code.instructions()) {
    const Op& op = *each.op;
    if (op.row() == nullptr || !op.is_in(DialectId::kProg)) continue;
    const bool now = runs[op.id()];
    if (before && !now) {
      reporter.report(exit_c2, op,
                      [&] { return fmt::format("no execution reaches '{}'", op.name()); });
    }
    before = now;
  }
}

}  // namespace

void program(const Census& census, Reporter& reporter) {
  if (!census.has_fragments) return;
  const ProgramCode code(reporter.module());
  check_fragments(code, reporter);
  check_fields(code, reporter);
  if (code.code() == nullptr) return;
  check_addresses(code, reporter);
  check_jumps(code, reporter);
  check_binds(code, reporter, prog::Direction::kInput);
  check_binds(code, reporter, prog::Direction::kOutput);
  check_kernels(code, reporter);
  check_constants(code, reporter);
  Execution execution(code, reporter);
  execution.run();
  if (execution.has_exited()) check_unreachable(code, execution, reporter);
  slots(code, execution, reporter);
}

}  // namespace mir::checks
