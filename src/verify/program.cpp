#include <algorithm>

#include "verify/machine.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

std::optional<std::int64_t> integer(const Op& op, Symbol key) {
  const Attr* value = op.attribute(key);
  return value != nullptr && value->kind() == AttrKind::kInt ? std::optional(value->integer())
                                                             : std::nullopt;
}

bool is_numbered(const Op& op) {
  return op.extra().has_address && op.extra().address != ~std::uint64_t{0};
}

void check_fragments(const Census& census, const Machine& machine, Reporter& reporter) {
  for (const Op* op : census.fragments) {
    const std::string_view kind = op->angle(1);
    if (kind != "code" && kind != "data" && kind != "table") {
      reporter.report(fragment_c1, *op, [&] {
        return fmt::format("segment '@{}' is of kind '{}', expected code, data or table",
                           text(*op, op->symbol()), kind);
      });
    } else if (kind == "code" && op != machine.segment() && machine.segment() != nullptr) {
      note(reporter.report(fragment_c1, *op,
                           [&] {
                             return fmt::format("'@{}' is a second code segment",
                                                text(*op, op->symbol()));
                           }),
           *machine.segment(), "the first one");
    }
  }
}

/// A segment is numbered from 0, or not at all.
void check_addresses(const Census& census, Reporter& reporter) {
  for (const Op* fragment : census.fragments) {
    if (fragment->first_region() == nullptr) continue;
    const auto ops = fragment->first_region()->ops();
    const bool numbered =
        std::any_of(ops.begin(), ops.end(), [](const Op* op) { return is_numbered(*op); });
    if (!numbered) continue;
    std::uint64_t next = 0;
    for (const Op* op : ops) {
      if (!op->extra().has_address) continue;
      const std::uint64_t found = op->extra().address;
      if (found != next) {
        reporter.report(fragment_c2, *op, [&] {
          return fmt::format("address {:#x} stands where {:#x} is expected", found, next);
        });
      }
      next = found == ~std::uint64_t{0} ? next + 1 : found + 1;
    }
  }
}

void check_jumps(const Machine& machine, Reporter& reporter) {
  IRContext& context = reporter.module().context();
  const Symbol offset_key = context.intern("offset");
  for (const Op* op : machine.code()) {
    if (!op->is(OpId::kProgJump)) continue;
    const Op* label = machine.label_of(*op);
    if (label == nullptr) {
      reporter.report(jump_c1, *op, [&] {
        return fmt::format("no label of the code is named '{}'", text(*op, op->extra().label));
      });
      continue;
    }
    const auto offset = integer(*op, offset_key);
    if (!offset || !is_numbered(*op) || !is_numbered(*label)) continue;
    // Addresses are 64-bit numbers of any text: the difference is taken modulo 2^64.
    const std::uint64_t distance = label->extra().address - op->extra().address;
    if (static_cast<std::uint64_t>(*offset) == distance) continue;
    note(reporter.report(jump_c2, *op,
                         [&] {
                           return fmt::format(
                               "offset {} does not lead to label '{}', which is {} away", *offset,
                               text(*op, op->extra().label), static_cast<std::int64_t>(distance));
                         }),
         *label, "the label");
  }
}

/// Positions of one direction are 0, 1, .. once each, in any order.
void check_binds(const Machine& machine, Reporter& reporter, std::int64_t direction,
                 ConstraintId id) {
  IRContext& context = reporter.module().context();
  const Symbol type_key = context.intern("type"), position_key = context.intern("input_pos");
  std::vector<std::pair<std::int64_t, const Op*>> binds;
  for (const Op* op : machine.code()) {
    if (!op->is(OpId::kProgBind) || integer(*op, type_key) != direction) continue;
    if (const auto position = integer(*op, position_key)) binds.emplace_back(*position, op);
  }
  std::ranges::stable_sort(binds, {}, &std::pair<std::int64_t, const Op*>::first);
  std::int64_t next = 0;
  for (const auto& [position, op] : binds) {
    if (position != next) {
      const std::int64_t found = position, expected = next;
      reporter.report(id, *op, [&] {
        return fmt::format("{} {} is bound where {} is expected",
                           direction == 0 ? "input" : "output", found, expected);
      });
    }
    next = position == std::numeric_limits<std::int64_t>::max() ? position : position + 1;
  }
}

void check_directions(const Machine& machine, Reporter& reporter) {
  for (const Op* op : machine.code()) {
    if (!op->is(OpId::kProgBind)) continue;
    const Attr* type = op->attribute("type");
    if (type == nullptr || type->kind() != AttrKind::kInt) continue;
    if (type->integer() == 0 || type->integer() == 1) continue;
    reporter.report(bind_c3, *op, [&] {
      return fmt::format("bind type {} is neither 0 (input) nor 1 (output)", type->integer());
    });
  }
}

void check_kernels(const Machine& machine, Reporter& reporter) {
  const Module& module = reporter.module();
  IRContext& context = module.context();
  const Symbol name_key = context.intern("symbol_name");
  const Symbol keys[] = {context.intern("op_type"), context.intern("op_options")};
  for (const Op* op : machine.code()) {
    if (!op->is(OpId::kProgKernelLaunch)) continue;
    const Attr* name = op->attribute(name_key);
    if (name == nullptr || name->kind() != AttrKind::kString || name->text().empty()) continue;
    const Op* symbol = module.lookup_op(context.intern(name->text()));
    if (symbol == nullptr || !symbol->is(OpId::kProgKernelSymbol)) {
      reporter.report(launch_c1, *op,
                      [&] { return fmt::format("no kernel is named '{}'", name->text()); });
      continue;
    }
    for (const Symbol key : keys) {
      const Attr *mine = op->attribute(key), *its = symbol->attribute(key);
      if (mine == nullptr || its == nullptr || mine == its) continue;
      note(reporter.report(launch_c2, *op,
                           [&] {
                             return fmt::format("{} of the launch is {}, kernel '{}' has {}",
                                                context.text(key), mine->spelling(), name->text(),
                                                its->spelling());
                           }),
           *symbol, "the kernel");
    }
  }
}

/// Reports the first instruction of each stretch that never runs.
void check_unreachable(const Machine& machine, Reporter& reporter) {
  std::vector<bool> runs(reporter.module().op_id_end());
  for (const Op* op : machine.executed()) runs[op->id()] = true;
  bool before = true;
  for (const Op* op : machine.code()) {
    // Comments are no instructions.
    if (op->row() == nullptr || !op->is_in(DialectId::kProg)) continue;
    const bool now = runs[op->id()];
    if (before && !now) {
      reporter.report(exit_c2, *op,
                      [&] { return fmt::format("no execution reaches '{}'", op->name()); });
    }
    before = now;
  }
}

}  // namespace

void program(const Census& census, Reporter& reporter) {
  if (census.fragments.empty()) return;
  Machine machine(census, reporter);
  check_fragments(census, machine, reporter);
  if (machine.segment() == nullptr) return;
  check_addresses(census, reporter);
  check_jumps(machine, reporter);
  check_directions(machine, reporter);
  check_binds(machine, reporter, 0, bind_c1);
  check_binds(machine, reporter, 1, bind_c2);
  // Without kernels symbols are not flattened yet.
  if (census.has_kernels) check_kernels(machine, reporter);
  machine.run();
  if (machine.has_exited()) check_unreachable(machine, reporter);
  slots(machine, reporter);
}

}  // namespace mir::checks
