#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "eval/evaluators.hpp"
#include "eval/slice_operands.hpp"
#include "kernels/ref/movement.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

Symbol cache_of(const Op& op) {
  if (!op.is(OpId::kLinalgKVCache)) return {};
  const Attr* cache = op.attribute("cache");
  const bool named = cache != nullptr &&
                     (cache->kind() == AttrKind::kSymbolRef || cache->kind() == AttrKind::kString);
  return named ? op.module().context().intern(cache->text()) : op.path();
}

namespace eval {

namespace {

/// The dimension that counts tokens.
std::size_t token_axis(const EvalCall& call) {
  return call.boolean("use_fa2") ? 1 : 2;
}

/// What the op's cache holds before the call.
CacheState held_in(const EvalCall& call) {
  const CacheTable& caches = *call.environment().caches;
  const auto found = caches.find(cache_of(call.op()));
  return found == caches.end() ? CacheState() : found->second;
}

/// `held` followed by `added` along dimension `axis`.
Result<Tensor> appended(EvalCall& call, const Tensor& held, const Tensor& added, std::size_t axis) {
  if (!held.defined()) return added;
  const bool fits = held.dtype() == added.dtype() &&
                    held.shape() == with_extent(added.shape(), axis, held.shape()[axis]);
  if (!fits) {
    return call.error(DiagCode::kCacheMismatch,
                      fmt::format("the cache holds {} [{}], a step adds {} [{}]",
                                  name_of(held.dtype()), fmt::join(held.shape(), ", "),
                                  name_of(added.dtype()), fmt::join(added.shape(), ", ")));
  }
  const std::int64_t length = held.shape()[axis] + added.shape()[axis];
  auto joined = Tensor::allocate(held.dtype(), with_extent(held.shape(), axis, length));
  if (!joined) return joined;
  const ref::View parts[] = {call.view(held), call.view(added)};
  const auto done =
      ref::concat(parts, static_cast<std::int64_t>(axis), call.view_to_write(*joined));
  return done ? std::move(joined) : Result<Tensor>(done.error());
}

}  // namespace

Result<void> admit_tokens(EvalCall& call) {
  if (call.environment().caches == nullptr) {
    return call.error(DiagCode::kNotExecutable, "it needs a cache to keep its state in");
  }
  const Symbol name = cache_of(call.op());
  if (!name) {
    return call.error(DiagCode::kCacheUnnamed, "neither 'cache' nor a name says where state lives");
  }
  const std::int64_t length = held_in(call).length;
  const auto title = fmt::format("cache '@{}'", call.context().text(name));
  const Attr* past = call.attribute("past");
  if (past != nullptr && past->kind() == AttrKind::kInt && past->integer() != length) {
    return call.error(DiagCode::kCacheMismatch, fmt::format("{} holds {} tokens, 'past' says {}",
                                                            title, length, past->integer()));
  }
  const Shape& shape = call.operand(0).shape();
  if (!call.has("capacity") || shape.size() <= token_axis(call)) return {};
  const std::int64_t capacity = call.integer("capacity"), added = shape[token_axis(call)];
  if (length <= capacity && added <= capacity - length) return {};
  return call.error(
      DiagCode::kCacheCapacity,
      fmt::format("{} holds {} of {} tokens, {} more do not fit", title, length, capacity, added));
}

Result<void> kv_cache(EvalCall& call) {
  const std::size_t axis = token_axis(call);
  const CacheState held = held_in(call);
  auto keys = appended(call, held.keys, call.operand(0), axis);
  if (!keys) return std::move(keys).error();
  auto values = appended(call, held.values, call.operand(1), axis);
  if (!values) return std::move(values).error();
  call.result(0) = *keys;
  call.result(1) = *values;
  (*call.environment().caches)[cache_of(call.op())] = {*std::move(keys), *std::move(values),
                                                       held.length + call.operand(0).shape()[axis]};
  return {};
}

}  // namespace eval

}  // namespace mir
