// Complete outputs of comparing modules: every field of each entry in both directions, the texts
// by which ops are paired, and normal forms.
#include <fmt/format.h>

#include "../ir/read.hpp"
#include "../short_types.hpp"
#include "diff/module_diff.hpp"
#include "diff/normal_form.hpp"
#include "diff/op_text.hpp"
#include "diff/pairing.hpp"
#include "diff/same_ids.hpp"
#include "mir/walk.hpp"

using namespace mir;
using mir::test::Reading;

namespace whole_diff_test {

namespace {

/// `kind module/graph op: field: before -> after (place, place)` of each entry.
std::string entries_of(const std::string& before, const std::string& after) {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics(0);
  const auto read = [&](const std::string& name, const std::string& text) {
    return read_modules(*context.sources().add(name, text), context, diagnostics);
  };
  const auto first = read("before", before), second = read("after", after);
  std::string all;
  for (const std::string& line : mir::test::lines_of(diagnostics, context)) all += line + "\n";
  REQUIRE_MESSAGE(all.empty(), all);
  for (const DiffEntry& entry : diff_modules(first, second).entries) {
    all += fmt::format("{} {}/{} {}: {}: {} -> {} ({}, {})\n",
                       "~-+"[static_cast<std::size_t>(entry.kind)], entry.module, entry.graph,
                       entry.op, entry.field, entry.before, entry.after,
                       place_text(context, entry.at_before), place_text(context, entry.at_after));
  }
  return test::with_short_types(all);
}

/// The texts of each op and of its values.
std::string op_texts(const std::string& text) {
  Reading reading(text);
  std::string all;
  for_each_op(reading.module(), [&](const Op& op) {
    all += fmt::format("name: {}\ncontent: {}\nstructure: {}\nline: {}\n", name_key(op),
                       content_key(op), structure_key(op), op_line(op));
    for (const Use& use : op.operand_uses()) {
      all +=
          fmt::format("operand: {} | {}\n", source_text(*use.value()), mention_text(*use.value()));
    }
    for (const Value& result : op.results()) {
      all += fmt::format("result: {} | {}\n", source_text(result), mention_text(result));
    }
  });
  return "\n" + test::with_short_types(all);
}

std::string normal(const std::string& text) {
  Reading reading(text);
  REQUIRE(reading.errors() == std::vector<std::string>{});
  const std::string once = normal_form(reading.modules).value();
  Reading again(once);
  CHECK(again.errors() == std::vector<std::string>{});
  CHECK(normal_form(again.modules).value() == once);
  return "\n" + test::with_short_types(once);
}

struct Pair {
  std::string before, after, forth, back;
};

}  // namespace

TEST_SUITE("whole differences") {
  TEST_CASE("every entry has its kind, place, op, field and both texts") {
    const Pair pairs[] = {
        {"@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         R"(- main/ linalg.NegOp: : linalg.NegOp (t[2]) -> (t[2]) ->  (2:1, )
+ main/ linalg.ExpOp: :  -> linalg.ExpOp (t[2]) -> (t[2]) (, 2:1)
)",
         R"(- main/ linalg.ExpOp: : linalg.ExpOp (t[2]) -> (t[2]) ->  (2:1, )
+ main/ linalg.NegOp: :  -> linalg.NegOp (t[2]) -> (t[2]) (, 2:1)
)"},
        {R"(@main () -> () {
linalg.CPU.NegOp <name="a"> (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.NegOp [name="a"](%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
}
)",
         "~ main/ linalg.NegOp 'a': name: a -> [name=\"a\"] (2:1, 2:1)\n",
         "~ main/ linalg.NegOp 'a': name: [name=\"a\"] -> a (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp @a (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp @b (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: symbol: @a -> @b (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: symbol: @b -> @a (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp @a (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: symbol: @a ->  (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: symbol:  -> @a (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: list of attributes: present ->  (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: list of attributes:  -> present (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [k:1, k:2] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [k:1, k:3] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'k', again 1: 2 -> 3 (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'k', again 1: 3 -> 2 (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [k:1, k:2] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [k:1] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'k', again 1: 2 ->  (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'k', again 1:  -> 2 (2:1, 2:1)\n"},
        {"@main () -> () {\nprog.ret\n}\n", "@main () -> () {\nprog.ret () -> ()\n}\n",
         "~ main/ prog.ret: lists of values:  -> present (2:1, 2:1)\n",
         "~ main/ prog.ret: lists of values: present ->  (2:1, 2:1)\n"},
        {"@main () -> () {\nprog.fragment @code <CPU> <code> {\nprog.jump "
         "a.__entry[offset:6]\n}\n}\n",
         "@main () -> () {\nprog.fragment @code <CPU> <code> {\nprog.jump "
         "b.__entry[offset:6]\n}\n}\n",
         "~ main/code prog.jump: label: a.__entry -> b.__entry (3:1, 3:1)\n",
         "~ main/code prog.jump: label: b.__entry -> a.__entry (3:1, 3:1)\n"},
        {"@main () -> () {\nprog.fragment @code <CPU> <code> "
         "{\nprog.label[symbol:a.__entry]\n}\n}\n",
         "@main () -> () {\nprog.fragment @code <CPU> <code> "
         "{\nprog.label[symbol:b.__entry]\n}\n}\n",
         "~ main/code prog.label: attribute 'symbol': a.__entry -> b.__entry (3:1, 3:1)\n",
         "~ main/code prog.label: attribute 'symbol': b.__entry -> a.__entry (3:1, 3:1)\n"},
        {"@main () -> () {\nprog.fragment @code <CPU> <code> {\naddr:0x1 prog.ret\n}\n}\n",
         "@main () -> () {\nprog.fragment @code <CPU> <code> {\naddr:0x2 prog.ret\n}\n}\n", "", ""},
        {R"(@main () -> () {
linalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) loc("a.cpp":1:2)
}
)",
         R"(@main () -> () {
linalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) loc("a.cpp":1:3)
}
)",
         "~ main/ linalg.NegOp: location: loc(\"a.cpp\":1:2) -> loc(\"a.cpp\":1:3) (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: location: loc(\"a.cpp\":1:3) -> loc(\"a.cpp\":1:2) (2:1, 2:1)\n"},
        {R"(@main () -> () {
linalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) loc("a.cpp":1:2)
}
)",
         "@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: location: loc(\"a.cpp\":1:2) ->  (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: location:  -> loc(\"a.cpp\":1:2) (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>[k:1]) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>[k:2]) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'k' of operand 0: 1 -> 2 (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'k' of operand 0: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>[k:1])\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>[k:2, j:3])\n}\n",
         R"(~ main/ linalg.NegOp: attribute 'k' of result 0: 1 -> 2 (2:1, 2:1)
~ main/ linalg.NegOp: attribute 'j' of result 0:  -> 3 (2:1, 2:1)
)",
         R"(~ main/ linalg.NegOp: attribute 'j' of result 0: 3 ->  (2:1, 2:1)
