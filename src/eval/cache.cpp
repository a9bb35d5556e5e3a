// The evaluator of KVCacheOp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dialects/parameters.hpp"
#include "eval/evaluators.hpp"
#include "eval/slice_operands.hpp"
#include "eval/token_runs.hpp"
#include "kernels/ref/common/indices.hpp"
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

/// True if each sequence of the batch has a length of its own.
bool has_positions(const EvalCall& call) {
  return call.operand_count() > 2;
}

/// The tokens that the sequences append, by the positions of the op.
Result<TokenRuns> runs_of(EvalCall& call) {
  const auto held =
      call.environment().caches->pending_of_each(cache_of(call.op()), call.operand(0).shape()[0]);
  auto runs = token_runs(ref::all_indices(call.in(2)), held);
  if (!runs) return call.error(runs.error().code, runs.error().message);
  return runs;
}

/// Writes runs of tokens, whose sequences are the first dimension of both.
void write_runs(const CacheStore::Tokens& tokens, std::size_t which, const Tensor& added,
                std::span<const TokenRun> runs) {
  const CacheStore::Part& part = tokens.parts[which];
  const std::int64_t outer = part.outer / added.shape()[0];
  const auto row = static_cast<std::size_t>(part.row_bytes);
  for (const TokenRun& run : runs) {
    for (std::int64_t o = run.sequence * outer; o < (run.sequence + 1) * outer; ++o) {
      const auto at = static_cast<std::size_t>(o);
      std::memcpy(
          part.data + at * tokens.outer_bytes(which) + static_cast<std::size_t>(run.at) * row,
          added.bytes().data() + static_cast<std::size_t>(o * tokens.added + run.first) * row,
          static_cast<std::size_t>(run.count) * row);
    }
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
  const std::int64_t capacity = call.integer(key::kCapacity);
  std::int64_t added = shape[token_axis(call)];
  if (has_positions(call)) {
    const auto runs = runs_of(call);
    if (!runs) return runs.error();
    const auto held = call.environment().caches->pending_of_each(name, shape[0]);
    added = std::max<std::int64_t>(runs->longest(held) - length, 0);
  }
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
  TokenRuns runs;
  if (has_positions(call)) {
    auto found = runs_of(call);
    if (!found) return std::move(found).error();
    runs = *std::move(found);
  }
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
                     .limit = call.has(key::kCapacity) ? call.integer(key::kCapacity) : -1,
                     .counts = runs.counts});
  if (!tokens) return call.error(tokens.error().code, tokens.error().message);
  for (std::size_t i = 0; i < 2; ++i) {
    if (has_positions(call)) {
      write_runs(*tokens, i, call.operand(i), runs.runs);
    } else {
      write_added(*tokens, i, call.operand(i));
    }
    read_all(*tokens, i, call.result(i));
  }
  return {};
}

}  // namespace eval

}  // namespace mir
