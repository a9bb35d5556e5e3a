// Expressions of patterns.
#include "patterns/expression.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "../project_files.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"

using namespace mir;
using namespace mir::patterns;
using mir::test::kRoot;
using mir::test::read_whole;

namespace expression_test {

namespace {

/// Names that tests bind: `$n` = 8, `$S` a symbol, `$p` and `$q` permutations, `T` = Float16, and
/// the operand `%x` and the result `%y` of an op.
class Names : public Scope {
 public:
  Names() {
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add(
        "m.mir",
        "@main [mir_version:1] (%x:tensor<[2, $S, 5], Float16, CPU>) -> "
        "(%y:tensor<[2, $S, 5], Float16, CPU>) {\n"
        "    linalg.CPU.AddOp(%x, %c:tensor<[1], Float16, CPU>[constant:[2]]) -> (%y)\n"
        "    cf.ReturnOp (%y) -> ()\n}\n");
    Diagnostics diagnostics;
    const auto modules = read_modules(*file, context, diagnostics);
    REQUIRE_FALSE(diagnostics.has_errors());
    Op* op = modules.front()->body().entry()->front();
    bind("$n", context.integer(8));
    bind("$S", context.dim(context.dims().symbol("S")));
    bind("$p", list({1, 2, 0}));
    bind("$q", list({0, 2, 1}));
    bind("$c", context.number(0.5));
    bind("$none", nullptr);
    bind("T", context.word("Float16"));
    bindings.values = {op->operand(0), op->result(), op->operand(1)};
  }

  std::optional<std::uint32_t> variable(std::string_view name) override {
    const auto found = numbers.find(name);
    if (found == numbers.end()) return std::nullopt;
    return found->second;
  }
  std::optional<std::uint32_t> value(std::string_view name) override {
    constexpr std::string_view kNames = "xyc";
    const auto at = name.size() == 1 ? kNames.find(name[0]) : kNames.npos;
    if (at == kNames.npos) return std::nullopt;
    return static_cast<std::uint32_t>(at);
  }

  /// The spelling of its value, "none", or the error.
  std::string of(std::string_view text) {
    const auto parsed = parse_expression(text, *this, context);
    if (!parsed) return parsed.error().message;
    const Attr* value = evaluate(*parsed, bindings, context);
    return value == nullptr ? "none" : std::string(value->spelling());
  }

  /// The same of the text as the beginning of longer ones; "differs by" if they give other values.
  std::string of_beginning(std::string_view text) {
    const std::string alone = of(text);
    for (const char* more : {"7", ".5", "e1", "x", "(", "..", "=", "]", ")", "\"", " + 1"}) {
      const std::string longer = std::string(text) + more;
      if (of(std::string_view(longer).substr(0, text.size())) != alone)
        return "differs by " + longer;
    }
    return alone;
  }

  IRContext context;
  Bindings bindings;