~ main/ linalg.NegOp: attribute 'k' of result 0: 2 -> 1 (2:1, 2:1)
)"},
        {"@main () -> () {\ndbg.HintsOp (%0) -> ()\n}\n",
         "@main () -> () {\ndbg.HintsOp (%0:tensor<[2], Float32, CPU>) -> ()\n}\n",
         "~ main/ dbg.HintsOp: type of operand 0: untyped -> t[2] (2:1, 2:1)\n",
         "~ main/ dbg.HintsOp: type of operand 0: t[2] -> untyped (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>) -> (%1)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "", ""},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[3], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: type of input 0: t[2] -> t[3] (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: type of input 0: t[3] -> t[2] (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[3], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: type of input 0: t[2] -> t[3] (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: type of input 0: t[3] -> t[2] (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[3], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: type of output 0: t[2] -> t[3] (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: type of output 0: t[3] -> t[2] (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[3], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: type of output 0: t[2] -> t[3] (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: type of output 0: t[3] -> t[2] (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>, "
         "%5:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: inputs: 1 -> 2 (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: inputs: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>, "
         "%5:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp "
         "(%1:tensor<[2], Float32, CPU>) -> ()\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: inputs: 1 -> 2 (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: inputs: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>, %0:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: outputs: 1 -> 2 (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: outputs: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>, %0:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp "
         "(%1:tensor<[2], Float32, CPU>) -> ()\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: outputs: 1 -> 2 (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: outputs: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%0:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: storage of output 0: one of before -> another (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: storage of output 0: one of before -> another (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%0:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "", ""},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>[k:1]) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) "
         "-> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>[k:2]) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) "
         "-> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: attribute 'k' of output 0: 1 -> 2 (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: attribute 'k' of output 0: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>[k:1]) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) "
         "-> (%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>[k:2]) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) "
         "-> (%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: attribute 'k' of output 0: 1 -> 2 (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: attribute 'k' of output 0: 2 -> 1 (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>[@a]) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>[@b]) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: symbol of input 0: @a -> @b (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: symbol of input 0: @b -> @a (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>[@a]) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%0:tensor<[2], Float32, CPU>[@b]) -> "
         "(%1:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> "
         "()\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: symbol of input 0: @a -> @b (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: symbol of input 0: @b -> @a (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, "
         "CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g graph.SubGraphOp: signature:  -> present (2:1, 2:1)\n",
         "~ main/g graph.SubGraphOp: signature: present ->  (2:1, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\ngraph.SubGraphOp "
         "@h <CPU> {\n() -> () {\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @h <CPU> {\n() -> () {\nlinalg.CPU.ExpOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\nlinalg.CPU.SinOp "
         "(%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], Float32, CPU>)\ngraph.SubGraphOp @g "
         "<CPU> {\n() -> () {\nlinalg.CPU.NegOp [k:1] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         R"(+ main/ linalg.SinOp: :  -> linalg.SinOp (t[2]) -> (t[2]) (, 7:1)
~ main/g linalg.NegOp: attribute 'k':  -> 1 (4:1, 10:1)
)",
         R"(- main/ linalg.SinOp: : linalg.SinOp (t[2]) -> (t[2]) ->  (7:1, )
~ main/g linalg.NegOp: attribute 'k': 1 ->  (10:1, 4:1)
)"},
        {"@main () -> () {\nlinalg.CPU.SinOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\ngraph.SubGraphOp @g <CPU> {\n() -> () {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\nlinalg.CPU.CosOp "
         "(%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.SinOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\ngraph.SubGraphOp @h <CPU> {\n() -> () {\nlinalg.CPU.ExpOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\nlinalg.CPU.CosOp "
         "(%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], Float32, CPU>)\n}\n",
         R"(- main/ graph.SubGraphOp: : graph.SubGraphOp @g () -> () ->  (3:1, )
+ main/ graph.SubGraphOp: :  -> graph.SubGraphOp @h () -> () (, 3:1)
)",
         R"(- main/ graph.SubGraphOp: : graph.SubGraphOp @h () -> () ->  (3:1, )
+ main/ graph.SubGraphOp: :  -> graph.SubGraphOp @g () -> () (, 3:1)
)"},
        {"@main () -> () {\nlinalg.CPU.SinOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.CosOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.TanhOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.TanhOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\n}\n",
         R"(- main/ linalg.SinOp: : linalg.SinOp (t[2]) -> (t[2]) ->  (2:1, )
- main/ linalg.CosOp: : linalg.CosOp (t[2]) -> (t[2]) ->  (3:1, )
)",
         R"(+ main/ linalg.SinOp: :  -> linalg.SinOp (t[2]) -> (t[2]) (, 2:1)
+ main/ linalg.CosOp: :  -> linalg.CosOp (t[2]) -> (t[2]) (, 3:1)
)"},
        {"@main () -> () {\nlinalg.CPU.TanhOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.SinOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.CosOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.TanhOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.LogOp (%3:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\n}\n",
         R"(+ main/ linalg.SinOp: :  -> linalg.SinOp (t[2]) -> (t[2]) (, 2:1)
+ main/ linalg.CosOp: :  -> linalg.CosOp (t[2]) -> (t[2]) (, 3:1)
+ main/ linalg.ExpOp: :  -> linalg.ExpOp (t[2]) -> (t[2]) (, 5:1)
+ main/ linalg.LogOp: :  -> linalg.LogOp (t[2]) -> (t[2]) (, 6:1)
)",
         R"(- main/ linalg.SinOp: : linalg.SinOp (t[2]) -> (t[2]) ->  (2:1, )
- main/ linalg.CosOp: : linalg.CosOp (t[2]) -> (t[2]) ->  (3:1, )
- main/ linalg.ExpOp: : linalg.ExpOp (t[2]) -> (t[2]) ->  (5:1, )
- main/ linalg.LogOp: : linalg.LogOp (t[2]) -> (t[2]) ->  (6:1, )
)"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a(%0:tensor<[2], Float32, CPU>), ^b]\n^a(%5:tensor<[2], Float32, "
         "CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, "
         "CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () [^a, "
         "^b]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         R"(~ main/g dbg.HintsOp: operands: 1 -> 0 (4:1, 4:1)
~ main/g dbg.HintsOp: arguments of successor 0: 1 -> 0 (4:1, 4:1)
)",
         R"(~ main/g dbg.HintsOp: operands: 0 -> 1 (4:1, 4:1)
~ main/g dbg.HintsOp: arguments of successor 0: 0 -> 1 (4:1, 4:1)
)"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a(%0:tensor<[2], Float32, CPU>), ^b]\n^a(%5:tensor<[2], Float32, "
         "CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, "
         "CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () [^b, "
         "^a(%0:tensor<[2], Float32, CPU>)]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp "
         "(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp "
         "(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         R"(~ main/g dbg.HintsOp: arguments of successor 0: 1 -> 0 (4:1, 4:1)
~ main/g dbg.HintsOp: successor 0: ^a, block 1 -> ^b, block 2 (4:1, 4:1)
~ main/g dbg.HintsOp: arguments of successor 1: 0 -> 1 (4:1, 4:1)
~ main/g dbg.HintsOp: successor 1: ^b, block 2 -> ^a, block 1 (4:1, 4:1)
)",
         R"(~ main/g dbg.HintsOp: arguments of successor 0: 0 -> 1 (4:1, 4:1)
