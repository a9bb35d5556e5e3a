// Splits and orders the loops of generic ops.
#include "passes/schedule/loop_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/type_extents.hpp"
#include "mir/codes/passes.hpp"

namespace mir {

namespace {

Error refusal(std::string message) {
  return {diag::kIllegalStep, std::move(message)};
}

}  // namespace

// -- split ----------------------------------------------------------------------------------------

Result<void> split_loop(LoopForm& form, std::size_t loop, std::int64_t tile, IRContext& context,
                        std::vector<Symbol>& made) {
  DimTable& dims = context.dims();
  const Symbol name = form.loops[loop].name;
  const std::string_view text = context.text(name);
  const Dim extent = form.loops[loop].extent;
  const Dim whole_tiles = dims.modulo(extent, Dim(tile));
  const Dim tiles = dims.floor_divide(dims.add(extent, Dim(tile - 1)), Dim(tile));
  if (tiles.is_unknown()) return refusal(fmt::format("the extent of '{}' is not known", text));
  const Symbol inner = form.new_symbol(fmt::format("{}_in", text), context);
  const Dim at = dims.symbol(text);
  const Dim index = dims.add(dims.multiply(Dim(tile), at), dims.symbol(context.text(inner)));
  if (whole_tiles != Dim(0)) {
    // A tile may be cut off where it ends a dimension of each result that has the loop.
    const auto has_name = [&](Dim each) {
      bool found = false;
      for_each_symbol_of(each, dims, [&](Symbol symbol) { found = found || symbol == name; });
      return found;
    };
    const auto results = form.result_maps();
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (const Dim each : results[i]) {
        if (!has_name(each) || each == at) continue;
        return refusal(
            fmt::format("{} does not divide the extent {} of '{}', and the map of result "
                        "{} has '{}', not the loop alone",
                        tile, dims.print(extent), text, i, dims.print(each)));
      }
    }
  }
  form.substitute(name, index, dims);
  if (whole_tiles != Dim(0)) {
    const SymbolRelation bound{.comparison = SymbolRelation::Comparison::kLess,
                               .left = index,
                               .right = form.size_of(extent, context)};
    const auto whole = bound.substitute(dims, [](Symbol) { return std::nullopt; });
    if (!whole) return refusal(fmt::format("the last tile of '{}' has no bound", text));
    form.bounds.push_back(*whole);
  }
  form.loops[loop].extent = tiles;
  form.loops.insert(form.loops.begin() + static_cast<std::ptrdiff_t>(loop) + 1, {inner, Dim(tile)});
  for (auto& sums : form.sums) {
    const auto sum = std::ranges::find(sums, name, &LoopForm::Sum::loop);
    if (sum != sums.end()) sums.insert(std::next(sum), {inner, sum->kind});
  }
  // Tiles run side by side, iterations in a tile in lanes or one by one.
  std::ranges::replace(form.vector, name, inner);
  std::ranges::replace(form.unroll, name, inner);
  made.push_back(inner);
  return {};
}

// -- order ----------------------------------------------------------------------------------------

namespace {

/// Consecutive sums of one kind, which share an accumulator.
struct SumGroup {
  SumKind kind;
  std::vector<Symbol> loops;
};

std::vector<SumGroup> groups_of(std::span<const LoopForm::Sum> sums) {
  std::vector<SumGroup> groups;
  for (const auto& [name, kind] : sums) {
    if (groups.empty() || groups.back().kind != kind) groups.push_back({kind, {}});
    groups.back().loops.push_back(name);
  }
  return groups;
}

/// True if the result of a sum does not depend on the order of its terms. Integers wrap; of equal
/// extremes, and of NaNs, all are stored with the same bits.
bool is_free(LoopSum sum, const Value& result) {
  const TensorType* type = result.tensor_type();
  const auto number =
      type == nullptr || !type->dtype() ? std::nullopt : accumulation_type(*type->dtype());
  const bool is_rounded = sum == LoopSum::kAdd || sum == LoopSum::kMul;
  return !is_rounded || (number && *number != DType::kFloat64);
}

Result<void> check_sums(std::span<const LoopForm::Sum> before, std::span<const LoopForm::Sum> after,
                        SumOrder order, const Op& op, std::uint32_t number) {
  const IRContext& context = op.module().context();
  const Value& result = *op.result(number);
  const auto was = groups_of(before), is = groups_of(after);
  bool nests_alike = was.size() == is.size();
  for (std::size_t i = 0; nests_alike && i < was.size(); ++i) {
    nests_alike =
        was[i].kind == is[i].kind && std::ranges::is_permutation(was[i].loops, is[i].loops);
    if (!nests_alike || was[i].loops == is[i].loops) continue;
    if (order == SumOrder::kFree || is_free(was[i].kind.sum, result)) continue;
    const auto moved = std::ranges::mismatch(was[i].loops, is[i].loops);
    return refusal(
        fmt::format("'{}' would come before '{}' in a sum that rounds, which changes "
                    "bits; 'bound' permits it",
                    context.text(*moved.in2), context.text(*moved.in1)));
  }
  if (nests_alike) return {};
  return refusal("loops with different sums would change places, which changes what is computed");
}

}  // namespace

Result<void> order_loops(LoopForm& form, std::span<const Symbol> names, SumOrder sums,
                         const Op& op) {
  const auto rank = [&](const GenericForm::Range& loop) {
    return std::ranges::find(names, loop.name) - names.begin();
  };
  const auto before = form.sums;
  std::ranges::stable_sort(form.loops, {}, rank);
  form.order_sums();
  for (std::uint32_t i = 0; i < form.sums.size(); ++i) {
    if (auto kept = check_sums(before[i], form.sums[i], sums, op, i); !kept) return kept;
  }
  return {};
}

// -- accumulate -----------------------------------------------------------------------------------

Result<void> accumulate_in(LoopForm& form, SumPrecision precision, std::int64_t block,
                           IRContext& context) {
  const std::vector<LoopForm::Sum> sums = form.sums.front();
  for (const auto& each : form.sums) {
    if (each != sums) return refusal("its results sum over different loops");
  }
  if (sums.empty()) return refusal("it has no sum");
  for (const LoopForm::Sum& each : sums) {
    if (each.kind.sum != LoopSum::kAdd) return refusal("a sum of another kind than 'add'");
    if (each.kind.precision != SumPrecision::kWide)
      return refusal("'accumulate' is stated already");
  }
  const auto state = [&](Symbol loop) {
    for (auto& each : form.sums) {
      std::ranges::find(each, loop, &LoopForm::Sum::loop)->kind.precision = precision;
    }
  };
  std::int64_t rest = block;
  for (auto sum = sums.rbegin(); sum != sums.rend() && rest > 1; ++sum) {
    const auto loop = std::ranges::find(form.loops, sum->loop, &GenericForm::Range::name);
    const bool is_whole = loop->extent.is_constant() && loop->extent.constant() <= rest;
    if (is_whole) {
      state(sum->loop);
      rest /= std::max<std::int64_t>(loop->extent.constant(), 1);
      continue;
    }
    std::vector<Symbol> inner;
    auto done =
        split_loop(form, static_cast<std::size_t>(loop - form.loops.begin()), rest, context, inner);
    if (!done) return done;
    state(inner.front());
    return {};
  }
  return {};
}

}  // namespace mir
