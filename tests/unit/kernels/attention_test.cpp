#include "kernels/ref/attention.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;

struct Sizes {
  std::int64_t batch = 1, queries = 3, keys = 5, heads = 4, groups = 2, depth = 3, values = 3;
};

/// Random operands of these sizes and everything an evaluation needs.
struct Problem {
  Problem(DType dtype, const Sizes& of)
      : sizes(of),
        q(random_array(dtype, {of.batch, of.queries, of.heads, of.depth}, 1)),
        k(random_array(dtype, {of.batch, of.keys, of.groups, of.depth}, 2)),
        v(random_array(dtype, {of.batch, of.keys, of.groups, of.values}, 3)),
        out(dtype, {of.batch, of.queries, of.heads, of.values}),
        weights(dtype, {of.batch, of.heads, of.queries, of.keys}) {}

  AttentionOperands operands() const { return {.q = q, .k = k, .v = v}; }
  void run(const AttentionOptions& options) {
    MutableView all = weights;
    REQUIRE(attention(operands(), options, out, &all));
    CHECK(out.guards_intact());
    CHECK(weights.guards_intact());
  }

  Sizes sizes;
  Array q, k, v, out, weights;
};

using Sees = std::function<bool(std::int64_t query, std::int64_t key)>;

/// The weights of query `i` of a head: exponentials of all scores, those not seen left out, without
/// taking the largest away; then their share of the sum, to which `sink` is added.
std::vector<Exact> shares(const Problem& p, std::int64_t b, std::int64_t i, std::int64_t h,
                          const Sees& sees, Exact sink) {
  const Sizes& s = p.sizes;
  std::vector<Exact> parts(static_cast<std::size_t>(s.keys), 0);
  Exact total = sink;
  for (std::int64_t j = 0; j < s.keys; ++j) {
    if (!sees(i, j)) continue;
    Exact score = 0;
    for (std::int64_t d = 0; d < s.depth; ++d) {
      const auto q_at = ((b * s.queries + i) * s.heads + h) * s.depth + d;
      const auto k_at = ((b * s.keys + j) * s.groups + h * s.groups / s.heads) * s.depth + d;
      score += static_cast<Exact>(p.q[static_cast<std::size_t>(q_at)]) *
               p.k[static_cast<std::size_t>(k_at)];
    }
    const Exact part = std::exp(score / std::sqrt(static_cast<Exact>(s.depth)));
    parts[static_cast<std::size_t>(j)] = part;
    total += part;
  }
  for (Exact& part : parts) part = part == 0 ? 0 : part / total;
  return parts;
}

void compare(const Problem& p, const Sees& sees, const Values& sinks = {}) {
  const Sizes& s = p.sizes;
  // |q|, |k| and |v| are at most 2.
  const double slack =
      0x1p-50 * 2 * (static_cast<double>(s.keys) + static_cast<double>(s.depth * s.depth) * 4);
  const auto near = [&](double got, Exact exact) {
    const double want = static_cast<double>(exact);
    const double beyond = std::max(0.0, std::fabs(got - want) - slack);
    CHECK(ulp_distance(p.out.dtype(), want + beyond, want) <= 0.501);
  };
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.queries; ++i) {
      for (std::int64_t h = 0; h < s.heads; ++h) {
        const Exact sink =
            sinks.empty() ? 0 : std::exp(static_cast<Exact>(sinks[static_cast<std::size_t>(h)]));
        const auto parts = shares(p, b, i, h, sees, sink);
        for (std::int64_t j = 0; j < s.keys; ++j) {
          const auto at = ((b * s.heads + h) * s.queries + i) * s.keys + j;
          near(p.weights[static_cast<std::size_t>(at)], parts[static_cast<std::size_t>(j)]);
        }
        for (std::int64_t d = 0; d < s.values; ++d) {
          Exact want = 0;
          for (std::int64_t j = 0; j < s.keys; ++j) {
            const auto at = ((b * s.keys + j) * s.groups + h * s.groups / s.heads) * s.values + d;
            want += parts[static_cast<std::size_t>(j)] * p.v[static_cast<std::size_t>(at)];
          }
          const auto at = ((b * s.queries + i) * s.heads + h) * s.values + d;
          near(p.out[static_cast<std::size_t>(at)], want);
        }
      }
    }
  }
}