~ main/g dbg.HintsOp: successor 0: ^b, block 2 -> ^a, block 1 (4:1, 4:1)
~ main/g dbg.HintsOp: arguments of successor 1: 1 -> 0 (4:1, 4:1)
~ main/g dbg.HintsOp: successor 1: ^a, block 1 -> ^b, block 2 (4:1, 4:1)
)"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a(%0:tensor<[2], Float32, CPU>)]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp "
         "(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp "
         "(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a(%1:tensor<[2], Float32, CPU>)]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp "
         "(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp "
         "(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "", ""},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^c]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g dbg.HintsOp: successor 0: ^a, block 1 -> ^c, which the region lacks (4:1, "
         "4:1)\n",
         "~ main/g dbg.HintsOp: successor 0: ^c, which the region lacks -> ^a, block 1 (4:1, "
         "4:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^c]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^d]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "~ main/g dbg.HintsOp: successor 0: ^c, which the region lacks -> ^d, which the region "
         "lacks (4:1, 4:1)\n",
         "~ main/g dbg.HintsOp: successor 0: ^d, which the region lacks -> ^c, which the region "
         "lacks (4:1, 4:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^c]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^c]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "", ""},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () "
         "[^a]\n^a(%5:tensor<[2], Float32, CPU>):\nlinalg.CPU.NegOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^b:\nlinalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n^c:\nlinalg.CPU.SinOp (%5:tensor<[2], Float32, CPU>) "
         "-> (%6:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "+ main/g graph.SubGraphOp: :  -> block ^c of 1 operations (, 2:1)\n",
         "- main/g graph.SubGraphOp: : block ^c of 1 operations ->  (2:1, )\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\n^a:\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         R"(- main/g graph.SubGraphOp: : block without a name of 0 operations ->  (2:1, )
~ main/g graph.SubGraphOp: name of the first block: present ->  (2:1, 2:1)
)",
         R"(+ main/g graph.SubGraphOp: :  -> block without a name of 0 operations (, 2:1)
~ main/g graph.SubGraphOp: name of the first block:  -> present (2:1, 2:1)
)"},
        {"@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp (%2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp (%1:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: storage of result 0: its own (%2 at 3:1) -> that of result 0 of "
         "linalg.NegOp (%1 at 2:1) (3:1, 3:1)\n",
         "~ main/ linalg.NegOp: storage of result 0: that of result 0 of linalg.NegOp (%1 at 2:1) "
         "-> its own (%2 at 3:1) (3:1, 3:1)\n"},
        {"@main () -> () {\nlinalg.CPU.ExpOp (%7:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\n}\n",
         R"(+ main/ linalg.NegOp: :  -> linalg.NegOp (t[2]) -> (t[2]) (, 2:1)
~ main/ linalg.ExpOp: operand 0: a value that nothing defines -> result 0 of linalg.NegOp (2:1, 3:1)
)",
         R"(- main/ linalg.NegOp: : linalg.NegOp (t[2]) -> (t[2]) ->  (2:1, )
~ main/ linalg.ExpOp: operand 0: result 0 of linalg.NegOp -> a value that nothing defines (3:1, 2:1)
)"},
        {"@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.ExpOp (%7:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\n}\n",
         R"(- main/ linalg.NegOp: : linalg.NegOp (t[2]) -> (t[2]) ->  (2:1, )
~ main/ linalg.ExpOp: operand 0: result 0 of linalg.NegOp -> a value that nothing defines (3:1, 2:1)
)",
         R"(+ main/ linalg.NegOp: :  -> linalg.NegOp (t[2]) -> (t[2]) (, 2:1)
~ main/ linalg.ExpOp: operand 0: a value that nothing defines -> result 0 of linalg.NegOp (2:1, 3:1)
)"},
        {"@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@a], %1:tensor<[2], "
         "Float32, CPU>[@b]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@b], %1:tensor<[2], "
         "Float32, CPU>[@a]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         R"(~ main/ linalg.AddOp: operand 0: @a -> @b (2:1, 2:1)
~ main/ linalg.AddOp: operand 1: @b -> @a (2:1, 2:1)
)",
         R"(~ main/ linalg.AddOp: operand 0: @b -> @a (2:1, 2:1)
~ main/ linalg.AddOp: operand 1: @a -> @b (2:1, 2:1)
)"},
        {"@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@a], %1:tensor<[2], "
         "Float32, CPU>[@b]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@a], %1:tensor<[2], "
         "Float32, CPU>[@a]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.AddOp: operand 1: @b -> @a (2:1, 2:1)\n",
         "~ main/ linalg.AddOp: operand 1: @a -> @b (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@constant_0], "
         "%1:tensor<[2], Float32, CPU>[@constant_1]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@constant_1], "
         "%1:tensor<[2], Float32, CPU>[@constant_0]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         R"(~ main/ linalg.AddOp: symbol of operand 0: @constant_0 -> @constant_1 (2:1, 2:1)
~ main/ linalg.AddOp: symbol of operand 1: @constant_1 -> @constant_0 (2:1, 2:1)
)",
         R"(~ main/ linalg.AddOp: symbol of operand 0: @constant_1 -> @constant_0 (2:1, 2:1)
~ main/ linalg.AddOp: symbol of operand 1: @constant_0 -> @constant_1 (2:1, 2:1)
)"},
        {"@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@a], %1:tensor<[2], "
         "Float32, CPU>[@b]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>, %1:tensor<[2], Float32, "
         "CPU>[@b]) -> (%2:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.AddOp: operand 0: @a -> a value that nothing defines (2:1, 2:1)\n",
         "~ main/ linalg.AddOp: operand 0: a value that nothing defines -> @a (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@a], %1:tensor<[2], "
         "Float32, CPU>[@a]) -> (%2:tensor<[2], Float32, CPU>)\nlinalg.CPU.SubOp(%3:tensor<[2], "
         "Float32, CPU>[@a], %1:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>[@a], %1:tensor<[2], "
         "Float32, CPU>[@a]) -> (%2:tensor<[2], Float32, CPU>)\nlinalg.CPU.SubOp(%1:tensor<[2], "
         "Float32, CPU>, %3:tensor<[2], Float32, CPU>[@a]) -> (%4:tensor<[2], Float32, CPU>)\n}\n",
         R"(~ main/ linalg.SubOp: operand 0: @a (%3 at 3:1) -> @a (%1 at 3:1) (3:1, 3:1)
~ main/ linalg.SubOp: operand 1: @a (%1 at 3:1) -> @a (%3 at 3:1) (3:1, 3:1)
)",
         R"(~ main/ linalg.SubOp: operand 0: @a (%1 at 3:1) -> @a (%3 at 3:1) (3:1, 3:1)
