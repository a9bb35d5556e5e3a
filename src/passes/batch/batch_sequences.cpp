// Gives the sequences of a batch positions of their own: in caches, masks, attention and rotary
// tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "dialects/all_of_dimension.hpp"
#include "dialects/parameters.hpp"
#include "ir/extent_walk.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "passes/batch/own_positions.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr std::string_view kInputName = "positions";

/// Index of the operand for positions; no value for ops without one.
std::optional<std::uint32_t> positions_operand(const Op& op) {
  switch (op.op_id()) {
    case OpId::kLinalgKVCache:
    case OpId::kLinalgFlashAttention2:
    case OpId::kLinalgCausalMask:
      return op.row()->added_operands.first;
    default:
      return std::nullopt;
  }
}

/// True for ops that know the positions of queries and cannot get them from an operand.
bool has_own_order(const Op& op) {
  return op.is(OpId::kLinalgFlashAttention2SwaSink) || op.is(OpId::kLinalgRadixAttnRelax) ||
         op.is(OpId::kLinalgRadixAttnSwaSink);
}

class SequenceBatching {
 public:
  explicit SequenceBatching(PassRun& run)
      : run_(run), context_(run.module().context()), builder_(run.module(), run.diagnostics()) {}

  PassResult apply() {
    if (!collect()) return PassResult::kFailed;
    if (users_.empty()) return run_.result();
    if (!find_extents() || !make_positions()) return PassResult::kFailed;
    for (Op* op : users_) add_operand(*op);
    for (Op* slice : slices_) replace_slice(*slice);
    OwnPositions own(run_, builder_, batch_);
    for (const Value* each : columns_) own.add(*each);
    if (!own.follow()) return PassResult::kFailed;
    erase_unused();
    run_.count("operations with positions", users_.size());
    return run_.result();
  }

 private:
  bool refuse(const Op& op, std::string message) {
    run_.diagnostics().error(diag::kPipeline, op.span(), std::move(message));
    return false;
  }

  /// Finds the ops that get positions and the slices that take the positions of a step.
  bool collect() {
    Region& body = run_.module().body();
    bool is_good = true;
    for_each_op(run_.module(), [&](Op& op) {
      const auto operand = positions_operand(op);
      if (has_own_order(op)) {
        is_good = refuse(op, fmt::format("'{}' has no operand for positions", op.name()));
      } else if (sees_all_keys(op)) {
        is_good = refuse(op, fmt::format("'{}' does not mask keys that a shorter sequence of the "
                                         "batch lacks",
                                         op.name()));
      } else if (operand && op.operand_count() <= *operand) {
        if (op.parent_region() == &body) return users_.push_back(&op);
        is_good =
            refuse(op, fmt::format("'{}' is in a graph or a region, expected it in the body of "
                                   "the module: run 'inline' and 'eliminate-unused-graphs' first",
                                   op.name()));
      }
    });
    return is_good;
  }

  /// True for attention without a causal mask.
  static bool sees_all_keys(const Op& op) {
    const Attr* is_causal = op.attribute(key::kCausalMask);
    return op.is(OpId::kLinalgFlashAttention2) && is_causal != nullptr &&
           is_causal->kind() == AttrKind::kBool && !is_causal->boolean();
  }

  /// Finds sequences and tokens of a step, which are those of the first cache.
  bool find_extents() {
    const auto is_cache = [](const Op* op) { return op->is(OpId::kLinalgKVCache); };
    const auto found = std::ranges::find_if(users_, is_cache);
    if (found == users_.end())
      return refuse(*users_.front(), "a batch of sequences needs a KVCacheOp");
    if (std::ranges::all_of(users_, is_cache))
      return refuse(**found,
                    "no causal mask follows the cache, so keys that a shorter sequence "
                    "of the batch lacks would be seen");
    const Op& cache = **found;
    const TensorType* keys = cache.operand(0)->tensor_type();
    if (keys == nullptr || keys->rank() != 4)
      return refuse(cache, "the extents of the keys are not known");
    const Attr* fa2 = cache.attribute(key::kUseFa2);
    const bool tokens_first = fa2 != nullptr && fa2->kind() == AttrKind::kBool && fa2->boolean();
    batch_ = keys->dims()[0];
    tokens_ = keys->dims()[tokens_first ? 1 : 2];
    device_ = keys->device();
    const Attr* past = cache.attribute(key::kPast);
    if (past != nullptr && past->kind() == AttrKind::kDim) past_ = past->dim();
    for (const Op* each : users_) {
      if (is_cache(each) && each->attribute(key::kPast) != past) {
        return refuse(*each, "the caches of the module have several extents of earlier tokens");
      }
    }
    for_each_child(run_.module().body(), [&](Op& op) {
      if (op.is(OpId::kLinalgSlice) && starts_at_past(op)) slices_.push_back(&op);
    });
    return std::ranges::all_of(slices_, [&](const Op* op) { return takes_positions(*op); }) &&
           is_all_that_counts_tokens();
  }

