// Moves the instructions of old programs before their bodies and ends them with prog.exit.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "program/program_code.hpp"
#include "upgrade/granted.hpp"

// Programs from before `prog.exit`: upstream put what a module runs between the bodies of its
// graphs, and nothing ended it, so its machine would have run on into the first body. What lies
// outside of bodies is what the module runs.

namespace mir {

namespace {

/// The instructions outside of the bodies, which begin with a label and end with prog.ret.
std::vector<Op*> outside_of_bodies(const Block& code) {
  std::vector<Op*> outside;
  bool inside = false;
  for (Op* op : code.ops()) {
    inside = inside || op->is(OpId::kProgLabel);
    if (!inside) outside.push_back(op);
    if (op->is(OpId::kProgRet)) inside = false;
  }
  return outside;
}

/// True if addresses count from 0 and offsets match their labels, as far as they are stated.
bool has_sound_places(const Module& module) {
  const ProgramCode program(module);
  const auto code = program.instructions();
  const auto address = [&](const prog::Instruction& each) {
    const auto found = each.op->dump_facts().address;
    return found == DumpFacts::kUnnumbered ? std::nullopt : found;
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (address(code[i]).value_or(i) != i) return false;
    const auto* jump = code[i].as<prog::Jump>();
    if (jump == nullptr || !jump->has_label || !jump->distance) continue;
    if (static_cast<std::int64_t>(jump->target) - static_cast<std::int64_t>(i) != *jump->distance)
      return false;
  }
  return true;
}

/// Makes an instruction read storage, as the text mentions it, in place of a value that is now
/// written below it.
void read_storage(Rewriter& rewriter, Op& op, std::span<Op* const> outside) {
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    Value& value = *op.operand(i);
    const Op* by = value.defining_op();
    if (by == nullptr || std::ranges::find(outside, by) != outside.end()) continue;
    Value* storage = nullptr;
    for (Value* free : op.parent_region()->free_values()) {
      if (free->name() == value.name() && free->type() == value.type()) storage = free;
    }
    if (storage == nullptr) {
      storage = rewriter.create_free_value(*op.parent_region(), value.type(), value.name());
    }
    rewriter.set_operand(op, i, storage);
  }
}

/// Addresses and offsets are those of the order that was.
void forget_places(Rewriter& rewriter, const Block& code) {
  for (Op* op : code.ops()) {
    if (op->dump_facts().address) rewriter.set_address(*op, std::nullopt);
    if (!op->is(OpId::kProgJump) || op->attribute(key::kOffset) == nullptr) continue;
    rewriter.remove_attribute(*op, key::kOffset);
  }
}

}  // namespace

void end_program(Module& module, LossReport& report) {
  Block* code = nullptr;
  for_each_child(module.body(), [&](Op& op) {
    const auto fragment = dyn_cast<FragmentOp>(&op);
    if (fragment && fragment.kind() == "code") code = op.first_region()->entry();
  });
  if (code == nullptr || code->empty()) return;
  bool has_body = false;
  for (const Op* op : code->ops()) {
    // Programs with bindings are from after prog.exit: without one they are damaged.
    if (op->is(OpId::kProgExit, OpId::kProgBind)) return;
    has_body = has_body || op->is(OpId::kProgLabel);
  }
  Rewriter rewriter(module);
  if (!has_body) {
    rewriter.set_insertion_point_to_end(*code);
    rewriter.create({.name = module.context().op_name(OpId::kProgExit)});
    report.entries.push_back({LossEntry::Source::kAssumed, code->back()->location(),
                              describe(*code->back()), "end of the program",
                              "after the last instruction"});
    return;
  }
  const std::vector<Op*> outside = outside_of_bodies(*code);
  // Verification reports wrong places, which would be forgotten here.
  if (outside.empty() || !has_sound_places(module)) return;
  Op* first = code->front();  // of the bodies
  while (std::ranges::find(outside, first) != outside.end()) first = first->next();
  for (Op* op : outside) rewriter.move_before(*op, *first);
  rewriter.set_insertion_point(*first);
  rewriter.create({.name = module.context().op_name(OpId::kProgExit)});
  for (Op* op : outside) read_storage(rewriter, *op, outside);
  forget_places(rewriter, *code);
  report.entries.push_back(
      {LossEntry::Source::kAssumed, outside.front()->location(), describe(*outside.front()),
       "end of the program",
       fmt::format("after the {} instructions outside of bodies", outside.size())});
}

}  // namespace mir
