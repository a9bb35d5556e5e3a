// Rows, dialects and uses of declared ops, or their errors, as testdata/unit/declare stores them.
#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "../stored_lines.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Declared;
using mir::test::dialect_of_op;
using mir::test::module_of_line;
using mir::test::StoredCase;

namespace rows_test {

namespace {

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view each : words)
    text += fmt::format("{}{}", text.empty() ? "" : "|", each);
  return text;
}

/// The words of the bits that are set in `set`.
template <class Set>
std::string words_of(Set set, std::initializer_list<std::pair<Set, std::string_view>> words) {
  std::vector<std::string_view> found;
  Set rest = set;
  for (const auto& [bit, word] : words) {
    if (!has(set, bit)) continue;
    found.push_back(word);
    rest = static_cast<Set>(fmt::underlying(rest) & ~fmt::underlying(bit));
  }
  return joined(found) + (rest == Set::kNone ? "" : " and others");
}

std::string words_of(Trait traits) {
  return words_of(traits, {{Trait::kPure, "pure"},
                           {Trait::kElementwise, "elementwise"},
                           {Trait::kCommutative, "commutative"},
                           {Trait::kView, "view"},
                           {Trait::kSameShape, "same_shape"},
                           {Trait::kMayRefuse, "may_refuse"},
                           {Trait::kMoves, "moves"},
                           {Trait::kSameBytes, "same_bytes"},
                           {Trait::kWeighsOperand, "weighs_operand"},
                           {Trait::kIdempotent, "idempotent"},
                           {Trait::kInvolution, "involution"}});
}

std::string words_of(Effect effects) {
  return words_of(effects, {{Effect::kReadsState, "reads_state"},
                            {Effect::kWritesState, "writes_state"},
                            {Effect::kWritesOperand0, "writes_operand_0"},
                            {Effect::kWritesOperand1, "writes_operand_1"}});
}

std::string_view word_of(AttrType type) {
  constexpr std::string_view kWords[] = {
      "int",    "float",  "bool", "string", "symbol", "dims",         "ints", "dim",   "dtype",
      "device", "slices", "maps", "map",    "dict",   "quantisation", "type", "types", "any"};
  return kWords[fmt::underlying(type)];
}

std::string arity(const Arity& of) {
  return of.max == Arity::kMany ? fmt::format("{}..", of.min)
                                : fmt::format("{}..{}", of.min, of.max);
}

/// The parts of a row which are not those of an empty one.
std::string row_text(const OpRow& row) {
  std::string text = fmt::format("{} {} -> {}", row.name, arity(row.operands), arity(row.results));
  if (row.regions.max != 0) text += " regions " + arity(row.regions);
  if (row.successors.max != 0) text += " successors " + arity(row.successors);
  if (!row.type_name.empty()) text += fmt::format(" type '{}'", row.type_name);
  if (!row.aliases.empty()) text += " aliases " + joined(row.aliases);
  if (row.traits != Trait::kNone) text += " traits " + words_of(row.traits);
  if (row.effects != Effect::kNone) text += " effects " + words_of(row.effects);
  if (row.resource) text += " resource";
  if (row.body) text += " body";
  if (!row.infer) text += " no rule";
  if (!row.summary.empty()) text += fmt::format(" summary '{}'", row.summary);
  if (!row.example.empty()) text += fmt::format(" example '{}'", row.example);
  for (const AttrRow& each : row.attributes) {
    text += fmt::format(" {}:{}", each.name, word_of(each.type));
    if (each.required) text += " required";
    if (!each.default_text.empty()) text += fmt::format(" = {}", each.default_text);
    if (!each.choices.empty()) text += " of " + joined(each.choices);
    if (each.range != AttrRange())
      text += fmt::format(" in {}..{}", each.range.low, each.range.high);
    if (!each.summary.empty()) text += fmt::format(" '{}'", each.summary);
  }
  for (const WeightRow& each : row.weights) {
    text += fmt::format(" weight {} {}{}{}", each.suffix, each.shape,
                        each.present_if.empty() ? "" : " if ", each.present_if);
  }
  return text;
}

