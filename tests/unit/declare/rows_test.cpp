// Each part of a declaration in the row that it makes, or the error that it gives, and what uses
// of the op get: complete rows, types and messages.
#include <fmt/format.h>

#include "read.hpp"

using namespace mir;
using mir::test::Declared;
using mir::test::dialect_of_op;
using mir::test::module_of;

namespace rows_test {

namespace {

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view each : words)
    text += fmt::format("{}{}", text.empty() ? "" : "|", each);
  return text;
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
  if (row.traits != Trait::kNone) text += fmt::format(" traits {}", fmt::underlying(row.traits));
  if (row.effects != Effect::kNone)
    text += fmt::format(" effects {}", fmt::underlying(row.effects));
  if (row.resource) text += " resource";
  if (row.body) text += " body";
  if (row.infer) text += " infer";
  if (!row.summary.empty()) text += fmt::format(" summary '{}'", row.summary);
  if (!row.example.empty()) text += fmt::format(" example '{}'", row.example);
  for (const AttrRow& each : row.attributes) {
    text += fmt::format(" {}:{}", each.name, fmt::underlying(each.type));
    if (each.required) text += " required";
    if (!each.default_text.empty()) text += fmt::format(" = {}", each.default_text);
    if (!each.choices.empty()) text += " of " + joined(each.choices);
    if (each.range != AttrRange())
      text += fmt::format(" in {}..{}", each.range.low, each.range.high);
    if (!each.summary.empty()) text += fmt::format(" '{}'", each.summary);
  }
  for (const WeightRow& each : row.weights) {
    text += fmt::format(" weight {} {} {}", each.suffix, each.shape, each.present_if);
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
  std::string all = fmt::format("'{}'{}", my.summary, my.device_in_path ? " device in path" : "");
  for (const OpRow& row : my.rows) all += "; " + row_text(row);
  const auto kinds = [&](std::string_view noun, std::span<const TypeRow> rows) {
    for (const TypeRow& row : rows) {
      all += fmt::format("; {} {}", noun, row.name);
      if (!row.summary.empty()) all += fmt::format(" '{}'", row.summary);
      if (!row.example.empty()) all += fmt::format(" example '{}'", row.example);
      for (const AttrRow& each : row.parameters) {
        all += fmt::format(" {}:{}{} '{}'", each.name, fmt::underlying(each.type),
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
  return all;
}

struct Declaration {
  std::string attributes, regions, expected;
};

struct Use {
  std::string attributes, regions, inputs, line, expected;
};

constexpr std::string_view kSame = "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n";

}  // namespace

TEST_SUITE("rows of declarations") {
  TEST_CASE("each part of a declaration is in the row, or an error") {
    const std::string same(kSame);
    const Declaration declarations[] = {
        {"attributes:{a0:int, a1:float, a2:bool, a3:string, a4:symbol, a5:dims, a6:ints, a7:dim, "
         "a8:dtype, a9:device, a10:slices, a11:dict, a12:quantisation, a13:type, a14:types, "
         "a15:any}",
         same,
         "''; AnOp 1..1 -> 1..1 infer a0:0 a1:1 a2:2 a3:3 a4:4 a5:5 a6:6 a7:7 a8:8 a9:9 a10:10 "
         "a11:11 a12:12 a13:13 a14:14 a15:15"},
        {"attributes:{k:{type:int, default:3}}", same, "''; AnOp 1..1 -> 1..1 infer k:0 = 3"},
        {"attributes:{k:{type:int, default:\"x\"}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is \"x\", expected an integer\n"},
        {"attributes:{k:{type:int, default:1.5}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is 1.5, expected an integer\n"},
        {"attributes:{k:{type:float, default:2}}", same, "''; AnOp 1..1 -> 1..1 infer k:1 = 2.0"},
        {"attributes:{k:{type:float, default:2.5}}", same, "''; AnOp 1..1 -> 1..1 infer k:1 = 2.5"},
        {"attributes:{k:{type:float, default:\"x\"}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is \"x\", expected a number\n"},
        {"attributes:{k:{type:bool, default:true}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:2 = true"},
        {"attributes:{k:{type:bool, default:1}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is 1, expected 'true' or 'false'\n"},
        {"attributes:{k:{type:ints, default:[1, 2]}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:6 = [1, 2]"},
        {"attributes:{k:{type:ints, default:[a]}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is [a], expected an array of integers\n"},
        {"attributes:{k:{type:string, default:word}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:3 = word"},
        {"attributes:{k:{type:string, default:\"two words\"}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:3 = two words"},
        {"attributes:{k:{type:string, default:7}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is 7, expected a string\n"},
        {"attributes:{k:{type:dtype, default:Float16}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:8 = Float16"},
        {"attributes:{k:{type:dtype, default:Nothing}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is Nothing, expected an element type\n"},
        {"attributes:{k:{type:device, default:CPU}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:9 = CPU"},
        {"attributes:{k:{type:device, default:3}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is 3, expected a device name\n"},
        {"attributes:{k:{type:symbol, default:x}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:dims, default:[1]}}", same, "''; AnOp 1..1 -> 1..1 infer k:5 = [1]"},
        {"attributes:{k:{type:dims, default:[$S]}}", same,
         "MIR0320 'my.AnOp': the default of 'k' cannot be [$S]\n"},
        {"attributes:{k:{type:dims, default:[2, $S]}}", same,
         "MIR0320 'my.AnOp': the default of 'k' cannot be [2, $S]\n"},
        {"attributes:{k:{type:dims, default:[2, -1]}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:5 = [2, -1]"},
        {"attributes:{k:{type:dim, default:3}}", same, "''; AnOp 1..1 -> 1..1 infer k:7 = 3"},
        {"attributes:{k:{type:dim, default:?}}", same, "''; AnOp 1..1 -> 1..1 infer k:7 = ?"},
        {"attributes:{k:{type:dim, default:$S}}", same,
         "MIR0320 'my.AnOp': the default of 'k' cannot be $S\n"},
        {"attributes:{k:{type:int, default:?}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is ?, expected an integer\n"},
        {"attributes:{k:{type:any, default:null}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:15 = null"},
        {"regions:[1, 2], successors:[0, inf]", same,
         "''; AnOp 1..1 -> 1..1 regions 1..2 successors 0.. infer"},
        {"regions:[65534, 65534]", same, "''; AnOp 1..1 -> 1..1 regions 65534..65534 infer"},
        {"regions:[0, 65535]", same,
         "MIR0320 'my.AnOp': 'regions' is [0, 65535], expected the least and the greatest "
         "number\n"},
        {"regions:[2, 1]", same,
         "MIR0320 'my.AnOp': 'regions' is [2, 1], expected the least and the greatest number\n"},
        {"successors:[-1, 1]", same,
         "MIR0320 'my.AnOp': 'successors' is [-1, 1], expected the least and the greatest "
         "number\n"},
        {"successors:[inf, inf]", same,
         "MIR0320 'my.AnOp': 'successors' is [inf, inf], expected the least and the greatest "
         "number\n"},
        {"successors:[1.0, 2]", same,
         "MIR0320 'my.AnOp': 'successors' is [1.0, 2], expected the least and the greatest "
         "number\n"},
        {"regions:1", same,
         "MIR0320 'my.AnOp': 'regions' is 1, expected the least and the greatest number\n"},
        {"traits:[same_bytes, view]", "() -> (%y:tensor<[4], Float32, CPU>) { }\n",
         "MIR0320 'my.AnOp': 'view' needs 1 operand\n"
         "MIR0320 'my.AnOp': 'same_bytes' needs 1 operand and one result\n"},
        {"traits:[involution, idempotent]",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) { }\n",
         "MIR0320 'my.AnOp': 'idempotent' needs 1 operand and one result\n"
         "MIR0320 'my.AnOp': 'involution' needs 1 operand and one result\n"},
        {"effects:[writes_operand0, writes_operand1]", same,
         "MIR0320 'my.AnOp': 'writes_operand1' needs 2 operands\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>[many:true], "
         "%z:tensor<[$n], T, D>[optional:true]) { }\n",
         "MIR0320 'my.AnOp': '%z' is optional beside a result with 'many': which of them is absent "
         "could not be told\n"},
        {"attributes:{b:int}, weights:{w:{shape:\"[4]\", present_if:b}, "
         "v:{shape:\"[4]\", present_if:3}}",
         same,
         "MIR0320 'my.AnOp': 'present_if' of weight 'w' is b, expected the name of a boolean "
         "attribute\n"
         "MIR0320 'my.AnOp': 'present_if' of weight 'v' is 3, expected the name of a boolean "
         "attribute\n"},
        {"type_name:An", same, "''; AnOp 1..1 -> 1..1 type 'An' infer"},
        {"attributes:{k:ints}, weights:{weight:k}", same,
         "''; AnOp 1..1 -> 1..1 infer k:6 weight .weight k "},
        {"attributes:{k:int}, weights:{weight:k}", same,
         "MIR0320 'my.AnOp': weight 'weight' needs a shape such as \"[out_channels, "
         "in_channels]\", or an attribute with integers\n"},
        {"attributes:{k:{type:slices, default:[1]}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:dict, default:{a:1}}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:quantisation, default:x}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:type, default:x}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:types, default:[x]}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:any, default:1}}", same,
         "MIR0320 'my.AnOp': 'k' cannot have a default: no text of its type can be one\n"},
        {"attributes:{k:{type:int, required:true}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 required"},
        {"attributes:{k:{type:int, required:false}}", same, "''; AnOp 1..1 -> 1..1 infer k:0"},
        {"attributes:{k:{type:int, required:1}}", same,
         "MIR0320 'my.AnOp': 'required' of 'k' is neither true nor false\n"},
        {"attributes:{k:{type:int, summary:\"Some text.\"}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 'Some text.'"},
        {"attributes:{k:{type:int, summary:3}}", same,
         "MIR0320 'my.AnOp': 'summary' of 'k' is no text\n"},
        {"attributes:{k:{type:int, choices:[a, b]}}", same,
         "MIR0320 'my.AnOp': 'k' has choices and is no string\n"},
        {"attributes:{k:{type:int, choices:[]}}", same,
         "MIR0320 'my.AnOp': 'choices' of 'k' is no list of words\n"},
        {"attributes:{k:{type:int, choices:[1]}}", same,
         "MIR0320 'my.AnOp': 'choices' of 'k' is no list of words\n"},
        {"attributes:{k:{type:int, choices:[a, 1]}}", same,
         "MIR0320 'my.AnOp': 'choices' of 'k' is no list of words\n"},
        {"attributes:{k:{type:int, choices:a}}", same,
         "MIR0320 'my.AnOp': 'choices' of 'k' is no list of words\n"},
        {"attributes:{k:{type:int, range:[1, 8]}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 in 1..8"},
        {"attributes:{k:{type:int, range:[0.5, 8]}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 in 0.5..8"},
        {"attributes:{k:{type:int, range:[1, inf]}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 in 1..inf"},
        {"attributes:{k:{type:int, range:[1, infinite]}}", same,
         "MIR0320 'my.AnOp': 'range' of 'k' is [1, infinite], expected the least and the greatest "
         "number\n"},
        {"attributes:{k:{type:int, range:[1]}}", same,
         "MIR0320 'my.AnOp': 'range' of 'k' is [1], expected the least and the greatest number\n"},
        {"attributes:{k:{type:int, range:[1, 2, 3]}}", same,
         "MIR0320 'my.AnOp': 'range' of 'k' is [1, 2, 3], expected the least and the greatest "
         "number\n"},
        {"attributes:{k:{type:int, range:[a, 1]}}", same,
         "MIR0320 'my.AnOp': 'range' of 'k' is [a, 1], expected the least and the greatest "
         "number\n"},
        {"attributes:{k:{type:int, range:4}}", same,
         "MIR0320 'my.AnOp': 'range' of 'k' is 4, expected the least and the greatest number\n"},
        {"attributes:{k:{type:int, rang:[1, 2]}}", same,
         "MIR0320 'my.AnOp': 'rang' of 'k' means nothing (did you mean 'range'?)\n"},
        {"attributes:{k:{type:int, requird:true}}", same,
         "MIR0320 'my.AnOp': 'requird' of 'k' means nothing (did you mean 'required'?)\n"},
        {"attributes:{k:{type:int, nonsense:1}}", same,
         "MIR0320 'my.AnOp': 'nonsense' of 'k' means nothing, expected one of 'type', 'required', "
         "'default', 'choices', 'range', 'summary'\n"},
        {"attributes:{k:{choices:[a, b]}}", same, "''; AnOp 1..1 -> 1..1 infer k:3 of a|b"},
        {"attributes:{k:{type:string, choices:[a, b], default:c}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is c, expected one of 'a', 'b'\n"},
        {"attributes:{k:{type:any, choices:[a, b], default:b}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:3 = b of a|b"},
        {"attributes:{k:{required:true}}", same, "''; AnOp 1..1 -> 1..1 infer k:15 required"},
        {"attributes:{k:{type:int, range:[1, 8], default:8}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 = 8 in 1..8"},
        {"attributes:{k:{type:int, range:[1, 8], default:1}}", same,
         "''; AnOp 1..1 -> 1..1 infer k:0 = 1 in 1..8"},
        {"attributes:{k:{type:int, range:[1, 8], default:0}}", same,
         "MIR0320 'my.AnOp': the default of 'k' is 0, expected an integer from 1 to 8\n"},
        {"attributes:{k:{type:in}}", same,
         "MIR0320 'my.AnOp': 'in' of 'k' is no type of attributes (did you mean 'int'?)\n"},
        {"attributes:{k:3}", same,
         "MIR0320 'my.AnOp': '3' of 'k' is no type of attributes, expected one of 'int', 'float', "
         "'bool', 'string', 'symbol', 'dims', 'ints', 'dim', 'dtype', 'device', 'slices', 'dict', "
         "'quantisation', 'type', 'types', 'any'\n"},
        {"attributes:{k:int, l:flot, m:int}", same,
         "MIR0320 'my.AnOp': 'flot' of 'l' is no type of attributes (did you mean 'float'?)\n"},
        {"traits:[pure, elementwise, commutative, same_shape, may_refuse, moves, idempotent, "
         "involution]",
         same, "''; AnOp 1..1 -> 1..1 traits 202887 infer"},
        {"traits:[pure]", same, "''; AnOp 1..1 -> 1..1 traits 1 infer"},
        {"traits:[elementwise]", same, "''; AnOp 1..1 -> 1..1 traits 2 infer"},
        {"traits:[commutative]", same, "''; AnOp 1..1 -> 1..1 traits 4 infer"},
        {"traits:[same_shape]", same, "''; AnOp 1..1 -> 1..1 traits 128 infer"},
        {"traits:[may_refuse]", same, "''; AnOp 1..1 -> 1..1 traits 2048 infer"},
        {"traits:[moves]", same, "''; AnOp 1..1 -> 1..1 traits 4096 infer"},
        {"traits:[idempotent]", same, "''; AnOp 1..1 -> 1..1 traits 65536 infer"},
        {"traits:[involution]", same, "''; AnOp 1..1 -> 1..1 traits 131072 infer"},
        {"traits:pure", same, "''; AnOp 1..1 -> 1..1 traits 1 infer"},
        {"traits:[]", same, "''; AnOp 1..1 -> 1..1 infer"},
        {"traits:[pure, moved]", same,
         "MIR0320 'my.AnOp': 'traits' has no 'moved' (did you mean 'moves'?)\n"},
        {"traits:[xyzzy]", same,
         "MIR0320 'my.AnOp': 'traits' has no 'xyzzy', expected one of 'pure', 'elementwise', "
         "'commutative', 'view', 'terminator', 'symbol', 'isolated', 'same_shape', 'dump_only', "
         "'no_meaning', 'typed_by_name', 'may_refuse', 'moves', 'same_bytes', 'portable_only', "
         "'weighs_operand', 'idempotent', 'involution', 'callable', 'template'\n"},
        {"traits:3", same, "MIR0320 'my.AnOp': 'traits' is 3, expected a list of words\n"},
        {"traits:[3]", same, "MIR0320 'my.AnOp': 'traits' is [3], expected a list of words\n"},
        {"effects:[reads_state, writes_state]", same, "''; AnOp 1..1 -> 1..1 effects 3 infer"},
        {"effects:[reads_state]", same, "''; AnOp 1..1 -> 1..1 effects 1 infer"},
        {"effects:writes_state", same, "''; AnOp 1..1 -> 1..1 effects 2 infer"},
        {"effects:[read_state]", same,
         "MIR0320 'my.AnOp': 'effects' has no 'read_state' (did you mean 'reads_state'?)\n"},
        {"effects:[xyzzy]", same,
         "MIR0320 'my.AnOp': 'effects' has no 'xyzzy', expected one of 'reads_state', "
         "'writes_state', 'writes_operand0', 'writes_operand1', 'control'\n"},
        {"aliases:[OneOp, TwoOp]", same, "''; AnOp 1..1 -> 1..1 aliases OneOp|TwoOp infer"},
        {"aliases:OneOp", same, "''; AnOp 1..1 -> 1..1 aliases OneOp infer"},
        {"aliases:[1]", same, "MIR0320 'my.AnOp': 'aliases' is [1], expected a list of words\n"},
        {"aliases:1", same, "MIR0320 'my.AnOp': 'aliases' is 1, expected a list of words\n"},
        {"summary:\"A summary.\", example:\"an example\"", same,
         "''; AnOp 1..1 -> 1..1 infer summary 'A summary.' example 'an example'"},
        {"summary:3", same,
         "MIR0312 attribute 'summary' of 'dialect.OpOp' is 3, expected a string\n"},
        {"weights:{weight:\"[a, b]\", bias:{shape:\"[a]\", present_if:bias}}, "
         "attributes:{bias:{type:bool, default:true}}",
         same,
         "''; AnOp 1..1 -> 1..1 infer bias:2 = true weight .weight [a, b]  weight .bias [a] bias"},
        {"weights:{.weight:\"[a]\"}", same, "MIR0103 unexpected character '.' in a dictionary\n"},
        {"weights:{weight:{shape:\"[a]\", when:x}}", same,
         "MIR0320 'my.AnOp': 'when' of weight 'weight' means nothing, expected 'shape' or "
         "'present_if'\n"},
        {"weights:{weight:\"[a\"}", same,
         "MIR0320 'my.AnOp': weight 'weight' needs a shape such as \"[out_channels, "
         "in_channels]\", or an attribute with integers\n"},
        {"weights:{weight:\"a]\"}", same,
         "MIR0320 'my.AnOp': weight 'weight' needs a shape such as \"[out_channels, "
         "in_channels]\", or an attribute with integers\n"},
        {"attributes:{a:bool}, weights:{weight:{present_if:a}}", same,
         "MIR0320 'my.AnOp': weight 'weight' needs a shape such as \"[out_channels, "
         "in_channels]\", or an attribute with integers\n"},
        {"weights:{weight:[4, 8]}", same, "''; AnOp 1..1 -> 1..1 infer weight .weight [4, 8] "},
        {"resource:state, attributes:{state:symbol}, effects:[reads_state]", same,
         "''; AnOp 1..1 -> 1..1 effects 1 resource infer state:4"},
        {"resource:stat, attributes:{state:symbol}", same,
         "MIR0320 'my.AnOp': 'resource' names 'stat', which is no attribute of it\n"},
        {"resource:k", same,
         "MIR0320 'my.AnOp': 'resource' names 'k', which is no attribute of it\n"},
        {"effects:[reads_state]",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': an op with a body has no effects: a body consists of pure "
         "operations\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer"},
        {"traits:[elementwise]",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 3 body infer"},
        {"fresh:3", same, "MIR0320 'my.AnOp': 'fresh' is 3, expected a list of words\n"},
        {"fresh:[$c]", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$c], T, D>) { }\n",
         "''; AnOp 1..1 -> 1..1 traits 2048 infer"},
        {"fresh:[c]", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$c], T, D>) { }\n",
         "''; AnOp 1..1 -> 1..1 traits 2048 infer"},
        {"fresh:c", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$c], T, D>) { }\n",
         "''; AnOp 1..1 -> 1..1 traits 2048 infer"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$c], T, D>) { }\n",
         "MIR0320 'my.AnOp': nothing binds '$c'\n"},
        {"", "() -> () { }\n", "''; AnOp 0..0 -> 0..0 infer"},
        {"", "(%x:tensor<[$n], T, D>) -> () { }\n", "''; AnOp 1..1 -> 0..0 infer"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[optional:true]) -> (%z:tensor<[$n], T, D>) "
         "{ }\n",
         "''; AnOp 1..2 -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[optional:true], %w:tensor<[$n], T, "
         "D>[optional:true]) -> (%z:tensor<[$n], T, D>) { }\n",
         "''; AnOp 1..3 -> 1..1 infer"},
        {"", "(%x:tensor<[$n], T, D>[optional:false]) -> (%z:tensor<[$n], T, D>) { }\n",
         "''; AnOp 1..1 -> 1..1 infer"},
        {"", "(%x:tensor<[$n], T, D>[many:true]) -> (%z:tensor<[$n], T, D>) { }\n",
         "''; AnOp 1.. -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>[many:false], %y:tensor<[$n], T, D>[many:false]) -> "
         "(%z:tensor<[$n], T, D>) { }\n",
         "''; AnOp 2..2 -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>[many:true, optional:true]) -> (%z:tensor<[4], Float32, CPU>) { "
         "}\n",
         "''; AnOp 0.. -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[many:true]) -> (%z:tensor<[$n], T, D>) { "
         "}\n",
         "''; AnOp 2.. -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>[many:true], %y:tensor<[$n], T, D>) -> (%z:tensor<[$n], T, D>) { "
         "}\n",
         "''; AnOp 2.. -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[many:true, optional:true], %w:tensor<[$n], "
         "T, D>) -> (%z:tensor<[$n], T, D>) { }\n",
         "''; AnOp 2.. -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>[many:true], %y:tensor<[$n], T, D>[optional:true]) -> "
         "(%z:tensor<[$n], T, D>) { }\n",
         "MIR0320 'my.AnOp': '%y' is optional beside an operand with 'many': which of them is "
         "absent could not be told\n"},
        {"",
         "(%x:tensor<[$n], T, D>[many:true], %y:tensor<[$n], T, D>[many:true]) -> (%z:tensor<[$n], "
         "T, D>) { }\n",
         "MIR0320 'my.AnOp': a signature has at most one operand with 'many'\n"},
        {"",
         "(%x:tensor<[$n], T, D>[optional:true], %y:tensor<[$n], T, D>) -> (%z:tensor<[$n], T, D>) "
         "{ }\n",
         "MIR0320 'my.AnOp': '%y' is required and follows an optional operand\n"},
        {"", "(%x:tensor<[$n], T, D>[optional:1]) -> () { }\n",
         "MIR0320 'my.AnOp': '%x' has an attribute 'optional', which a body cannot ask for\n"},
        {"", "(%x:tensor<[$n], T, D>[many:1]) -> () { }\n",
         "MIR0320 'my.AnOp': '%x' has an attribute 'many', which a body cannot ask for\n"},
        {"", "(%x:tensor<[$n], T, D>[often:true]) -> () { }\n",
         "MIR0320 'my.AnOp': '%x' has an attribute 'often', which a body cannot ask for\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>, %b:tensor<[$n], T, D>[many:true]) { "
         "}\n",
         "''; AnOp 1..1 -> 2.. infer"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>[many:true], %b:tensor<[$n], T, "
         "D>[many:true]) { }\n",
         "MIR0320 'my.AnOp': a signature has at most one result with 'many'\n"},
        {"", "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>[optional:true]) { }\n",
         "''; AnOp 1..1 -> 0..1 infer"},
        {"", "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>[least:true]) { }\n",
         "MIR0320 'my.AnOp': a result has no mark 'least', only 'many' and 'optional'\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>[optional:true], "
         "%b:tensor<[$n], T, D>) { }\n",
         "MIR0320 'my.AnOp': '%b' is required and follows an optional result\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>[many:false], %b:tensor<[$n], T, D>) { "
         "}\n",
         "''; AnOp 1..1 -> 2..2 infer"},
        {"", "(%x) -> () { }\n", "''; AnOp 1..1 -> 0..0 infer"},
        {"", "(%x) -> (%y) { }\n", "''; AnOp 1..1 -> 1..1 infer"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>, %w:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>, %q:tensor<[$n], "
         "T, D>) { }\n",
         "''; AnOp 1..3 -> 1..2 infer"},
        {"",
         "(%x:tensor<[$n], T, D>, %v:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>, "
         "%q:tensor<[$n], T, D>) { }\n(%z:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "''; AnOp 1..2 -> 1..2 infer"},
        {"", "",
         "MIR0320 'my.AnOp': a region of a declaration has a signature and at most one block\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.ReturnOp (%x) -> ()\n^a:\n "
         "cf.ReturnOp (%x) -> () }\n",
         "MIR0320 'my.AnOp': a region of a declaration has a signature and at most one block\n"},
        {"", "{ }\n",
         "MIR0320 'my.AnOp': a region of a declaration has a signature and at most one "
         "block\nMIR0201 expected an operation or '}', found '{'\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp(%x) -> (%y) "
         "cf.ReturnOp (%y, %x) -> () }\n",
         "MIR0320 'my.AnOp': 2 values are returned, the signature has 1\n"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.ReturnOp (%x) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer"},
        {"",
         "(%x:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$c], T, D>) { linalg.D.ConcatOp "
         "[dim:0] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': nothing binds '$c'\n"},
        {"fresh:[$c]",
         "(%x:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$c], T, D>) { linalg.D.ConcatOp "
         "[dim:0] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1.. -> 1..1 traits 2049 body infer"},
        {"",
         "(%z:tensor<[$n], T, D>, %x:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$n], T, D>) { "
         "linalg.D.AddOp(%x, %z) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': '%x' is any number of operands, and 'linalg.AddOp' takes at most 2\n"},
        {"",
         "(%z:tensor<[$n], T, D>, %x:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$n], T, D>) { "
         "linalg.D.AddOp(%z, %z) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 2.. -> 1..1 traits 1 body infer"},
        {"",
         "(%x:tensor<[$n], Float32, CPU>) -> (%y:tensor<[$n], Float32, CPU>) { linalg.D.AddOp(%x, "
         "%c:tensor<[1], Float32, CPU>[constant:[2]]) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': nothing binds 'D'\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.AddOp(%x, "
         "%c[constant:[2]]) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': constant '%c' of a body needs a type\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp <name=\"a\"> (%x) -> "
         "(%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer"},
        {"attributes:{name:string}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp <name=\"a\"> (%x) -> "
         "(%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer name:3"},
        {"attributes:{axis:{type:int, default:-1}}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.SoftmaxOp [axis:$axis] "
         "(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer axis:0 = -1"},
        {"attributes:{axis:{type:int, required:true}}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.SoftmaxOp [axis:$axis] "
         "(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer axis:0 required"},
        {"attributes:{axis:{type:int, default:0}}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.SoftmaxOp [axis:$axes] "
         "(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': nothing binds '$axes'\n"},
        {"",
         "(%x:tensor<[$B..], T, D>) -> (%y:tensor<[$B..], T, D>) { linalg.D.TransposeOp [dim0:0, "
         "dim1:1] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 the body of 'my.AnOp': the new 'linalg.TransposeOp' would not verify: 'dim1' of "
         "'TransposeOp' is "
         "1, expected an axis of rank 1\n"},
        {"",
         "(%x:tensor<[$B..], T, D>) -> (%y:tensor<[$B..], T, D>) { linalg.D.SoftmaxOp [axis:-1] "
         "(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer"},
        {"",
         "(%x:tensor<[$B..], T, D>) -> (%y:tensor<[$B..], T, D>) { linalg.D.SoftmaxOp [axis:-2] "
         "(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 the body of 'my.AnOp': the new 'linalg.SoftmaxOp' would not verify: 'axis' of "
         "'SoftmaxOp' is "
         "-2, expected an axis of rank 1\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %z:tensor<[$m], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "linalg.D.AddOp(%x, %z) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 the body of 'my.AnOp': the new 'linalg.AddOp' would not verify: 'AddOp' takes "
         "operands "
         "whose extents are equal or 1, found [$n] and [$m]\n"},
        {"where:\"$n == $m\"",
         "(%x:tensor<[$n], T, D>, %z:tensor<[$m], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "linalg.D.AddOp(%x, %z) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 2..2 -> 1..1 traits 1 body infer"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y) { linalg.D.NegOp(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer"},
        {"",
         "(%x:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "}\n(%x:tensor<[$a, $b], T, D>) -> (%y:tensor<[$a, $b], T, D>) { linalg.D.TransposeOp "
         "[dim0:0, dim1:1] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 the body of 'my.AnOp': the new '%y' would be tensor<[$b, $a], Float32, CPU>, not "
         "tensor<[$a, $b], Float32, CPU> as stated\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "}\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NoneOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': operation 'linalg.NoneOp' is not known\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NoneOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n(%x:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { linalg.D.NeitherOp(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 'my.AnOp': operation 'linalg.NoneOp' is not known\nMIR0320 'my.AnOp': operation "
         "'linalg.NeitherOp' is not known (did you mean 'linalg.GatherOp'?)\n"},
        {"",
         "(%x:tensor<[$B..], T, D>) -> (%y:tensor<[$B..], T, D>) { linalg.D.SoftmaxOp [axis:-3] "
         "(%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 the body of 'my.AnOp': the new 'linalg.SoftmaxOp' would not verify: 'axis' of "
         "'SoftmaxOp' is "
         "-3, expected an axis of rank 1\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.SoftmaxOp [axis:$z] (%x) "
         "-> (%y) cf.ReturnOp (%y) -> () }\n(%x:tensor<[$n], T, D>, %w:tensor<[$z], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { }\n",
         "MIR0320 'my.AnOp': nothing binds '$z'\n"},
        {"", "(%x:tensor<[$n], T, D>) -> (%a:tensor<[$n], T, D>[many:true, optional:true]) { }\n",
         "''; AnOp 1..1 -> 0.. infer"},
        {"attributes:{k:{type:int, default:1}, l:{type:int, required:true}}",
         "(%x:tensor<[$a, $b], T, D>) -> (%y:tensor<[$a, $b], T, D>) { linalg.D.TransposeOp "
         "[dim0:0, dim1:1] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "''; AnOp 1..1 -> 1..1 traits 1 body infer k:0 = 1 l:0 required"},
        {"attributes:{k:{type:int, default:1}, l:{type:int, default:2}}",
         "(%x:tensor<[$a, $b], T, D>) -> (%y:tensor<[$a, $b], T, D>) { linalg.D.TransposeOp "
         "[dim0:0, dim1:1] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "MIR0320 the body of 'my.AnOp': the new '%y' would be tensor<[$b, $a], Float32, CPU>, not "
         "tensor<[$a, $b], Float32, CPU> as stated\n"},
    };
    for (const Declaration& each : declarations) {
      CAPTURE(each.attributes);
      CAPTURE(each.regions);
      CHECK(dialect_text(dialect_of_op(each.attributes, each.regions)) == each.expected);
    }
  }

  TEST_CASE("each part of a dialect is in it, or an error") {
    const std::pair<std::string, std::string> dialects[] = {
        {"@my [mir_version:2] () -> () {\n}\n", "no dialect"},
        {"@my [mir_version:2, summary:\"Some words.\", device_in_path:true] () -> () {\n    "
         "dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "'Some words.' device in path; AnOp 1..1 -> 1..1 infer"},
        {"@my [mir_version:2, summary:\"Some words.\", device_in_path:false] () -> () {\n    "
         "dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "'Some words.'; AnOp 1..1 -> 1..1 infer"},
        {"@my [mir_version:1] () -> () {\n    dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "MIR0321 dialect 'my' is declared by a module, which needs mir_version:2\n"},
        {"@my [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> () {\n    dialect.OpOp @AnOp "
         "{\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "MIR0320 dialect 'my' is a module with one block and without inputs and outputs\n"},
        {"@my [mir_version:2] () -> (%x:tensor<[2], Float32, CPU>) {\n    dialect.OpOp @AnOp "
         "{\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "MIR0320 dialect 'my' is a module with one block and without inputs and outputs\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { }\n    }\n^a:\n    dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, "
         "D>) -> (%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "MIR0320 dialect 'my' is a module with one block and without inputs and outputs\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.OpOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "MIR0320 dialect 'my' has a 'dialect.OpOp' without a name such as '@AddOp'\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp\n}\n",
         "MIR0320 dialect 'my' has a 'dialect.TypeOp' without a name such as '@tile'\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.AttributeOp\n}\n",
         "MIR0320 dialect 'my' has a 'dialect.AttributeOp' without a name such as '@tile'\n"},
        {"@my [mir_version:2] () -> () {\n    dbg.CommentOp [text:\"x\"] () -> ()\n}\n",
         "no dialect"},
        {"@my [mir_version:2] () -> () {\n    dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { }\n    }\n    dialect.OpOp @AnOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "MIR0319 dialect 'my' has 'AnOp' twice\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile\n    dialect.TypeOp @tile\n}\n",
         "MIR0319 dialect 'my' has 'tile' twice\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [summary:\"A tile.\", "
         "example:\"!my.tile<1>\", parameters:{rows:{type:int, range:[1, 64]}, of:{type:dtype, "
         "default:Float32}}]\n    dialect.AttributeOp @layout [summary:\"A layout.\", "
         "parameters:{a:int, b:{type:int, default:2}}]\n    dialect.OpOp @AnOp {\n(%x:tensor<[$n], "
         "T, D>) -> (%y:tensor<[$n], T, D>) { }\n    }\n}\n",
         "''; AnOp 1..1 -> 1..1 infer; type tile 'A tile.' example '!my.tile<1>' rows:0 required "
         "'' of:8 'Float32'; attribute layout 'A layout.' a:0 required '' b:0 '2'"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [parameters:{rows:int}, "
         "where:\"$rows > 2\"]\n}\n",
         "''; type tile rows:0 required ''"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [parameters:{rows:int}, "
         "where:[\"$rows > 2\", \"$rows < 9\"]]\n}\n",
         "''; type tile rows:0 required ''"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [parameters:{rows:int}, "
         "where:{\"$rows > 2\":\"more rows\"}]\n}\n",
         "''; type tile rows:0 required ''"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [parameters:{rows:int}, "
         "where:\"$rows >\"]\n}\n",
         "MIR0320 'my.tile': cannot read '$rows >': expected a value at its end\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [parameters:{rows:int}, "
         "where:[\"$rows > 2\", \"$cols > 1\"]]\n}\n",
         "MIR0320 'my.tile': cannot read '$cols > 1': nothing binds '$cols' at character 1\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile [parameters:{rows:int}, "
         "where:{\"$cols > 2\":\"m\", \"$rows > 2\":\"n\"}]\n}\n",
         "MIR0320 'my.tile': cannot read '$cols > 2': nothing binds '$cols' at character 1\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile "
         "[parameters:{rows:integer}]\n}\n",
         "MIR0320 'my.tile': 'integer' of 'rows' is no type of attributes, expected one of 'int', "
         "'float', 'bool', 'string', 'symbol', 'dims', 'ints', 'dim', 'dtype', 'device', 'slices', "
         "'dict', 'quantisation', 'type', 'types', 'any'\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.OpOp @AOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { my.BOp(%x) -> (%y) cf.ReturnOp (%y) -> () }\n    }\n    "
         "dialect.OpOp @BOp {\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { my.COp(%x) -> "
         "(%y) cf.ReturnOp (%y) -> () }\n    }\n    dialect.OpOp @COp {\n(%x:tensor<[$n], T, D>) "
         "-> (%y:tensor<[$n], T, D>) { my.AOp(%x) -> (%y) cf.ReturnOp (%y) -> () }\n    }\n}\n",
         "MIR0320 the body of 'my.AOp' contains the op itself, directly or in the bodies of "
         "others\n"},
        {"@my [mir_version:2] () -> () {\n    dialect.OpOp @AOp {\n(%x:tensor<[$n], T, D>) -> "
         "(%y:tensor<[$n], T, D>) { my.BOp(%x) -> (%z) my.COp(%z) -> (%y) cf.ReturnOp (%y) -> () "
         "}\n    }\n    dialect.OpOp @BOp {\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "my.COp(%x) -> (%y) cf.ReturnOp (%y) -> () }\n    }\n    dialect.OpOp @COp "
         "{\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n    }\n}\n",
         "''; AOp 1..1 -> 1..1 traits 1 body infer; BOp 1..1 -> 1..1 traits 1 body infer; COp 1..1 "
         "-> 1..1 traits 1 body infer"},
    };
    for (const auto& each : dialects) {
      const std::string& text = each.first;
      CAPTURE(text);
      CHECK(dialect_text(text) == each.second);
    }
  }

  TEST_CASE("conditions of a type hold for each of its uses") {
    const auto use = [](const std::string& where, const std::string& type) {
      return use_text(
          "@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile "
          "[parameters:{rows:int, cols:{type:int, default:3}}, where:" +
          where + "]\n}\n" + module_of("%x:" + type, "my.UnknownOp(%x) -> ()"));
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
          module_of("%a:" + one + ", %b:" + other, "my.AnOp(%a, %b) -> (%t)"));
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
        module_of("%x:tensor<[4], Float32, CPU>",
                  "my.AnOp [state:@cache] (%x) -> (%y)\n    my.AnOp(%x) -> (%z)"));
    CHECK(read.problems == "");
    const Op* op = read.modules.back()->body().entry()->front();
    REQUIRE(op->row() != nullptr);
    CHECK(read.context.text(op->row()->resource(*op)) == "cache");
    CHECK_FALSE(op->row()->resource(*op->next()));
  }

  TEST_CASE("uses of an op get the types of its signature, or an error") {
    const std::string two =
        "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>, %m:tensor<[$n], Bool, "
        "D>[optional:true]) { }\n";
    const Use uses[] = {
        {"", two, "%x:tensor<[2], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "tensor<[2], Float32, CPU>"},
        {"", two, "%x:tensor<[2], Float32, CPU>", "my.AnOp(%x) -> (%y, %m)",
         "tensor<[2], Float32, CPU>, tensor<[2], Bool, CPU>"},
        {"", two, "%x:tensor<[2], Float32, CPU>",
         "my.AnOp(%x) -> (%y, %m, %n:tensor<[2], Float32, CPU>)",
         "MIR0401 'my.AnOp' has 3 results, expected 1 to 2\n"},
        // An encoding is that of the numbers: other numbers have none.
        {"", two, "%x:tensor<[2], Float32, CPU, \"rows\">", "my.AnOp(%x) -> (%y, %m)",
         "tensor<[2], Float32, CPU, \"rows\">, tensor<[2], Bool, CPU>"},
        {"attributes:{k:{type:dim, default:3}}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n+$k], T, D>) { }\n",
         "%x:tensor<[2], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[5], Float32, CPU>"},
        {"attributes:{k:{type:dim, default:?}}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n+$k], T, D>) { }\n",
         "%x:tensor<[2], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[?], Float32, CPU>"},
        {"attributes:{k:{type:dims, default:[3, 4]}}, let:{\"r..\":\"$k\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n, $r..], T, D>) { }\n",
         "%x:tensor<[2], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[2, 3, 4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>, %w:tensor<[4, 3], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)", "tensor<[2, 4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[3], Float32, CPU>, %w:tensor<[4, 3], Float32, CPU>", "my.AnOp(%x, %w) -> (%y)",
         "tensor<[4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>, %w:tensor<[4, 5], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%w' of 'my.AnOp' is tensor<[4, 5], Float32, CPU>, expected tensor<[$N, "
         "$K], T, D>: extent 1 is 5, and $K is 3 (%x)\n"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[5, 2, 3], Float32, CPU>, %w:tensor<[4, 3], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)", "tensor<[5, 2, 4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>, %w:tensor<[4], Float32, CPU>", "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%w' of 'my.AnOp' is tensor<[4], Float32, CPU>, expected tensor<[$N, "
         "$K], T, D>: rank 1, expected 2\n"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[], Float32, CPU>, %w:tensor<[4, 3], Float32, CPU>", "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[], Float32, CPU>, expected tensor<[$B.., "
         "$K], T, D>: rank 0, expected at least 1 ($B.. and 1 more)\n"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>, %w:tensor<[4, 3, 1], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%w' of 'my.AnOp' is tensor<[4, 3, 1], Float32, CPU>, expected "
         "tensor<[$N, $K], T, D>: rank 3, expected 2\n"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>, %w:tensor<[4, 3], Float32, QNN>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0502 operand '%w' of 'my.AnOp' is tensor<[4, 3], Float32, QNN>, expected tensor<[$N, "
         "$K], T, D>: device is QNN, and D is CPU (%x)\n"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) { }\n",
         "%x:!other.kind<3>, %w:tensor<[4, 3], Float32, QNN>", "my.AnOp(%x, %w) -> (%y)",
         "MIR0311 operand '%x' of 'my.AnOp' is !other.kind<3>, expected tensor<[$B.., $K], T, D>: "
         "no tensor\n"},
        {"", "(%x:tensor<[$n], Float32, CPU>) -> (%y:tensor<[$n], Float16, CPU>) { }\n",
         "%x:tensor<[4], Float16, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0502 operand '%x' of 'my.AnOp' is tensor<[4], Float16, CPU>, expected tensor<[$n], "
         "Float32, CPU>: element type Float16 is not Float32\n"},
        {"", "(%x:tensor<[$n], Float32, CPU>) -> (%y:tensor<[$n], Float16, CPU>) { }\n",
         "%x:tensor<[4], Float32, QNN>", "my.AnOp(%x) -> (%y)",
         "MIR0502 operand '%x' of 'my.AnOp' is tensor<[4], Float32, QNN>, expected tensor<[$n], "
         "Float32, CPU>: device QNN is not CPU\n"},
        {"", "(%x:tensor<[$n], Float32, CPU>) -> (%y:tensor<[$n], Float16, CPU>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[4], Float16, CPU>"},
        {"", "(%x:tensor<[4, 2], T, D>) -> () { }\n", "%x:tensor<[4, 3], Float32, CPU>",
         "my.AnOp(%x) -> ()",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[4, 3], Float32, CPU>, expected tensor<[4, "
         "2], T, D>: extent 1 is 3, not 2\n"},
        {"", "(%x:tensor<[4, 2], T, D>) -> () { }\n", "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x) -> ()",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[4], Float32, CPU>, expected tensor<[4, 2], "
         "T, D>: rank 1, expected 2\n"},
        {"", "(%x:tensor<[4, 2], T, D>) -> () { }\n", "%x:tensor<[4, 2], Float32, CPU>",
         "my.AnOp(%x) -> ()", ""},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 6, 3], Float32, CPU>, %y:tensor<[2, 5, 6, 3], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)", "tensor<[3, 5, 6, 2], Float32, CPU>"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>, %y:tensor<[2, 3], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)", "tensor<[3, 2], Float32, CPU>"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 3], Float32, CPU>, %y:tensor<[4, 5, 3], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[4, 5, 3], Float32, CPU>, expected "
         "tensor<[$a, $B.., $c], T, D>: extent 0 is 4, and $a is 2 (%x)\n"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 3], Float32, CPU>, %y:tensor<[2, 6, 3], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[2, 6, 3], Float32, CPU>, expected "
         "tensor<[$a, $B.., $c], T, D>: $B.. would be [6], and $B.. is [5] (%x)\n"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 3], Float32, CPU>, %y:tensor<[2, 5, 4], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[2, 5, 4], Float32, CPU>, expected "
         "tensor<[$a, $B.., $c], T, D>: extent 2 is 4, and $c is 3 (%x)\n"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 3], Float32, CPU>, %y:tensor<[2, 3], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[2, 3], Float32, CPU>, expected tensor<[$a, "
         "$B.., $c], T, D>: $B.. would be [], and $B.. is [5] (%x)\n"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 3], Float32, CPU>, %y:tensor<[2], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[2], Float32, CPU>, expected tensor<[$a, "
         "$B.., $c], T, D>: rank 1, expected at least 2 ($B.. and 2 more)\n"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2, 5, 3], Float32, CPU>, %y:tensor<[2, 5, 5, 3], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[2, 5, 5, 3], Float32, CPU>, expected "
         "tensor<[$a, $B.., $c], T, D>: $B.. would be [5, 5], and $B.. is [5] (%x)\n"},
        {"",
         "(%x:tensor<[$a, $B.., $c], T, D>, %y:tensor<[$a, $B.., $c], T, D>) -> (%z:tensor<[$c, "
         "$B.., $a], T, D>) { }\n",
         "%x:tensor<[2], Float32, CPU>, %y:tensor<[2], Float32, CPU>", "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[2], Float32, CPU>, expected tensor<[$a, "
         "$B.., $c], T, D>: rank 1, expected at least 2 ($B.. and 2 more)\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[optional:true], %z:tensor<[$m], T, "
         "D>[optional:true]) -> (%r:tensor<[$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp() -> (%r:tensor<[4], Float32, CPU>)",
         "MIR0401 'my.AnOp' has 0 operands, expected 1 to 3\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[optional:true], %z:tensor<[$m], T, "
         "D>[optional:true]) -> (%r:tensor<[$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a) -> (%r)", "tensor<[4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[optional:true], %z:tensor<[$m], T, "
         "D>[optional:true]) -> (%r:tensor<[$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b) -> (%r)", "tensor<[4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[optional:true], %z:tensor<[$m], T, "
         "D>[optional:true]) -> (%r:tensor<[$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %b) -> (%r)", "tensor<[4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[optional:true], %z:tensor<[$m], T, "
         "D>[optional:true]) -> (%r:tensor<[$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %c) -> (%r)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[6], Float32, CPU>, expected tensor<[$m], T, "
         "D>: extent 0 is 6, and $m is 5 (%y)\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[optional:true], %z:tensor<[$m], T, "
         "D>[optional:true]) -> (%r:tensor<[$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %c, %c) -> (%r:tensor<[4], Float32, CPU>)",
         "MIR0401 'my.AnOp' has 4 operands, expected 1 to 3\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[many:true], %z:tensor<[$n], T, D>) -> "
         "(%r:tensor<[$n], T, D>, %s:tensor<[$m], T, D>[many:true]) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %a) -> (%r, %s)", "tensor<[4], Float32, CPU>, tensor<[5], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[many:true], %z:tensor<[$n], T, D>) -> "
         "(%r:tensor<[$n], T, D>, %s:tensor<[$m], T, D>[many:true]) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %b, %b, %a) -> (%r, %s, %t)",
         "tensor<[4], Float32, CPU>, tensor<[5], Float32, CPU>, tensor<[5], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[many:true], %z:tensor<[$n], T, D>) -> "
         "(%r:tensor<[$n], T, D>, %s:tensor<[$m], T, D>[many:true]) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %a) -> (%r:tensor<[4], Float32, CPU>, %s:tensor<[4], Float32, CPU>)",
         "MIR0401 'my.AnOp' has 2 operands, expected at least 3\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[many:true], %z:tensor<[$n], T, D>) -> "
         "(%r:tensor<[$n], T, D>, %s:tensor<[$m], T, D>[many:true]) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %c, %a) -> (%r, %s)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[6], Float32, CPU>, expected tensor<[$m], T, "
         "D>: extent 0 is 6, and $m is 5 (%y)\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[many:true], %z:tensor<[$n], T, D>) -> "
         "(%r:tensor<[$n], T, D>, %s:tensor<[$m], T, D>[many:true]) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %b) -> (%r, %s)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[5], Float32, CPU>, expected tensor<[$n], T, "
         "D>: extent 0 is 5, and $n is 4 (%x)\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>[many:true], %z:tensor<[$n], T, D>) -> "
         "(%r:tensor<[$n], T, D>, %s:tensor<[$m], T, D>[many:true]) { }\n",
         "%a:tensor<[4], Float32, CPU>, %b:tensor<[5], Float32, CPU>, %c:tensor<[6], Float32, CPU>",
         "my.AnOp(%a, %b, %a) -> (%r)", "MIR0401 'my.AnOp' has 1 result, expected at least 2\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>) -> (%y:tensor<[2*$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[3*$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>", "my.AnOp(%a) -> (%r)", "tensor<[4], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>) -> (%y:tensor<[2*$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[3*$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>", "my.AnOp(%a, %a) -> (%r)", "tensor<[8], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>) -> (%y:tensor<[2*$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[3*$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>", "my.AnOp(%a, %a, %a) -> (%r)",
         "tensor<[12], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>, %w:tensor<[$n], T, D>) -> (%y:tensor<[2*$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>", "my.AnOp(%a, %a) -> (%r:tensor<[4], Float32, CPU>)",
         "MIR0401 'my.AnOp' has no signature with 2 operands\n"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n(%x:tensor<[$n], T, D>, "
         "%z:tensor<[$n], T, D>, %w:tensor<[$n], T, D>) -> (%y:tensor<[2*$n], T, D>) { }\n",
         "%a:tensor<[4], Float32, CPU>", "my.AnOp(%a, %a, %a) -> (%r)",
         "tensor<[8], Float32, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp (%x) -> (%y)", "tensor<[8], Float16, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:5] (%x) -> (%y)",
         "tensor<[20], Float16, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [U:Float32] (%x) -> (%y)",
         "tensor<[8], Float32, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [U:fp32] (%x) -> (%y)",
         "MIR0474 element type 'fp32' of tensor<[8], fp32, CPU> is not known\n"
         "MIR0312 attribute 'U' of 'my.AnOp' is fp32, expected an element type\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3, U:Int8] (%x) -> (%y)",
         "tensor<[12], Int8, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, where:\"$n "
         "== 4\"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "tensor<[12], Float16, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, where:\"$n "
         "== 5\"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "MIR0508 'my.AnOp' condition '4 == 5' does not hold: $n is 4 (%x)\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, where:\"$q "
         "== 1\"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "tensor<[12], Float16, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, where:\"$n "
         "+ $q > 0\"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "tensor<[12], Float16, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "where:\"$n\"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "MIR0508 'my.AnOp': whether it holds cannot be decided: condition '4' does not hold: $n "
         "is 4 (%x)\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, where:\"$k "
         "% 2 == 0 && $n % $k == 0\"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "MIR0508 'my.AnOp' condition '3 % 2 == 0 && 4 % 3 == 0' does not hold: $k is 3, $n is 4 "
         "(%x)\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "where:[\"$n == 4\", \"$k == 2\"]",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "MIR0508 'my.AnOp' condition '3 == 2' does not hold: $k is 3\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "where:{\"$n == 4\":\"first $n\", \"$k == 2\":\"second $k of $k.., not $$k or $z\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$k*$n], U, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp [k:3] (%x) -> (%y)",
         "MIR0508 'my.AnOp' second 3 of $k.., not $3 or $z: $k is 3\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "let:{\"$m\":\"$n + 1\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$m], T, D>) { }\n", "%x:tensor<[7], Float32, CPU>",
         "my.AnOp(%x) -> (%y)", "tensor<[8], Float32, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "let:{\"$m\":\"$n / 0\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$m], T, D>) { }\n", "%x:tensor<[7], Float32, CPU>",
         "my.AnOp(%x) -> (%y)", "MIR0508 'my.AnOp': '$m' has no value: $n is 7 (%x)\n"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "let:{\"$m\":\"$q + 1\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$m], T, D>) { }\n", "%x:tensor<[7], Float32, CPU>",
         "my.AnOp(%x) -> (%y)", "tensor<[?], Float32, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "let:{\"$m\":\"$n / $k\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$m], T, D>) { }\n", "%x:tensor<[7], Float32, CPU>",
         "my.AnOp(%x) -> (%y)", "tensor<[3], Float32, CPU>"},
        {"attributes:{k:{type:int, default:2}, U:{type:dtype, default:Float16}, q:int}, "
         "let:{\"$m\":\"$n % $k / $q\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$m], T, D>) { }\n", "%x:tensor<[7], Float32, CPU>",
         "my.AnOp(%x) -> (%y)", "tensor<[?], Float32, CPU>"},
        {"", "(%x:tensor<[2*$h, $h + $g], T, D>) -> (%y:tensor<[$h, $g], T, D>) { }\n",
         "%x:tensor<[8, 9], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[4, 5], Float32, CPU>"},
        {"", "(%x:tensor<[2*$h, 3*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[8, 9], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[8, 9], Float32, CPU>, expected "
         "tensor<[2*$h, 3*$h], T, D>: an extent is 9, and $h is 4\n"},
        {"",
         "(%x:tensor<[2*$h], T, D>, %z:tensor<[3*$h + $g + $g], T, D>, %w:tensor<[$g], T, D>) -> "
         "(%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[8], Float32, CPU>, %z:tensor<[13], Float32, CPU>, %w:tensor<[2], Float32, "
         "CPU>",
         "my.AnOp(%x, %z, %w) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[13], Float32, CPU>, expected "
         "tensor<[2*$g+3*$h], T, D>: an extent is 13, and $g is 2 (%w), $h is 4\n"},
        {"", "(%x:tensor<[2*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[?], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[?], Float32, CPU>"},
        {"", "(%x:tensor<[2*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[$S], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[$S], Float32, CPU>, expected tensor<[2*$h], "
         "T, D>: an extent is $S, and no whole $h was found that gives it\n"},
        {"", "(%x:tensor<[2*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[2*$S], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[$S], Float32, CPU>"},
        {"", "(%x:tensor<[2*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[7], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[7], Float32, CPU>, expected tensor<[2*$h], "
         "T, D>: an extent is 7, and no whole $h was found that gives it\n"},
        {"", "(%x:tensor<[$h*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[9], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[3], Float32, CPU>"},
        {"", "(%x:tensor<[$h*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[0], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[0], Float32, CPU>"},
        {"", "(%x:tensor<[$h*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[$S*$S], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[$S], Float32, CPU>"},
        {"", "(%x:tensor<[$h/2], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[8], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[16], Float32, CPU>"},
        {"", "(%x:tensor<[$h/2], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[$S/2], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[$S], Float32, CPU>"},
        {"", "(%x:tensor<[($h+1)*$h/2], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[10], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[4], Float32, CPU>"},
        {"", "(%x:tensor<[$h*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[8], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[8], Float32, CPU>, expected tensor<[$h*$h], "
         "T, D>: an extent is 8, and no whole $h was found that gives it\n"},
        // Another operand tells which of 16 and 17 it is.
        {"", "(%x:tensor<[$h/2], T, D>, %z:tensor<[$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[8], Float32, CPU>, %z:tensor<[17], Float32, CPU>", "my.AnOp(%x, %z) -> (%y)",
         "tensor<[17], Float32, CPU>"},
        // Proved for all values of a symbol that the module does not declare.
        {"where:\"$n <= 4*(($n+3)/4)\"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[$S], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[$S], Float32, CPU>"},
        {"", "(%x:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[?], Float32, CPU>, %z:tensor<[$S], Float32, CPU>", "my.AnOp(%x, %z) -> (%y)",
         "tensor<[$S], Float32, CPU>"},
        {"where:\"$n % 4 == 0\"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[?], Float32, CPU>", "my.AnOp(%x) -> (%y)", "tensor<[?], Float32, CPU>"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[4], Float32, CPU, #quant.x<1>>", "my.AnOp(%x) -> (%y)",
         "tensor<[4], Float32, CPU, #quant.x<1>>"},
        {"", "(%x:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>, %z:tensor<[4], Float32, CPU, #quant.x<1>>",
         "my.AnOp(%x, %z) -> (%y)", "tensor<[4], Float32, CPU>"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y) { }\n", "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x) -> (%y:tensor<[9], Float32, CPU>)", "tensor<[9], Float32, CPU>"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[4], Float32, CPU>", "my.AnOp(%x) -> (%y:tensor<[9], Float32, CPU>)",
         "MIR0410 result 0 of 'my.AnOp' is stated as tensor<[9], Float32, CPU>, its operands and "
         "attributes give tensor<[4], Float32, CPU>\n"},
        {"where:{\"$n == 5\":\"T of D\"}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n", "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x) -> (%y)", "MIR0508 'my.AnOp' T of D: $n is 4 (%x)\n"},
        {"",
         "(%x:tensor<[$n, $n], T, D>, %z:tensor<[$n, $m, $m], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "}\n",
         "%x:tensor<[4, 5], Float32, CPU>, %z:tensor<[4, 5, 5], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[4, 5], Float32, CPU>, expected tensor<[$n, "
         "$n], T, D>: extent 1 is 5, and $n is 4\n"},
        {"",
         "(%x:tensor<[$n, $n], T, D>, %z:tensor<[$n, $m, $m], T, D>) -> (%y:tensor<[$n], T, D>) { "
         "}\n",
         "%x:tensor<[4, 4], Float32, CPU>, %z:tensor<[4, 5, 6], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[4, 5, 6], Float32, CPU>, expected "
         "tensor<[$n, $m, $m], T, D>: extent 2 is 6, and $m is 5\n"},
    };
    for (const Use& each : uses) {
      CAPTURE(each.attributes);
      CAPTURE(each.regions);
      CAPTURE(each.inputs);
      CAPTURE(each.line);
      CHECK(use_text(dialect_of_op(each.attributes, each.regions) +
                     module_of(each.inputs, each.line)) == each.expected);
    }
  }
}

}  // namespace rows_test
