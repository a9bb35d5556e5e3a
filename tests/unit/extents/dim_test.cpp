#include "mir/dim.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../seeds.hpp"
#include "mir/codes/names.hpp"

using namespace mir;

namespace dim_test {

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr Dim kZero;

struct Fixture {
  Dim read(std::string_view text) {
    const auto dim = table.parse(text);
    INFO(text);
    REQUIRE_MESSAGE(dim, dim.error().message);
    return *dim;
  }

  /// The normal form of `text`, read and printed by a table that has not seen it.
  static std::string normal(std::string_view text) {
    Fixture fresh;
    return fresh.table.print(fresh.read(text));
  }

  static std::string error(std::string_view text) {
    Fixture fresh;
    const auto dim = fresh.table.parse(text);
    REQUIRE_FALSE(dim);
    CHECK(dim.error().code == diag::kBadDimension);
    return dim.error().message;
  }

  DimBindings bind(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
    DimBindings bindings;
    for (const auto& [name, value] : values) bindings.bind(strings.intern(name), value);
    return bindings;
  }

  StringInterner strings;
  DimTable table{strings};
};

/// An expression as written, before any table has seen it.
struct Tree {
  char op = '#';  ///< '#' an integer, '$' a symbol, '<' min, '>' max, else an operator
  std::int64_t value = 0;
  std::string name;
  std::vector<Tree> operands;
};

constexpr std::array<const char*, 4> kNames = {"S", "past", "B_1", "_h"};

class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed, std::string_view operators = "+-*/%")
      : operators_(operators), engine_(seed) {}

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }

  Tree tree(int height) {
    if (height == 0 || below(6) == 0) {
      if (below(3) == 0) return {'#', below(25) - 8, {}, {}};
      return {'$', 0, kNames[static_cast<std::size_t>(below(4))], {}};
    }
    const char op =
        operators_[static_cast<std::size_t>(below(static_cast<std::int64_t>(operators_.size())))];
    Tree made{op, 0, {}, {}};
    made.operands.push_back(tree(height - 1));
    made.operands.push_back(tree(height - 1));
    return made;
  }

 private:
  std::string_view operators_;
  std::mt19937_64 engine_;
};

std::string_view word_of(const char& op) {
  return op == '<' ? "min" : op == '>' ? "max" : std::string_view(&op, 1);
}

/// Through text: only text has minima and maxima.
Dim extremum(DimTable& table, Dim a, const char& op, Dim b) {
  const auto dim =
      table.parse(fmt::format("({}) {} ({})", table.print(a), word_of(op), table.print(b)));
  return dim ? *dim : Dim::unknown();
}

std::string text_of(const Tree& tree) {
  if (tree.op == '#') return std::to_string(tree.value);
  if (tree.op == '$') return '$' + tree.name;
  return fmt::format("({}) {} ({})", text_of(tree.operands[0]), word_of(tree.op),
                     text_of(tree.operands[1]));
}

Dim build(DimTable& table, const Tree& tree) {
  if (tree.op == '#') return Dim(tree.value);
  if (tree.op == '$') return table.symbol(tree.name);
  const Dim a = build(table, tree.operands[0]);
  const Dim b = build(table, tree.operands[1]);
  return tree.op == '+'   ? table.add(a, b)
         : tree.op == '-' ? table.subtract(a, b)
         : tree.op == '*' ? table.multiply(a, b)
         : tree.op == '/' ? table.floor_divide(a, b)
         : tree.op == '%' ? table.modulo(a, b)
                          : extremum(table, a, tree.op, b);
}