~ main/ linalg.SubOp: operand 1: @a (%3 at 3:1) -> @a (%1 at 3:1) (3:1, 3:1)
)"},
        {"@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=1)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=2)] (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=2)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=1)] (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         "", ""},
        {"@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=1)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=2)] (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=5)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=5)] (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'quant_recipe': QuantSpec(Raw(type: Float32), uuid=2) -> "
         "QuantSpec(Raw(type: Float32), uuid=5) (3:1, 3:1)\n",
         "~ main/ linalg.NegOp: attribute 'quant_recipe': QuantSpec(Raw(type: Float32), uuid=5) -> "
         "QuantSpec(Raw(type: Float32), uuid=2) (3:1, 3:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=1)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=1)] (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=5)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=6)] (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'quant_recipe': QuantSpec(Raw(type: Float32), uuid=1) -> "
         "QuantSpec(Raw(type: Float32), uuid=6) (3:1, 3:1)\n",
         "~ main/ linalg.NegOp: attribute 'quant_recipe': QuantSpec(Raw(type: Float32), uuid=6) -> "
         "QuantSpec(Raw(type: Float32), uuid=1) (3:1, 3:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=1)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float16), uuid=1)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'quant_recipe': QuantSpec(Raw(type: Float32), uuid=1) -> "
         "QuantSpec(Raw(type: Float16), uuid=1) (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'quant_recipe': QuantSpec(Raw(type: Float16), uuid=1) -> "
         "QuantSpec(Raw(type: Float32), uuid=1) (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=12)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [quant_recipe:QuantSpec(Raw(type: Float32), uuid=3)] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n",
         "", ""},
        {"@main () -> () {\nlinalg.CPU.NegOp [symbol:a] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [symbol:b] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'symbol': a -> b (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'symbol': b -> a (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_0] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_0] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "", ""},
        {"@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_0] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_9] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: storage of operand 0: its own (%0 at 2:1) -> its own (%0 at 2:1), "
         "an id that stands for another one above (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: storage of operand 0: its own (%0 at 2:1) -> its own (%0 at 2:1), "
         "an id that stands for another one above (2:1, 2:1)\n"},
        {R"(@main () -> () {
linalg.CPU.NegOp [symbol:"a"] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
}
)",
         "@main () -> () {\nlinalg.CPU.NegOp [symbol:a] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'symbol': \"a\" -> a (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'symbol': a -> \"a\" (2:1, 2:1)\n"},
        {R"(@main () -> () {
linalg.CPU.NegOp [symbol:"constant_0"] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.NegOp [symbol:"constant_1"] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
}
)",
         "~ main/ linalg.NegOp: attribute 'symbol': \"constant_0\" -> \"constant_1\" (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'symbol': \"constant_1\" -> \"constant_0\" (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_x] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'symbol': constant_ -> constant_x (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'symbol': constant_x -> constant_ (2:1, 2:1)\n"},
        {"@main () -> () {\nlinalg.CPU.NegOp [symbol:constant_1] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [symbol:1] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: attribute 'symbol': constant_1 -> 1 (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: attribute 'symbol': 1 -> constant_1 (2:1, 2:1)\n"},
        {"@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:3, "
         "input_pos:0]\n}\n}\n",
         "@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:4, "
         "input_pos:0]\n}\n}\n",
         "", ""},
        {"@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:3, "
         "input_pos:0]\n}\n}\n",
         "@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:a, "
         "input_pos:0]\n}\n}\n",
         "~ main/c prog.bind: attribute 'program_uuid': 3 -> a (3:1, 3:1)\n",
         "~ main/c prog.bind: attribute 'program_uuid': a -> 3 (3:1, 3:1)\n"},
        {"@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:a, "
         "input_pos:0]\n}\n}\n",
         "@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:b, "
         "input_pos:0]\n}\n}\n",
         "~ main/c prog.bind: attribute 'program_uuid': a -> b (3:1, 3:1)\n",
         "~ main/c prog.bind: attribute 'program_uuid': b -> a (3:1, 3:1)\n"},
        {"@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:a, "
         "input_pos:0]\n}\n}\n",
         "@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:a, "
         "input_pos:0]\n}\n}\n",
         "", ""},
        {"@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:[1], "
         "input_pos:0]\n}\n}\n",
         "@main () -> () {\nprog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:1, "
         "input_pos:0]\n}\n}\n",
         "~ main/c prog.bind: attribute 'program_uuid': [1] -> 1 (3:1, 3:1)\n",
         "~ main/c prog.bind: attribute 'program_uuid': 1 -> [1] (3:1, 3:1)\n"},
        {"@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\nlinalg.CPU.NegOp (%x) -> "
         "(%a)\nlinalg.CPU.NegOp (%a) -> (%b)\n}\n",
         "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\nlinalg.CPU.NegOp (%x) -> "
         "(%b)\nlinalg.CPU.NegOp (%x) -> (%a)\n}\n",
         "~ main/ linalg.NegOp: operand 0: result 0 of linalg.NegOp -> input 0 of builtin.ModuleOp "
         "@main (3:1, 3:1)\n",
         "~ main/ linalg.NegOp: operand 0: input 0 of builtin.ModuleOp @main -> result 0 of "
         "linalg.NegOp (3:1, 3:1)\n"},
        {"@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\nlinalg.CPU.NegOp (%x) -> "
         "(%a)\n}\n",
         "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\nlinalg.CPU.NegOp (%x) -> "
         "(%x2)\n}\n",
         "", ""},
        {"@main () -> () {\n}\n", "@main [mir_version:1] () -> () {\n}\n",
         "~ main/ builtin.ModuleOp: form: dump -> mir_version 1 (1:1, 1:1)\n",
         "~ main/ builtin.ModuleOp: form: mir_version 1 -> dump (1:1, 1:1)\n"},
        {"@main [mir_version:1] () -> () {\n}\n", "@main [mir_version:2] () -> () {\n}\n",
         "~ main/ builtin.ModuleOp: form: mir_version 1 -> mir_version 2 (1:1, 1:1)\n",
         "~ main/ builtin.ModuleOp: form: mir_version 2 -> mir_version 1 (1:1, 1:1)\n"},
        {"@main [mir_version:2] () -> () {\n}\n", "@main [k:1, mir_version:2] () -> () {\n}\n",
         "~ main/ builtin.ModuleOp: attribute 'k':  -> 1 (1:1, 1:1)\n",
         "~ main/ builtin.ModuleOp: attribute 'k': 1 ->  (1:1, 1:1)\n"},
        {"@main () -> () {\n}\n@a () -> () {\n}\n@a () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], "
         "Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n",
         "@a () -> () {\n}\n@b () -> () {\n}\n@main () -> () {\n}\n",
         R"(~ a/ builtin.ModuleOp: symbol: @a -> @b (5:1, 3:1)
- a/ linalg.NegOp: : linalg.NegOp (t[2]) -> (t[2]) ->  (6:1, )
)",
         R"(~ b/ builtin.ModuleOp: symbol: @b -> @a (3:1, 5:1)
