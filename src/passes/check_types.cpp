#include <algorithm>
#include <vector>

#include "mir/ir/infer.hpp"
#include "recovery.hpp"

// What upstream printed may still disagree with what the ops compute: results stored into larger
// tensors, shapes that a lost view changed. Such a module has no portable meaning.

namespace mir {

namespace {

void check(Recovery& recovery, const Op& op) {
  if (op.row() == nullptr || op.row()->infer == nullptr) return;
  std::vector<const Type*> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(use.value()->type());
  Diagnostics found(1);
  InferContext inference(recovery.context(), op.name(), operands, op.attributes(),
                         op.result_count(), op.span(), found);
  if (!op.row()->infer(inference)) {
    const auto said = found.sorted();
    return recovery.refuse(op, "signature",
                           said.empty() ? "it is not valid" : said.front().message);
  }
  for (std::uint32_t i = 0; i < op.result_count() && i < inference.results().size(); ++i) {
    const Type* type = inference.results()[i];
    const Type* printed = op.results()[i].type();
    if (type == nullptr || printed == nullptr || compatible(type, printed)) continue;
    recovery.refuse(
        op, fmt::format("type of result {}", i),
        fmt::format("printed is {}, its operands give {}", printed->spelling(), type->spelling()));
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