/// The value by the definition of each operator; none on division by zero and once a value leaves
/// 2^40, so that no rearrangement of the expression comes near 64 bits.
std::optional<std::int64_t> value_of(const Tree& tree, const std::vector<std::int64_t>& values) {
  if (tree.op == '#') return tree.value;
  if (tree.op == '$') {
    std::size_t i = 0;
    while (tree.name != kNames[i]) ++i;
    return values[i];
  }
  const auto a = value_of(tree.operands[0], values);
  const auto b = value_of(tree.operands[1], values);
  if (!a || !b) return std::nullopt;
  if ((tree.op == '/' || tree.op == '%') && *b == 0) return std::nullopt;
  std::int64_t result = 0;
  if (tree.op == '+') result = *a + *b;
  if (tree.op == '-') result = *a - *b;
  if (tree.op == '<') result = std::min(*a, *b);
  if (tree.op == '>') result = std::max(*a, *b);
  if (tree.op == '*' && __builtin_mul_overflow(*a, *b, &result)) return std::nullopt;
  if (tree.op == '/' || tree.op == '%') {
    std::int64_t floor = *a / *b;
    while (floor * *b > *a && *b > 0) --floor;
    while (floor * *b < *a && *b < 0) --floor;
    result = tree.op == '/' ? floor : *a - *b * floor;
  }
  constexpr std::int64_t kBound = std::int64_t{1} << 40;
  return result > -kBound && result < kBound ? std::optional(result) : std::nullopt;
}

}  // namespace

TEST_CASE("a dimension is constant, symbolic or unknown") {
  Fixture f;
  CHECK(Dim(7).is_constant());
  CHECK(Dim(7).constant() == 7);
  CHECK(Dim(7) != Dim(8));
  CHECK(Dim() == Dim(std::int64_t{0}));
  CHECK(Dim::unknown().is_unknown());
  CHECK_FALSE(Dim::unknown().is_constant());
  CHECK_FALSE(Dim::unknown().is_symbolic());
  CHECK(Dim::unknown() == f.read("?"));
  CHECK(f.table.symbol("S").is_symbolic());
  CHECK(f.table.symbol("S") == f.read("$S"));
  CHECK(f.table.symbol("S") != f.table.symbol("T"));
  CHECK(f.read(" -1 ") == Dim(-1));
}

TEST_CASE("only identifiers name symbols") {
  Fixture f;
  CHECK(f.table.print(f.table.symbol("_a9Z")) == "$_a9Z");
  f.read("$S+1");
  f.read("$S/4");
  for (const char* name : {"", "9a", "a b", "S+1", "S/4", "a$", "\xc3\xa9"}) {
    CHECK(f.table.symbol(name).is_unknown());
  }
  CHECK(f.table.symbol(std::string(5000, 'x')).is_unknown());
}

TEST_CASE("the normal form sorts terms by text and puts the constant last") {
  const std::pair<const char*, const char*> cases[] = {
      {"$past+$S", "$S+$past"},
      {"-3 + $past + $T*2*$S", "2*$S*$T+$past-3"},
      {"4*($S+1)", "4*$S+4"},
      {"4-$S", "-$S+4"},
      {"-$S*-2", "2*$S"},
      {"$S-$S", "0"},
      {"$S*$S", "$S*$S"},
      {"($a-$b)*($a+$b)", "$a*$a-$b*$b"},
      {"10-3-2", "5"},
      {"2+3*4", "14"},
      {"-7/2*2", "-8"},
      {"100/8/3", "4"},
      {"--5", "5"},
  };
  for (const auto& [text, normal] : cases) CHECK(Fixture::normal(text) == normal);
}

TEST_CASE("floor divisions and remainders print as factors that read back") {
  const std::pair<const char*, const char*> cases[] = {
      {"$S/4", "$S/4"},
      {"($S+3)/4", "($S+3)/4"},
      {"$S%4", "$S%4"},
      {"2*($S/4)", "2*($S/4)"},
      {"2*$S/7", "2*$S/7"},
      {"-($S/4)", "-($S/4)"},
      {"-$S/4", "-$S/4"},
      {"$A-$S/4", "$A-$S/4"},
      {"$S/4*$T", "($S/4)*$T"},
      {"$S/($T/4)", "$S/($T/4)"},
      {"$S/(2*$T)", "$S/(2*$T)"},
      {"7/$S", "7/$S"},
      {"$S/4%3", "-3*($S/12)+$S/4"},
      {"$S/-4", "-$S/4"},
      {"$S%-4", "-(-$S%4)"},
  };
  for (const auto& [text, normal] : cases) CHECK(Fixture::normal(text) == normal);
}

