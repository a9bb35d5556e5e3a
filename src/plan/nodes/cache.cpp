#include <fmt/format.h>

#include <array>
#include <functional>
#include <numeric>

#include "eval/attributes.hpp"
#include "mir/module.hpp"
#include "plan/nodes/nodes.hpp"

namespace mir {

namespace {

std::int64_t product(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// Keys and values of one cache: the step's tokens are copied behind those it holds, and the
/// results are the cache itself.
class CacheNode final : public PlanNode {
 public:
  CacheNode(std::size_t step, const Op& op, const CacheSlots& slots)
      : PlanNode(step, {slots.keys, slots.values}, {slots.all_keys, slots.all_values}),
        op_(op),
        cache_(cache_of(op)) {
    const AttributeReader attributes(op);
    axis_ = attributes.boolean("use_fa2") ? 1 : 2;
    if (attributes.find("capacity") != nullptr) limit_ = attributes.integer("capacity");
    if (const Attr* past = attributes.find("past"); past != nullptr) past_ = past;
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &keys = frame[operands()[0]], &values = frame[operands()[1]];
    const bool fits = keys.rank == 4 && values.rank == 4 && keys.dtype == values.dtype &&
                      keys.extents[axis_] == values.extents[axis_];
    if (auto ok = require(fits, "keys and values do not fit together"); !ok) return ok;
    const CacheAccess::Request request{.cache = cache_,
                                       .dtype = keys.dtype,
                                       .outer = product(keys.shape().first(axis_)),
                                       .tokens = keys.extents[axis_],
                                       .inner = {product(keys.shape().subspan(axis_ + 1)),
                                                 product(values.shape().subspan(axis_ + 1))},
                                       .limit = limit_};
    if (request.outer != product(values.shape().first(axis_))) {
      return require(false, "keys and values do not fit together");
    }
    if (auto ok = admit(frame.caches.pending(request.cache), request.tokens); !ok) return ok;
    const auto tokens = frame.caches.append(request);
    if (!tokens) return tokens.error();
    for (std::size_t i = 0; i < 2; ++i) {
      if (auto ok = append(frame, i, *tokens, request); !ok) return ok;
    }
    return {};
  }

  Work work(const Frame& frame) const override {
    // The tokens added are read and written; those that the cache holds stay where they are.
    return {.bytes = 2 * (bytes_of(frame[operands()[0]].type()) +
                          bytes_of(frame[operands()[1]].type()))};
  }

  std::string name() const override { return "KVCache"; }

 private:
  /// What the op states about the length.
  Result<void> admit(std::int64_t length, std::int64_t added) const {
    const auto title = [&] {
      return fmt::format("'KVCacheOp': cache '@{}'", op_.module().context().text(cache_));
    };
    if (past_ != nullptr && past_->kind() == AttrKind::kInt && past_->integer() != length) {
      return Error{DiagCode::kCacheMismatch, fmt::format("{} holds {} tokens, 'past' says {}",
                                                         title(), length, past_->integer())};
    }
    if (limit_ < 0 || (length <= limit_ && added <= limit_ - length)) return {};
    return Error{DiagCode::kCacheCapacity,
                 fmt::format("{} holds {} of {} tokens, {} more do not fit", title(), length,
                             limit_, added)};
  }

  Result<void> append(Frame& frame, std::size_t which, const CacheAccess::Tokens& tokens,
                      const CacheAccess::Request& request) const {
    const TensorRef& added = frame[operands()[which]];
    TensorRef& all = frame.tensors[results()[which]];
    if (all.rank != 4 || all.extents[axis_] != tokens.held + request.tokens ||
        product(all.shape()) !=
            request.outer * request.inner[which] * (tokens.held + request.tokens)) {
      return Error{DiagCode::kResultMismatch,
                   fmt::format("'KVCacheOp': the cache holds {} tokens afterwards, its result "
                               "states {}",
                               tokens.held + request.tokens, all.extents[axis_])};
    }
    all.data = tokens.data[which];
    all.dtype = request.dtype;
    // Row-major but for the extent of tokens, which is the capacity.
    std::int64_t stride = 1;
    for (std::size_t i = all.rank; i-- > 0;) {
      all.strides[i] = stride;
      stride *= i == axis_ ? tokens.capacity : all.extents[i];
    }
    TensorRef behind = all;
    behind.extents[axis_] = request.tokens;
    behind.data +=
        static_cast<std::size_t>(tokens.held * all.strides[axis_]) * info(request.dtype).unit_bytes;
    copy_elements(added, behind, frame.context);
    return {};
  }

  const Op& op_;
  Symbol cache_;
  std::size_t axis_ = 2;
  std::int64_t limit_ = -1;
  const Attr* past_ = nullptr;
};

}  // namespace

std::unique_ptr<PlanNode> cache_node(std::size_t step, const Op& op, const CacheSlots& slots) {
  return std::make_unique<CacheNode>(step, op, slots);
}

}  // namespace mir
