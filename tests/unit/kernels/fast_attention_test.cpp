#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "fast_attention_problems.hpp"

namespace mir::fast {
namespace {

using namespace test;

FloatValues run(const AttentionOperands& operands, std::size_t size, Context& context) {
  FloatValues out(size);
  AttentionOperands with_out = operands;
  with_out.out = out.data();
  attention(with_out, context);
  return out;
}

bool same_bits(const float* a, const float* b, std::int64_t count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

/// The last query of each prefix of `c`, as a step of decoding computes it.
void check_steps(const AttentionCase& c, Context& context) {
  const AttentionShape& s = c.shape;
  FloatValues all(c.out_size());
  attention(c.operands(all.data()), context);
  for (std::int64_t i = 0; i < s.queries; ++i) {
    AttentionOperands step = c.operands(nullptr);
    step.q += i * step.q_strides[2];
    step.queries = 1;
    step.keys = s.keys - s.queries + i + 1;
    if (step.keys < 1) continue;
    step.out_strides[0] = s.heads * s.value_width;
    step.out_strides[1] = step.out_strides[2] = s.value_width;
    const FloatValues alone =
        run(step, static_cast<std::size_t>(s.batches * s.heads * s.value_width), context);
    for (std::int64_t head = 0; head < s.batches * s.heads; ++head) {
      CHECK(same_bits(alone.data() + head * s.value_width,
                      all.data() + (head * s.queries + i) * s.value_width, s.value_width));
    }
  }
}

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("keys that a mask overwrites have weight beside scores that are no larger") {
  constexpr float kHidden = -1e10F;
  struct Case {
    float q;
    std::optional<std::int64_t> window;
    FloatValues want;  // of the queries that see keys 0 and 1, 0 to 2, all
  };
  const FloatValues k(4, 1e5F), v = {1, 2, 4, 8};
  const Case cases[] = {{1.0F, {}, {1.5, 7.0F / 3, 3.75}},  // hidden keys have no weight
                        {-0x1p20F, {}, {6, 8, 3.75}},       // and here all of it
                        {-1e5F, {}, {3.75, 3.75, 3.75}},    // equal scores
                        {-0x1p20F, 1, {13.0F / 3, 11.0F / 3, 7.0F / 3}},  // the keys before, too
                        {-HUGE_VALF, {}, {6, 8, std::nanf("")}}};
  on_each_isa([&](Context& context) {
    for (const Case& each : cases) {
      CAPTURE(each.q);
      const FloatValues q(3, each.q);
      AttentionOperands o{.q = q.data(), .k = k.data(), .v = v.data(), .batches = 1, .heads = 1};
      o.kv_heads = o.width = o.value_width = 1;
      o.queries = 3;
      o.keys = 4;
      for (auto* strides : {&o.q_strides, &o.k_strides, &o.v_strides, &o.out_strides})
        (*strides)[2] = 1;
      o.causal = true;
      o.window = each.window;
      o.hidden = kHidden;
      const FloatValues out = run(o, 3, context);
      for (std::size_t i = 0; i < 3; ++i) {
        if (std::isnan(each.want[i]))
          CHECK(std::isnan(out[i]));
        else
          CHECK(out[i] == doctest::Approx(each.want[i]));
      }
    }
  });
}

TEST_CASE("a query has the same bits in a prefill and as a step of decoding") {
  on_each_isa([](Context& context) {
    check_steps(AttentionCase({.batches = 2,
                               .heads = 4,
                               .kv_heads = 2,
                               .queries = 37,
                               .keys = 120,
                               .width = 20,
                               .value_width = 33,
                               .causal = true}),
                context);
    check_steps(AttentionCase({.heads = 3,
                               .queries = 101,
                               .keys = 101,
                               .width = 8,
                               .value_width = 8,
                               .causal = true,
                               .window = 30}),
                context);
    check_steps(AttentionCase({.heads = 2,
                               .kv_heads = 1,
                               .queries = 9,
                               .keys = 1700,
                               .width = 8,
                               .value_width = 5,
                               .causal = true}),
                context);
  });
}

TEST_CASE("scores come out the same whether they are scaled on the way or before a mask") {
  AttentionCase c({.heads = 4,
                   .kv_heads = 2,
                   .queries = 60,
                   .keys = 250,
                   .width = 9,
                   .value_width = 10,
                   .causal = true});
  on_each_isa([&](Context& context) {
    const FloatValues want = run(c.operands(nullptr), c.out_size(), context);
    const auto check = [&](const AttentionCase& other, float scale) {
      AttentionOperands operands = other.operands(nullptr);
      operands.scale = scale;
      CHECK(same_bits(run(operands, c.out_size(), context).data(), want.data(),
                      static_cast<std::int64_t>(want.size())));
    };
    AttentionCase negated = c, masked = c;
    for (float& q : negated.q) q = -q;
    check(negated, -kScale);
    masked.mask.assign(60 * 250, 0.0F);
    check(masked, kScale);
  });
}

TEST_CASE("attention goes the same way with spans of keys in one thread and in many") {
  const AttentionCase c({.heads = 2,
                         .kv_heads = 1,
                         .queries = 2,
                         .keys = 4000,
                         .width = 16,
                         .value_width = 16,
                         .causal = true});
  for (const IsaLevel isa : isas()) {
    Context one(1, isa), many(5, isa);
    const FloatValues want = run(c.operands(nullptr), c.out_size(), one);
    CHECK(same_bits(run(c.operands(nullptr), c.out_size(), many).data(), want.data(),
                    static_cast<std::int64_t>(want.size())));
  }
}

TEST_CASE("keys that a query does not see add nothing, whatever they hold") {
  AttentionCase c({.heads = 2,
                   .kv_heads = 1,
                   .queries = 10,
                   .keys = 100,
                   .width = 9,
                   .value_width = 10,
                   .causal = true});
  on_each_isa([&](Context& context) {
    const FloatValues want = run(c.operands(nullptr), c.out_size(), context);
    AttentionCase spoilt = c;
    const float bad[] = {std::nanf(""), HUGE_VALF};
    for (std::size_t d = 0; d < 9; ++d) spoilt.k[96 * 9 + d] = bad[d % 2];
    for (std::size_t d = 0; d < 10; ++d) spoilt.v[96 * 10 + d] = bad[d % 2];
    const FloatValues got = run(spoilt.operands(nullptr), c.out_size(), context);
    // Query i is at the position of key i + 90: the first six do not see key 96.
    for (std::int64_t head = 0; head < 2; ++head) {
      CHECK(same_bits(got.data() + head * 100, want.data() + head * 100, 60));
      for (std::size_t i = 60; i < 100; ++i) {
        CHECK(std::isnan(got[static_cast<std::size_t>(head) * 100 + i]));
      }
    }
  });
}

TEST_CASE("a query of which every score is -inf is NaN, as softmax is; one without keys is zero") {
  AttentionCase c({.queries = 3, .keys = 2, .width = 2, .value_width = 3, .causal = true});
  c.mask.assign(6, -HUGE_VALF);
  on_each_isa([&](Context& context) {
    const FloatValues got = run(c.operands(nullptr), c.out_size(), context);
    for (std::size_t i = 0; i < 9; ++i) CHECK((i < 3 ? got[i] == 0 : std::isnan(got[i])));
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast
