// Work functions of op rows: arithmetic and memory traffic of products, attention and others.
#include "dialects/work_rules.hpp"

#include <algorithm>

#include "dialects/einsum.hpp"
#include "dialects/generic_iterations.hpp"
#include "dialects/loop_body.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/equivalence.hpp"

namespace mir {

namespace {

constexpr Dim kTwo(2);

/// The last extent but `from_end` - 1 others; 0 if the rank is lower.
Dim extent_of(const WorkTensor& tensor, std::size_t from_end) {
  const std::size_t rank = tensor.dims.size();
  return from_end <= rank ? tensor.dims[rank - from_end] : Dim();
}

/// The value of an attribute, or its default; null if there is neither.
const Attr* attribute_of(const Op& op, std::string_view name) {
  const auto rows = op.row()->attributes;
  const auto row = std::ranges::find(rows, name, &AttrRow::name);
  return row == rows.end() ? nullptr : effective_attribute(op, *row);
}

bool is_true(const Op& op, std::string_view name) {
  const Attr* value = attribute_of(op, name);
  return value != nullptr && value->boolean();
}

OpWork with_products(const WorkContext& context, Dim products) {
  OpWork work = each_value_once(context);
  work.flop = context.table().multiply(kTwo, products);
  return work;
}

/// `depth` multiply-adds for each element of the result.
OpWork with_depth(const WorkContext& context, Dim depth) {
  DimTable& table = context.table();
  return with_products(context, table.multiply(elements_of(table, context.results[0]), depth));
}

/// Attention of queries in operand 0, [B, S, H, D], with the extent `keys_dim` of operand `keys`.
struct AttentionOperands {
  std::size_t keys = 1;
  std::size_t keys_dim = 1;
  std::size_t values = 2;
};

OpWork attention_work(const WorkContext& context, const AttentionOperands& at,
                      const AttentionSight& sight) {
  const auto& operands = context.operands;
  if (operands.size() <= std::max(at.keys, at.values)) return each_value_once(context);
  const auto &q = operands[0].dims, &keys = operands[at.keys].dims;
  const auto& values = operands[at.values].dims;
  if (q.size() != 4 || values.empty() || keys.size() <= at.keys_dim) {
    return each_value_once(context);
  }
  DimTable& table = context.table();
  const Dim pairs = attention_pairs(table, q[1], keys[at.keys_dim], sight);
  const Dim heads = table.multiply(q[0], q[2]), widths = table.add(q[3], values.back());
  return with_products(context, table.multiply(table.multiply(heads, pairs), widths));
}

std::optional<std::int64_t> window_of(const Op& op) {
  const Attr* window = op.attribute(key::kSlidingWindow);
  if (window == nullptr || window->kind() != AttrKind::kInt) return std::nullopt;
  return window->integer();
}

}  // namespace

Dim attention_pairs(DimTable& table, Dim queries, Dim keys, const AttentionSight& sight) {
  if (queries.is_constant() && keys.is_constant()) {
    return Dim(attention_pairs(queries.constant(), keys.constant(), sight));
  }
  if (sight.window) return table.multiply(queries, Dim(*sight.window));
  const Dim all = table.multiply(queries, keys);
  if (!sight.causal) return all;
  const Dim hidden = table.multiply(queries, table.subtract(queries, Dim(1)));
  return table.subtract(all, table.floor_divide(hidden, kTwo));
}

std::int64_t attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionSight& sight) {
  std::int64_t pairs = 0;
  for (std::int64_t query = 0; query < queries; ++query) {
    const std::int64_t next = query + 1 + keys - queries;
    const std::int64_t end = sight.causal ? std::clamp<std::int64_t>(next, 0, keys) : keys;
    pairs += std::min(end, sight.window.value_or(end));
  }
  return pairs;
}

}  // namespace mir

