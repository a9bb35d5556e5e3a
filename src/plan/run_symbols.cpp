// Finds the symbols that inputs and cache lengths determine, and binds them before a run.
#include "plan/run_symbols.hpp"

#include <algorithm>
#include <utility>

#include "dialects/parameters.hpp"
#include "ir/extent_walk.hpp"
#include "ir/joined_extents.hpp"
#include "ir/symbol_scopes.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

const DimTable& dims_of(const Schedule& schedule) {
  return schedule.module().context().dims();
}

}  // namespace

RunSymbols::RunSymbols(const Schedule& schedule) {
  find_cache_lengths(schedule);
  find_known(schedule);
  find_own(schedule);
}

void RunSymbols::find_cache_lengths(const Schedule& schedule) {
  std::unordered_set<Symbol> seen;
  for (std::size_t step = 0; step < schedule.steps().size(); ++step) {
    const Op& op = *schedule.steps()[step].op;
    const Symbol cache = cache_of(op);
    if (!cache || !seen.insert(cache).second) continue;
    const Attr* past = op.attribute(key::kPast);
    if (past == nullptr || past->kind() != AttrKind::kDim) continue;
    cache_lengths_.push_back({.step = step, .cache = cache, .past = past->dim()});
  }
}

void RunSymbols::find_known(const Schedule& schedule) {
  const DimTable& dims = dims_of(schedule);
  const auto add = [&](Symbol symbol) { known_.insert(symbol); };
  for (const ValueIndex index : schedule.inputs()) {
    for_each_symbol_of(schedule.values()[index].value->type(), dims, add);
  }
  for (const CacheLength& length : cache_lengths_) {
    std::ranges::for_each(dims.symbols(length.past), add);
  }
}

void RunSymbols::find_own(const Schedule& schedule) {
  const bool is_block = schedule.block() != nullptr;
  const Op* const op = schedule.entry().parent();
  const DimTable& dims = dims_of(schedule);
  const auto add = [&](Symbol symbol) { own_.insert(symbol); };
  for (const CacheLength& length : cache_lengths_) {
    std::ranges::for_each(dims.symbols(length.past), add);
  }
  for (const Step& step : schedule.steps()) for_each_symbol_found_out(*step.op, add);
  if (op == nullptr) return;
  if (!is_block && op->is(OpId::kGraphSubGraph)) {
    std::ranges::for_each(symbols_owned_by(schedule.entry()), add);
    return;
  }
  // A call may have become steps none of which finds out what the call does.
  if (is_block) {
    for (const Op* inner : schedule.block()->ops()) {
      if (!inner->has(Trait::kIsolated)) for_each_symbol_found_out(*inner, add);
    }
  } else {
    std::ranges::for_each(symbols_owned_by(schedule.entry()), add);
  }
  const auto remove = [&](Symbol symbol) { own_.erase(symbol); };
  for (const ValueIndex index : schedule.inputs()) {
    for_each_symbol_of(schedule.values()[index].value->type(), dims, remove);
  }
  if (is_block) return for_each_symbol_joined_by(*schedule.block(), add);
  for (const Value& result : op->results()) for_each_symbol_of(result.type(), dims, remove);
  for (const Use& use : op->operand_uses()) for_each_symbol_of(use.value()->type(), dims, remove);
}

std::optional<RunSymbols::Problem> RunSymbols::bind(Binder& binder, const CacheStore& caches,
                                                    const IRContext& context) const {
  for (const CacheLength& length : cache_lengths_) {
    const auto outcome =
        binder.require(length.past, caches.pending(length.cache),
                       {.kind = DimPlace::Kind::kCache, .name = context.text(length.cache)});
    if (!outcome) return Problem{length.step, outcome.error()};
  }
  return std::nullopt;
}

void RunSymbols::bind_caches_that_fit(Binder& binder, const CacheStore& caches) const {
  for (const CacheLength& length : cache_lengths_) {
    binder.bind_if_it_fits(length.past, caches.length(length.cache));
  }
}

}  // namespace mir
