// The node that appends keys and values to a cache.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/parameters.hpp"
#include "eval/token_runs.hpp"
#include "kernels/ref/common/indices.hpp"
#include "mir/codes/runs.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Keys and values of one cache: the step's tokens are copied after those it holds, and the
/// results are the cache itself.
class CacheNode final : public OpNode {
 public:
  explicit CacheNode(const PlannedStep& step) : OpNode(step), cache_(cache_of(*step.op)) {
    const OpAttributes attributes(*step.op);
    axis_ = attributes.boolean(key::kUseFa2) ? 1 : 2;
    if (attributes.has(key::kCapacity)) limit_ = attributes.integer(key::kCapacity);
    if (const Attr* past = attributes.attribute(key::kPast); past != nullptr) past_ = past;
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &keys = frame[operands()[0]], &values = frame[operands()[1]];
    const bool fits =
        keys.rank == 4 && values.rank == 4 && keys.extents[axis_] == values.extents[axis_];
    if (auto ok = require(fits, "keys and values do not fit together"); !ok) return ok;
    CacheStore& caches = *frame.environment.caches;
    std::int64_t added = keys.extents[axis_];
    TokenRuns runs;
    if (has_positions()) {
      const auto held = caches.pending_of_each(cache_, keys.extents[0]);
      auto found = token_runs(ref::all_indices(frame[operands()[2]].view()), held);
      if (!found)
        return Error{found.error().code, fmt::format("'KVCacheOp': {}", found.error().message)};
      runs = *std::move(found);
      added = std::max<std::int64_t>(runs.longest(held) - caches.pending(cache_), 0);
    }
    if (auto ok = admit(caches.pending(cache_), added); !ok) return ok;
    const auto tokens = caches.append({.cache = cache_,
                                       .axis = axis_,
                                       .dtypes = {keys.dtype, values.dtype},
                                       .extents = {keys.shape(), values.shape()},
                                       .limit = limit_,
                                       .counts = runs.counts});
    if (!tokens) {
      return Error{tokens.error().code, fmt::format("'KVCacheOp': {}", tokens.error().message)};
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (auto ok = append(frame, i, *tokens, runs.runs); !ok) return ok;
    }
    return {};
  }

 private:
  /// Checks the length against the attributes of the op.
  Result<void> admit(std::int64_t length, std::int64_t added) const {
    const auto title = [&] {
      return fmt::format("'KVCacheOp': cache '@{}'", op().module().context().text(cache_));
    };
    if (past_ != nullptr && past_->kind() == AttrKind::kInt && past_->integer() != length) {
      return Error{diag::kCacheMismatch, fmt::format("{} holds {} tokens, 'past' says {}", title(),
                                                     length, past_->integer())};
    }
    if (limit_ < 0 || (length <= limit_ && added <= limit_ - length)) return {};
    return Error{diag::kCacheCapacity, fmt::format("{} holds {} of {} tokens, {} more do not fit",
                                                   title(), length, limit_, added)};
  }

  bool has_positions() const { return operands().size() > 2; }

  Result<void> append(Frame& frame, std::size_t which, const CacheStore::Tokens& tokens,
                      std::span<const TokenRun> runs) const {
    const TensorRef& added = frame[operands()[which]];
    TensorRef& all = frame.tensors[results()[which]];
    const std::int64_t length = tokens.held + tokens.added;
    TensorRef expected = added;
    expected.extents[axis_] = length;
    if (all.rank != added.rank || all.extents != expected.extents) {
      return Error{diag::kResultMismatch,
                   fmt::format("'KVCacheOp': the cache holds {} tokens afterwards, its result "
                               "states {}",
                               length, all.extents[axis_])};
    }
    all.data = tokens.parts[which].data;
    all.dtype = added.dtype;
    // Row-major with the capacity as the extent of tokens.
    std::int64_t stride = 1;
    for (std::size_t i = all.rank; i-- > 0;) {
      all.strides[i] = stride;
      stride *= i == axis_ ? tokens.capacity : all.extents[i];
    }
    for (const TokenRun& run : runs) copy_run(added, all, run, frame.context);
    if (has_positions()) return {};
    TensorRef after = all;
    after.extents[axis_] = tokens.added;
    after.data += tokens.held_bytes(which);
    copy_elements(added, after, frame.context);
    return {};
  }

  /// Copies consecutive tokens of one sequence to their places in the cache.
  void copy_run(TensorRef added, TensorRef all, const TokenRun& run, fast::Context& context) const {
    const auto bytes = static_cast<std::int64_t>(info(added.dtype).unit_bytes);
    for (TensorRef* const part : {&added, &all}) {
      const std::int64_t token = part == &added ? run.first : run.at;
      part->data += (run.sequence * part->strides[0] + token * part->strides[axis_]) * bytes;
      part->extents[0] = 1;
      part->extents[axis_] = run.count;
    }
    copy_elements(added, all, context);
  }

  Symbol cache_;
  std::size_t axis_ = 2;
  std::int64_t limit_ = -1;
  const Attr* past_ = nullptr;
};

}  // namespace

std::unique_ptr<PlanNode> cache_node(const PlannedStep& step) {
  return std::make_unique<CacheNode>(step);
}

}  // namespace mir