+ b/ linalg.NegOp: :  -> linalg.NegOp (t[2]) -> (t[2]) (, 6:1)
)"},
        {"@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n@main () -> () {\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\n}\n@main () -> () {\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n",
         "", ""},
        {R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)",
         R"(- main/ linalg.NegOp 'a': : linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) ->  (3:1, )
~ main/ linalg.NegOp 'b': attribute 'k': 1 -> 9 (4:1, 3:1)
)",
         R"(+ main/ linalg.NegOp 'a': :  -> linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) (, 3:1)
~ main/ linalg.NegOp 'b': attribute 'k': 9 -> 1 (3:1, 4:1)
)"},
        {R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="a"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)",
         R"(~ main/ linalg.NegOp 'a': attribute 'k': 1 -> 9 (3:1, 3:1)
- main/ linalg.NegOp 'b': : linalg.NegOp 'b' [k:1] (t[2]) -> (t[2]) ->  (4:1, )
)",
         R"(~ main/ linalg.NegOp 'a': attribute 'k': 9 -> 1 (3:1, 3:1)
+ main/ linalg.NegOp 'b': :  -> linalg.NegOp 'b' [k:1] (t[2]) -> (t[2]) (, 4:1)
)"},
        {R"(@main () -> () {
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.NegOp <name="b"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(- main/ linalg.NegOp 'a': : linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) ->  (2:1, )
~ main/ linalg.NegOp 'b': attribute 'k': 1 -> 9 (3:1, 2:1)
)",
         R"(+ main/ linalg.NegOp 'a': :  -> linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) (, 2:1)
~ main/ linalg.NegOp 'b': attribute 'k': 9 -> 1 (2:1, 3:1)
)"},
        {R"(@main () -> () {
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.NegOp <name="a"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(~ main/ linalg.NegOp 'a': attribute 'k': 1 -> 9 (2:1, 2:1)
- main/ linalg.NegOp 'b': : linalg.NegOp 'b' [k:1] (t[2]) -> (t[2]) ->  (3:1, )
)",
         R"(~ main/ linalg.NegOp 'a': attribute 'k': 9 -> 1 (2:1, 2:1)
+ main/ linalg.NegOp 'b': :  -> linalg.NegOp 'b' [k:1] (t[2]) -> (t[2]) (, 3:1)
)"},
        {R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.SinOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.SinOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(- main/ linalg.NegOp 'a': : linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) ->  (3:1, )
~ main/ linalg.NegOp 'b': attribute 'k': 1 -> 9 (4:1, 3:1)
)",
         R"(+ main/ linalg.NegOp 'a': :  -> linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) (, 3:1)
~ main/ linalg.NegOp 'b': attribute 'k': 9 -> 1 (3:1, 4:1)
)"},
        {R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.SinOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.ExpOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="a"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.SinOp (%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)
}
)",
         R"(~ main/ linalg.NegOp 'a': attribute 'k': 1 -> 9 (3:1, 3:1)
- main/ linalg.NegOp 'b': : linalg.NegOp 'b' [k:1] (t[2]) -> (t[2]) ->  (4:1, )
)",
         R"(~ main/ linalg.NegOp 'a': attribute 'k': 9 -> 1 (3:1, 3:1)
+ main/ linalg.NegOp 'b': :  -> linalg.NegOp 'b' [k:1] (t[2]) -> (t[2]) (, 4:1)
)"},
        {"@main () -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[3], "
         "Float32, CPU>)\nlinalg.CPU.ExpOp(%1:tensor<[3], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "~ main/ linalg.NegOp: type of result 0: t[2] -> t[3] (2:1, 2:1)\n",
         "~ main/ linalg.NegOp: type of result 0: t[3] -> t[2] (2:1, 2:1)\n"},
        {"@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\ngraph.SubGraphOp @f <CPU> "
         "{\n(%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp "
         "(%x) -> (%a)\nlinalg.CPU.ExpOp (%a) -> (%y:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%y) "
         "-> ()\n}\n}\ngraph.SubGraphOp @g <CPU> {\n(%x:tensor<[2], Float32, CPU>) -> "
         "(%y:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%x) -> (%a)\nlinalg.CPU.ExpOp (%a) "
         "-> (%y:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%y) -> ()\n}\n}\n}\n",
         "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\ngraph.SubGraphOp @f <CPU> "
         "{\n(%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp "
         "(%x) -> (%a)\nlinalg.CPU.ExpOp (%a) -> (%y:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%y) "
         "-> ()\n}\n}\ngraph.SubGraphOp @g <CPU> {\n(%x:tensor<[2], Float32, CPU>) -> "
         "(%y:tensor<[2], Float32, CPU>) {\nlinalg.CPU.NegOp (%x) -> (%b)\nlinalg.CPU.ExpOp (%b) "
         "-> (%y:tensor<[2], Float32, CPU>)\ncf.ReturnOp (%y) -> ()\n}\n}\n}\n",
         "", ""},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^a:\nlinalg.CPU.NegOp [k:1] (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], "
         "Float32, CPU>)\n^b:\nlinalg.CPU.NegOp [k:2] (%0:tensor<[2], Float32, CPU>) -> "
         "(%9:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^b:\nlinalg.CPU.NegOp [k:2] (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], "
         "Float32, CPU>)\n}\n}\n}\n",
         "- main/g graph.SubGraphOp: : block ^a of 1 operations ->  (2:1, )\n",
         "+ main/g graph.SubGraphOp: :  -> block ^a of 1 operations (, 2:1)\n"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^a:\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n^b:\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^x:\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n^y:\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         R"(- main/g graph.SubGraphOp: : block ^a of 1 operations ->  (2:1, )
+ main/g graph.SubGraphOp: :  -> block ^y of 1 operations (, 2:1)
)",
         R"(- main/g graph.SubGraphOp: : block ^x of 1 operations ->  (2:1, )
+ main/g graph.SubGraphOp: :  -> block ^b of 1 operations (, 2:1)
)"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^a:\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^a:\nlinalg.CPU.SinOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n^b:\nlinalg.CPU.CosOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         R"(- main/g linalg.NegOp: : linalg.NegOp (t[2]) -> (t[2]) ->  (6:1, )
+ main/g linalg.SinOp: :  -> linalg.SinOp (t[2]) -> (t[2]) (, 6:1)
+ main/g graph.SubGraphOp: :  -> block ^b of 1 operations (, 2:1)
)",
         R"(- main/g linalg.SinOp: : linalg.SinOp (t[2]) -> (t[2]) ->  (6:1, )
