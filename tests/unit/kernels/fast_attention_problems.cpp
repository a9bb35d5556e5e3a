#include "fast_attention_problems.hpp"

#include <fmt/format.h>

#include <limits>

namespace mir::fast::test {
namespace {

constexpr AttentionShape kAttentionShapes[] = {
    {},
    {.heads = 3, .queries = 7, .keys = 7, .width = 5, .value_width = 3, .causal = true},
    {.batches = 2,
     .heads = 4,
     .kv_heads = 2,
     .queries = 1,
     .keys = 97,
     .width = 16,
     .value_width = 16,
     .causal = true},
    {.heads = 14,
     .kv_heads = 2,
     .queries = 33,
     .keys = 95,
     .width = 64,
     .value_width = 64,
     .causal = true},
    {.heads = 2,
     .queries = 130,
     .keys = 193,
     .width = 20,
     .value_width = 33,
     .causal = true,
     .window = 50},
    {.heads = 2,
     .kv_heads = 1,
     .queries = 9,
     .keys = 96,
     .width = 300,
     .value_width = 31,
     .mask = MaskKind::kFinite},
    {.batches = 2,
     .heads = 3,
     .queries = 17,
     .keys = 24,
     .width = 8,
     .value_width = 1,
     .causal = true,
     .mask = MaskKind::kFinite},
    {.heads = 2,
     .queries = 5,
     .keys = 101,
     .width = 7,
     .value_width = 24,
     .mask = MaskKind::kPadding},
    {.batches = 2,
     .heads = 4,
     .kv_heads = 2,
     .queries = 9,
     .keys = 203,
     .width = 6,
     .value_width = 17,
     .mask = MaskKind::kReplaced},
    {.heads = 2,
     .kv_heads = 1,
     .queries = 5,
     .keys = 101,
     .width = 7,
     .value_width = 24,
     .mask = MaskKind::kHides},
    {.heads = 2,
     .kv_heads = 1,
     .queries = 3,
     .keys = 1601,
     .width = 12,
     .value_width = 12,
     .causal = true},
    {.heads = 1,
     .queries = 2,
     .keys = 2400,
     .width = 4,
     .value_width = 8,
     .causal = true,
     .window = 900},
    {.heads = 1, .queries = 6, .keys = 3, .width = 8, .value_width = 8, .causal = true},
    {.heads = 2, .queries = 4, .keys = 0, .width = 8, .value_width = 8},
    {.heads = 2, .queries = 0, .keys = 4, .width = 8, .value_width = 8},
    {.heads = 9, .kv_heads = 1, .queries = 40, .keys = 50, .width = 1, .value_width = 2},
};

/// [batches, rows, heads, width] in memory: strides of batches, heads, rows.
void set_strides(std::int64_t (&strides)[3], std::int64_t rows, std::int64_t heads,
                 std::int64_t width) {
  strides[0] = rows * heads * width;
  strides[1] = width;
  strides[2] = heads * width;
}

constexpr float kNumber = 0.75F;

/// What replaces the score, if anything does.
std::optional<float> replaced_at(const AttentionCase& c, std::int64_t batch, std::int64_t head,
                                 std::int64_t query, std::int64_t key) {
  if (c.kept.empty()) return std::nullopt;
  const std::int64_t row = (batch * c.shape.heads + head) * c.shape.queries + query;
  if (c.kept[static_cast<std::size_t>(row * c.shape.keys + key)] != 0) return std::nullopt;
  return c.shape.mask == MaskKind::kHides ? -HUGE_VALF : kNumber;
}

float mask_at(const AttentionCase& c, std::int64_t query, std::int64_t key) {
  return c.mask.empty() ? 0.0F : c.mask[static_cast<std::size_t>(query * c.shape.keys + key)];
}

struct ExactQuery {
  std::vector<double> out;
  double slack;
};

/// One query of one head by the definition, in double.
ExactQuery evaluate(const AttentionCase& c, std::int64_t b, std::int64_t h, std::int64_t i) {
  const AttentionShape& s = c.shape;
  const auto at = [&](const FloatValues& x, std::int64_t rows, std::int64_t heads,
                      std::int64_t width, std::int64_t row, std::int64_t head, std::int64_t d) {
    return static_cast<double>(
        x[static_cast<std::size_t>(((b * rows + row) * heads + head) * width + d)]);
  };
  const std::int64_t kv = h / (s.heads / s.kv_heads);
  const std::int64_t end = s.causal ? i + s.keys - s.queries + 1 : s.keys;
  const std::int64_t first = s.window ? std::max<std::int64_t>(end - *s.window, 0) : 0;
  double largest = -HUGE_VAL, range = 0, sum = 0, most = 0;
  std::vector<double> scores;
  for (std::int64_t j = first; j < end; ++j) {
    double dot = 0, magnitude = 0;
    for (std::int64_t d = 0; d < s.width; ++d) {
      const double product = at(c.q, s.queries, s.heads, s.width, i, h, d) *
                             at(c.k, s.keys, s.kv_heads, s.width, j, kv, d);
      dot += product;
      magnitude += std::fabs(product);
    }
    const std::optional<float> replaced = replaced_at(c, b, h, i, j);
    const double added = static_cast<double>(replaced.value_or(mask_at(c, i, j)));
    scores.push_back(replaced ? added : dot * static_cast<double>(kScale) + added);
    if (!std::isinf(added)) {
      range = std::max(range, std::fabs(added) + magnitude * static_cast<double>(kScale));
    }
    largest = std::max(largest, scores.back());
  }
  ExactQuery exact{std::vector<double>(static_cast<std::size_t>(s.value_width)), 0};
  for (const double score : scores) sum += std::exp(score - largest);
  for (std::int64_t j = first; j < end; ++j) {
    const double weight = std::exp(scores[static_cast<std::size_t>(j - first)] - largest) / sum;
    for (std::int64_t d = 0; d < s.value_width; ++d) {
      const double value = at(c.v, s.keys, s.kv_heads, s.value_width, j, kv, d);
      exact.out[static_cast<std::size_t>(d)] += weight * value;
      most = std::max(most, std::fabs(value));
    }
  }
  exact.slack =
      0x1p-24 * most *
      (2 * range * static_cast<double>(s.width + 8) + 256 + static_cast<double>(s.keys) / 16);
  return exact;
}

Problem attention_problem(const AttentionShape& s) {
  const AttentionCase c(s);
  Problem problem{
      .name = fmt::format("attention of {} x {} / {} heads, {} queries, {} keys, {} / {} wide, {}",
                          s.batches, s.heads, s.kv_heads, s.queries, s.keys, s.width, s.value_width,
                          s.causal ? "causal" : "all"),
      .out_size = c.out_size()};
  problem.places = all_places(problem.out_size);
  for (std::int64_t b = 0; b < s.batches; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t i = 0; i < s.queries; ++i) {
        const ExactQuery exact = evaluate(c, b, h, i);
        problem.want.insert(problem.want.end(), exact.out.begin(), exact.out.end());
        problem.slack.insert(problem.slack.end(), exact.out.size(), exact.slack);
      }
    }
  }
  problem.run = [c](float* to, Context& context) { attention(c.operands(to), context); };
  return problem;
}

}  // namespace

