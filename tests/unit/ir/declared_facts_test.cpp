// What rows, heads of modules and types declare: values of attributes, symbols, versions, sizes and
// quantisations.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "ir/context/attribute_type.hpp"
#include "ir/joined_extents.hpp"
#include "ir/symbol_declarations.hpp"
#include "ir/symbol_scopes.hpp"
#include "ir/version_needs.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/control_flow.hpp"
#include "mir/equivalence.hpp"
#include "mir/rewriter.hpp"
#include "mir/work.hpp"
#include "read.hpp"
#include "text/emit/emit.hpp"

using namespace mir;
using mir::test::Reading;

namespace declared_facts_test {

namespace {

using Lines = std::vector<std::string>;

/// The attribute of this text.
struct ReadAttribute {
  explicit ReadAttribute(const std::string& text)
      : reading("@main () -> () { a.b [k:" + text + "] () -> () }\n") {}
  const Attr& value() { return *reading.module().body().entry()->front()->attribute("k"); }
  Reading reading;
};

/// Which of all types of attributes admit the value.
std::string admitting(const std::string& text) {
  ReadAttribute attribute(text);
  std::string names;
  constexpr std::pair<AttrType, std::string_view> kTypes[] = {
      {AttrType::kInt, "int"},
      {AttrType::kFloat, "float"},
      {AttrType::kBool, "bool"},
      {AttrType::kString, "string"},
      {AttrType::kDevice, "device"},
      {AttrType::kSymbolRef, "symbol"},
      {AttrType::kDims, "dims"},
      {AttrType::kInts, "ints"},
      {AttrType::kDim, "dim"},
      {AttrType::kDType, "dtype"},
      {AttrType::kSlices, "slices"},
      {AttrType::kDict, "dict"},
      {AttrType::kType, "type"},
      {AttrType::kTypes, "types"},
      {AttrType::kQuantisation, "quantisation"}};
  for (const auto& [type, name] : kTypes) {
    if (admits(type, attribute.value())) names += (names.empty() ? "" : " ") + std::string(name);
  }
  CHECK(admits(AttrType::kAny, attribute.value()));
  return names;
}

/// What is wrong with a head `symbols:{..}`.
Lines problems(const std::string& symbols) {
  ReadAttribute attribute(symbols);
  Lines list;
  for (const auto& each :
       errors_of_symbol_declarations(attribute.value(), attribute.reading.context)) {
    list.push_back(each.message + (each.nearest.empty() ? "" : fmt::format(" ({})", each.nearest)));
  }
  return list;
}

/// `:f[2, $S]` is a type of floats, `:b` one truth value.
std::string typed(std::string text) {
  for (auto at = text.find(":f["); at != text.npos; at = text.find(":f[", at)) {
    const auto end = text.find(']', at);
    text.replace(at, end + 1 - at,
                 ":tensor<" + text.substr(at + 2, end - at - 1) + ", Float32, CPU>");
  }
  for (auto at = text.find(":b"); at != text.npos; at = text.find(":b", at + 1)) {
    text.replace(at, 2, ":tensor<[1], Bool, CPU>");
  }
  return text;
}

/// The symbols that a condition joins, where its regions pass %p and %q.
Lines joined(const std::string& inputs, const std::string& result, const std::string& passed) {
  Reading reading(typed("@main [mir_version:2] (%k:b, " + inputs + ") -> () {\n" +
                        "cf.IfOp (%k) -> (%z" + result +
                        ") {\n() -> (%p) { cf.YieldOp (%p) -> () "
                        "}\n() -> (%q) { cf.YieldOp (" +
                        passed + ") -> () }\n}\ncf.ReturnOp () -> ()\n}\n"));
  Lines names;
  const Op* op = test::find_op(reading.module().body(), "cf.IfOp");
  REQUIRE(op != nullptr);
  for (const Symbol symbol : symbols_joined_by(*op)) {
    names.emplace_back(reading.context.text(symbol));
  }
  return names;
}

Lines needs(const std::string& text, std::int64_t admitted = 1) {
  Reading reading(typed(text));
  Lines list;
  for_each_version_need(reading.module(), admitted,
                        [&](const VersionNeed& need) { list.push_back(describe(need)); });
  if (admitted == 1) CHECK(lowest_version(reading.module()) == (list.empty() ? 1 : 2));
  return list;
}

}  // namespace

TEST_SUITE("values of attributes") {
  TEST_CASE("each type of attributes admits the values of its kind") {
    CHECK(admitting("3") == "int float dim");
    CHECK(admitting("3.5") == "float");
    CHECK(admitting("true") == "bool");
    CHECK(admitting("Float32") == "string device dtype");
    CHECK(admitting("\"all\"") == "string device");
    CHECK(admitting("@w") == "symbol");
    CHECK(admitting("$S+1") == "dim");
    CHECK(admitting("[1, 2]") == "dims ints slices");
    CHECK(admitting("[1, $S]") == "dims");
    CHECK(admitting("[1, 2.5]") == "");
    CHECK(admitting("[all, {}, {start:1}]") == "slices");
    CHECK(admitting("[all, some]") == "");
    CHECK(admitting("{a:1}") == "dict");
    CHECK(admitting("null") == "dict");
    CHECK(admitting("tensor<[2], Float32, CPU>") == "type");
    CHECK(admitting("[tensor<[2], Float32, CPU>, 1]") == "");
    CHECK(admitting("[tensor<[2], Float32, CPU>]") == "types");
    CHECK(admitting("QuantSpec(None, uuid=1)") == "quantisation");
  }

  TEST_CASE("a row admits its choices and numbers in its range, both ends included") {
    static constexpr std::string_view kChoices[] = {"left", "right"};
    constexpr AttrRow kSide{.name = "side", .type = AttrType::kString, .choices = kChoices};
    constexpr AttrRow kCount{.name = "count", .type = AttrType::kInts, .range = {1, 4}};
    constexpr AttrRow kLeast{.name = "least", .type = AttrType::kInt, .range = {.low = 1}};
    constexpr AttrRow kMost{.name = "most", .type = AttrType::kFloat, .range = {.high = 4}};
    const auto is_admitted = [](const AttrRow& row, const std::string& text) {
      ReadAttribute attribute(text);
      return admits(row, attribute.value());
    };
    CHECK(is_admitted(kSide, "left"));
    CHECK_FALSE(is_admitted(kSide, "up"));
    CHECK_FALSE(is_admitted(kSide, "1"));
    CHECK(is_admitted(kCount, "[1, 4]"));
    CHECK_FALSE(is_admitted(kCount, "[1, 5]"));
    CHECK_FALSE(is_admitted(kCount, "[0, 4]"));
    CHECK(is_admitted(kLeast, "1"));
    CHECK_FALSE(is_admitted(kLeast, "0"));
    CHECK(is_admitted(kMost, "4"));
    CHECK_FALSE(is_admitted(kMost, "4.5"));
    CHECK(expected_value(kSide) == "one of 'left', 'right'");
    CHECK(expected_value(kCount) == "an array of integers from 1 to 4");
    CHECK(expected_value(kLeast) == "an integer of at least 1");
    CHECK(expected_value(kMost) == "a number of at most 4");
    CHECK(expected_value({.name = "a", .type = AttrType::kDims}) == "an array of extents");
    ReadAttribute five("5"), empty("\"\"");
    CHECK(wrong_attribute("a.b", kCount, five.value()) ==
          "attribute 'count' of 'a.b' is 5, expected an array of integers from 1 to 4");
    CHECK(missing_attribute("a.b", kCount) == "'a.b' needs attribute 'count'");
  }
}

TEST_SUITE("declarations of symbols") {
  TEST_CASE("a declaration has a name, known keys and a value at least") {
    CHECK(problems("{S:{min:0,max:0,multiple:1},_t1:{}}") == Lines{});
    CHECK(problems("{\"1S\":{}}") ==
          Lines{"'symbols' declares '1S', expected a name such as S, without $"});
    CHECK(problems("{\"S-\":{}}") ==
          Lines{"'symbols' declares 'S-', expected a name such as S, without $"});
    CHECK(problems("{S:4}") ==
          Lines{"'$S' is declared as 4, expected {min:..., max:..., multiple:...}"});
    CHECK(problems("{S:{mim:4}}") == Lines{"the declaration of '$S' has an unknown key 'mim', "
                                           "expected min, max or multiple (min)"});
    CHECK(problems("{S:{other:4}}") == Lines{"the declaration of '$S' has an unknown key 'other', "
                                             "expected min, max or multiple"});
    CHECK(problems("{S:{min:-1}}") ==
          Lines{"'min' of '$S' is -1, expected an integer of at least 0"});
    CHECK(problems("{S:{multiple:0}}") ==
          Lines{"'multiple' of '$S' is 0, expected an integer of at least 1"});
    CHECK(problems("{S:{max:1.5}}") ==
          Lines{"'max' of '$S' is 1.5, expected an integer of at least 0"});
    CHECK(problems("{S:{min:5,max:4}}") == Lines{"'min' of '$S' is 5, which is above its 'max' 4"});
    CHECK(problems("{S:{min:5,max:7,multiple:4}}") ==
          Lines{"'$S' has no value: no multiple of 4 is from 5 to 7"});
    CHECK(problems("{S:{min:5,max:8,multiple:4}}") == Lines{});
    CHECK(problems("{S:{min:4,max:7,multiple:4}}") == Lines{});
    CHECK(problems("{S:{min:x,max:y}}").size() == 2);
  }

  TEST_CASE("sound declarations count from the version that has them, and print as ranges") {
    const auto texts = [](int version, const std::string& symbols) {
      Reading reading(
          fmt::format("@main [mir_version:{}, symbols:{}] () -> () {{ }}\n", version, symbols));
      Lines list;
      for (const auto& each : symbol_declarations(reading.module())) list.push_back(each.text());
      return list;
    };
    CHECK(texts(2, "{S:{min:1},T:{min:3,max:3},U:{max:4,multiple:2},V:{min:x}}") ==
          Lines{"1 or more", "3", "0 to 4, a multiple of 2"});
    CHECK(texts(1, "{S:{min:1}}") == Lines{});
    Reading reading("@main [mir_version:2, symbols:{S:{min:1},T:{min:2}}] () -> () { }\n");
    const auto declarations = symbol_declarations(reading.module());
    const auto* found = declarations.find(reading.context.intern("T"));
    REQUIRE(found != nullptr);
    CHECK(found->least == 2);
    CHECK(declarations.find(reading.context.intern("U")) == nullptr);
    CHECK(texts(2, "3") == Lines{});
  }

  TEST_CASE("a head is read once, and again when it is another one") {
    Reading reading("@main [mir_version:2, symbols:{S:{min:1}}] () -> () { }\n");
    const auto first = [&] { return symbol_declarations(reading.module()).begin(); };
    const auto before = first();
    CHECK(before->least == 1);
    CHECK(&*first() == &*before);
    Rewriter rewriter(reading.module());
    IRContext& context = reading.context;
    const NamedAttr least[] = {{context.intern("min"), context.integer(7)}};
    const NamedAttr entries[] = {{context.intern("S"), context.dict(least)}};
    rewriter.set_attribute(*reading.module().top(), key::kSymbols, context.dict(entries));
    CHECK(first()->least == 7);
    CHECK(before->least == 1);
    rewriter.remove_attribute(*reading.module().top(), key::kSymbols);
    CHECK(symbol_declarations(reading.module()).empty());
  }
}

TEST_SUITE("defaults of attributes") {
  TEST_CASE("a default is a value of the type of its row") {
    IRContext context;
    const auto value = [&](AttrType type, std::string_view text) {
      const Attr* made = default_value(context, {.name = "k", .type = type, .default_text = text});
      return made == nullptr ? std::string("none") : std::string(made->spelling());
    };
    CHECK(value(AttrType::kInt, "-3") == "-3");
    CHECK(value(AttrType::kFloat, "1e-5") == "1e-5");
    CHECK(value(AttrType::kBool, "true") == "true");
    CHECK(value(AttrType::kBool, "false") == "false");
    CHECK(value(AttrType::kInts, "[1, -23]") == "[1, -23]");
    CHECK(value(AttrType::kDims, "[]") == "[]");
    CHECK(value(AttrType::kString, "word") == "word");
    CHECK(value(AttrType::kInt, "") == "none");
    CHECK(value(AttrType::kInt, "?") == "none");
    CHECK(value(AttrType::kDict, "{}") == "none");
  }
}

TEST_SUITE("symbols that a graph finds out") {
  TEST_CASE("arguments of later blocks and results have symbols that no input has") {
    Reading reading(
        typed("@main [mir_version:2] () -> () {\ngraph.SubGraphOp @f <CPU> {\n"
              "(%k:b, %p:f[$S], %q:f[4]) -> (%z:f[$N]) {\n"
              "cf.CondBranchOp (%k) -> () [^end(%p), ^end(%q)]\n"
              "^end(%z:f[$N]):\ncf.ReturnOp (%z) -> ()\n}\n}\ncf.ReturnOp () -> ()\n}\n"));
    const Op& graph = *test::find_op(reading.module().body(), "graph.SubGraphOp");
    const auto found = symbols_found_out_by(graph);
    CHECK(found.size() == 1);
    CHECK(found.contains(reading.context.intern("N")));
  }
}

TEST_SUITE("symbols that a condition joins") {
  TEST_CASE("a symbol alone stands for the extents that two regions pass, unless an input has it") {
    CHECK(joined("%p:f[$S], %q:f[4]", ":f[$N]", "%q") == Lines{"N"});
    CHECK(joined("%p:f[$S, 2], %q:f[4, 2]", ":f[$N, $M]", "%q") == Lines{"N", "M"});
    CHECK(joined("%p:f[$S, 2], %q:f[4, 2]", ":f[$N, $N]", "%q") == Lines{"N"});
    CHECK(joined("%p:f[$S], %q:f[4]", ":f[$S]", "%q") == Lines{});
    CHECK(joined("%p:f[$S], %q:f[4]", ":f[$N+1]", "%q") == Lines{});
    CHECK(joined("%p:f[$S], %q:f[4]", ":f[5]", "%q") == Lines{});
    CHECK(joined("%p:f[$S], %q:f[4, 1]", ":f[$N]", "%q") == Lines{"N"});
    CHECK(joined("%p:f[$S], %q:f[4], %r:f[$N-1]", ":f[$N]", "%q") == Lines{});
  }

  TEST_CASE("the types of a place get the extents that one way passes") {
    Reading reading(
        typed("@main [mir_version:2] (%k:b, %p:f[$S], %q:f[4]) -> () {\n"
              "cf.IfOp (%k) -> (%z:f[$N]) {\n() -> (%p) { cf.YieldOp (%p) -> () }\n"
              "() -> (%q) { cf.YieldOp (%q) -> () }\n}\ncf.ReturnOp () -> ()\n}\n"));
    const Op& op = *test::find_op(reading.module().body(), "cf.IfOp");
    const auto edges = region_edges(op);
    REQUIRE(edges);
    Lines types;
    for (const RegionEdge& edge : *edges) {
      if (edge.to != RegionEdge::kOp) continue;
      const Op& end = *op.region(edge.from)->only_block().back();
      const JoinedExtents extents = JoinedExtents::at_results(op, end, edge);
      CHECK(extents.extents().size() == 1);
      types.emplace_back(extents.as_passed(op.result()->type())->spelling());
    }
    CHECK(types == Lines{"tensor<[$S], Float32, CPU>", "tensor<[4], Float32, CPU>"});
  }
}

TEST_SUITE("versions that modules need") {
  TEST_CASE("each feature of the second version is named with its place") {
    CHECK(needs("@main [mir_version:1] (%x:f[2]) -> (%y:f[2]) {\n"
                "linalg.CPU.NegOp (%x) -> (%y:f[2])\ncf.ReturnOp (%y) -> ()\n}\n") == Lines{});
    const std::string condition =
        "@main [mir_version:2, symbols:{S:{}}] (%k:b, %x:f[$S]) -> (%y:f[$S]) {\n"
        "cf.IfOp (%k) -> (%y:f[$S]) {\n() -> (%x) { cf.YieldOp (%x) -> () }\n"
        "() -> (%x) { cf.YieldOp (%x) -> () }\n}\ncf.ReturnOp (%y) -> ()\n}\n";
    CHECK(needs(condition) == Lines{"'symbols' in the head of a module needs mir_version:2",
                                    "'cf.IfOp' needs mir_version:2"});
    CHECK(needs(condition, 2) == Lines{});
    CHECK(needs("@main [mir_version:2] (%x:f[$S max 2], %y:f[$S max 2]) -> () {\n"
                "cf.ReturnOp () -> ()\n}\n") ==
          Lines{"extent ($S max 2) has a minimum or a maximum, so the module needs "
                "mir_version:2"});
    CHECK(needs("@main [mir_version:2] () -> () {\na.b () -> ()\ncf.ReturnOp () -> ()\n}\n") ==
          Lines{"'a.b' is unknown and may be of a dialect that a text declares, which needs "
                "mir_version:2"});
    CHECK(needs("@main [mir_version:2] () -> () {\ncf.BranchOp () -> () [^end]\n^end:\n"
                "cf.ReturnOp () -> ()\n}\n")
              .front() == "blocks in the body of a module need mir_version:2");
  }
}

TEST_SUITE("sizes of types") {
  TEST_CASE("bytes are those of whole blocks, and unknown without an element type or an extent") {
    IRContext context;
    DimTable& table = context.dims();
    const auto bytes = [&](std::optional<DType> dtype, std::vector<Dim> dims) {
      return table.print(work_tensor(table, dtype, std::move(dims)).bytes);
    };
    const Dim s = table.symbol("S");
    CHECK(bytes(DType::kFloat32, {Dim(3), Dim(2)}) == "24");
    CHECK(bytes(DType::kFloat32, {}) == "4");
    CHECK(bytes(DType::kGgufQ4_0, {Dim(64)}) == "36");
    CHECK(bytes(DType::kFloat16, {s, Dim(2)}) == "4*$S");
    CHECK(bytes(std::nullopt, {Dim(3)}) == table.print(Dim::unknown()));
    const auto of_type = [&](Dim extent) {
      return table.print(work_tensor(table, context.tensor({&extent, 1}, DType::kFloat32)).bytes);
    };
    CHECK(of_type(Dim(0)) == "0");
    CHECK(of_type(Dim(-1)) == table.print(Dim::unknown()));
    CHECK(work_tensor(table, nullptr).bytes.is_unknown());
    const WorkTensor tensors[] = {work_tensor(table, DType::kInt8, {Dim(3)}),
                                  work_tensor(table, DType::kInt8, {s})};
    CHECK(table.print(bytes_of(table, tensors)) == "$S+3");
    CHECK(bytes_of(table, {}) == Dim());
  }

  TEST_CASE("an op reads its operands and its parameters, and writes its results") {
    Reading reading(typed("@main () -> () {\nlinalg.CPU.NegOp (%1:f[4]) -> (%2:f[4])\n}\n"));
    const Op& op = *reading.module().body().entry()->front();
    DimTable& table = reading.context.dims();
    const WorkTensor four[] = {work_tensor(table, DType::kFloat32, {Dim(4)})};
    const WorkParameter parameters[] = {{".weight", work_tensor(table, DType::kFloat32, {Dim(10)})},
                                        {".bias", work_tensor(table, DType::kFloat16, {Dim(3)})}};
    const OpWork work =
        each_value_once({.op = op, .operands = four, .results = four, .parameters = parameters});
    CHECK(work.read == Dim(16 + 40 + 6));
    CHECK(work.written == Dim(16));
    CHECK(work.flop == Dim());
  }
}

TEST_SUITE("tables of quantisations") {
  const std::string kSpec =
      "[quant_recipe:QuantSpec(LPBQ(quant_min: -8, quant_max: 7, block_size: 16, ch_axis: 1, "
      "scale_level_0_bitwidth: 4, scale_1_type: Float32, quant_to_type: Int4), uuid=7, "
      "solved=0)]";
  const std::string kRaw = "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=1, solved=1)]";

  std::string csv(const std::string& text) {
    Reading reading(text);
    return emit_quant_csv(reading.modules);
  }

  TEST_CASE("every value with a recipe has a row, and every weight of an annotation") {
    const std::string type = "tensor<[2], Float32, CPU>";
    const std::string text =
        "@main () -> () {\ngraph.SubGraphOp @net <CPU> {\n(%1:" + type + kRaw + ") -> () {\n" +
        "linalg.CPU.NegOp (%1:" + type + kRaw + ") -> (%2:" + type + kSpec + ")\n" +
        "linalg.CPU.AddOp <name=\"a\"> [quant_recipe:QuantAnnotation(inputs_0:QuantSpec(Raw(type: "
        "Int8), uuid=3), weight_scale:QuantSpec(Raw(type: Int16), uuid=4))] (%2:" +
        type + kSpec + ", %3:" + type + "[@w]" + kRaw + ") -> (%4:" + type + ")\n}\n}\n}\n";
    CHECK(csv(text) ==
          "module,graph,value,type,kind,min,max,stored as,scale,zero point,axis,block "
          "size,uuid,solved,line\n"
          "main,net,@w,\"" +
              type +
              "\",Raw,,,Float32,,,,,1,yes,5\n"
              "main,net,%1,\"" +
              type +
              "\",Raw,,,Float32,,,,,1,yes,2\n"
              "main,net,%2,\"" +
              type +
              "\",LPBQ,-8,7,Int4,Float32,,1,16,7,no,4\n"
              "main,net,@a.scale,,Raw,,,Int16,,,,,4,,5\n");
    Reading reading(text);
    const std::string table = emit_quant(reading.modules);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1, ++lines) {
      CHECK(table[table.find('\n', at) - 1] != ' ');
      // Two blanks after the longest text of a column.
      CHECK(table.substr(at + 6, 2) == "  ");
      CHECK(table[at + 8] != ' ');
    }
    CHECK(lines == 5);
  }
}

}  // namespace declared_facts_test
