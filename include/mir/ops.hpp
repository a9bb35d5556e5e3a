// Typed views of ops, and making ops whose types are inferred.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"

namespace mir {

// Typed views over ops.

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

// Making ops whose types are inferred.

struct StatedAttribute;
struct UntypedOp;

/// A rewriter that also infers the result types of ops to build. Rewriter::create() takes types
/// that are known.
class Builder : public Rewriter {
 public:
  /// Inserts at the end of the module body, whose block is made with `inputs` as its arguments
  /// when there is none. Problems of inference go to `diagnostics`.
  Builder(Module& module, Diagnostics& diagnostics, std::span<const Type* const> inputs = {});

  /// Creates an op by its spelling ("linalg.CPU.AddOp") with the result types that the row's rule
  /// infers, or the graph or parameter that it names; `mir/linalg_ops.hpp` has a typed function for
  /// each linalg op. Returns null after reporting a spelling, path, number of operands or types
  /// that cannot be. Returns null without a report if an operand is null, so chained calls report
  /// the first failure only.
  Op* build(std::string_view spelling, std::span<Value* const> operands,
            std::initializer_list<StatedAttribute> attributes = {}, std::string_view path = {});

  /// `graph.SubGraphOp @symbol <device> { (arguments) -> (results) { ... } }`; the insertion point
  /// moves into its body. Null after reporting a device that text cannot say.
  Op* subgraph(std::string_view symbol, std::span<const Type* const> arguments,
               std::string_view device = "CPU");
  /// `graph.CallGraphOp @callee (operands) -> (results)`. Without result types those that the graph
  /// states, where the module declares it already.
  Op* call(std::string_view callee, std::span<Value* const> operands,
           std::span<const Type* const> result_types);
  /// `cf.ReturnOp (values) -> ()`; also sets the results of the enclosing region's signature.
  Op* return_op(std::span<Value* const> values);
  /// `tensor.CPU.register () -> (%w:type[@symbol])[symbol:symbol]`.
  Value* parameter(std::string_view symbol, const Type* type);
  /// A value that no op defines and whose mentions carry `constant:[...]`; a region has one for
  /// equal numbers of one type.
  Value* constant(const TensorType* type, std::span<const double> values);
  using Rewriter::constant;

  const TensorType* tensor(std::initializer_list<Dim> dims, DType dtype = DType::kFloat32) {
    return context().tensor(std::span(dims.begin(), dims.size()), dtype);
  }

 private:
  std::optional<std::vector<const Type*>> infer(UntypedOp op, std::span<Value* const> operands,
                                                const OpRow& row);

  Block* add_block(Region& region, std::span<const Type* const> arguments);
  Op* refuse(std::string_view what, std::string_view text);

  Diagnostics& diagnostics_;
};

}  // namespace mir