/// The errors of a text, otherwise its dialect `my`.
std::string dialect_text(const std::string& text) {
  const Declared read(text);
  if (!read.problems.empty()) return read.problems;
  const Dialect* found = read.context.find_dialect("my");
  if (found == nullptr) return "no dialect";
  const Dialect& my = *found;
  std::string all = my.summary.empty() ? "" : fmt::format("'{}'", my.summary);
  if (my.device_in_path) all += " device in path";
  for (const OpRow& row : my.rows) all += (all.empty() ? "" : "; ") + row_text(row);
  const auto kinds = [&](std::string_view noun, std::span<const TypeRow> rows) {
    for (const TypeRow& row : rows) {
      all += fmt::format("{}{} {}", all.empty() ? "" : "; ", noun, row.name);
      if (!row.summary.empty()) all += fmt::format(" '{}'", row.summary);
      if (!row.example.empty()) all += fmt::format(" example '{}'", row.example);
      for (const AttrRow& each : row.parameters) {
        all += fmt::format(" {}:{}{} '{}'", each.name, word_of(each.type),
                           each.required ? " required" : "", each.default_text);
      }
    }
  };
  kinds("type", my.types);
  kinds("attribute", my.attribute_kinds);
  return all;
}

/// The errors of a text, otherwise the types of the results of the first op of its last module.
std::string use_text(const std::string& text) {
  const Declared read(text);
  if (!read.problems.empty()) return read.problems;
  std::string all;
  for (const Value& each : read.modules.back()->body().entry()->front()->results()) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ",
                       each.type() == nullptr ? "none" : each.type()->spelling());
  }
  return all.empty() ? "no results" : all;
}

constexpr std::string_view kSame = "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n";

/// The dialect of an op that a case declares: attributes in brackets, then signatures. Without
/// signatures, the op has kSame.
std::string declaration_of(std::string_view text) {
  std::string_view attributes;
  if (text.starts_with("[")) {
    attributes = text.substr(1, text.find("]\n") - 1);
    text.remove_prefix(attributes.size() + 3);
  }
  return dialect_of_op(attributes, text.empty() ? kSame : text);
}

/// The dialect and the module of a case: a declaration, `use (INPUTS)`, and a line with an op.
std::string use_of(std::string_view text) {
  constexpr std::string_view kUse = "use (", kEnd = ")\n";
  const std::size_t use = text.find(kUse), end = text.find(kEnd, use);
  const std::string_view inputs = text.substr(use + kUse.size(), end - use - kUse.size());
  std::string_view line = text.substr(end + kEnd.size());
  line.remove_suffix(1);
  return declaration_of(text.substr(0, use)) + module_of_line(inputs, line);
}

}  // namespace

