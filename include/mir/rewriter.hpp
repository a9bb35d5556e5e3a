// Walking and rewriting, in the vocabulary of the MLLM IR document.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// A typed view over an op: holds a pointer, adds names for what the op's parts mean. `T::classof`
/// says which ops it fits.
class OpView {
 public:
  OpView() = default;
  explicit OpView(Op* op) : op_(op) {}
  Op* op() const { return op_; }
  Op* operator->() const { return op_; }
  explicit operator bool() const { return op_ != nullptr; }
  static bool classof(const Op*) { return true; }

 private:
  Op* op_ = nullptr;
};

template <class T>
bool isa(const Op* op) {
  return op != nullptr && T::classof(op);
}
/// `op` must fit.
template <class T>
T cast(Op* op) {
  assert(isa<T>(op));
  return T(op);
}
/// An empty view when `op` does not fit.
template <class T>
T dyn_cast(Op* op) {
  return isa<T>(op) ? T(op) : T();
}

class ModuleOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr OpId kId = OpId::kBuiltinModule;
  static bool classof(const Op* op) { return op->is(kId); }
  Region* body() const { return op()->region(); }
};

class SubGraphOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr OpId kId = OpId::kGraphSubGraph;
  static bool classof(const Op* op) { return op->is(kId); }
  Symbol symbol() const { return op()->symbol(); }
  std::string_view device() const { return op()->angle(0); }
  Region* body() const { return op()->first_region(); }
};

class CallGraphOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr OpId kId = OpId::kGraphCallGraph;
  static bool classof(const Op* op) { return op->is(kId); }
  Symbol callee() const { return op()->symbol(); }
  /// The subgraph called; an empty view when no subgraph has that symbol.
  SubGraphOp target() const { return dyn_cast<SubGraphOp>(op()->module().lookup_op(callee())); }
};

class ReturnOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr OpId kId = OpId::kCfReturn;
  static bool classof(const Op* op) { return op->is(kId); }
};

class RegisterOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr OpId kId = OpId::kTensorRegister;
  static bool classof(const Op* op) { return op->is(kId); }
  Value* value() const { return op()->result_count() == 0 ? nullptr : op()->result(); }
};

/// Any op of the linalg dialect.
class LinalgOp : public OpView {
 public:
  using OpView::OpView;
  static bool classof(const Op* op) { return op->is_in(DialectId::kLinalg); }
};

class FragmentOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr OpId kId = OpId::kProgFragment;
  static bool classof(const Op* op) { return op->is(kId); }
  std::string_view kind() const { return op()->angle(1); }
  Region* body() const { return op()->first_region(); }
};

/// Edits one region while walking it.
class IRWriter {
 public:
  // Names of upstream's interface. NOLINTBEGIN(readability-identifier-naming)
  enum class WalkResult { WALK_CONTINUE, WALK_SKIP, WALK_INTERRUPT };
  enum Position { BEFORE, AFTER };
  // NOLINTEND(readability-identifier-naming)

  IRWriter(Module& module, Region& region) : module_(module), region_(region) {}
  explicit IRWriter(Module& module) : IRWriter(module, module.body()) {}

  Module& module() const { return module_; }
  IRContext& context() const { return module_.context(); }

  /// Calls `visit(IRWriter&, T)` for each op of the region, in order and nested ones after their
  /// parent, that fits T. WALK_SKIP leaves out the op's own regions, WALK_INTERRUPT ends the walk.
  /// Any op may be removed or replaced through this writer, the one at hand and those around it
  /// included; ops made behind the op at hand are visited, ops made before it are not. Walks may
  /// nest. Returns false when interrupted.
  template <class T, class Visit>
  bool walk(Visit&& visit) {
    return walk_region<T>(region_, visit);
  }

  /// Makes an op and links it next to `at`.
  Op* createAtPos(Op* at, Position position, const OpSpec& spec) {
    Op* op = module_.create(spec);
    name_results(op);
    at->block()->insert_before(op, position == BEFORE ? at : at->next());
    module_.declare_symbols(op);
    return op;
  }
  /// Makes an op at the end of the region's first block.
  Op* create(const OpSpec& spec) {
    Op* op = module_.create(spec);
    name_results(op);
    if (region_.entry() == nullptr) module_.create_block(region_);
    region_.entry()->push_back(op);
    module_.declare_symbols(op);
    return op;
  }
  /// Every use of `old_op`'s results becomes a use of `new_op`'s; `old_op` is removed. Both have
  /// equally many results; `new_op` may already be linked, otherwise it takes the old one's place.
  void replaceOp(Op* old_op, Op* new_op) {
    assert(old_op->result_count() == new_op->result_count());
    for (std::uint32_t i = 0; i < old_op->result_count(); ++i) {
      old_op->result(i)->replaceAllUsesWith(new_op->result(i));
    }
    if (new_op->block() == nullptr) old_op->block()->insert_before(new_op, old_op);
    removeOp(old_op);
  }
  /// Removes an op whose results have no uses.
  void removeOp(Op* op) {
    for (Step* step = step_; step != nullptr; step = step->outer) step->leave(op);
    module_.erase(op);
  }

 private:
  /// Where a walk stands in one block.
  struct Step {
    Op* at;
    Step* outer;
    bool is_gone = false;  ///< `at` was removed: the walk goes on at `next`
    Op* next = nullptr;

    static bool is_inside(const Op* op, const Op* removed) {
      while (op != nullptr && op != removed) op = op->parent_op();
      return op != nullptr;
    }
    /// Called before an op is removed.
    void leave(const Op* removed) {
      Op*& place = is_gone ? next : at;
      if (place == removed) {
        next = removed->next();
      } else if (is_inside(place, removed)) {
        next = nullptr;
      } else {
        return;
      }
      is_gone = true;
    }
  };

  void name_results(Op* op) {
    for (Value& result : op->results()) {
      if (result.name().is_none()) result.set_name(module_.fresh_name());
    }
  }

  template <class T, class Visit>
  bool walk_region(Region& region, Visit& visit) {
    for (Block* block = region.entry(); block != nullptr; block = block->next()) {
      for (Op* op = block->front(); op != nullptr;) {
        Step step{op, step_};
        step_ = &step;
        const bool go_on = walk_op<T>(step, visit);
        step_ = step.outer;
        if (!go_on) return false;
        op = step.is_gone ? step.next : op->next();
      }
    }
    return true;
  }

  template <class T, class Visit>
  bool walk_op(const Step& step, Visit& visit) {
    WalkResult result = WalkResult::WALK_CONTINUE;
    if (T::classof(step.at)) result = visit(*this, T(step.at));
    if (result == WalkResult::WALK_INTERRUPT) return false;
    if (result == WalkResult::WALK_SKIP) return true;
    if (step.is_gone) return true;
    for (Region* region = step.at->first_region(); region != nullptr; region = region->next()) {
      if (!walk_region<T>(*region, visit)) return false;
    }
    return true;
  }

  Module& module_;
  Region& region_;
  Step* step_ = nullptr;  // innermost of the walks under way
};

}  // namespace mir
