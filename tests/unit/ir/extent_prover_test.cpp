// Verdicts on conditions of extents against all values of their symbols.
#include "ir/extent_prover.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "ir/extent_walk.hpp"
#include "mir/context.hpp"
#include "read.hpp"

using namespace mir;

namespace extent_prover_test {

using enum ExtentRelation;
using enum ExtentVerdict;

namespace {

struct Fixture {
  Dim read(std::string_view text) {
    const auto dim = context.dims().parse(text);
    INFO(text);
    REQUIRE_MESSAGE(dim, dim.error().message);
    return *dim;
  }
  void declare(const char* name, std::int64_t least, std::int64_t most, std::int64_t multiple = 1) {
    declarations.push_back({context.intern(name), least, most, multiple});
  }
  ExtentProof prove(ExtentRelation relation, std::string_view a, std::string_view b) {
    ExtentProver prover(context, declarations);
    return prover.prove(relation, read(a), read(b));
  }
  ExtentVerdict verdict(ExtentRelation relation, std::string_view a, std::string_view b) {
    return prove(relation, a, b).verdict;
  }
  /// "S = 3, T = 4" of a refuted condition.
  std::string refutation(ExtentRelation relation, std::string_view a, std::string_view b) {
    const ExtentProof proof = prove(relation, a, b);
    REQUIRE(proof.verdict == kRefuted);
    std::string text;
    for (const auto& [symbol, value] : proof.counterexample.entries()) {
      if (!text.empty()) text += ", ";
      text += std::string(context.text(symbol)) + " = " + std::to_string(value);
    }
    return text;
  }

