// Verdicts on conditions of extents against all values of their symbols.
#include "ir/extent_prover.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "../seeds.hpp"
#include "ir/extent_walk.hpp"
#include "ir/symbol_relations.hpp"
#include "mir/attribute_keys.hpp"
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
  void relate(std::initializer_list<std::string_view> texts) {
    std::vector<const Attr*> list;
    for (const std::string_view each : texts) list.push_back(context.string(each));
    const Attr* where = context.array(list);
    REQUIRE(errors_of_symbol_relations(*where, context, key::kWhere).empty());
    relations = read_relations(*where, context);
  }
  ExtentProver prover() { return {context, SymbolDeclarations(declarations, relations)}; }
  ExtentProof prove(ExtentRelation relation, std::string_view a, std::string_view b) {
    ExtentProver prover = this->prover();
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
  SymbolRelations relations;
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

/// Random conditions against all values of S, T and U.
class RandomGoals : public Fixture {
 public:
  void check(int goals, bool has_relations) {
    for (int goal = 0; goal < goals; ++goal) {
      declarations.clear();
      for (const char* name : {"S", "T", "U"}) {
        const auto least = static_cast<std::int64_t>(random_() % 3);
        const auto multiple = static_cast<std::int64_t>(1 + random_() % 3);
        declare(name, least, least + static_cast<std::int64_t>(random_() % 5) + multiple, multiple);
      }
      relations = {};
      if (has_relations) draw_relations();
      check_goal(static_cast<ExtentRelation>(random_() % 5));
    }
    CHECK(proved_ > goals / 10);
    CHECK(refuted_ > goals / 10);
  }

 private:
  using Symbols = std::set<std::string_view>;

  void draw_relations() {
    std::vector<const Attr*> texts;
    for (std::size_t count = 1 + random_() % 2; texts.size() < count;) {
      const char* const common[] = {"$S % $T == 0", "$U == 2*$S", "$T == $U",   "$S <= $T",
                                    "$T*$U >= $S",  "$U < $S",    "$S == $T*$U"};
      const char* const comparisons[] = {" == ", " <= ", " >= ", " < ", " > ", " % 2 == "};
      const std::string made =
          random_extent(random_, 1) + comparisons[random_() % 6] + random_extent(random_, 1);
      const Attr* text = context.string(random_() % 2 == 0 ? common[random_() % 7] : made);
      if (errors_of_symbol_relations(*text, context, key::kWhere).empty()) texts.push_back(text);
    }
    relations = read_relations(*context.array(texts), context);
  }

  Symbols names_of(std::span<const Symbol> symbols) const {
    Symbols names;
    for (const Symbol each : symbols) names.insert(context.text(each));
    return names;
  }

  /// The relations that have to do with these symbols, whose symbols are added.
  std::vector<const SymbolRelation*> related(Symbols& names) {
    std::vector<const SymbolRelation*> found;
    for (std::size_t size = 0; size != names.size();) {
      size = names.size();
      found.clear();
      for (const SymbolRelation& each : relations.all()) {
        Symbols own = names_of(each.symbols(context.dims()));
        const auto is_known = [&](std::string_view name) { return names.contains(name); };
        if (std::ranges::none_of(own, is_known)) continue;
        found.push_back(&each);
        names.merge(own);
      }
    }
    return found;
  }

  void check_goal(ExtentRelation relation) {
    const std::string left = random_extent(random_, 2), right = random_extent(random_, 2);
    const Dim a = read(left), b = read(right);
    CAPTURE(left);
    CAPTURE(right);
    CAPTURE(static_cast<int>(relation));
    std::string conditions;
    for (const SymbolRelation& each : relations.all()) {
      conditions += each.text(context.dims()) + "; ";
    }
    CAPTURE(conditions);
    const ExtentProof proof = prover().prove(relation, a, b);
    CHECK(proof.verdict != kUndecided);
    // The least sum of values that breaks the relation; only symbols that occur have values.
    Symbols names = names_of(SymbolRelation{.left = a, .right = b}.symbols(context.dims()));
    const auto conditions_of_goal = related(names);
    std::optional<std::int64_t> least_sum;
    for_each_value([&](const DimBindings& values) {
      const auto is_met = [&](const SymbolRelation* each) {
        return each->holds(context.dims(), values) == true;
      };
      if (!std::ranges::all_of(conditions_of_goal, is_met)) return;
      std::int64_t sum = 0;
      for (const auto& [name, value] : values.entries()) {
        if (names.contains(context.text(name))) sum += value;
      }
      const auto x = context.dims().evaluate(a, values), y = context.dims().evaluate(b, values);
      REQUIRE(x);
      REQUIRE(y);
      if (!is_true(relation, *x, *y) && (!least_sum || sum < *least_sum)) least_sum = sum;
    });
    CHECK((proof.verdict == kRefuted) == least_sum.has_value());
    proved_ += proof.verdict == kProved ? 1 : 0;
    if (proof.verdict != kRefuted) return;
    ++refuted_;
    std::int64_t sum = 0;
    for (const auto& [symbol, value] : proof.counterexample.entries()) sum += value;
    CHECK(sum == least_sum.value_or(-1));
  }

  template <class Visit>
  void for_each_value(const Visit& visit) {
    const SymbolDeclaration &s = declarations[0], &t = declarations[1], &u = declarations[2];
    for (std::int64_t i = s.least; i <= s.most; ++i) {
      for (std::int64_t j = t.least; j <= t.most; ++j) {
        for (std::int64_t k = u.least; k <= u.most; ++k) {
          if (!s.admits(i) || !t.admits(j) || !u.admits(k)) continue;
          DimBindings values;
          for (const auto& [name, value] : {std::pair(s.name, i), {t.name, j}, {u.name, k}}) {
            values.bind(name, value);
          }
          visit(values);
        }
      }
    }
  }

  std::mt19937 random_{1};
  int proved_ = 0, refuted_ = 0;
};

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

  TEST_CASE_FIXTURE(Fixture, "an inequality is a bound") {
    declare("S", 1, kOpen);
    declare("T", 0, kOpen);
    declare("C", 1, 4096);
    CHECK(verdict(kAtLeast, "$T", "$S") == kRefuted);
    relate({"$S <= $T"});
    CHECK(verdict(kAtLeast, "$T", "$S") == kProved);
    CHECK(verdict(kAtLeast, "2*$T", "2*$S") == kProved);
    CHECK(verdict(kAtLeast, "$C*$T", "$C*$S") == kProved);
    CHECK(verdict(kAtLeast, "$T", "1") == kProved);
    CHECK(verdict(kAtLeast, "$T", "$S/2") == kProved);
    CHECK(verdict(kAtLeast, "$T", "4*($S/4)") == kProved);
    CHECK(verdict(kDefined, "$S/$T", "0") == kProved);
    CHECK(verdict(kEqual, "$S min $T", "$S") == kProved);
    CHECK(refutation(kAtLeast, "$T", "$S+1") == "S = 1, T = 1");
    CHECK(refutation(kAtLeast, "$S", "$T") == "S = 1, T = 2");
    // Through symbols that the condition lacks.
    relate({"$S < $T", "$T + $S <= $C"});
    CHECK(verdict(kAtLeast, "$C", "$S") == kProved);
    CHECK(verdict(kAtLeast, "$C", "2*$S+1") == kProved);
    CHECK(refutation(kAtLeast, "$C", "2*$S+2") == "C = 3, S = 1, T = 2");
  }

  TEST_CASE_FIXTURE(Fixture, "a remainder of 0 makes a quotient exact") {
    declare("H", 0, kOpen);
    declare("G", 0, kOpen);
    declare("D", 0, kOpen);
    CHECK(verdict(kDivides, "$H", "$G") == kRefuted);
    relate({"$H % $G == 0"});
    CHECK(verdict(kDivides, "$H", "$G") == kProved);
    CHECK(verdict(kDivides, "$H*$D", "$G") == kProved);
    CHECK(verdict(kDivides, "$H*$D", "$G*$D") == kRefuted);  // $D may be 0
    CHECK(verdict(kEqual, "$G*($H/$G)", "$H") == kProved);
    CHECK(verdict(kEqual, "$G*$D*($H/$G)", "$H*$D") == kProved);
    CHECK(verdict(kEqual, "$H%$G", "0") == kProved);
    // A division by 0 has no remainder.
    CHECK(verdict(kDefined, "$D/$G", "0") == kProved);
    CHECK(verdict(kAtLeast, "$G", "1") == kProved);
    CHECK(refutation(kDivides, "$H", "2*$G") == "G = 1, H = 1");
    relate({"$H % 8 == 0", "$D == 2*$G"});
    CHECK(verdict(kDivides, "$H", "4") == kProved);
    CHECK(verdict(kEqual, "8*($H/8)", "$H") == kProved);
    CHECK(verdict(kEqual, "$D*$H", "$H*$G*2") == kProved);
    CHECK(verdict(kEqual, "$D/2", "$G") == kProved);
    // The quotient cancels, and divides by 0 all the same.
    CHECK(refutation(kDefined, "$D/$G", "0") == "D = 0, G = 0");
  }

  TEST_CASE_FIXTURE(Fixture, "ranges of symbols that an equation determines") {
    declare("H", 8, 64, 8);
    declare("G", 1, kOpen);
    declare("K", 0, 4);
    relate({"$H == $G*$K"});
    CHECK(verdict(kEqual, "$K*$G", "$H") == kProved);
    CHECK(verdict(kAtLeast, "$G*$K", "8") == kProved);
    CHECK(verdict(kAtLeast, "64", "$G*$K") == kProved);
    CHECK(verdict(kAtLeast, "$H", "$G*$K") == kProved);
    relate({"$H % $G == 0"});
    CHECK(verdict(kEqual, "$G*($H/$G)", "$H") == kProved);
    CHECK(verdict(kDivides, "$H", "$G") == kProved);
    CHECK(verdict(kDivides, "$H", "8") == kProved);
    CHECK(verdict(kAtLeast, "64", "$G*($H/$G)") == kProved);
  }

  TEST_CASE_FIXTURE(Fixture, "relations that no values satisfy") {
    const auto is_impossible = [&](std::initializer_list<std::string_view> texts) {
      relate(texts);
      const auto all = relations.all();
      const ExtentProver prover = this->prover();
      return std::ranges::any_of(
          all, [&](const SymbolRelation& each) { return prover.is_impossible(each); });
    };
    declare("S", 1, 64, 4);
    declare("T", 0, kOpen);
    CHECK_FALSE(is_impossible({"$S <= $T"}));
    CHECK_FALSE(is_impossible({"$S > $T"}));
    CHECK_FALSE(is_impossible({"$S == $T", "$T < 5"}));
    CHECK(is_impossible({"$S == $T", "$T < 4"}));
    CHECK(is_impossible({"$S <= $T", "$S > $T"}));
    CHECK(is_impossible({"$S <= $T", "$T <= $U", "$U < $S"}));
    CHECK(is_impossible({"$S > 64"}));
    CHECK(is_impossible({"$T < 0"}));
    CHECK(is_impossible({"$S % 4 == 1"}));
    CHECK(is_impossible({"$S == 2*$T+1", "$T <= 40"}));
  }

  TEST_CASE_FIXTURE(RandomGoals, "verdicts agree with all values of small ranges") {
    check(3000 / static_cast<int>(test::kCaseStride), false);
  }

  TEST_CASE_FIXTURE(RandomGoals, "verdicts agree with all values that satisfy relations") {
    check(600 / static_cast<int>(test::kCaseStride), true);
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