TEST_SUITE("rows of declarations") {
  TEST_CASE("each part of a declaration is in the row, or an error") {
    test::check_stored_cases("testdata/unit/declare/declarations.txt", [](const StoredCase& each) {
      return dialect_text(declaration_of(each.input));
    });
  }

  TEST_CASE("each part of a dialect is in it, or an error") {
    test::check_stored_cases("testdata/unit/declare/dialects.txt",
                             [](const StoredCase& each) { return dialect_text(each.input); });
  }

  TEST_CASE("conditions of a type hold for each of its uses") {
    const auto use = [](const std::string& where, const std::string& type) {
      return use_text(
          "@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile "
          "[parameters:{rows:int, cols:{type:int, default:3}}, where:" +
          where + "]\n}\n" + module_of_line("%x:" + type, "my.UnknownOp(%x) -> ()"));
    };
    // The unknown op is an error of its own, which tells that the type is none.
    const std::string good = use("\"$rows > 0\"", "!my.tile<1>");
    CHECK(good == "MIR0400 operation 'my.UnknownOp' is not known\n");
    const auto refused = [&](const std::string& where, const std::string& type) {
      const std::string found = use(where, type);
      return found == good ? "" : found.substr(0, found.find('\n'));
    };
    CHECK(refused("\"$rows > 2\"", "!my.tile<3>") == "");
    CHECK(refused("\"$rows > 2\"", "!my.tile<2>") ==
          "MIR0318 parameters of '!my.tile': condition '$rows > 2' does not hold");
    CHECK(refused("\"$rows > $cols\"", "!my.tile<3, 2>") == "");
    CHECK(refused("\"$rows > $cols\"", "!my.tile<3>") ==
          "MIR0318 parameters of '!my.tile': condition '$rows > $cols' does not hold");
    const std::string two = "[\"$rows > 2\", \"$rows < 9\"]";
    CHECK(refused(two, "!my.tile<8>") == "");
    CHECK(refused(two, "!my.tile<2>") ==
          "MIR0318 parameters of '!my.tile': condition '$rows > 2' does not hold");
    CHECK(refused(two, "!my.tile<9>") ==
          "MIR0318 parameters of '!my.tile': condition '$rows < 9' does not hold");
    const std::string named = "{\"$rows > 2\":\"more rows\", \"$rows < 9\":\"fewer rows\"}";
    CHECK(refused(named, "!my.tile<3>") == "");
    CHECK(refused(named, "!my.tile<2>") == "MIR0318 parameters of '!my.tile': more rows");
    CHECK(refused(named, "!my.tile<9>") == "MIR0318 parameters of '!my.tile': fewer rows");
  }

  TEST_CASE("operands of a type of the dialect are compared by their parameters") {
    const auto use = [](const std::string& one, const std::string& other) {
      return use_text(
          "@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile "
          "[parameters:{rows:int, cols:int}]\n    dialect.TypeOp @row [parameters:{rows:int}]\n"
          "    dialect.OpOp @AnOp {\n"
          "(%a:!my.tile<$r, $c>, %b:!my.tile<$c, $r>) -> (%t:!my.tile<$r, $r>) { }\n    }\n}\n" +
          module_of_line("%a:" + one + ", %b:" + other, "my.AnOp(%a, %b) -> (%t)"));
    };
    CHECK(use("!my.tile<2, 3>", "!my.tile<3, 2>") == "!my.tile<2, 2>");
    CHECK(use("!my.tile<2, 3>", "!my.tile<4, 2>") ==
          "MIR0502 operand '%b' of 'my.AnOp' is !my.tile<4, 2>, expected !my.tile<$c, $r>: "
          "parameter 0 is 4, and $c is 3 (%a)\n");
    CHECK(use("!my.tile<2, 3>", "!my.tile<3, 3>") ==
          "MIR0502 operand '%b' of 'my.AnOp' is !my.tile<3, 3>, expected !my.tile<$c, $r>: "
          "parameter 1 is 3, and $r is 2 (%a)\n");
    CHECK(use("!my.row<2>", "!my.tile<3, 2>") ==
          "MIR0502 operand '%a' of 'my.AnOp' is !my.row<2>, expected !my.tile<$r, $c>: another "
          "type\n");
    CHECK(use("tensor<[2], Float32, CPU>", "!my.tile<3, 2>") ==
          "MIR0502 operand '%a' of 'my.AnOp' is tensor<[2], Float32, CPU>, expected !my.tile<$r, "
          "$c>: another type\n");
  }

  TEST_CASE("the resource of an op is the text of the attribute that it names") {
    const Declared read(
        dialect_of_op("resource:state, attributes:{state:symbol}, effects:[reads_state]",
                      std::string(kSame)) +
        module_of_line("%x:tensor<[4], Float32, CPU>",
                       "my.AnOp [state:@cache] (%x) -> (%y)\n    my.AnOp(%x) -> (%z)"));
    CHECK(read.problems == "");
    const Op* op = read.modules.back()->body().entry()->front();
    REQUIRE(op->row() != nullptr);
    CHECK(read.context.text(op->row()->resource(*op)) == "cache");
    CHECK_FALSE(op->row()->resource(*op->next()));
  }

  TEST_CASE("uses of an op get the types of its signature, or an error") {
    test::check_stored_cases("testdata/unit/declare/uses.txt",
                             [](const StoredCase& each) { return use_text(use_of(each.input)); });
  }
}

}  // namespace rows_test
