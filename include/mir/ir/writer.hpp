// Walking and rewriting, in the vocabulary of the MLLM IR document.
#pragma once

#include <utility>

#include "mir/ir/module.hpp"

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
  static constexpr std::string_view kName = "builtin.ModuleOp";
  static bool classof(const Op* op) { return op->is(kName); }
  Region* body() const { return op()->region(); }
};

class SubGraphOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr std::string_view kName = "graph.SubGraphOp";
  static bool classof(const Op* op) { return op->is(kName); }
  Symbol symbol() const { return op()->symbol(); }
  std::string_view device() const { return op()->angle(0); }
  Region* body() const { return op()->first_region(); }
};

class CallGraphOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr std::string_view kName = "graph.CallGraphOp";
  static bool classof(const Op* op) { return op->is(kName); }
  Symbol callee() const { return op()->symbol(); }
  /// The subgraph called; an empty view when no subgraph has that symbol.
  SubGraphOp target() const { return dyn_cast<SubGraphOp>(op()->module().lookup_op(callee())); }
};

class ReturnOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr std::string_view kName = "cf.ReturnOp";
  static bool classof(const Op* op) { return op->is(kName); }
};

class RegisterOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr std::string_view kName = "tensor.register";
  static bool classof(const Op* op) { return op->is(kName); }
  Value* value() const { return op()->result_count() == 0 ? nullptr : op()->result(); }
};

/// Any op of the linalg dialect.
class LinalgOp : public OpView {
 public:
  using OpView::OpView;
  static bool classof(const Op* op) { return op->name().starts_with("linalg."); }
};

class FragmentOp : public OpView {
 public:
  using OpView::OpView;
  static constexpr std::string_view kName = "prog.fragment";
  static bool classof(const Op* op) { return op->is(kName); }
  std::string_view kind() const { return op()->angle(1); }
  Region* body() const { return op()->first_region(); }
};

/// Edits one region while walking it.
class IRWriter {
 public:
  enum class WalkResult { WALK_CONTINUE, WALK_SKIP, WALK_INTERRUPT };
  enum Position { BEFORE, AFTER };

  IRWriter(Module& module, Region& region) : module_(module), region_(region) {}
  explicit IRWriter(Module& module) : IRWriter(module, module.body()) {}

  Module& module() const { return module_; }
  IRContext& context() const { return module_.context(); }

  /// Calls `visit(IRWriter&, T)` for each op of the region, in order and nested ones after their
  /// parent, that fits T. WALK_SKIP leaves out the op's own regions, WALK_INTERRUPT ends the walk.
  /// The op at hand and ops made during the walk may be removed or replaced; ops made after the op
  /// at hand are visited, ops made before it are not. Returns false when interrupted.
  template <class T, class Visit>
  bool walk(Visit&& visit) {
    return walk_region<T>(region_, visit);
  }

  /// Makes an op and links it next to `at`.
  Op* createAtPos(Op* at, Position position, const OpSpec& spec) {
    Op* op = module_.create(spec);
    name_results(op);
    at->block()->insert_before(op, position == BEFORE ? at : at->next());
    return op;
  }
  /// Makes an op at the end of the region's first block.
  Op* create(const OpSpec& spec) {
    Op* op = module_.create(spec);
    name_results(op);
    if (region_.entry() == nullptr) module_.create_block(region_);
    region_.entry()->push_back(op);
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
    if (op == following_) following_ = op->next();
    module_.erase(op);
  }

 private:
  void name_results(Op* op) {
    for (Value& result : op->results()) {
      if (result.name().is_none()) result.set_name(module_.fresh_name());
    }
  }

  template <class T, class Visit>
  bool walk_region(Region& region, Visit& visit) {
    for (Block* block = region.entry(); block != nullptr; block = block->next()) {
      for (Op* op = block->front(); op != nullptr;) {
        Op* const outer_following = std::exchange(following_, op->next());
        const Op* const next_before = op->next();
        WalkResult result = WalkResult::WALK_CONTINUE;
        if (T::classof(op)) result = visit(*this, T(op));
        if (result == WalkResult::WALK_INTERRUPT) return false;
        const bool erased = op->is_erased();
        if (!erased && result != WalkResult::WALK_SKIP && !walk_nested<T>(op, visit)) return false;
        // An op linked right after the one at hand is visited as well.
        if (!erased && op->next() != next_before) following_ = op->next();
        op = std::exchange(following_, outer_following);
      }
    }
    return true;
  }

  template <class T, class Visit>
  bool walk_nested(Op* op, Visit& visit) {
    for (Region* region = op->first_region(); region != nullptr; region = region->next()) {
      if (!walk_region<T>(*region, visit)) return false;
    }
    return true;
  }

  Module& module_;
  Region& region_;
  Op* following_ = nullptr;  // where the walk goes on; kept valid by removeOp
};

}  // namespace mir
