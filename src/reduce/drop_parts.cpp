// Steps that remove modules, graphs and ops.
#include <algorithm>
#include <memory>

#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "reduce/signatures.hpp"
#include "reduce/steps.hpp"

namespace mir::reduce {

namespace {

/// Erases ops of one module. In a portable module, what other ops used of them becomes an input,
/// and what only they used an output; in a dump, what other ops used has no definition afterwards.
class OpDropping {
 public:
  explicit OpDropping(Module& module) : signatures_(module) {}

  void drop(Op& op) {
    if (op.is_erased()) return;
    for (Value& result : op.results()) {
      if (result.has_uses()) signatures_.rewriter().replace_all_uses(result, stand_in(op, result));
    }
    for (const Use& use : op.operand_uses()) lost_uses_.push_back(use.value());
    signatures_.rewriter().erase(op);
  }

  /// Replaces the results of the op by an operand of the same type, if it has one.
  void bypass(Op& op) {
    if (op.is_erased()) return;
    Value* same = operand_like(op);
    if (same == nullptr) return;
    signatures_.rewriter().replace_all_uses(*op.result(), *same);
    drop(op);
  }

  void drop_graph(Op& graph) {
    for (Op* call : signatures_.calls_of(*graph.first_region())) drop(*call);
    if (!graph.is_erased()) signatures_.rewriter().erase(graph);
  }

  /// Makes outputs of the values that only erased ops used.
  void finish() {
    if (!signatures_.rewriter().module().is_portable()) return;
    for (Value* value : lost_uses_) {
      const Op* op = value->defining_op();
      if (op == nullptr || op->is_erased() || value->has_uses() || isa<RegisterOp>(op)) continue;
      Region& graph = graph_around(*op->parent_region());
      if (op->parent_region() == &graph) signatures_.add_output(graph, *value);
    }
  }

  static Value* operand_like(const Op& op) {
    if (op.result_count() != 1) return nullptr;
    for (const Use& use : op.operand_uses()) {
      if (use.value()->type() == op.result()->type() && use.value() != op.result()) {
        return use.value();
      }
    }
    return nullptr;
  }

 private:
  Value& stand_in(const Op& op, const Value& result) {
    if (signatures_.rewriter().module().is_portable()) {
      return signatures_.add_input(graph_around(*op.parent_region()), result.type());
    }
    return *signatures_.rewriter().create_free_value(*op.parent_region(), result.type(),
                                                     result.name());
  }

  Signatures signatures_;
  std::vector<Value*> lost_uses_;
};

/// True if the module can verify without the op: the ends of blocks stay, and graphs and parameters
/// go together with the ops that name them.
bool can_drop(const Op& op) {
  return !op.has(Trait::kTerminator) && !isa<SubGraphOp>(&op) && !isa<RegisterOp>(&op);
}

using Dropping = std::shared_ptr<OpDropping>;

std::function<void()> finish_all(std::vector<Dropping> all) {
  return [all = std::move(all)] {
    for (const Dropping& each : all) each->finish();
  };
}

/// An edit for each op of the draft that `wanted` selects.
template <class Wanted, class Apply>
Edits edits_of_ops(Draft& draft, const Wanted& wanted, const Apply& apply) {
  Edits edits;
  std::vector<Dropping> droppings;
  for (Module* module : draft.modules()) {
    const auto dropping = std::make_shared<OpDropping>(*module);
    droppings.push_back(dropping);
    for_each_op(*module, [&](Op& op) {
      if (wanted(op)) edits.list.push_back([dropping, &op, apply] { apply(*dropping, op); });
    });
  }
  edits.finish = finish_all(std::move(droppings));
  return edits;
}

}  // namespace

Edits drop_modules(Draft& draft) {
  Edits edits;
  for (Module* module : draft.modules()) {
    edits.list.push_back([&draft, module] {
      if (draft.modules().size() > 1) draft.drop(*module);
    });
  }
  return edits;
}

Edits drop_graphs(Draft& draft) {
  return edits_of_ops(
      draft, [](const Op& op) { return isa<SubGraphOp>(&op); },
      [](OpDropping& dropping, Op& op) { dropping.drop_graph(op); });
}

Edits drop_ops(Draft& draft) {
  return edits_of_ops(draft, can_drop, [](OpDropping& dropping, Op& op) { dropping.drop(op); });
}

Edits bypass_ops(Draft& draft) {
  return edits_of_ops(
      draft, [](const Op& op) { return can_drop(op) && OpDropping::operand_like(op) != nullptr; },
      [](OpDropping& dropping, Op& op) { dropping.bypass(op); });
}

}  // namespace mir::reduce
