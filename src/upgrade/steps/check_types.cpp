// Upgrade step: refuses types that contradict the results of type inference.
#include <algorithm>
#include <vector>

#include "mir/infer.hpp"
#include "upgrade/steps/recovery.hpp"

// What upstream printed may still disagree with what the ops compute: results stored into larger
// tensors, shapes that a lost view changed. Such a module has no portable meaning.

namespace mir {

namespace {

/// Result types of an op by its rule, with `earlier` in place of operand `index`.
class Inferred {
 public:
  explicit Inferred(const Op& op, std::uint32_t index = 0, const Value* earlier = nullptr)
      : op_(op) {
    std::vector<const Type*> operands = operand_types(op);
    if (earlier != nullptr) operands[index] = earlier->type();
    types_ = infer(op, operands, op.attributes(), found_);
  }

  bool is_valid() const { return types_.has_value(); }
  const Diagnostics& found() const { return found_; }
  const Type* type(std::uint32_t i) const {
    return types_ && i < types_->size() ? (*types_)[i] : nullptr;
  }
  /// The results that are printed otherwise.
  std::vector<std::uint32_t> differing() const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < op_.result_count(); ++i) {
      const Type* printed = op_.results()[i].type();
      const bool known = type(i) != nullptr && printed != nullptr;
      if (known && !compatible(type(i), printed)) list.push_back(i);
    }
    return list;
  }

 private:
  const Op& op_;
  Diagnostics found_{1};
  std::optional<std::vector<const Type*>> types_;
};

/// A storage is printed with the type that it was viewed with last, also where an op reads what was
/// there before: then the op's result tells. Whether one operand was such a reading.
bool read_before_view(Recovery& recovery, Op& op) {
  for (const Use& use : op.operand_uses()) {
    const Op* view = use.value()->defining_op();
    while (view != nullptr && view->is(OpId::kLinalgView) && view->operand_count() == 1) {
      Value* earlier = view->operand(0);
      const Inferred inferred(op, use.index(), earlier);
      if (inferred.is_valid() && inferred.differing().empty()) {
        const std::uint32_t index = use.index();
        recovery.rewriter.set_operand(op, index, earlier);
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
  const Inferred inferred(op);
  const auto differing = inferred.differing();
  if (inferred.is_valid() && differing.empty()) return;
  if (read_before_view(recovery, op)) return;
  if (!inferred.is_valid()) {
    const auto said = inferred.found().sorted();
    return recovery.refuse(op, "signature",
                           said.empty() ? "it is not valid" : said.front().message);
  }
  for (const std::uint32_t i : differing) {
    recovery.refuse(op, fmt::format("type of result {}", i),
                    fmt::format("printed is {}, its operands give {}",
                                op.results()[i].type()->spelling(), inferred.type(i)->spelling()));
  }
}

}  // namespace

void check_types(Recovery& recovery) {
  walk<LinalgOp>(recovery.module, [&](LinalgOp op) { check(recovery, *op.op()); });
}

}  // namespace mir