  /// Reports a slice that is not replaced and whose attributes have `past`: it would begin or end
  /// at the length of the longest sequence.
  bool is_all_that_counts_tokens() {
    if (!past_.is_symbolic()) return true;
    const auto symbols = context_.dims().symbols(past_);
    bool is_good = true;
    for_each_child(run_.module().body(), [&](Op& op) {
      const bool is_replaced = std::ranges::find(slices_, &op) != slices_.end();
      if (op.is(OpId::kLinalgSlice) && !is_replaced && is_good) {
        bool counts = false;
        for_each_extent_of_attributes(op, [&](Dim extent) {
          const auto own = context_.dims().symbols(extent);
          counts = counts || std::ranges::find_first_of(own, symbols) != own.end();
        });
        if (counts) {
          is_good = refuse(op, fmt::format("'{}' begins or ends at the tokens of the longest "
                                           "sequence of the batch",
                                           op.name()));
        }
      }
    });
    return is_good;
  }

  const Attr* first_entry(const Op& slice) const {
    const Attr* indices = slice.attribute(key::kIndices);
    const bool has_entries =
        indices != nullptr && indices->kind() == AttrKind::kArray && !indices->elements().empty();
    return has_entries ? indices->elements()[0] : nullptr;
  }

  bool starts_at_past(const Op& slice) const {
    const Attr* entry = first_entry(slice);
    if (entry == nullptr || entry->kind() != AttrKind::kDict || past_.is_unknown()) return false;
    const Symbol start = context_.intern(key::kStart.text);
    return std::ranges::any_of(entry->entries(), [&](const NamedAttr& each) {
      return each.key == start && each.value->kind() == AttrKind::kDim &&
             each.value->dim() == past_;
    });
  }

  /// True if a slice from `past` on is the positions of the step, as a column.
  bool takes_positions(const Op& slice) {
    const Op* iota = slice.operand(0)->defining_op();
    const TensorType* type = slice.result()->tensor_type();
    const bool is_iota = iota != nullptr && iota->is(OpId::kLinalgIota) &&
                         linalg::Iota(*iota).dim() == 0 && linalg::Iota(*iota).start() == 0 &&
                         linalg::Iota(*iota).step() == 1;
    const bool is_column =
        type != nullptr && type->dtype() && type->rank() > 0 && type->dims()[0] == tokens_ &&
        std::ranges::all_of(type->dims().subspan(1), [](Dim dim) { return dim == Dim(1); });
    if (is_iota && is_column) return true;
    return refuse(slice,
                  "the slice takes what belongs to the positions of a step, expected a "
                  "column of the numbers from 'past' on");
  }

  /// Finds the input, or adds it after the others.
  bool make_positions() {
    Region& body = run_.module().body();
    const Symbol name = context_.intern(kInputName);
    for (Value& argument : body.entry_arguments()) {
      if (argument.name() != ValueName::symbol(name)) continue;
      const TensorType* type = argument.tensor_type();
      const bool fits = type != nullptr && type->rank() == 2 && type->dims()[0] == batch_ &&
                        type->dims()[1] == tokens_ &&
                        (type->dtype() == DType::kInt64 || type->dtype() == DType::kInt32);
      if (!fits)
        return refuse(*run_.module().top(),
                      fmt::format("input '%{}' is not [{}, {}] of Int64 or Int32", kInputName,
                                  context_.dims().print(batch_), context_.dims().print(tokens_)));
      positions_ = &argument;
      return true;
    }
    builder_.state_ports(body);
    const std::array extents = {batch_, tokens_};
    positions_ = builder_.add_argument(
        body.only_block(), context_.tensor(extents, DType::kInt64, context_.text(device_)));
    builder_.set_name(*positions_, ValueName::symbol(name));
    return true;
  }

  void add_operand(Op& op) {
    std::vector<Value*> operands;
    for (const Use& use : op.operand_uses()) operands.push_back(use.value());
    operands.push_back(positions_);
    builder_.set_operands(op, operands);
  }

  /// The positions with a dimension for each of the column, in its element type.
  void replace_slice(Op& slice) {
    const TensorType& type = *slice.result()->tensor_type();
    builder_.set_insertion_point(slice);
    std::vector<const Attr*> shape = {context_.dim(batch_), context_.dim(tokens_)};
    for (std::size_t i = 1; i < type.rank(); ++i) shape.push_back(context_.integer(1));
    Value* made = linalg::View::build(builder_, positions_, {.to_shape = context_.array(shape)});
    if (made != nullptr && made->tensor_type()->dtype() != type.dtype())
      made = linalg::CastType::build(builder_, made, {.dtype = name_of(*type.dtype())});
    if (made == nullptr) return;
    columns_.push_back(made);
    Value* const values[] = {made};
    Op* iota = slice.operand(0)->defining_op();
    builder_.replace(slice, values);
    if (std::ranges::find(unused_, iota) == unused_.end()) unused_.push_back(iota);
  }

  void erase_unused() {
    for (Op* op : unused_) {
      if (!op->result()->has_uses()) builder_.erase(*op);
    }
  }

  PassRun& run_;
  IRContext& context_;
  Builder builder_;
  std::vector<Op*> users_;   // get the operand
  std::vector<Op*> slices_;  // take the positions of the step
  std::vector<Op*> unused_;
  std::vector<const Value*> columns_;  // the positions of each sequence
  Value* positions_ = nullptr;
  Dim batch_ = Dim::unknown(), tokens_ = Dim::unknown(), past_ = Dim::unknown();
  Symbol device_{};
};

}  // namespace

Pass batch_sequences_pass() {
  return {.name = "batch-sequences",
          .summary =
              "gives the sequences of a batch lengths of their own: an input 'positions' for "
              "caches, masks, attention and rotary tables",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .run = [](PassRun& run) { return SequenceBatching(run).apply(); }};
}

}  // namespace mir
