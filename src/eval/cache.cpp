// The evaluator of KVCacheOp.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "dialects/parameters.hpp"
#include "eval/evaluators.hpp"
#include "eval/slice_operands.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

namespace eval {

namespace {

/// The dimension that counts tokens.
std::size_t token_axis(const EvalCall& call) {
  return call.boolean(key::kUseFa2) ? 1 : 2;
}

/// Everything that a cache holds, in row-major order, into a tensor of those extents.
void read_all(const CacheStore::Tokens& tokens, std::size_t which, Tensor& all) {
  const CacheStore::Part& part = tokens.parts[which];
  const auto row = static_cast<std::size_t>((tokens.held + tokens.added) * part.row_bytes);
  for (std::int64_t o = 0; o < part.outer && row > 0; ++o) {
    const auto outer = static_cast<std::size_t>(o);
    std::memcpy(all.mutable_bytes() + outer * row, part.data + outer * tokens.outer_bytes(which),
                row);
  }
}

/// Writes the step's tokens to where the cache has room for them.
void write_added(const CacheStore::Tokens& tokens, std::size_t which, const Tensor& added) {
  const CacheStore::Part& part = tokens.parts[which];
  const auto row = static_cast<std::size_t>(tokens.added * part.row_bytes);
  for (std::int64_t o = 0; o < part.outer && row > 0; ++o) {
    const auto outer = static_cast<std::size_t>(o);
    std::memcpy(part.data + outer * tokens.outer_bytes(which) + tokens.held_bytes(which),
                added.bytes().data() + outer * row, row);
  }
}

}  // namespace

Result<void> admit_tokens(EvalCall& call) {
  if (call.environment().caches == nullptr) {
    return call.error(diag::kNotExecutable, "it needs a cache to keep its state in");
  }
  const Symbol name = cache_of(call.op());
  if (!name) {
    return call.error(diag::kCacheUnnamed, "neither 'cache' nor a name says where state lives");
  }
  const std::int64_t length = call.environment().caches->pending(name);
  const auto title = fmt::format("cache '@{}'", call.context().text(name));
  const Attr* past = call.attribute(key::kPast);
  if (past != nullptr && past->kind() == AttrKind::kInt && past->integer() != length) {
    return call.error(diag::kCacheMismatch, fmt::format("{} holds {} tokens, 'past' says {}", title,
                                                        length, past->integer()));
  }
  const Shape& shape = call.operand(0).shape();
  if (!call.has(key::kCapacity) || shape.size() <= token_axis(call)) return {};
  const std::int64_t capacity = call.integer(key::kCapacity), added = shape[token_axis(call)];
  if (length <= capacity && added <= capacity - length) return {};
  return call.error(
      diag::kCacheCapacity,
      fmt::format("{} holds {} of {} tokens, {} more do not fit", title, length, capacity, added));
}

Result<void> kv_cache(EvalCall& call) {
  const std::size_t axis = token_axis(call);
  const Tensor &keys = call.operand(0), &values = call.operand(1);
  if (keys.shape()[axis] != values.shape()[axis]) {
    return call.error(diag::kShapeMismatch, "keys and values are not as many");
  }
  CacheStore& caches = *call.environment().caches;
  const Symbol name = cache_of(call.op());
  const std::int64_t length = caches.pending(name) + keys.shape()[axis];
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor& added = call.operand(i);
    auto all = Tensor::allocate(added.dtype(), with_extent(added.shape(), axis, length));
    if (!all) return std::move(all).error();
    call.result(i) = *std::move(all);
  }
  const auto tokens =
      caches.append({.cache = name,
                     .axis = axis,
                     .dtypes = {keys.dtype(), values.dtype()},
                     .extents = {keys.shape(), values.shape()},
                     .limit = call.has(key::kCapacity) ? call.integer(key::kCapacity) : -1});
  if (!tokens) return call.error(tokens.error().code, tokens.error().message);
  for (std::size_t i = 0; i < 2; ++i) {
    write_added(*tokens, i, call.operand(i));
    read_all(*tokens, i, call.result(i));
  }
  return {};
}

}  // namespace eval

}  // namespace mir