+ main/g linalg.NegOp: :  -> linalg.NegOp (t[2]) -> (t[2]) (, 6:1)
- main/g graph.SubGraphOp: : block ^b of 1 operations ->  (2:1, )
)"},
        {"@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^a:\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n^b:\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> "
         "()\n^x:\nlinalg.CPU.LogOp (%0:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
         "CPU>)\n}\n}\n}\n",
         R"(- main/g linalg.NegOp: : linalg.NegOp (t[2]) -> (t[2]) ->  (6:1, )
+ main/g linalg.LogOp: :  -> linalg.LogOp (t[2]) -> (t[2]) (, 6:1)
- main/g graph.SubGraphOp: : block ^b of 1 operations ->  (2:1, )
)",
         R"(- main/g linalg.LogOp: : linalg.LogOp (t[2]) -> (t[2]) ->  (6:1, )
+ main/g linalg.NegOp: :  -> linalg.NegOp (t[2]) -> (t[2]) (, 6:1)
+ main/g graph.SubGraphOp: :  -> block ^b of 1 operations (, 2:1)
)"},
        {"@main () -> () {\ngraph.SubGraphOp @a <CPU> {\n() -> () {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)\n}\n}\ngraph.SubGraphOp "
         "@b <CPU> {\n() -> () {\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @c <CPU> {\n() -> () {\nlinalg.CPU.ExpOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\ngraph.SubGraphOp "
         "@d <CPU> {\n() -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         R"(~ main/ graph.SubGraphOp: symbol: @a -> @d (2:1, 7:1)
~ main/ graph.SubGraphOp: symbol: @b -> @c (8:1, 2:1)
)",
         R"(~ main/ graph.SubGraphOp: symbol: @c -> @b (2:1, 8:1)
~ main/ graph.SubGraphOp: symbol: @d -> @a (7:1, 2:1)
)"},
        {"@main () -> () {\ngraph.SubGraphOp @a <CPU> {\n() -> () {\nlinalg.CPU.NegOp "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\ngraph.SubGraphOp "
         "@a <CPU> {\n() -> () {\nlinalg.CPU.NegOp [k:1] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         "@main () -> () {\ngraph.SubGraphOp @a <CPU> {\n() -> () {\nlinalg.CPU.NegOp [k:1] "
         "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n}\n}\ngraph.SubGraphOp "
         "@a <CPU> {\n() -> () {\nlinalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\n}\n}\n}\n",
         R"(~ main/a linalg.NegOp: attribute 'k':  -> 1 (4:1, 4:1)
~ main/a linalg.NegOp: attribute 'k': 1 ->  (9:1, 9:1)
)",
         R"(~ main/a linalg.NegOp: attribute 'k': 1 ->  (4:1, 4:1)
~ main/a linalg.NegOp: attribute 'k':  -> 1 (9:1, 9:1)
)"},
        {"@main () -> () {\ngraph.SubGraphOp @a <CPU> {\n() -> () {\n}\n}\nprog.fragment @a <CPU> "
         "<code> {\n}\n}\n",
         "@main () -> () {\nprog.fragment @a <CPU> <code> {\n}\n}\n",
         "- main/ graph.SubGraphOp: : graph.SubGraphOp @a () -> () ->  (2:1, )\n",
         "+ main/ graph.SubGraphOp: :  -> graph.SubGraphOp @a () -> () (, 2:1)\n"},
        {R"(@main () -> () {
linalg.CPU.NegOp <name="a"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="b"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.NegOp <name="c"> [k:1] (%0:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)
}
)",
         R"(@main () -> () {
linalg.CPU.NegOp <name="b"> [k:9] (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)",
         R"(- main/ linalg.NegOp 'a': : linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) ->  (2:1, )
~ main/ linalg.NegOp 'b': attribute 'k': 1 -> 9 (3:1, 2:1)
- main/ linalg.NegOp 'c': : linalg.NegOp 'c' [k:1] (t[2]) -> (t[2]) ->  (4:1, )
)",
         R"(+ main/ linalg.NegOp 'a': :  -> linalg.NegOp 'a' [k:1] (t[2]) -> (t[2]) (, 2:1)
~ main/ linalg.NegOp 'b': attribute 'k': 9 -> 1 (2:1, 3:1)
+ main/ linalg.NegOp 'c': :  -> linalg.NegOp 'c' [k:1] (t[2]) -> (t[2]) (, 4:1)
)"},
        {"@main () -> () {\nlinalg.CPU.NegOp [k:1] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp [k:2] (%0:tensor<[2], Float32, CPU>) -> "
         "(%3:tensor<[2], Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [k:3] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp [k:4] (%0:tensor<[2], Float32, CPU>) -> "
         "(%3:tensor<[2], Float32, CPU>)\n}\n",
         R"(~ main/ linalg.NegOp: attribute 'k': 1 -> 3 (2:1, 2:1)
~ main/ linalg.NegOp: attribute 'k': 2 -> 4 (4:1, 4:1)
)",
         R"(~ main/ linalg.NegOp: attribute 'k': 3 -> 1 (2:1, 2:1)
~ main/ linalg.NegOp: attribute 'k': 4 -> 2 (4:1, 4:1)
)"},
        {"@main () -> () {\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.NegOp [k:2] (%0:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.SinOp (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], "
         "Float32, CPU>)\nlinalg.CPU.NegOp [k:7] (%0:tensor<[2], Float32, CPU>) -> (%4:tensor<[2], "
         "Float32, CPU>)\n}\n",
         "@main () -> () {\nlinalg.CPU.NegOp [k:3] (%0:tensor<[2], Float32, CPU>) -> "
         "(%1:tensor<[2], Float32, CPU>)\nlinalg.CPU.ExpOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp [k:4] (%0:tensor<[2], Float32, CPU>) -> "
         "(%3:tensor<[2], Float32, CPU>)\nlinalg.CPU.SinOp (%0:tensor<[2], Float32, CPU>) -> "
         "(%2:tensor<[2], Float32, CPU>)\n}\n",
         R"(+ main/ linalg.NegOp: :  -> linalg.NegOp [k:3] (t[2]) -> (t[2]) (, 2:1)
~ main/ linalg.NegOp: attribute 'k': 2 -> 4 (3:1, 4:1)
- main/ linalg.NegOp: : linalg.NegOp [k:7] (t[2]) -> (t[2]) ->  (5:1, )
)",
         R"(- main/ linalg.NegOp: : linalg.NegOp [k:3] (t[2]) -> (t[2]) ->  (2:1, )