const Sizes kSizes[] = {
    {},
    {.batch = 2, .queries = 1, .keys = 7, .heads = 6, .groups = 3, .depth = 5, .values = 2},
    {.queries = 7, .keys = 7, .heads = 3, .groups = 1, .depth = 1, .values = 1},
    {.queries = 1, .keys = 1, .heads = 1, .groups = 1},
    {.queries = 0, .keys = 3},
    {.queries = 2, .keys = 3, .values = 0},
};

TEST_SUITE_BEGIN("kernels");

TEST_CASE("attention is within its bound of shares of exponentials, in every type") {
  for (const DType dtype : kFloatingTypes) {
    for (const Sizes& sizes : kSizes) {
      Problem p(dtype, sizes);
      const std::int64_t lead = sizes.keys - sizes.queries;
      p.run({.causal = false, .window = {}});
      compare(p, [](std::int64_t, std::int64_t) { return true; });
      p.run({.causal = true, .window = {}});
      compare(p, [&](std::int64_t i, std::int64_t j) { return j <= i + lead; });
      for (const std::int64_t window : {1, 2, 5, 100}) {
        p.run({.causal = true, .window = window});
        compare(p, [&](std::int64_t i, std::int64_t j) {
          return j <= i + lead && j > i + lead - window;
        });
      }
    }
  }
}

TEST_CASE("a sink takes a share of the weight and gives no value") {
  Problem p(DType::kFloat32, {});
  const Values logits = {0.5, -kInf, 3, -1};
  const Array sinks(DType::kFloat32, {4}, logits);
  const View view = sinks;
  AttentionOperands operands = p.operands();
  operands.sinks = &view;
  MutableView weights = p.weights;
  REQUIRE(attention(operands, {.causal = true, .window = 2}, p.out, &weights));
  compare(
      p, [](std::int64_t i, std::int64_t j) { return j <= i + 2 && j > i; }, logits);
  const Array large(DType::kFloat32, {4}, {1e30, 1e30, 1e30, kNaN});
  const View above = large;
  operands.sinks = &above;
  REQUIRE(attention(operands, {}, p.out, nullptr));
  CHECK(p.out[0] == 0);
  CHECK(std::isnan(p.out[9]));
}

TEST_CASE("rows pick keys and values from a store") {
  Problem p(DType::kFloat32, {.keys = 4});
  const Array key_rows(DType::kInt32, {4}, {5, 0, 0, 3}),
      value_rows(DType::kInt64, {4}, {1, 2, 4, 0});
  Array keys(DType::kFloat32, {1, 6, 2, 3}), values(DType::kFloat32, {1, 5, 2, 3});
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t d = 0; d < 6; ++d) {
      // Rows 1 and 2 are the same row.
      p.k.set(j * 6 + d, p.k[(j == 2 ? 1 : j) * 6 + d]);
      keys.set(static_cast<std::size_t>(key_rows[j]) * 6 + d, p.k[j * 6 + d]);
      values.set(static_cast<std::size_t>(value_rows[j]) * 6 + d, p.v[j * 6 + d]);
    }
  }
  const View from = key_rows, with = value_rows;
  MutableView weights = p.weights;
  REQUIRE(attention({.q = p.q, .k = keys, .v = values, .key_rows = &from, .value_rows = &with}, {},
                    p.out, &weights));
  compare(p, [](std::int64_t i, std::int64_t j) { return j <= i + 1; });
  for (const double bad : {-1.0, 6.0}) {
    const Array rows(DType::kInt32, {4}, {0, 0, bad, 0});
    const View other = rows;
    const auto refused =
        attention({.q = p.q, .k = keys, .v = values, .key_rows = &other, .value_rows = &with}, {},
                  p.out, nullptr);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == diag::kIndexOutOfRange);
    CHECK(refused.error().message == mir::test::Part{"at position 2"});
  }
}

