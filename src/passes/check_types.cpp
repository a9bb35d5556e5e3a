#include <algorithm>
#include <vector>

#include "mir/ir/infer.hpp"
#include "recovery.hpp"

// What upstream printed may still disagree with what the ops compute: results stored into larger
// tensors, shapes that a lost view changed. Such a module has no portable meaning.

namespace mir {

namespace {

/// Whether the op, with `earlier` for one operand, gives what upstream printed.
bool gives_printed(Recovery& recovery, const Op& op, std::uint32_t index, const Value& earlier) {
  std::vector<const Type*> operands;
  for (const Use& use : op.operand_uses()) {
    operands.push_back(use.index() == index ? earlier.type() : use.value()->type());
  }
  Diagnostics unheard(1);
  InferContext inference(recovery.context(), op.name(), operands, op.attributes(),
                         op.result_count(), op.span(), unheard);
  if (!op.row()->infer(inference) || inference.results().size() < op.result_count()) return false;
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    const Type *type = inference.results()[i], *printed = op.results()[i].type();
    if (type != nullptr && printed != nullptr && !compatible(type, printed)) return false;
  }
  return true;
}

/// A storage is printed with the type that it was viewed with last, also where an op reads what was
/// there before: then the op's result tells. Whether one operand was such a reading.
bool read_before_view(Recovery& recovery, Op& op) {
  for (const Use& use : op.operand_uses()) {
    const Op* view = use.value()->defining_op();
    while (view != nullptr && view->is("linalg.ViewOp") && view->operand_count() == 1) {
      Value* earlier = view->operand(0);
      if (gives_printed(recovery, op, use.index(), *earlier)) {
        const std::uint32_t index = use.index();
        op.set_operand(index, earlier);
        recovery.note(op, LossEntry::Source::kAssumed, fmt::format("operand {}", index),
                      describe(recovery.context(), *earlier) + ", before it was viewed");
        return true;
      }
      view = earlier->defining_op();
    }
  }
  return false;
}

void check(Recovery& recovery, Op& op) {
  if (op.row() == nullptr || op.row()->infer == nullptr) return;
  std::vector<const Type*> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(use.value()->type());
  Diagnostics found(1);
  InferContext inference(recovery.context(), op.name(), operands, op.attributes(),
                         op.result_count(), op.span(), found);
  const bool is_valid = op.row()->infer(inference);
  std::vector<std::uint32_t> differing;
  for (std::uint32_t i = 0; is_valid && i < op.result_count() && i < inference.results().size();
       ++i) {
    const Type *type = inference.results()[i], *printed = op.results()[i].type();
    const bool same = type == nullptr || printed == nullptr || compatible(type, printed);
    if (!same) differing.push_back(i);
  }
  if (is_valid && differing.empty()) return;
  if (read_before_view(recovery, op)) return;
  if (!is_valid) {
    const auto said = found.sorted();
    return recovery.refuse(op, "signature",
                           said.empty() ? "it is not valid" : said.front().message);
  }
  for (const std::uint32_t i : differing) {
    recovery.refuse(
        op, fmt::format("type of result {}", i),
        fmt::format("printed is {}, its operands give {}", op.results()[i].type()->spelling(),
                    inference.results()[i]->spelling()));
  }
}

}  // namespace

void check_types(Recovery& recovery) {
  IRWriter(recovery.module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    check(recovery, *op.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

}  // namespace mir