  IRContext context;
  std::vector<SymbolDeclaration> declarations;
};

constexpr std::int64_t kOpen = SymbolDeclaration::kUnbounded;

/// A random expression of S, T and U.
std::string random_extent(std::mt19937& random, int depth) {
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  if (depth == 0 || below(4) == 0) {
    const char* const leaves[] = {"$S", "$T", "$U", "1", "2", "3", "4"};
    return leaves[below(7)];
  }
  const char operators[] = {'+', '-', '*', '/', '%', '<', '>'};
  const char chosen = operators[below(7)];
  const std::string left = random_extent(random, depth - 1);
  const std::string right = chosen == '/' || chosen == '%' ? std::to_string(1 + below(4))
                                                           : random_extent(random, depth - 1);
  const std::string word = chosen == '<'   ? " min "
                           : chosen == '>' ? " max "
                                           : std::string(1, chosen);
  return "(" + left + ")" + word + "(" + right + ")";
}

bool is_true(ExtentRelation relation, std::int64_t a, std::int64_t b) {
  switch (relation) {
    case kEqual:
      return a == b;
    case kAtLeast:
      return a >= b;
    case kDivides:
      return b != 0 && a % b == 0;
    case kEqualOrOne:
      return a == b || a == 1;
    case kBroadcasts:
      return a == b || a == 1 || b == 1;
    case kDefined:
      return true;
  }
  return false;
}

}  // namespace

TEST_SUITE("extent prover") {
  TEST_CASE_FIXTURE(Fixture, "a divisor of a symbol is part of the normal form") {
    declare("S", 0, kOpen, 32);
    CHECK(verdict(kEqual, "32*($S/32)", "$S") == kProved);
    CHECK(verdict(kEqual, "16*($S/16)", "$S") == kProved);
    CHECK(verdict(kEqual, "$S%32", "0") == kProved);
    CHECK(verdict(kDivides, "$S", "8") == kProved);
    CHECK(verdict(kDivides, "$S*$T", "32") == kProved);
    CHECK(refutation(kEqual, "64*($S/64)", "$S") == "S = 32");
    CHECK(refutation(kDivides, "$S", "64") == "S = 32");
  }

  TEST_CASE_FIXTURE(Fixture, "minima and maxima of symbols without an end of the range") {
    declare("S", 1, kOpen);
    declare("T", 0, kOpen);
    CHECK(verdict(kAtLeast, "16", "$S min 16") == kProved);
    CHECK(verdict(kAtLeast, "$S", "$S min $T") == kProved);
    CHECK(verdict(kAtLeast, "$S max $T", "$T") == kProved);
    CHECK(verdict(kAtLeast, "$S min 16", "1") == kProved);
    CHECK(verdict(kAtLeast, "$S+$T", "$S max $T") == kProved);
    CHECK(verdict(kAtLeast, "($S max 4)/4", "1") == kProved);
    CHECK(verdict(kEqual, "($S min $T)+($S max $T)", "$S+$T") == kProved);
    CHECK(verdict(kEqual, "2*$S max 2*$T", "2*($T max $S)") == kProved);
    CHECK(verdict(kEqual, "$S max 1", "$S") == kProved);
    CHECK(verdict(kDefined, "$T/($T max 1)", "0") == kProved);
    CHECK(refutation(kAtLeast, "$T min 16", "1") == "T = 0");
    CHECK(refutation(kEqual, "$S min 16", "$S") == "S = 17");
    CHECK(refutation(kDefined, "$T/($T min 1)", "0") == "T = 0");
  }

  TEST_CASE_FIXTURE(Fixture, "bounds of polynomials and quotients without an end of the range") {
    declare("S", 1, kOpen);
    CHECK(verdict(kAtLeast, "$S*$T+$S", "$S") == kProved);
    CHECK(verdict(kAtLeast, "$S*$T", "$T") == kProved);
    CHECK(verdict(kAtLeast, "$S", "$S/4") == kProved);
    CHECK(verdict(kAtLeast, "$S", "4*($S/4)") == kProved);
    CHECK(verdict(kAtLeast, "4*(($S+3)/4)", "$S") == kProved);
    CHECK(verdict(kAtLeast, "3", "$S%4") == kProved);
    CHECK(verdict(kAtLeast, "$S", "1") == kProved);
    CHECK(refutation(kAtLeast, "$S", "2") == "S = 1");
    CHECK(verdict(kDefined, "$T/$S", "0") == kProved);
    // Nothing says which values $T has.
    CHECK(verdict(kAtLeast, "$S", "$T") == kUndecided);
    CHECK(verdict(kDefined, "$S/$T", "0") == kUndecided);
    declare("T", 0, kOpen);
    CHECK(refutation(kAtLeast, "$S", "$T") == "S = 1, T = 2");
    CHECK(refutation(kDefined, "$S/$T", "0") == "S = 1, T = 0");
    CHECK(refutation(kAtLeast, "4095", "$S") == "S = 4096");
  }

  TEST_CASE_FIXTURE(Fixture, "sums of many minima and quotients are left undecided soon") {
    for (const char* name : {"A", "B", "C", "E"}) declare(name, 1, 4096);
    CHECK(verdict(kAtLeast, "($A max 3)+($B max 4)+($C max 5)+($E max 6)",
                  "($A max 4)+($B max 5)+($C max 6)+($E max 7)") == kRefuted);
    CHECK(verdict(kAtLeast, "$A/3+$B/3+$C/3+$E/3", "$A/5+$B/5+$C/5+$E/5-4") != kRefuted);
    CHECK(verdict(kAtLeast, "($A max 3)+($B max 4)", "($A max 3)+($B max 2)") == kProved);
  }

  TEST_CASE_FIXTURE(Fixture, "both ends of ranges") {
    declare("S", 1, 4096);
    declare("T", 8, 8);
    CHECK(verdict(kAtLeast, "4096", "$S") == kProved);
    CHECK(verdict(kAtLeast, "4096*$U", "$S*$U") == kProved);
    CHECK(refutation(kAtLeast, "4000", "$S") == "S = 4001");
    CHECK(verdict(kEqual, "$T", "8") == kProved);
    CHECK(verdict(kEqualOrOne, "$T-7", "$S") == kProved);
    CHECK(verdict(kBroadcasts, "$S", "$T-7") == kProved);
    CHECK(refutation(kBroadcasts, "$S", "4") == "S = 2");
  }

  TEST_CASE_FIXTURE(Fixture, "few values are tried one by one") {
    declare("S", 1, 10);
    // No square has the remainder 2 or 3.
    CHECK(verdict(kAtLeast, "1", "($S*$S)%4") == kProved);
    CHECK(refutation(kAtLeast, "0", "($S*$S)%4") == "S = 1");
    declare("T", 0, kOpen);
    CHECK(verdict(kAtLeast, "1", "($T*$T)%4") == kUndecided);
  }

  TEST_CASE_FIXTURE(Fixture, "verdicts agree with all values of small ranges") {
    std::mt19937 random(1);
    std::size_t proved = 0, refuted = 0;
    constexpr int kGoals = 3000;
    for (int goal = 0; goal < kGoals; ++goal) {
      declarations.clear();
      for (const char* name : {"S", "T", "U"}) {
        const auto least = static_cast<std::int64_t>(random() % 3);
        const auto multiple = static_cast<std::int64_t>(1 + random() % 3);
        declare(name, least, least + static_cast<std::int64_t>(random() % 5) + multiple, multiple);
      }
      const auto relation = static_cast<ExtentRelation>(random() % 5);
      const std::string left = random_extent(random, 2), right = random_extent(random, 2);
      const auto a = context.dims().parse(left), b = context.dims().parse(right);
      REQUIRE(a);
      REQUIRE(b);
      ExtentProver prover(context, declarations);
      const ExtentProof proof = prover.prove(relation, *a, *b);
      CAPTURE(left);
      CAPTURE(right);
      CAPTURE(static_cast<int>(relation));
      CHECK(proof.verdict != kUndecided);
      // The least sum of values that breaks the relation; only symbols that occur have values.
      std::optional<std::int64_t> least_sum;
      const auto occurs = [&](Symbol symbol) {
        const auto in_a = context.dims().symbols(*a), in_b = context.dims().symbols(*b);
        return std::ranges::find(in_a, symbol) != in_a.end() ||
               std::ranges::find(in_b, symbol) != in_b.end();
      };
      const auto& [s, t, u] = std::tie(declarations[0], declarations[1], declarations[2]);
      for (std::int64_t i = s.least; i <= s.most; ++i) {
        for (std::int64_t j = t.least; j <= t.most; ++j) {
          for (std::int64_t k = u.least; k <= u.most; ++k) {
            if (!s.admits(i) || !t.admits(j) || !u.admits(k)) continue;
            DimBindings values;
            std::int64_t sum = 0;
            for (const auto& [name, value] : {std::pair(s.name, i), {t.name, j}, {u.name, k}}) {
              values.bind(name, value);
              if (occurs(name)) sum += value;
            }
            const auto x = context.dims().evaluate(*a, values),
                       y = context.dims().evaluate(*b, values);
            REQUIRE(x);
            REQUIRE(y);
            if (!is_true(relation, *x, *y) && (!least_sum || sum < *least_sum)) least_sum = sum;
          }
        }
      }
      CHECK((proof.verdict == kRefuted) == least_sum.has_value());
      proved += proof.verdict == kProved ? 1 : 0;
      if (proof.verdict != kRefuted) continue;
      ++refuted;
      std::int64_t sum = 0;
      for (const auto& [symbol, value] : proof.counterexample.entries()) sum += value;
      CHECK(sum == least_sum.value_or(-1));
    }
    CHECK(proved > kGoals / 10);
    CHECK(refuted > kGoals / 10);
  }

  TEST_CASE("declarations of a module") {
    test::Reading reading(
        "@main [mir_version:2, symbols:{S:{min:1,max:8,multiple:4},T:{}}] "
        "(%0:tensor<[$S, $T], Float32, CPU>) -> () {\ncf.ReturnOp () -> ()\n}\n");
    const Module& module = reading.module();
    const auto all = symbol_declarations(module);
    const std::vector<SymbolDeclaration> declarations(all.begin(), all.end());
    REQUIRE(declarations.size() == 2);
    CHECK(declarations[0].text() == "1 to 8, a multiple of 4");
    CHECK(declarations[0].admits(4));
    CHECK_FALSE(declarations[0].admits(6));
    CHECK_FALSE(declarations[0].admits(0));
    CHECK_FALSE(declarations[0].admits(12));
    CHECK(declarations[1].text() == "0 or more");
    CHECK(symbols_of_extents(module) == std::set<std::string_view>{"S", "T"});
    CHECK(ExtentProver::of(module).has_value());
  }

  TEST_CASE("a module without declarations has no prover") {
    test::Reading reading(
        "@main [mir_version:1] (%0:tensor<[$S], Float32, CPU>) -> () {\n"
        "cf.ReturnOp () -> ()\n}\n");
    CHECK_FALSE(ExtentProver::of(reading.module()).has_value());
  }
}

}  // namespace extent_prover_test