TEST_CASE("a mask hides keys of several queries and is not looked at for one") {
  Problem p(DType::kFloat32, {.queries = 2, .keys = 3});
  const Array mask(DType::kFloat32, {2, 3}, {0, -1, -kInf, -0.5, kNaN, 7});
  const View view = mask;
  AttentionOperands operands = p.operands();
  operands.mask = &view;
  MutableView weights = p.weights;
  REQUIRE(attention(operands, {.causal = false, .window = {}}, p.out, &weights));
  compare(p, [](std::int64_t i, std::int64_t j) { return i == 0 ? j == 0 : j != 1; });
  const Array none(DType::kFloat32, {2, 3}, Values(6, -2.0));
  const View all = none;
  operands.mask = &all;
  REQUIRE(attention(operands, {.causal = false, .window = {}}, p.out, &weights));
  CHECK(ulp_distance(DType::kFloat32, p.weights[0], 1.0 / 3) <= 0.5);

  Problem one(DType::kFloat32, {.queries = 1, .keys = 3});
  const Array row(DType::kFloat32, {1, 3}, Values(3, -2.0));
  const View ignored = row;
  operands = one.operands();
  operands.mask = &ignored;
  weights = one.weights;
  REQUIRE(attention(operands, {.causal = false, .window = {}}, one.out, &weights));
  compare(one, [](std::int64_t, std::int64_t) { return true; });
}

TEST_CASE("a query without a key gives zeros, keys that are not seen add nothing") {
  Problem early(DType::kFloat32, {.queries = 3, .keys = 2, .heads = 2});
  early.run({});
  for (std::size_t d = 0; d < 6; ++d) CHECK(early.out[d] == 0);
  CHECK(early.out[6] != 0);
  Problem none(DType::kFloat32, {.keys = 0});
  none.run({.causal = false, .window = {}});
  for (const double value : none.out.values()) CHECK(value == 0);
  Problem late(DType::kFloat32, {.queries = 2, .keys = 2, .heads = 1, .groups = 1});
  const Values before = late.v.values();
  for (std::size_t d = 3; d < 6; ++d) late.v.set(d, kNaN), late.k.set(d, kInf);
  late.run({});
  for (std::size_t d = 0; d < 3; ++d) CHECK(late.out[d] == before[d]);
  for (std::size_t d = 3; d < 6; ++d) CHECK(std::isnan(late.out[d]));
}

TEST_CASE("large scores do not overflow") {
  Problem p(DType::kFloat32, {.queries = 1, .keys = 2, .heads = 1, .groups = 1, .depth = 1});
  p.q.set(0, 1e20), p.k.set(0, 1e15), p.k.set(1, -1e15);
  p.run({});
  CHECK(p.weights.values() == Values{1, 0});
}

TEST_CASE("attention refuses what does not fit") {
  Problem p(DType::kFloat32, {});
  const auto code = [&](const AttentionOperands& operands, const AttentionOptions& options = {}) {
    const auto result = attention(operands, options, p.out, nullptr);
    REQUIRE_FALSE(result);
    return result.error().code;
  };
  const Array three(DType::kFloat32, {1, 5, 3, 3}), flat(DType::kFloat32, {5, 2, 3});
  const Array whole(DType::kInt32, {1, 5, 2, 3}), four(DType::kFloat32, {1, 4, 2, 3});
  const Array short_list(DType::kFloat32, {3}), rows(DType::kInt32, {5}),
      real(DType::kFloat32, {5});
  const View list = short_list, good = rows, bad = real;
  CHECK(code({.q = p.q, .k = three, .v = three}) == diag::kKernelShape);
  CHECK(code({.q = p.q, .k = flat, .v = p.v}) == diag::kKernelShape);
  CHECK(code({.q = p.q, .k = p.k, .v = four}) == diag::kKernelShape);
  CHECK(code({.q = p.q, .k = whole, .v = p.v}) == diag::kKernelDType);
  CHECK(code({.q = p.q, .k = p.k, .v = p.v, .sinks = &list}) == diag::kKernelShape);
  CHECK(code({.q = p.q, .k = p.k, .v = p.v, .mask = &list}) == diag::kKernelShape);
  CHECK(code({.q = p.q, .k = p.k, .v = p.v, .key_rows = &good}) == diag::kKernelShape);
  CHECK(code({.q = p.q, .k = p.k, .v = p.v, .key_rows = &bad, .value_rows = &bad}) ==
        diag::kKernelDType);
  CHECK(code(p.operands(), {.causal = true, .window = 0}) == diag::kKernelAttribute);
  CHECK(code(p.operands(), {.causal = false, .window = 2}) == diag::kKernelAttribute);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