TEST_CASE("division is exact where coefficients and factors divide") {
  const std::pair<const char*, const char*> cases[] = {
      {"(4*$S+8*$T)/4", "$S+2*$T"},
      {"(4*$S+7)/4", "$S+1"},
      {"(4*$S-1)/4", "$S-1"},
      {"($S+7)/4", "($S+3)/4+1"},
      {"2*$S/4", "$S/2"},
      {"$S*$T/$T", "$S"},
      {"$B*$S*1024/($B*$S)", "1024"},
      {"$B*($past+$S)*64/($past+$S)", "64*$B"},
      {"3*$S*$T/(2*$S)", "3*$T/2"},
      {"$S/2/3", "$S/6"},
      {"(($S+1)/2+1)/2", "($S+3)/4"},
      {"$S/$S", "1"},
      {"$S%$S", "0"},
      {"(4*$S+7)%4", "3"},
      {"(2*$S+1)%4", "2*($S%2)+1"},
      {"($S%8+$T)%4", "($S+$T)%4"},
      {"$T*($S%8)%(4*$T)", "($S%4)*$T"},
      {"0/$S", "0"},
  };
  for (const auto& [text, normal] : cases) CHECK(Fixture::normal(text) == normal);
}

TEST_CASE("a floor division and its remainder give back what was divided") {
  for (const auto& [text, expected] : std::vector<std::pair<const char*, const char*>>{
           {"($S/4)*4+$S%4", "$S"},
           {"$S%4+4*($S/4)", "$S"},
           {"2*($S%4)+8*($S/4)", "2*$S"},
           {"($S/4)*4+$S%4+$S/4", "$S+$S/4"},
           {"$S%7%5", "$S%7%5"},
           {"$A-$S%4", "$A-$S%4"},
           {"(($past+$S)/8)*8+($past+$S)%8", "$S+$past"},
           {"$T*(4*($S/4)+$S%4)", "$S*$T"},
           {"($S/$T)*$T+$S%$T", "$S"},
           {"$S/($T+1)*($T+1)+$S%($T+1)", "$S"},
           {"(4*($S/4)+$S%4)/2", "$S/2"},
           {"(2*$S+1)/4*4+(2*$S+1)%4", "2*$S+1"},
           {"$S-4*($S/4)", "$S%4"},
           {"$S-$S/4*4-$S%4", "0"},
           {"$S-$S%4", "4*($S/4)"},
           {"($S/2)%3+3*($S/6)", "$S/2"}}) {
    const std::string said(text);
    CAPTURE(said);
    CHECK(Fixture::normal(text) == expected);
  }
  Fixture f;
  const Dim s = f.read("$S"), four(4);
  const Dim whole = f.table.multiply(f.table.floor_divide(s, four), four);
  CHECK(f.table.add(whole, f.table.modulo(s, four)) == s);
  CHECK(f.table.subtract(s, whole) == f.table.modulo(s, four));
}

TEST_CASE("equal expressions are equal dimensions") {
  Fixture f;
  const Dim s = f.table.symbol("S"), t = f.table.symbol("T"), q = f.read("($S+$T)/3");
  CHECK(f.table.add(s, t) == f.table.add(t, s));
  CHECK(f.table.multiply(s, q) == f.table.multiply(q, s));
  CHECK(f.table.multiply(s, f.table.add(t, q)) ==
        f.table.add(f.table.multiply(s, t), f.table.multiply(q, s)));
  CHECK(f.table.subtract(f.table.add(s, t), t) == s);
  CHECK(f.table.subtract(q, q) == kZero);
  CHECK(f.table.floor_divide(f.table.multiply(s, Dim(8)), Dim(8)) == s);
}

TEST_CASE("constants divide toward negative infinity") {
  Fixture f;
  CHECK(f.table.floor_divide(Dim(7), Dim(2)) == Dim(3));
  CHECK(f.table.floor_divide(Dim(-7), Dim(2)) == Dim(-4));
  CHECK(f.table.floor_divide(Dim(7), Dim(-2)) == Dim(-4));
  CHECK(f.table.floor_divide(Dim(-7), Dim(-2)) == Dim(3));
  CHECK(f.table.floor_divide(Dim(-8), Dim(2)) == Dim(-4));
  CHECK(f.table.modulo(Dim(-7), Dim(4)) == Dim(1));
  CHECK(f.table.modulo(Dim(7), Dim(-4)) == Dim(-1));
  CHECK(f.table.modulo(Dim(kMin), Dim(-1)) == kZero);
  CHECK(f.table.floor_divide(Dim(kMin), Dim(-2)) == Dim(-(kMin / 2)));
}

