// Typed views over ops.
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

}  // namespace mir