 private:
  void bind(std::string name, const Attr* value) {
    numbers.emplace(std::move(name), static_cast<std::uint32_t>(bindings.variables.size()));
    bindings.variables.push_back(value);
  }
  const Attr* list(std::initializer_list<std::int64_t> of) {
    std::vector<const Attr*> elements;
    for (const std::int64_t each : of) elements.push_back(context.integer(each));
    return context.array(elements);
  }
  std::map<std::string, std::uint32_t, std::less<>> numbers;
};

}  // namespace

TEST_SUITE("expressions of patterns") {
  TEST_CASE("values") {
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 - 2 - 1", "4"},
        {"-7 / 2", "-4"},
        {"-7 % 2", "1"},
        {"7 / 0", "none"},
        {"7 % 0", "none"},
        {"$n*$S + $S", "9*$S"},
        {"9223372036854775807 + 1", "none"},
        {"$c * 2", "1.0"},
        {"1.0 / 0", "inf"},
        {"1.5 % 2", "none"},
        {"-$c", "-0.5"},
        {"-0.0", "-0.0"},
        {"1e3 + .5", "1000.5"},
        {"$none + 1", "none"},
        // comparisons
        {"$n == 8 && $c < 1", "true"},
        {"$n != 8 || $c >= 0.5", "true"},
        {"1 == 1.0", "true"},
        {"0.0 == -0.0", "true"},
        {"nan == nan", "false"},
        {"inf > 1", "true"},
        {"$S == $S", "true"},
        {"$S + 1 > $S", "true"},
        {"$S == 4", "none"},
        {"$S != 4", "none"},
        {"$S < 4", "none"},
        {"!($S < 4)", "none"},
        {"false && $S == 4", "false"},
        {"true || $S == 4", "true"},
        {"$S == 4 || true", "none"},
        {"T == Float16", "true"},
        {"T in [Float32, Float16]", "true"},
        {"T in [Float32]", "false"},
        {"T < Float16", "none"},
        {"\"a b\" == \"a b\"", "true"},
        {"true == true", "true"},
        {"$n in 8", "none"},
        {"1 && true", "none"},
        {"$p == [1, 2, 0]", "true"},
        {"[1, 2.0] == [1.0, 2]", "true"},
        {"[$n, $S] == [8, $S]", "true"},
        // lists
        {"[1, $n, $S]", "[1, 8, $S]"},
        {"[]", "[]"},
        {"[$p.., 7, $p..]", "[1, 2, 0, 7, 1, 2, 0]"},
        {"[$n.., 1]", "none"},
        {"$p[0]", "1"},
        {"$p[-1]", "0"},
        {"$p[3]", "none"},
        {"$p[-4]", "none"},
        {"[[1, 2], [3]][0][1]", "2"},
        {"$n[0]", "none"},
        // functions of values
        {"type(%x)", "tensor<[2, $S, 5], Float16, CPU>"},
        {"type(%x) == type(%y)", "true"},
        {"type(%x) == type(%c)", "false"},
        {"shape(%x)", "[2, $S, 5]"},
        {"rank(%x)", "3"},
        {"size(%x)", "10*$S"},
        {"dtype(%x)", "Float16"},
        {"device(%x) == CPU", "true"},
        {"users(%x)", "1"},
        {"is_constant(%c)", "true"},
        {"is_constant(%x)", "false"},
        {"is_parameter(%c)", "false"},
        // functions of other things
        {"is_float(T)", "true"},
        {"is_integer(T)", "false"},
        {"is_integer(Int4) && is_integer(UInt8)", "true"},
        {"is_integer(Bool)", "false"},
        {"is_float(word)", "none"},
        {"min($n, 3)", "3"},
        {"max($n, 3)", "8"},
        {"min($S, 3)", "none"},
        {"min($S, $S + 1)", "$S"},
        {"min($S + 1, $S)", "$S"},
        {"max($S + 1, $S)", "$S+1"},
        {"max(0.5, 2)", "2"},
        {"max(nan, 2)", "none"},
        {"is_power_of_two(8)", "true"},
        {"is_power_of_two(0)", "false"},
        {"is_power_of_two(-8)", "false"},
        {"is_power_of_two(0.25)", "true"},
        {"is_power_of_two(0.3)", "false"},
        {"is_power_of_two(inf)", "false"},
        {"is_list([])", "true"},
        {"is_list(3)", "false"},
        {"is_list(relu)", "false"},
        {"sqrt(16)", "4.0"},
        {"sqrt(2.25)", "1.5"},
        {"sqrt(-1)", "none"},
        {"sqrt(relu)", "none"},
        {"1.0 / sqrt(64)", "0.125"},
        {"log(1)", "0.0"},
        {"log(0)", "none"},
        {"floor(2.5)", "2"},
        {"floor(-2.5)", "-3"},
        {"floor(7)", "7"},
        {"floor(1e300)", "none"},
        {"ceil(2.5)", "3"},
        {"ceil(-2.5)", "-2"},
        {"ceil(inf)", "none"},
        {"length($p)", "3"},
        {"product([2, $S, 3])", "6*$S"},
        {"product([])", "1"},
        {"sum([2, $S, 3])", "$S+5"},
        {"reverse($p)", "[0, 2, 1]"},
        {"compose($p, $q)", "[1, 0, 2]"},
        {"gather([4, 5, $S], [2, 0, -2])", "[$S, 4, 5]"},
        {"gather([4, 5], [1])", "[5]"},
        {"gather([4], [0, 0])", "[4, 4]"},
        {"gather([4, 5], [2])", "none"},
        {"gather([4, 5], [-3])", "none"},
        {"gather([4, 5], [])", "[]"},
        {"gather(4, [0])", "none"},
        {"gather([4], 0)", "none"},
        {"find([4, $S, 5.5, $S], $S)", "1"},
        {"find([4, 5], 5)", "1"},
        {"find([4, 5], 6)", "none"},
        {"find(4, 4)", "none"},
        {"repeat($S, 3)", "[$S, $S, $S]"},
        {"repeat(1, 0)", "[]"},
        {"length(repeat(1, 64))", "64"},
        {"repeat(1, 65)", "none"},
        {"repeat(1, -1)", "none"},
        {"repeat(1, $S)", "none"},
        {"select($n == 8, 1, 2)", "1"},
        {"select($n == 7, 1, 2)", "2"},
        {"select($n == 7, $none, 2)", "2"},
        {"select($n == 8, 1, 1 / 0)", "1"},
        {"select($n == 8, 1 / 0, 1)", "none"},
        {"select($S == 8, 1, 1)", "none"},
        {"select(1, 1, 1)", "none"},
        {"starts_with(KaiLinear_f32, KaiLinear)", "true"},
        {"starts_with(Kai, KaiLinear)", "false"},
        {"starts_with(1, KaiLinear)", "none"},
        {"starts_with(KaiLinear, 1)", "none"},
        {"compose($p, [0, -1, 1])", "[1, 0, 2]"},
        {"compose($p, [0, 1])", "none"},
        {"compose([0, 0, 1], $q)", "none"},
        {"inverse($p)", "[2, 0, 1]"},
        {"compose($p, inverse($p)) == iota(3)", "true"},
        {"iota(0)", "[]"},
        {"iota(65)", "none"},
        {"axis(-1, 4)", "3"},
        {"axis(4, 4)", "none"},
        {"axes([-1, 0], 4)", "[3, 0]"},
        {"axes([5], 4)", "none"},
        {"concat([1], [2, 3])", "[1, 2, 3]"},
        {"take($p, 2)", "[1, 2]"},
        {"drop($p, 2)", "[0]"},
        {"take($p, 4)", "none"},
        {"drop($p, -1)", "none"},
        {"insert($p, 1, 9)", "[1, 9, 2, 0]"},
        {"insert($p, 3, 9)", "[1, 2, 0, 9]"},
        {"insert($p, -1, 9)", "[1, 2, 0, 9]"},
        {"insert($p, 4, 9)", "none"},
        {"remove($p, -1)", "[1, 2]"},
        {"remove([], 0)", "none"},
        {"set($p, 0, 9)", "[9, 2, 0]"},
        {"broadcast([2, 1, 5], [3, 1])", "[2, 3, 5]"},
        {"broadcast([$S], [1, $S])", "[1, $S]"},
        {"broadcast([2], [3])", "none"},
        {"broadcast([$S], [2])", "none"},
    };
    Names names;
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      CHECK(names.of(each.first) == each.second);
      CHECK(names.of_beginning(each.first) == each.second);
    }
  }

  TEST_CASE("an index is any expression, and a name variable a capital with a digit or without") {
    Names names;
    CHECK(names.of("[true, false][1 == 2 || true]") == "none");
    CHECK(names.of("[4, 5, 6][1 + 1]") == "6");
    for (const char* name : {"A", "Z", "A0", "Z9", "M5"}) CHECK(is_name_variable(name));
    for (const char* name : {"", "a", "z", "AB", "A:", "A/", "A12", "1", "@", "["}) {
      CAPTURE(name);
      CHECK_FALSE(is_name_variable(name));
    }
  }

  TEST_CASE("a word is an operator only if it ends there") {
    Names names;
    CHECK(names.of("1 in[1]") == "true");
    CHECK(names.of("2 in [1]") == "false");
    CHECK(names.of("1 in_[1]") == "cannot read '1 in_[1]': expected an operator at character 3");
    CHECK(names.of("in == in") == "true");
  }

  TEST_CASE("what a prover knows of all values of a symbol decides comparisons") {
    // From 2 to 4.
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"$S == 1", "false"},    {"$S == 2", "none"},         {"$S == 4", "none"},
        {"$S == 5", "false"},    {"$S != 1", "true"},         {"$S != 2", "none"},
        {"$S != 4", "none"},     {"$S != 5", "true"},         {"$S < 2", "false"},
        {"$S < 3", "none"},      {"$S < 4", "none"},          {"$S < 5", "true"},
        {"$S <= 1", "false"},    {"$S <= 2", "none"},         {"$S <= 3", "none"},
        {"$S <= 4", "true"},     {"$S > 1", "true"},          {"$S > 2", "none"},
        {"$S > 3", "none"},      {"$S > 4", "false"},         {"$S >= 2", "true"},
        {"$S >= 3", "none"},     {"$S >= 4", "none"},         {"$S >= 5", "false"},
        {"2 <= $S", "true"},     {"2*$S == $S + $S", "true"}, {"2*$S != $S + $S", "false"},
        {"$S / 2 >= 1", "true"}, {"$S / 8 == 0", "true"},     {"$S == T", "false"},
        {"$S != T", "true"},     {"$S < T", "none"},
    };
    Names names;
    ExtentProver prover(names.context,
                        std::vector<SymbolDeclaration>{{names.context.intern("S"), 2, 4, 1}});
    names.bindings.prover = &prover;
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      CHECK(names.of(each.first) == each.second);
    }
  }

  TEST_CASE("what holds for all values of a symbol needs no declaration") {
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"$S <= 4*(($S+3)/4)", "true"}, {"4*($S/4) <= $S", "true"}, {"$S % 4 < 4", "true"},
        {"$S < 4*($S/4)", "false"},     {"$S >= 0", "true"},        {"$S <= 4*($S/4)", "none"},
    };
    const std::vector<SymbolDeclaration> kDeclarations[] = {
        {}, {{.name = {}, .least = 1}}, {{.name = {}, .least = 0, .most = 4096}}};
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      Names undeclared;
      CHECK(undeclared.of(each.first) == each.second);
      for (std::vector<SymbolDeclaration> declarations : kDeclarations) {
        Names names;
        for (SymbolDeclaration& one : declarations) one.name = names.context.intern("S");
        ExtentProver prover(names.context, declarations);
        names.bindings.prover = &prover;
        CHECK(names.of(each.first) == each.second);
      }
    }
  }

  TEST_CASE("texts that cannot be read") {
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"", "cannot read '': expected a value at its end"},
        {"1 +", "cannot read '1 +': expected a value at its end"},
        {"1 2", "cannot read '1 2': expected an operator at character 3"},
        {"(1", "cannot read '(1': expected ')' at its end"},
        {"[1", "cannot read '[1': expected ',' or ']' at its end"},
        {"$p[1", "cannot read '$p[1': expected ']' at its end"},
        {"$m", "cannot read '$m': nothing binds '$m' at character 1"},
        {"$n..", "cannot read '$n..': nothing binds '$n..' at character 1"},
        {"D == CPU", "cannot read 'D == CPU': nothing binds 'D' at character 1"},
        {"rank(%z)", "cannot read 'rank(%z)': nothing defines '%z' at character 6"},
        {"rang(%x)",
         "cannot read 'rang(%x)': no function is called 'rang' (did you mean 'rank'?) at "
         "character 1"},
        {"rank($n)", "cannot read 'rank($n)': 'rank' takes a value at character 1"},
        {"length(%x)", "cannot read 'length(%x)': 'length' takes a list at character 1"},
        {"min(1)", "cannot read 'min(1)': 'min' takes two numbers at character 1"},
        {"min(1, 2", "cannot read 'min(1, 2': expected ',' or ')' at its end"},
        {"%x == %y",
         "cannot read '%x == %y': a value can only be the argument of a function, such as "
         "type(%x)"},
        {"1 < 2 < 3",
         "cannot read '1 < 2 < 3': comparisons cannot be chained: use && at character 7"},
        {"\"a", "cannot read '\"a': a string without a closing quote at character 1"},
        {"9223372036854775808",
         "cannot read '9223372036854775808': a number that cannot be held at character 1"},
        {"1e", "cannot read '1e': a number that cannot be held at character 1"},
        {"1 = 2", "cannot read '1 = 2': expected an operator at character 3"},
    };
    Names names;
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      CHECK(names.of(each.first) == each.second);
      CHECK(names.of_beginning(each.first) == each.second);
    }
    const std::string deep(100, '(');
    CHECK(names.of(deep).find("it is nested too deep") != std::string::npos);
    CHECK(names.of(std::string(100, '!') + "true").find("too deep") != std::string::npos);
  }

  TEST_CASE("docs/patterns.md lists all functions with what they take and give") {
    const std::string page = read_whole(kRoot / "docs/patterns.md");
    std::size_t rows = 0;
    for (const Function& each : functions()) {
      CAPTURE(each.name);
      const std::string row = "| `" + std::string(each.name) + "` | " +
                              std::string(each.arguments) + " | " + std::string(each.summary) +
                              " |\n";
      CHECK(page.find(row) != std::string::npos);
      CHECK((each.of_value != nullptr) == each.takes_value);
      CHECK(((each.of != nullptr) + each.takes_value + each.selects) == 1);
      ++rows;
    }
    CHECK(std::is_sorted(functions().begin(), functions().end(),
                         [](const Function& a, const Function& b) { return a.name < b.name; }));
    const auto table = page.substr(page.find("| Function | Arguments"));
    const auto lines = table.substr(0, table.find("\n\n"));
    CHECK(static_cast<std::size_t>(std::ranges::count(lines, '\n')) == rows + 1);
  }
}

}  // namespace expression_test