TEST_CASE("symbolic division rounds like its value") {
  Fixture f;
  const Dim quotient = f.read("$S/4"), remainder = f.read("$S%4");
  for (const std::int64_t s : {-9, -8, -1, 0, 1, 3, 4, 11}) {
    const auto bindings = f.bind({{"S", s}});
    CHECK(f.table.evaluate(quotient, bindings) == (s - ((s % 4) + 4) % 4) / 4);
    CHECK(f.table.evaluate(remainder, bindings) == ((s % 4) + 4) % 4);
  }
}

TEST_CASE("an unknown operand, a zero divisor and overflow make the result unknown") {
  Fixture f;
  const Dim s = f.table.symbol("S"), unknown = Dim::unknown();
  CHECK(f.table.add(unknown, Dim(1)).is_unknown());
  CHECK(f.table.multiply(kZero, unknown).is_unknown());
  CHECK(f.table.subtract(s, unknown).is_unknown());
  CHECK(f.table.floor_divide(s, kZero).is_unknown());
  CHECK(f.table.modulo(Dim(3), kZero).is_unknown());
  CHECK(f.table.floor_divide(s, f.table.subtract(s, s)).is_unknown());
  CHECK(f.table.add(Dim(kMax), Dim(1)).is_unknown());
  CHECK(f.table.subtract(Dim(-1), Dim(kMin)) == Dim(kMax));
  CHECK(f.table.subtract(kZero, Dim(kMin)).is_unknown());
  CHECK(f.table.floor_divide(Dim(kMin), Dim(-1)).is_unknown());
  const Dim large = f.table.multiply(s, Dim(kMax));
  CHECK(large.is_symbolic());
  CHECK(f.table.multiply(large, Dim(2)).is_unknown());
  CHECK(f.table.add(large, s).is_unknown());
}

TEST_CASE("the extremes of 64 bits read back") {
  for (const char* text :
       {"-9223372036854775808", "9223372036854775807", "$S+-9223372036854775808",
        "-9223372036854775808*$S", "$A+-9223372036854775808*$S", "-9223372036854775808/$S"}) {
    CHECK(Fixture::normal(text) == text);
  }
}

TEST_CASE("malformed text is an error that says where") {
  CHECK(Fixture::error("$S+") ==
        "cannot read dimension '$S+': expected an integer, a symbol or "
        "'(' at its end");
  CHECK(Fixture::error("$S $T") ==
        "cannot read dimension '$S $T': expected an operator at character 4");
  CHECK(Fixture::error("(1+$S").find("expected an operator or ')' at its end") !=
        std::string::npos);
  CHECK(Fixture::error("$ S").find("expected the name of a symbol at character 2") !=
        std::string::npos);
  CHECK(Fixture::error("?+1") == test::Part{"'?' is not part of an expression"});
  CHECK(Fixture::error("$S/(2-2)") == test::Part{"division by zero"});
  CHECK(Fixture::error("9223372036854775808") == test::Part{"64 bits"});
  CHECK(Fixture::error("9223372036854775807+1") == test::Part{"64 bits"});
  for (const char* text : {"", " ", "S", "+1", "1.5", "4$S", "$", "$9", "$S)", "()", "*$S", "$S**2",
                           "$S//2", "$\xc3\xa9",
                           "?"
                           "?"}) {
    Fixture::error(text);
  }
  Fixture::error(std::string_view("$S\0", 3));
}