~ main/ linalg.NegOp: attribute 'k': 4 -> 2 (4:1, 3:1)
+ main/ linalg.NegOp: :  -> linalg.NegOp [k:7] (t[2]) -> (t[2]) (, 5:1)
)"},
    };
    for (const Pair& each : pairs) {
      CAPTURE(each.before);
      CAPTURE(each.after);
      CHECK(entries_of(each.before, each.after) == each.forth);
      CHECK(entries_of(each.after, each.before) == each.back);
      CHECK(entries_of(each.before, each.before) == "");
      CHECK(entries_of(each.after, each.after) == "");
    }
  }

  TEST_CASE("ids are paired once, in both directions, until they are paired anew") {
    PairedIds ids;
    CHECK(ids.pair("a", "x"));
    CHECK(ids.pair("a", "x"));
    CHECK_FALSE(ids.pair("a", "y"));
    CHECK_FALSE(ids.pair("b", "x"));
    CHECK(ids.pair("b", "y"));
    ids.pair_anew("a", "y");
    CHECK(ids.pair("a", "y"));
    CHECK_FALSE(ids.pair("b", "y"));
    CHECK_FALSE(ids.pair("a", "x"));
    // Both former partners are free again.
    CHECK(ids.pair("b", "x"));
    CHECK(ids.pair("c", "z"));
    ids.pair_anew("d", "z");
    CHECK(ids.pair("c", "w"));
  }

  TEST_CASE("the texts of an op tell its kind, names, attributes and values") {
    CHECK(op_texts(R"(@main () -> () {
graph.SubGraphOp @g <CPU> {
(%1:tensor<[2], Float32, CPU>, %w:tensor<[2], Float32, CPU>[@w]) -> (%4) {
linalg.CPU.NegOp @s <name="a"> [k:1, j:2, b:"x"] (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
linalg.CPU.MulOp [name="m"](%2:tensor<[2], Float32, CPU>, %7:tensor<[1], Float32, CPU>[@constant_7]) -> (%3:tensor<[2], Float32, CPU>)
linalg.CPU.MulOp(%3:tensor<[2], Float32, CPU>, %8:tensor<[1], Float32, CPU>[constant:[2]]) -> (%4:tensor<[2], Float32, CPU>, %5:tensor<[2], Float32, CPU>)
linalg.CPU.AddOp(%4:tensor<[2], Float32, CPU>, %9) -> (%10:tensor<[2], Float32, CPU>)
cf.ReturnOp (%4:tensor<[2], Float32, CPU>) -> ()
}
}
prog.fragment @code <CPU> <code> {
addr:0x1 prog.label[symbol:net.__entry]
prog.kernel_launch(%5:tensor<[2], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)[op_type:Neg, program_uuid:3]
addr:0x2 prog.jump net.__entry[offset:6]
}
tensor.CPU.register () -> (%11:tensor<[2], Float32, CPU>[@p])[symbol:p]
linalg.CPU.AddOp(%11:tensor<[2], Float32, CPU>, %w2:tensor<[2], Float32, CPU>[@q]) -> ()
}
)") == R"(
name: graph.SubGraphOp @g [g]
content: graph.SubGraphOp @g [g]
structure: graph.SubGraphOp
linalg.NegOp <a> @s {linalg.NegOp}
linalg.MulOp <m> {linalg.MulOp}
linalg.MulOp {linalg.MulOp}
linalg.AddOp {linalg.AddOp}
cf.ReturnOp {cf.ReturnOp}
line: graph.SubGraphOp @g () -> ()
name: linalg.NegOp <a> @s
content: linalg.NegOp <a> @s b:x j:2 k:1 (t[2] input 0 of graph.SubGraphOp @g -> t[2]
structure: linalg.NegOp
line: linalg.NegOp 'a' @s [b:"x", j:2, k:1] (t[2]) -> (t[2])
operand: input 0 of graph.SubGraphOp @g | %1 at 2:1
result: result 0 of linalg.NegOp 'a' | %2 at 4:1
name: linalg.MulOp <m>
content: linalg.MulOp <m> (t[2] result 0 of linalg.NegOp 'a' (t[1] @constant_ -> t[2]
structure: linalg.MulOp
line: linalg.MulOp 'm' (t[2], t[1]) -> (t[2])
operand: result 0 of linalg.NegOp 'a' | %2 at 4:1
operand: @constant_7 | %7 at 5:1
result: result 0 of linalg.MulOp 'm' | %3 at 5:1
name: linalg.MulOp
content: linalg.MulOp (t[2] result 0 of linalg.MulOp 'm' (t[1] [2] -> t[2] -> t[2]
structure: linalg.MulOp
line: linalg.MulOp (t[2], t[1]) -> (t[2], t[2])
operand: result 0 of linalg.MulOp 'm' | %3 at 5:1
operand: [2] | %8 at 6:1
result: result 0 of linalg.MulOp | %4 at 6:1
result: result 1 of linalg.MulOp | %5 at 6:1
name: linalg.AddOp
content: linalg.AddOp (t[2] result 0 of linalg.MulOp (untyped a value that nothing defines -> t[2]
structure: linalg.AddOp
line: linalg.AddOp (t[2], untyped) -> (t[2])
operand: result 0 of linalg.MulOp | %4 at 6:1
operand: a value that nothing defines | %9 at 7:1
result: result 0 of linalg.AddOp | %10 at 7:1
name: cf.ReturnOp
content: cf.ReturnOp (t[2] result 0 of linalg.MulOp
structure: cf.ReturnOp
line: cf.ReturnOp (t[2]) -> ()
operand: result 0 of linalg.MulOp | %4 at 6:1
name: prog.fragment @code [code]
content: prog.fragment @code [code]
structure: prog.fragment
prog.label [net.__entry] {prog.label}
prog.kernel_launch {prog.kernel_launch}
prog.jump ->net.__entry {prog.jump}
line: prog.fragment @code () -> ()
name: prog.label [net.__entry]
content: prog.label [net.__entry] symbol:net.__entry
structure: prog.label
line: prog.label [symbol:net.__entry] () -> ()
name: prog.kernel_launch
content: prog.kernel_launch op_type:Neg (t[2] a value that nothing defines -> t[2]
structure: prog.kernel_launch
line: prog.kernel_launch [op_type:Neg, program_uuid:3] (t[2]) -> (t[2])
operand: a value that nothing defines | %5 at 13:1
result: result 0 of prog.kernel_launch | %6 at 13:1
name: prog.jump ->net.__entry
content: prog.jump ->net.__entry offset:6
structure: prog.jump
line: prog.jump [offset:6] () -> ()
name: tensor.register [p]
content: tensor.register [p] symbol:p -> t[2]
structure: tensor.register
line: tensor.register [symbol:p] () -> (t[2])
result: result 0 of tensor.register | %11 at 16:1
name: linalg.AddOp
content: linalg.AddOp (t[2] @p (t[2] @q
structure: linalg.AddOp
line: linalg.AddOp (t[2], t[2]) -> ()
operand: result 0 of tensor.register | %11 at 16:1
operand: @q | %w2 at 17:1
)");
  }

  TEST_CASE("the normal form sorts attributes and numbers values in order") {
    CHECK(
        normal("@main [mir_version:1] (%x:tensor<[2], Float32, CPU>[b:1, a:2], %5:tensor<[2], "
               "Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>[d:1, c:2]) {\n    graph.SubGraphOp "
               "@f <CPU> {\n        (%3:tensor<[2], Float32, CPU>[z:1, k:2]) -> (%9:tensor<[2], "
               "Float32, CPU>) {\n            linalg.CPU.NegOp [k:1, j:2] (%3) -> (%9:tensor<[2], "
               "Float32, CPU>[n:1, m:2])\n            cf.ReturnOp (%9) -> ()\n        }\n    }\n   "
               " graph.CallGraphOp @f (%x) -> (%7:tensor<[2], Float32, CPU>)\n    "
               "linalg.CPU.AddOp(%7, %8:tensor<[1], Float32, CPU>[note:1, constant:[2]]) -> "
               "(%y:tensor<[2], Float32, CPU>)\n    cf.ReturnOp (%y) -> ()\n}\n") == R"(
@main [mir_version:1] (%x:t[2][a:2, b:1], %0:t[2]) -> (%y:t[2][c:2, d:1]) {
    graph.SubGraphOp @f <CPU> {
        (%1:t[2][k:2, z:1]) -> (%2:t[2]) {
            linalg.CPU.NegOp [j:2, k:1] (%1:t[2][k:2, z:1]) -> (%2:t[2][m:2, n:1])
            cf.ReturnOp (%2:t[2][m:2, n:1]) -> ()
        }
    }
    graph.CallGraphOp @f (%x:t[2][a:2, b:1]) -> (%3:t[2])
    linalg.CPU.AddOp(%3:t[2], %4:t[1][constant:[2], note:1]) -> (%y:t[2])
    cf.ReturnOp (%y:t[2]) -> ()
}
)");
    CHECK(normal("@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, "
                 "CPU>) {\n    graph.FusedOp () -> (%z:tensor<[2], Float32, CPU>) {\n        () -> "
                 "(%z:tensor<[2], Float32, CPU>) {\n            linalg.CPU.SiLUOp (%x) -> "
                 "(%40:tensor<[2], Float32, CPU>)\n            cf.YieldOp (%40) -> ()\n        }\n "
                 "   }\n    cf.ReturnOp (%z) -> ()\n}\n") == R"(
@main [mir_version:2] (%x:t[2]) -> (%z:t[2]) {
    graph.FusedOp () -> (%z:t[2]) {
        () -> (%0:t[2]) {
            linalg.CPU.SiLUOp(%x:t[2]) -> (%0:t[2])
            cf.YieldOp (%0:t[2]) -> ()
        }
    }
    cf.ReturnOp (%z:t[2]) -> ()
}
)");
    CHECK(normal("@main () -> () {\ngraph.SubGraphOp @g <CPU> {\n(%30:tensor<[2], Float32, "
                 "CPU>[f:1, e:2]) -> (%10:tensor<[2], Float32, CPU>[h:1, g:2]) {\nlinalg.CPU.NegOp "
                 "[b:1, a:2] (%30:tensor<[2], Float32, CPU>) -> (%20:tensor<[2], Float32, "
                 "CPU>)\nlinalg.CPU.ExpOp(%20:tensor<[2], Float32, CPU>[y:1, x:2]) -> "
                 "(%10:tensor<[2], Float32, CPU>[q:1, p:2])\n}\n}\n}\n") == R"(
@main () -> () {
    graph.SubGraphOp @g <CPU> {
        (%0:t[2][e:2, f:1]) -> (%1:t[2][g:2, h:1]) {
            linalg.CPU.NegOp [a:2, b:1] (%0:t[2]) -> (%2:t[2])
            linalg.CPU.ExpOp(%2:t[2][x:2, y:1]) -> (%1:t[2][p:2, q:1])
        }
    }
}
)");
    CHECK(normal("@main () -> () {\nlinalg.CPU.NegOp (%30:tensor<[2], Float32, CPU>) -> "
                 "(%20:tensor<[2], Float32, CPU>)\nlinalg.CPU.NegOp (%20:tensor<[2], Float32, "
                 "CPU>) -> (%30:tensor<[2], Float32, CPU>)\n// a comment\n}\n@second () -> () "
                 "{\nlinalg.CPU.ExpOp (%30:tensor<[2], Float32, CPU>) -> (%20:tensor<[2], Float32, "
                 "CPU>)\n}\n") == R"(
@main () -> () {
    linalg.CPU.NegOp(%0:t[2]) -> (%1:t[2])
    linalg.CPU.NegOp(%1:t[2]) -> (%0:t[2])
}
@second () -> () {
    linalg.CPU.ExpOp(%0:t[2]) -> (%1:t[2])
}
)");
    CHECK(normal("@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, "
                 "CPU>) {\n    linalg.CPU.NegOp (%0) -> (%1:tensor<[2], Float32, CPU>)\n    "
                 "cf.ReturnOp (%1) -> ()\n^more(%17:tensor<[2], Float32, CPU>):\n    cf.ReturnOp "
                 "(%17) -> ()\n}\n") == R"(
@main [mir_version:1] (%0:t[2]) -> (%1:t[2]) {
    linalg.CPU.NegOp(%0:t[2]) -> (%1:t[2])
    cf.ReturnOp (%1:t[2]) -> ()
^more(%2:t[2]):
    cf.ReturnOp (%2:t[2]) -> ()
}
)");
    CHECK(normal("@main [mir_version:1] (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, "
                 "CPU>) {\n    graph.SubGraphOp @f <CPU> {\n        (%1:tensor<[2], Float32, CPU>) "
                 "-> (%2:tensor<[2], Float32, CPU>) {\n            linalg.CPU.NegOp (%1) -> "
                 "(%2:tensor<[2], Float32, CPU>)\n            cf.ReturnOp (%2) -> ()\n        }\n  "
                 "  }\n    graph.SubGraphOp @g <CPU> {\n        (%1:tensor<[2], Float32, CPU>) -> "
                 "(%3:tensor<[2], Float32, CPU>) {\n            linalg.CPU.NegOp (%1) -> "
                 "(%2:tensor<[2], Float32, CPU>)\n            linalg.CPU.NegOp (%2) -> "
                 "(%3:tensor<[2], Float32, CPU>)\n            cf.ReturnOp (%3) -> ()\n        }\n  "
                 "  }\n    linalg.CPU.NegOp (%1) -> (%2:tensor<[2], Float32, CPU>)\n    "
                 "cf.ReturnOp (%2) -> ()\n}\n") == R"(
@main [mir_version:1] (%0:t[2]) -> (%1:t[2]) {
    graph.SubGraphOp @f <CPU> {
        (%2:t[2]) -> (%3:t[2]) {
            linalg.CPU.NegOp(%2:t[2]) -> (%3:t[2])
            cf.ReturnOp (%3:t[2]) -> ()
        }
    }
    graph.SubGraphOp @g <CPU> {
        (%4:t[2]) -> (%5:t[2]) {
            linalg.CPU.NegOp(%4:t[2]) -> (%6:t[2])
            linalg.CPU.NegOp(%6:t[2]) -> (%5:t[2])
            cf.ReturnOp (%5:t[2]) -> ()
        }
    }
    linalg.CPU.NegOp(%0:t[2]) -> (%1:t[2])
    cf.ReturnOp (%1:t[2]) -> ()
}
)");
  }
}

}  // namespace whole_diff_test
