// Reference attention: checks the operands and computes one query row after the other.
#include "kernels/ref/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ref/common/indices.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/values.hpp"
#include "kernels/ref/elementary.hpp"

namespace mir::ref {
namespace {

using Values = std::vector<double>;
constexpr std::string_view kAttention = "attention";

/// Keys first .. end - 1.
struct KeyRange {
  std::int64_t first;
  std::int64_t end;
};

struct Attention {
  const AttentionOperands& operands;
  const AttentionOptions& options;

  std::int64_t queries() const { return operands.q.extents[1]; }
  std::int64_t keys() const {
    return operands.key_rows != nullptr ? operands.key_rows->extents[0] : operands.k.extents[1];
  }
  std::int64_t kv_head(std::int64_t head) const {
    return head / (operands.q.extents[2] / operands.k.extents[2]);
  }

  KeyRange seen_by(std::int64_t batch, std::int64_t query) const {
    if (!options.causal) return {0, keys()};
    std::int64_t position = query + keys() - queries();
    if (!operands.positions.empty()) {
      const auto at = static_cast<std::size_t>(batch * queries() + query);
      position = std::max<std::int64_t>(operands.positions[at], 0);
    }
    std::int64_t first = 0;
    if (options.window && position >= *options.window) first = position - *options.window + 1;
    return {first, position < 0 ? 0 : position < keys() ? position + 1 : keys()};
  }

  bool is_masked(std::int64_t query, std::int64_t key) const {
    if (operands.mask == nullptr || queries() == 1) return false;
    const View& mask = *operands.mask;
    double value = 0;
    read_values(sub_view(mask, query * mask.strides[0] + key * mask.strides[1], 0, 0), {&value, 1});
    return !(value > -1.0);
  }

  /// The last dimension of `view` at [batch, row, head].
  Values head_of(const View& view, std::int64_t batch, std::int64_t row, std::int64_t head) const {
    Values values(static_cast<std::size_t>(view.extents[3]));
    const std::int64_t at =
        batch * view.strides[0] + row * view.strides[1] + head * view.strides[2];
    read_values(sub_view(view, at, 3, 1), values);
    return values;
  }
  static std::int64_t row_of(const View* rows, std::int64_t key) {
    return rows == nullptr ? key : index_at(*rows, key * rows->strides[0]);
  }

  Values scores(std::int64_t batch, std::int64_t query, std::int64_t head, KeyRange seen) const {
    const Values q = head_of(operands.q, batch, query, head);
    const double root = std::sqrt(static_cast<double>(q.size()));
    Values scores;
    for (std::int64_t key = seen.first; key < seen.end; ++key) {
      const Values k = head_of(operands.k, batch, row_of(operands.key_rows, key), kv_head(head));
      double sum = 0;
      for (std::size_t d = 0; d < q.size(); ++d) sum += q[d] * k[d];
      constexpr double kMasked = std::numeric_limits<float>::lowest();
      scores.push_back(is_masked(query, key) ? kMasked : sum / root);
    }
    return scores;
  }

  /// Turns scores into weights.
  void normalise(Values& scores, std::int64_t head) const {
    if (scores.empty()) return;
    double sink = -std::numeric_limits<double>::infinity();
    if (operands.sinks != nullptr) {
      read_values(sub_view(*operands.sinks, head * operands.sinks->strides[0], 0, 0), {&sink, 1});
    }
    // A NaN need not win here: its own exponential makes the sum NaN.
    double largest = sink;
    for (const double score : scores) largest = score > largest ? score : largest;
    double sum = 0;
    for (double& score : scores) {
      score = exp(score - largest);
      sum += score;
    }
    if (operands.sinks != nullptr) sum += exp(sink - largest);
    for (double& score : scores) score /= sum;
  }