TEST_CASE("hostile text ends in an error, not in exhaustion") {
  Fixture::error(std::string(100'000, '('));
  CHECK(Fixture::error(std::string(400, '(') + "$S" + std::string(400, ')'))
            .find("nested parentheses at character") != std::string::npos);
  CHECK(Fixture::normal(std::string(1001, '-') + "$S") == "-$S");
  CHECK(Fixture::normal(std::string(100, '(') + "$S" + std::string(100, ')')) == "$S");
  std::string expanding = "1";
  for (char c = 'a'; c <= 'z'; ++c) expanding += std::string("*($") + c + "+1)";
  CHECK(Fixture::error(expanding) == test::Part{"too large"});
  std::string deep = "$a";
  for (int i = 0; i < 100; ++i) deep += "/$a%$b";
  CHECK(Fixture::error(deep) == test::Part{"too large"});
}

TEST_CASE("repeated squaring becomes unknown instead of growing") {
  Fixture f;
  Dim power = f.read("$S+$T+1");
  for (int i = 0; i < 100; ++i) power = f.table.multiply(power, power);
  CHECK(power.is_unknown());
  Dim nested = f.table.symbol("S");
  for (int i = 0; i < 1000; ++i) {
    nested = f.table.modulo(f.table.add(nested, Dim(1)), f.table.symbol("T"));
  }
  CHECK(f.table.print(nested) == "($S+1000)%$T");  // remainders of one divisor do not nest
  const Dim divisors[] = {f.table.symbol("T"), f.table.symbol("U")};
  for (int i = 0; i < 1000; ++i) nested = f.table.modulo(nested, divisors[i % 2]);
  CHECK(nested.is_unknown());
}

TEST_CASE("evaluation needs every symbol and fits 64 bits") {
  Fixture f;
  const Dim dim = f.read("($past+$S)*$T/(4*$B)");
  CHECK(f.table.evaluate(dim, f.bind({{"past", 5}, {"S", 3}, {"T", 9}, {"B", 2}})) == 9);
  CHECK(f.table.evaluate(dim, f.bind({{"past", 5}, {"S", 3}, {"T", 9}})) == std::nullopt);
  CHECK(f.table.evaluate(dim, f.bind({{"past", 5}, {"S", 3}, {"T", 9}, {"B", 0}})) == std::nullopt);
  CHECK(f.table.evaluate(dim, f.bind({{"past", kMax}, {"S", 3}, {"T", 9}, {"B", 1}})) ==
        std::nullopt);
  CHECK(f.table.evaluate(Dim(12), {}) == 12);
  CHECK(f.table.evaluate(Dim::unknown(), {}) == std::nullopt);
}

TEST_CASE("binding a symbol again replaces its value") {
  Fixture f;
  auto bindings = f.bind({{"S", 1}, {"T", 2}, {"S", 3}});
  CHECK(bindings.entries().size() == 2);
  CHECK(bindings.find(f.strings.intern("S")) == 3);
  CHECK(bindings.find(f.strings.intern("U")) == std::nullopt);
}

TEST_CASE("symbols are listed once, in order of text") {
  Fixture f;
  const auto names = [&f](std::string_view text) {
    std::string list;
    for (const Symbol name : f.table.symbols(f.read(text))) {
      list += std::string(f.strings.text(name)) + ' ';
    }
    return list;
  };
  CHECK(names("$z*($a/($m%$a))+$b*$z") == "a b m z ");
  CHECK(names("?").empty());
  CHECK(names("3").empty());
}

TEST_CASE("solving finds the one unbound symbol of a linear extent") {
  Fixture f;
  const auto solve = [&f](std::string_view text, std::int64_t value, const DimBindings& bindings) {
    const auto solution = f.table.solve(f.read(text), value, bindings);
    return solution ? std::string(f.strings.text(solution->first)) + '=' +
                          std::to_string(solution->second)
                    : std::string("none");
  };
  CHECK(solve("$S", 7, {}) == "S=7");
  CHECK(solve("4*$S+3", 31, {}) == "S=7");
  CHECK(solve("4*$S+3", 32, {}) == "none");
  CHECK(solve("10-3*$S", 16, {}) == "S=-2");
  CHECK(solve("$past+$S", 9, {}) == "none");
  CHECK(solve("$past+$S", 9, f.bind({{"past", 5}})) == "S=4");
  CHECK(solve("$past*$S/4", 10, f.bind({{"past", 8}})) == "S=5");
  CHECK(solve("$S*$S", 9, {}) == "none");
  CHECK(solve("$S/4", 2, {}) == "none");
  CHECK(solve("$S", 7, f.bind({{"S", 7}})) == "none");
  CHECK(solve("-$S", kMin, {}) == "none");
  CHECK(solve("12", 12, {}) == "none");
  CHECK(solve("?", 12, {}) == "none");
}

TEST_CASE("substitution replaces bound symbols and keeps the others") {
  Fixture f;
  const Dim dim = f.read("($past+$S)/4*$T");
  CHECK(f.table.print(f.table.substitute(dim, f.bind({{"past", 17}}))) == "4*$T+$T*(($S+1)/4)");
  CHECK(f.table.substitute(dim, f.bind({{"past", 17}, {"S", 3}, {"T", 2}})) == Dim(10));
  CHECK(f.table.substitute(dim, DimBindings{}) == dim);
  CHECK(f.table.substitute(f.read("$S/$T"), f.bind({{"T", 0}})).is_unknown());
  CHECK(f.table.substitute(Dim(3), f.bind({{"T", 0}})) == Dim(3));
  CHECK(f.table.substitute(Dim::unknown(), DimBindings{}).is_unknown());
}

namespace {

void check_normal_forms(RandomTrees random, std::uint64_t all_rounds) {
  const int rounds = static_cast<int>(test::seed_count(all_rounds));
  int valued = 0;
  for (int round = 0; round < rounds; ++round) {
    Fixture f, fresh;
    const Tree tree = random.tree(4);
    const Dim dim = build(f.table, tree);
    if (dim.is_unknown()) continue;
    const std::string text = f.table.print(dim);
    CAPTURE(text_of(tree));
    CAPTURE(text);
    REQUIRE(fresh.table.print(fresh.read(text)) == text);
    REQUIRE(f.read(text) == dim);
    REQUIRE(f.read(text_of(tree)) == dim);
    for (int sample = 0; sample < 8; ++sample) {
      DimBindings all, some;
      std::vector<std::int64_t> values;
      for (const char* name : kNames) {
        values.push_back(random.below(31) - 10);
        all.bind(f.strings.intern(name), values.back());
        if (random.below(2) == 0) some.bind(f.strings.intern(name), values.back());
      }
      const auto value = value_of(tree, values);
      if (!value) continue;
      ++valued;
      REQUIRE(f.table.evaluate(dim, all) == value);
      const Dim partial = f.table.substitute(dim, some);
      REQUIRE((partial.is_unknown() || f.table.evaluate(partial, all) == value));
    }
  }
  CHECK(valued > rounds * 5 / 4);
}

}  // namespace

TEST_CASE("random expressions keep their value in normal form and read back from its text") {
  check_normal_forms(RandomTrees(20), 16000);
}

TEST_CASE("random minima and maxima keep their value in normal form and read back from its text") {
  check_normal_forms(RandomTrees(23, "+-*/%<><>"), 1600);
}

TEST_CASE("extents up to the longest ones read back from their text") {
  std::size_t longest = 0, unknown = 0;
  // Each kind of growth takes long where sanitizers watch it.
  const unsigned seeds = test::kIsSanitized ? 3 : 12;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    RandomTrees random(seed, seed % 3 == 0 ? "+%<>" : seed % 3 == 1 ? "++%" : "+*/%");
    Fixture f;
    Dim dim = f.read("$a+1");
    for (int step = 0; step < 60; ++step) {
      const Dim other = build(f.table, random.tree(3));
      const Dim grown = step % 2 == 0 ? f.table.add(f.table.modulo(dim, other), other)
                                      : f.table.add(f.table.multiply(dim, Dim(3)), other);
      if (grown.is_unknown()) {
        ++unknown;
        continue;
      }
      dim = grown;
      for (const Dim each : {dim, f.table.floor_divide(dim, f.read("$a"))}) {
        if (each.is_unknown()) continue;
        const std::string text = f.table.print(each);
        longest = std::max(longest, text.size());
        CAPTURE(text);
        Fixture fresh;
        const auto read = fresh.table.parse(text);
        REQUIRE_MESSAGE(read.ok(), read.error().message);
        REQUIRE(fresh.table.print(*read) == text);
      }
    }
  }
  CHECK(longest > 600);
  CHECK(unknown > 0);
}

TEST_CASE("minima and maxima of the same numbers are the same extents") {
  for (const char* text : {"$S max 4", "4 max $S", "($S max 4)", "$S max 4 max 2", "(4 max $S)"}) {
    CHECK(Fixture::normal(text) == "($S max 4)");
  }
  CHECK(Fixture::normal("4 min $S") == "($S min 4)");
  CHECK(Fixture::normal("($S min 4) + ($S max 4)") == "$S+4");
  CHECK(Fixture::normal("2*$S max 8") == "2*($S max 4)");
  CHECK(Fixture::normal("-$S min -4") == "-($S max 4)");
  CHECK(Fixture::normal("$S+1 min $S+1") == "$S+1");
  CHECK(Fixture::normal("7 min 3") == "3");
  CHECK(Fixture::normal("1+$S max 2*$T") == "($S+1 max 2*$T)");
  CHECK(Fixture::normal("3*($S min $T)/($S max 1)") == "3*($S min $T)/($S max 1)");
  CHECK(Fixture::normal("$S max 4 * $T") == "($S max 4*$T)");
}

TEST_CASE("minima and maxima of the least number read back from their text") {
  // -2^63 has no opposite, so the text compares with 0.
  for (const char* text :
       {"$A - 9223372036854775807 - 1 max 0", "$A - ($A - 9223372036854775807 - 1 max 0)",
        "$A - 9223372036854775807*$B - $B max 0",
        "$A - ($A - 9223372036854775807*$B - $B max 0)"}) {
    CAPTURE(text);
    const std::string normal = Fixture::normal(text);
    CHECK(Fixture::normal(normal.c_str()) == normal);
  }
}

TEST_CASE("words between extents are min and max, and not both without parentheses") {
  CHECK(Fixture::error("$S max 1 min 2") ==
        test::Part{"expected parentheses between 'min' and 'max'"});
  CHECK(Fixture::normal("(($S max 1) min 2) - (2 min ($S max 1))") == "0");
  for (const char* text :
       {"$S max", "max $S", "$S maxi 4", "$S max4", "max($S, 4)", "$S max max 4", "$S min ?"}) {
    Fixture::error(text);
  }
}

TEST_CASE("random sums and products are commutative and distributive") {
  RandomTrees random(21);
  Fixture f;
  int compared = 0;
  const int rounds = static_cast<int>(test::seed_count(8000));
  for (int round = 0; round < rounds; ++round) {
    const Dim a = build(f.table, random.tree(2));
    const Dim b = build(f.table, random.tree(2));
    const Dim c = build(f.table, random.tree(2));
    REQUIRE(f.table.add(a, b) == f.table.add(b, a));
    REQUIRE(f.table.multiply(a, b) == f.table.multiply(b, a));
    REQUIRE(f.table.add(f.table.add(a, b), c) == f.table.add(a, f.table.add(b, c)));
    const Dim product = f.table.multiply(a, f.table.add(b, c));
    REQUIRE(product == f.table.add(f.table.multiply(a, b), f.table.multiply(a, c)));
    compared += product.is_symbolic();
    if (b.is_unknown() || b == kZero) continue;
    REQUIRE((a.is_unknown() || f.table.floor_divide(f.table.multiply(a, b), b) == a));
    REQUIRE((a.is_unknown() || f.table.modulo(f.table.multiply(a, b), b) == kZero));
  }
  CHECK(compared * 4 > rounds);
}

TEST_CASE("the text of an extent does not depend on what was interned before") {
  Fixture forward, backward;
  for (const char* name : {"a", "b", "c"}) forward.table.symbol(name);
  for (const char* name : {"c", "b", "a"}) backward.table.symbol(name);
  const char* text = "$c*$a-$b*($c/$a)+$b%$c";
  CHECK(forward.table.print(forward.read(text)) == backward.table.print(backward.read(text)));
}

TEST_CASE("threads that build the same extents agree on every one") {
  Fixture f;
  std::vector<std::vector<Dim>> seen(4);
  std::vector<std::thread> threads;
  for (std::vector<Dim>& mine : seen) {
    threads.emplace_back([&f, &mine] {
      RandomTrees random(22);
      for (int i = 0; i < 500; ++i) mine.push_back(build(f.table, random.tree(3)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Dim>& other : seen) CHECK(other == seen[0]);
}

TEST_CASE("divisions are nested to a limit") {
  // Each level divides by a symbol, which nothing cancels.
  Fixture f;
  const Dim one = f.read("1"), divisor = f.read("$B");
  Dim nested = f.read("$S");
  int levels = 0;
  while (!nested.is_unknown() && levels < 200) {
    nested = f.table.floor_divide(f.table.add(nested, one), divisor);
    ++levels;
  }
  CHECK(levels == 65);
}

}  // namespace dim_test
