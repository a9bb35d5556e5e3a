// Shows in a graph where the storages of its values begin and end, by tensor.alloc and tensor.free.
#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/extent_walk.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/estimate/storage_life.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr std::string_view kRemoveMarks = "remove";

class MemoryMarks {
 public:
  explicit MemoryMarks(PassRun& run)
      : run_(run), context_(run.module().context()), rewriter_(run.module()) {}

  void remove() {
    std::vector<Op*> frees, allocations;
    for_each_op(run_.region(), [&](Op& op) {
      if (only_shows_memory(op)) (op.is(OpId::kTensorFree) ? frees : allocations).push_back(&op);
    });
    for (Op* op : frees) rewriter_.erase(*op);
    for (Op* op : allocations) rewriter_.erase(*op);
  }

  void write() {
    StorageLife life(run_.region());
    write(run_.region(), life);
  }

 private:
  void write(Region& region, StorageLife& life) {
    for (Block* block : region.blocks()) {
      const std::vector<Op*> ops(block->ops().begin(), block->ops().end());
      rewriter_.set_insertion_point_to_start(*block);
      rewriter_.set_default_location({});
      begin(life.beginning_with(*block));
      end(life.unused_in(*block));
      for (Op* op : ops) write(*op, life);
    }
  }

  void write(Op& op, StorageLife& life) {
    if (StorageLife::is_passed_over(op)) return;
    rewriter_.set_default_location(op.location());
    rewriter_.set_insertion_point(op);
    end(life.ending_before(op));
    end(life.kept_ending_before(op));
    const std::vector<const Value*> made = life.made_by(op);
    if (!StorageLife::begin_after(op)) begin(made);
    if (!op.has(Trait::kIsolated) && !op.is(OpId::kGraphFused)) {
      for (Region* in = op.first_region(); in != nullptr; in = in->next()) write(*in, life);
    }
    if (op.has(Trait::kTerminator)) return;
    rewriter_.set_default_location(op.location());
    rewriter_.set_insertion_point_after(op);
    if (StorageLife::begin_after(op)) begin(made);
    end(life.ending_after(op));
  }

  /// A shown value is a tensor with known extents; an allocation is its own storage.
  static bool is_shown(const Value& value) {
    const TensorType* type = value.tensor_type();
    const bool is_allocation = value.is_result() && value.defining_op()->is(OpId::kTensorAlloc);
    return type != nullptr && !is_allocation &&
           std::ranges::none_of(type->dims(), &Dim::is_unknown);
  }

  /// A storage of codes has their bytes, and no scale.
  const Type* shown_type(const TensorType& type) {
    const auto dtype = type.dtype();
    if (!dtype || info(*dtype).type_class != DTypeClass::kQuantised) return &type;
    return context_.tensor(type.dims(), storage_type(*dtype), context_.text(type.device()));
  }

  /// `%storage_x` for `%x`.
  ValueName name_of(const Value& value) {
    const ValueName name = value.name();
    if (name.is_none()) return {};
    const std::string text = name.is_number() ? fmt::to_string(name.number())
                                              : std::string(context_.text(name.symbol()));
    return ValueName::symbol(context_.intern("storage_" + text));
  }

  void begin(std::span<const Value* const> values) {
    for (const Value* value : values) {
      if (!is_shown(*value)) continue;
      const Type* types[] = {shown_type(*value->tensor_type())};
      Op* op =
          rewriter_.create({.name = op_name(OpId::kTensorAlloc, *value), .result_types = types});
      if (op == nullptr) continue;
      rewriter_.set_name(*op->result(), name_of(*value));
      storages_[value] = op->result();
      run_.count("storages");
    }
  }

  void end(std::span<const Value* const> values) {
    for (const Value* value : values) {
      const auto shown = storages_.find(value);
      const bool is_allocation = value->is_result() && value->defining_op()->is(OpId::kTensorAlloc);
      if (shown == storages_.end() && !is_allocation) continue;
      Value* storage = is_allocation ? value->defining_op()->result() : shown->second;
      rewriter_.create({.name = op_name(OpId::kTensorFree, *value), .operands = {&storage, 1}});
    }
  }

  OpName op_name(OpId id, const Value& value) {
    return context_.op_name(id, value.tensor_type()->device());
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
  std::unordered_map<const Value*, Value*> storages_;  // by the value that is stored there
};

}  // namespace

Pass plan_memory_pass() {
  return {.name = "plan-memory",
          .summary =
              "shows the memory of graphs: an allocation where the storage of a value begins, "
              "and a free where it ends",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .options = {{.name = std::string(kRemoveMarks), .summary = "removes these operations"}},
          .preserves = AnalysisSet::of<CallGraph, Aliases, SymbolRanges>(),
          .run = [](PassRun& run) {
            MemoryMarks marks(run);
            marks.remove();
            if (!run.options().flag(kRemoveMarks)) marks.write();
            return run.result();
          }};
}

}  // namespace mir
