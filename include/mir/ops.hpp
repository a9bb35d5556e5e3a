// Making ops: typed views of them, IRWriter and Builder.
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

// Walking and editing in the vocabulary of the MLLM IR document: a thin layer over the rewriter.

/// Edits a module, or one region, while walking it. A walk over a region leaves out what is inside
/// isolated ops, such as graphs.
class IRWriter {
 public:
  // Names of upstream's interface. NOLINTBEGIN(readability-identifier-naming)
  using WalkResult = mir::WalkResult;
  enum Position { BEFORE, AFTER };
  // NOLINTEND(readability-identifier-naming)

  IRWriter(Module& module, Region& region)
      : rewriter_(module), region_(region), scope_(WalkScope::kGraph) {}
  explicit IRWriter(Module& module)
      : rewriter_(module), region_(module.body()), scope_(WalkScope::kAll) {}

  Module& module() const { return rewriter_.module(); }
  IRContext& context() const { return rewriter_.context(); }
  /// For edits that upstream has no name for.
  Rewriter& rewriter() { return rewriter_; }

  /// Calls `visit(IRWriter&, T)` for each op of the module or region, in order and nested ones
  /// after their parent, that fits T; see mir::walk.
  template <class T, class Visit>
  bool walk(const Visit& visit) {
    return mir::walk(module(), region_, scope_, WalkOrder::kPreOrder, [&](Op& op) {
      return T::classof(&op) ? visit(*this, T(&op)) : WalkResult::WALK_CONTINUE;
    });
  }

  /// Makes an op and links it next to `at`.
  Op* createAtPos(Op* at, Position position, const OpSpec& spec) {
    if (position == BEFORE) {
      rewriter_.set_insertion_point(*at);
    } else {
      rewriter_.set_insertion_point_after(*at);
    }
    return rewriter_.create(spec);
  }
  /// Makes an op at the end of the region's first block.
  Op* create(const OpSpec& spec) {
    Block* entry = region_.entry();
    rewriter_.set_insertion_point_to_end(entry != nullptr ? *entry
                                                          : *rewriter_.create_block(region_));
    return rewriter_.create(spec);
  }
  /// Every use of `old_op`'s results becomes a use of `new_op`'s; `old_op` is removed. Both have
  /// equally many results; `new_op` may already be linked, otherwise it takes the old one's place.
  void replaceOp(Op* old_op, Op* new_op) { rewriter_.replace(*old_op, *new_op); }
  /// Removes an op whose results have no uses.
  void removeOp(Op* op) { rewriter_.erase(*op); }

 private:
  Rewriter rewriter_;
  Region& region_;
  WalkScope scope_;
};

// Making ops whose types are inferred; a thin layer over the rewriter.

struct UntypedOp;

/// Appends ops to a block, or inserts them before an op. Result types may be left out where the
/// op's rule gives them, or the graph or parameter that it names.
class Builder {
 public:
  using Attributes = std::vector<std::pair<std::string_view, const Attr*>>;

  /// Inserts at the end of the module body, whose block is made with `inputs` as its arguments
  /// when there is none. Problems of inference go to `diagnostics`.
  Builder(Module& module, Diagnostics& diagnostics, std::span<const Type* const> inputs = {});

  Module& module() const { return rewriter_.module(); }
  IRContext& context() const { return rewriter_.context(); }
  Rewriter& rewriter() { return rewriter_; }
  void set_insertion_point_to_end(Block* block) { rewriter_.set_insertion_point_to_end(*block); }
  void set_insertion_point(Op* before) { rewriter_.set_insertion_point(*before); }
  Block* block() const { return rewriter_.insertion_block(); }

  /// Links an op that was made elsewhere.
  void insert(Op* op);
  /// Any op by its spelling ("linalg.CPU.AddOp"); null after reporting where text cannot say the
  /// spelling or the path. Without result types the row's rule infers
  /// them; null after reporting when it cannot, and null without a report when an operand is null:
  /// chained calls report the first failure only. Results get fresh names.
  Op* create(std::string_view spelling, std::span<Value* const> operands,
             const Attributes& attributes = {}, std::string_view path = {},
             std::span<const Type* const> result_types = {});
  /// The single result of `create`; null when that failed.
  Value* value(std::string_view spelling, std::initializer_list<Value*> operands,
               const Attributes& attributes = {}, std::string_view path = {});

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

  const TensorType* tensor(std::initializer_list<Dim> dims, DType dtype = DType::kFloat32) {
    return context().tensor(std::span(dims.begin(), dims.size()), dtype);
  }

 private:
  std::optional<std::vector<const Type*>> infer(UntypedOp op, std::span<Value* const> operands,
                                                const OpRow& row);

  Block* create_block(Region& region, std::span<const Type* const> arguments);
  Op* refuse(std::string_view what, std::string_view text);

  Rewriter rewriter_;
  Diagnostics& diagnostics_;
};

}  // namespace mir