namespace mir::works {

OpWork nothing(const WorkContext&) {
  return {};
}

OpWork results_once(const WorkContext& context) {
  return {.flop = Dim(), .read = Dim(), .written = bytes_of(context.table(), context.results)};
}

OpWork results_twice(const WorkContext& context) {
  const Dim bytes = bytes_of(context.table(), context.results);
  return {.flop = Dim(), .read = bytes, .written = bytes};
}

OpWork each_copied_whole(const WorkContext& context) {
  const Dim bytes = bytes_of(context.table(), context.operands);
  return {.flop = Dim(), .read = bytes, .written = bytes};
}

OpWork tokens_appended(const WorkContext& context) {
  return each_copied_whole(context);
}

OpWork elements_picked(const WorkContext& context) {
  DimTable& table = context.table();
  const std::size_t tables = std::min<std::size_t>(context.operands.size(), 1);
  const Dim lists = bytes_of(table, context.operands.subspan(tables));
  const Dim results = bytes_of(table, context.results);
  return {.flop = Dim(), .read = table.add(lists, results), .written = results};
}

OpWork rows_taken(const WorkContext& context) {
  DimTable& table = context.table();
  const Dim results = bytes_of(table, context.results);
  return {.flop = Dim(),
          .read = table.add(bytes_of(table, context.operands), results),
          .written = results};
}

OpWork linear_products(const WorkContext& context) {
  return with_depth(context, extent_of(context.operands[0], 1));
}

OpWork convolution_products(const WorkContext& context) {
  const WorkTensor* weight = context.parameter(".weight");
  if (weight == nullptr) {
    OpWork work = each_value_once(context);
    work.flop = Dim::unknown();
    return work;
  }
  DimTable& table = context.table();
  const Attr* stated = context.op.attribute(key::kOutChannels);
  const bool is_stated = stated != nullptr && stated->integer() > 0;
  const Dim outputs = is_stated ? Dim(stated->integer()) : context.results[0].dims[1];
  if (outputs == Dim()) return each_value_once(context);
  return with_depth(context, table.floor_divide(elements_of(table, *weight), outputs));
}

OpWork products_of_operands(const WorkContext& context) {
  const bool is_transposed = is_true(context.op, key::kTransposeA);
  return with_depth(context, extent_of(context.operands[0], is_transposed ? 2 : 1));
}

OpWork products_of_indices(const WorkContext& context) {
  if (context.operands.size() < 2) return each_value_once(context);
  std::vector<std::size_t> ranks;
  for (const WorkTensor& each : context.operands) ranks.push_back(each.dims.size());
  const Attr* stated = context.op.attribute(key::kEquation);
  const auto equation = read_einsum(stated == nullptr ? "" : stated->text(), ranks);
  if (!equation) return each_value_once(context);
  // An extent of 1 broadcasts.
  std::vector<Dim> extents(equation->index_count, Dim(1));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t dim = 0; dim < ranks[i]; ++dim) {
      Dim& extent = extents[equation->operands[i][dim]];
      if (extent == Dim(1)) extent = context.operands[i].dims[dim];
    }
  }
  DimTable& table = context.table();
  Dim products(static_cast<std::int64_t>(ranks.size() - 1));
  for (const Dim extent : extents) products = table.multiply(products, extent);
  return with_products(context, products);
}

OpWork generic_loops(const WorkContext& context) {
  if (context.op.attribute(key::kSums) == nullptr) return each_value_once(context);
  const auto form =
      read_generic({.context = context.op.module().context(),
                    .attribute = [&](AttrKey key) { return context.op.attribute(key); },
                    .operand_count = context.op.operand_count(),
                    .result_count = context.op.result_count()},
                   [](const GenericProblem&) {});
  return form ? with_products(context, iterations_of(*form, context.op.module().context()))
              : each_value_once(context);
}

OpWork kernel_loops(const WorkContext& context) {
  const auto body = read_kernel(context.op, [](const KernelProblem&) {});
  if (!body) return each_value_once(context);
  DimTable& table = context.table();
  Dim joined;
  for (const KernelBody::Access& access : body->accesses) {
    if (!access.join) continue;
    GenericForm loops;
    for (const std::size_t each : body->chain(access.nest)) {
      const KernelBody::Nest& nest = body->nests[each];
      const auto bounds = std::span(nest.conditions).first(nest.bound_count);
      loops.loops.insert(loops.loops.end(), nest.loops.begin(), nest.loops.end());
      loops.sizes.insert(loops.sizes.end(), nest.sizes.begin(), nest.sizes.end());
      loops.conditions.insert(loops.conditions.end(), bounds.begin(), bounds.end());
    }
    loops.bound_count = loops.conditions.size();
    joined = table.add(joined, iterations_of(loops, context.op.module().context()));
  }
  return with_products(context, joined);
}

OpWork flash_attention(const WorkContext& context) {
  return attention_work(context, {}, {.causal = is_true(context.op, key::kCausalMask)});
}

OpWork swa_sink_attention(const WorkContext& context) {
  return attention_work(context, {}, {.causal = true, .window = window_of(context.op)});
}

OpWork paged_attention(const WorkContext& context) {
  return attention_work(context, {.keys = 3, .keys_dim = 0, .values = 2}, {});
}

OpWork radix_attention(const WorkContext& context) {
  return attention_work(context, {.keys = 1, .keys_dim = 0, .values = 4},
                        {.causal = true, .window = window_of(context.op)});
}

}  // namespace mir::works