  Values mix(const Values& weights, std::int64_t batch, std::int64_t head, KeyRange seen) const {
    Values result(static_cast<std::size_t>(operands.v.extents[3]), 0.0);
    for (std::int64_t key = seen.first; key < seen.end; ++key) {
      const Values v = head_of(operands.v, batch, row_of(operands.value_rows, key), kv_head(head));
      const double weight = weights[static_cast<std::size_t>(key - seen.first)];
      for (std::size_t d = 0; d < v.size(); ++d) result[d] += weight * v[d];
    }
    return result;
  }
};

Result<void> check_rows(const AttentionOperands& operands) {
  if ((operands.key_rows == nullptr) != (operands.value_rows == nullptr)) {
    return shape_error(kAttention, "rows of keys without rows of values");
  }
  for (const View* rows : {operands.key_rows, operands.value_rows}) {
    if (rows == nullptr) continue;
    if (!is_index(rows->dtype)) return dtype_error(kAttention, rows->dtype);
    if (auto ok = check_views(kAttention, {*rows}); !ok) return ok;
    if (rows->rank() != 1) return shape_error(kAttention, "the rows are not a list");
    const View& store = rows == operands.key_rows ? operands.k : operands.v;
    if (auto ok = check_index_range(kAttention, *rows, 0, store.extents[1]); !ok) return ok;
  }
  if (operands.key_rows != nullptr) {
    return check_same_extents(kAttention, *operands.key_rows, *operands.value_rows);
  }
  if (operands.k.extents[1] == operands.v.extents[1]) return {};
  return shape_error(kAttention, "keys and values differ in number");
}

Result<void> check_extents(std::string_view what, const View& view,
                           std::initializer_list<std::int64_t> extents) {
  if (std::ranges::equal(view.extents, extents)) return {};
  return shape_error(kAttention, fmt::format("the extents of the {} do not fit", what));
}

Result<void> check(const Attention& attention, const MutableView& out, const MutableView* weights) {
  const auto& [q, k, v, key_rows, value_rows, mask, sinks, positions] = attention.operands;
  if (auto ok = check_floating(kAttention, {q, k, v, out}); !ok) return ok;
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) {
    return shape_error(kAttention, "operands of rank 4 are expected");
  }
  if (auto ok = check_rows(attention.operands); !ok) return ok;
  const std::int64_t heads = q.extents[2], groups = k.extents[2], queries = q.extents[1];
  if (groups == 0 ? heads != 0 : heads % groups != 0) {
    return shape_error(kAttention, fmt::format("{} heads of keys do not divide {}", groups, heads));
  }
  if (auto ok = check_extents("keys", k, {q.extents[0], k.extents[1], groups, q.extents[3]}); !ok) {
    return ok;
  }
  if (auto ok = check_extents("values", v, {q.extents[0], v.extents[1], groups, v.extents[3]});
      !ok) {
    return ok;
  }
  if (auto ok = check_extents("result", out, {q.extents[0], queries, heads, v.extents[3]}); !ok) {
    return ok;
  }
  for (const View* optional : {mask, sinks}) {
    if (optional == nullptr) continue;
    if (auto ok = check_floating(kAttention, {*optional}); !ok) return ok;
    const auto fits = optional == mask ? check_extents("mask", *mask, {queries, attention.keys()})
                                       : check_extents("sinks", *sinks, {heads});
    if (!fits) return fits;
  }
  if (weights != nullptr) {
    if (auto ok = check_floating(kAttention, {*weights}); !ok) return ok;
    const auto fits =
        check_extents("weights", *weights, {q.extents[0], heads, queries, attention.keys()});
    if (!fits) return fits;
  }
  if (!positions.empty() && std::ssize(positions) != q.extents[0] * queries)
    return shape_error(kAttention, "the positions are not those of the queries");
  const auto& [causal, window] = attention.options;
  if (!window || (causal && *window >= 1)) return {};
  return attribute_error(kAttention, fmt::format("a window of {} keys", *window));
}

}  // namespace

Result<void> attention(const AttentionOperands& operands, const AttentionOptions& options,
                       const MutableView& out, const MutableView* weights) {
  const Attention attention{operands, options};
  if (auto ok = check(attention, out, weights); !ok) return ok;
  for_each_index(out.extents.first(3), [&](std::span<const std::int64_t> at) {
    const std::int64_t batch = at[0], query = at[1], head = at[2];
    const KeyRange seen = attention.seen_by(batch, query);
    Values row = attention.scores(batch, query, head, seen);
    attention.normalise(row, head);
    write_values(
        sub_view(out, batch * out.strides[0] + query * out.strides[1] + head * out.strides[2], 3,
                 1),
        attention.mix(row, batch, head, seen));
    if (weights == nullptr) return;
    row.insert(row.begin(), static_cast<std::size_t>(seen.first), 0.0);
    row.resize(static_cast<std::size_t>(attention.keys()), 0.0);
    const auto& strides = weights->strides;
    write_values(
        sub_view(*weights, batch * strides[0] + head * strides[1] + query * strides[2], 3, 1), row);
  });
  return {};
}

}  // namespace mir::ref
