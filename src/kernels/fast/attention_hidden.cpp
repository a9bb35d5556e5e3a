// Attention rows computed anew over all keys because hidden keys have weight in them.
#include "kernels/fast/attention_hidden.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/ref/elementary.hpp"
#include "kernels/ref/numeric.hpp"

namespace mir::fast {
namespace {

/// Scores rounded where the ops round them, so that equal ones stay equal.
std::vector<double> scores_of(const AttentionTask& task, std::int64_t row) {
  const AttentionOperands& o = *task.operands;
  const KeyRange seen = task.seen(row);
  const float* const q = o.q + task.batch * o.q_strides[0] + task.head(row) * o.q_strides[1] +
                         task.query(row) * o.q_strides[2];
  const float* k = o.k + task.batch * o.k_strides[0] + task.kv_head() * o.k_strides[1];
  std::vector<double> scores;
  for (std::int64_t key = 0; key < o.keys; ++key, k += o.k_strides[2]) {
    double sum = 0;
    for (std::int64_t d = 0; d < o.width; ++d) sum += double{q[d]} * double{k[d]};
    const bool is_seen = key >= seen.first && key < seen.end;
    scores.push_back(is_seen ? static_cast<float>(sum) * o.scale : *o.hidden);
  }
  return scores;
}

/// Replaces scores by e^(s - m) and returns their sum. A NaN among them makes the sum NaN.
double weigh_scores(std::vector<double>& scores) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double score : scores) largest = score > largest ? score : largest;
  for (double& score : scores) sum += score = ref::exp(score - largest);
  return sum;
}

}  // namespace

bool has_hidden_weight(const AttentionTask& task, std::int64_t row, float largest) {
  constexpr double kNothing = 104;  // e^-104 is less than half of the smallest Float32
  const AttentionOperands& o = *task.operands;
  if (!o.hidden || !(double{largest} < double{*o.hidden} + kNothing)) return false;
  const KeyRange seen = task.seen(row);
  return seen.first > 0 || seen.end < o.keys;
}

void attend_hidden(const AttentionTask& task, std::int64_t row) {
  const AttentionOperands& o = *task.operands;
  auto weights = scores_of(task, row);
  const double sum = weigh_scores(weights);
  const float* v = o.v + task.batch * o.v_strides[0] + task.kv_head() * o.v_strides[1];
  std::vector<double> result(static_cast<std::size_t>(o.value_width));
  for (const double weight : weights) {
    for (std::size_t d = 0; d < result.size() && weight != 0; ++d)
      result[d] += weight / sum * double{v[d]};
    v += o.v_strides[2];
  }
  std::ranges::transform(result, task.out(row), ref::narrow_to_float);
}

}  // namespace mir::fast