AttentionCase::AttentionCase(const AttentionShape& of)
    : shape(of),
      q(random_floats(of.batches * of.queries * of.heads * of.width, 61)),
      k(random_floats(of.batches * of.keys * of.kv_heads * of.width, 62)),
      v(random_floats(of.batches * of.keys * of.kv_heads * of.value_width, 63)) {
  if (of.mask == MaskKind::kNone) return;
  if (of.mask >= MaskKind::kReplaced) {
    const FloatValues random = random_floats(of.batches * of.heads * of.queries * of.keys, 65);
    for (std::size_t i = 0; i < random.size(); ++i) {
      const bool is_near = i % static_cast<std::size_t>(of.keys) >= 98;
      kept.push_back(of.mask == MaskKind::kHides ? is_near : random[i] > 0);
    }
    return;
  }
  mask = random_floats(of.queries * of.keys, 64, 3.0);
  // Whole blocks of keys of which nothing is seen.
  for (std::size_t i = 0; i < mask.size() && of.mask == MaskKind::kPadding; ++i) {
    if (i % static_cast<std::size_t>(of.keys) < 98) mask[i] = -HUGE_VALF;
  }
}

std::size_t AttentionCase::out_size() const {
  return static_cast<std::size_t>(shape.batches * shape.heads * shape.queries * shape.value_width);
}

AttentionOperands AttentionCase::operands(float* out) const {
  const AttentionShape& s = shape;
  AttentionOperands o{.q = q.data(),
                      .k = k.data(),
                      .v = v.data(),
                      .out = out,
                      .mask = mask.empty() ? nullptr : mask.data(),
                      .batches = s.batches,
                      .heads = s.heads,
                      .kv_heads = s.kv_heads,
                      .queries = s.queries,
                      .keys = s.keys,
                      .width = s.width,
                      .value_width = s.value_width,
                      .scale = kScale,
                      .causal = s.causal,
                      .window = s.window};
  set_strides(o.q_strides, s.queries, s.heads, s.width);
  set_strides(o.k_strides, s.keys, s.kv_heads, s.width);
  set_strides(o.v_strides, s.keys, s.kv_heads, s.value_width);
  o.out_strides[0] = s.heads * s.queries * s.value_width;
  o.out_strides[1] = s.queries * s.value_width;
  o.out_strides[2] = s.value_width;
  o.mask_strides[2] = s.keys;
  if (!kept.empty()) {
    o.replaced = {.kept = kept.data(), .by = s.mask == MaskKind::kHides ? -HUGE_VALF : kNumber};
    o.mask_strides[0] = s.heads * s.queries * s.keys;
    o.mask_strides[1] = s.queries * s.keys;
  }
  return o;
}

Problems attention_problems() {
  Problems problems;
  for (const AttentionShape& shape : kAttentionShapes) problems.push_back(attention_problem(shape));
  return problems;
}

}  // namespace mir::fast::test
