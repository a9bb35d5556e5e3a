// Short and full texts mean the same modules.
#include "text/short_text.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <random>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "../syntax/corpus.hpp"
#include "ir/version_needs.hpp"
#include "mir/rewriter.hpp"
#include "module_generator.hpp"

using namespace mir;
using mir::test::corpus;
using mir::test::GeneratorOptions;
using mir::test::Isomorphism;
using mir::test::Reading;

namespace short_text_test {

namespace {

template <class Rewrite>
std::string rewritten(const Rewrite& rewrite, std::string text) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("test.mir", std::move(text));
  Diagnostics diagnostics;
  const auto tree = parse(*file, diagnostics);
  REQUIRE(tree);
  const auto result = rewrite(*tree, context, diagnostics);
  for (const std::string& line : mir::test::lines_of(diagnostics, context)) MESSAGE(line);
  REQUIRE(result);
  return *result;
}

std::string short_of(std::string text, std::int64_t version = kLatestVersion) {
  const auto rewrite = [&](const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics) {
    return short_text(tree, context, diagnostics, version);
  };
  return rewritten(rewrite, std::move(text));
}
std::string full_of(std::string text) {
  return rewritten(full_text, std::move(text));
}

std::string without_version(std::string text) {
  for (std::size_t at = 0; (at = text.find("mir_version:2", at)) != text.npos;) text[at + 12] = '1';
  return text;
}

/// The short text means the same but for the version, and the full text of it all the same. Where
/// short forms go, so does a version 2 that nothing needs.
void check_meaning(const std::string& text) {
  const Reading first(text);
  REQUIRE(first.errors() == std::vector<std::string>{});
  const std::string brief = short_of(text);
  CHECK(short_of(brief) == brief);
  const std::string whole = full_of(brief);
  CHECK(without_version(whole) == without_version(full_of(text)));
  const Reading full(whole);
  REQUIRE(full.errors() == std::vector<std::string>{});
  REQUIRE(full.modules.size() == first.modules.size());
  const auto is_same = [](Module& module, Module& other) {
    if (other.version() == lowest_version(module)) Rewriter(module).set_version(other.version());
    return Isomorphism(module, other).difference();
  };
  const Reading second(brief);
  REQUIRE(second.errors() == std::vector<std::string>{});
  REQUIRE(second.modules.size() == first.modules.size());
  for (std::size_t i = 0; i < first.modules.size(); ++i) {
    CHECK(second.modules[i]->version() >= first.modules[i]->version());
    CHECK(is_same(*second.modules[i], *first.modules[i]) == "");
    CHECK(is_same(*first.modules[i], *full.modules[i]) == "");
  }
}

/// A module of three parameters, of which `second` registers the second.
std::string module_with(const std::string& version, const std::string& second) {
  return "@main [mir_version:" + version +
         "] (%x:tensor<[1, 4, 64, 64], Float32, CPU>, %z:tensor<[1, 4, 64, 64], Float32, CPU>) -> "
         "(%y:tensor<[1, 4, 64, 64], Float32, CPU>) {\n"
         "    graph.SubGraphOp @init <CPU> {\n"
         "        () -> () {\n"
         "            tensor.CPU.register () -> (%0:tensor<[64, 64], Float32, "
         "CPU>[@a.weight])[symbol:a.weight]\n"
         "            tensor.CPU.register () -> (%1:tensor<[64, 64], Float32, CPU>" +
         second +
         "\n"
         "            tensor.CPU.register () -> (%3:tensor<[64, 64], Float32, "
         "CPU>[@c.weight])[symbol:c.weight]\n"
         "        }\n"
         "    }\n"
         "    linalg.CPU.LinearOp <name=\"a\"> [in_channels:64, out_channels:64, bias:false] "
         "(%x:tensor<[1, 4, 64, 64], Float32, CPU>) -> (%2:tensor<[1, 4, 64, 64], Float32, CPU>)\n"
         "    linalg.CPU.LinearOp <name=\"b\"> [in_channels:64, out_channels:64, bias:false] "
         "(%2:tensor<[1, 4, 64, 64], Float32, CPU>) -> (%y:tensor<[1, 4, 64, 64], Float32, CPU>)\n"
         "    cf.ReturnOp (%y:tensor<[1, 4, 64, 64], Float32, CPU>) -> ()\n"
         "}\n";
}

/// A random dump or module whose graphs, names, recipes and lists may be left out in part:
/// sometimes they are the ones that follow from the text, sometimes others.
class TextOfForms {
 public:
  TextOfForms(std::uint64_t seed, bool is_portable) : random_(seed), is_portable_(is_portable) {}

  std::string make() {
    std::string text = is_portable_
                           ? fmt::format("@main [mir_version:{}] () -> () {{\n", 1 + one_in(2))
                           : "@main () -> () {\n";
    text += registers();
    for (int graph = 0; graph < 3; ++graph) text += graph_text(graph);
    if (!is_portable_) text += op("main", 90);
    return text + (is_portable_ ? "cf.ReturnOp () -> ()\n" : "") + "}\n";
  }

 private:
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::string_view any(std::initializer_list<std::string_view> list) {
    return list.begin()[random_() % list.size()];
  }

  std::string spec(int uuid) {
    const std::string_view kind =
        any({"Raw(type: Float32)", "SymPerTensor(quant_min: 0, quant_max: 255)", "None"});
    return fmt::format("QuantSpec({}, uuid={}{})", kind, uuid,
                       any({"", "", ", solved=0", ", solved=1"}));
  }
  static std::string entry(std::string spec) {
    if (spec.find("solved") == spec.npos) spec.insert(spec.size() - 1, ", solved=0");
    return spec;
  }

  std::string registers() {
    std::string text = "graph.SubGraphOp @init <notype> {\n() -> () {\n";
    for (int i = 0; i < 3; ++i) {
      const std::string name = fmt::format("g{}.p.weight", i);
      std::string list;
      if (!is_portable_) {
        recipes_[i] = one_in(3) ? "" : spec(i);
        if (!recipes_[i].empty()) list = "quant_recipe:" + recipes_[i];
        if (one_in(2)) list += fmt::format("{}symbol:{}", list.empty() ? "" : ", ", name);
        if (!list.empty()) list = "[" + list + "]";
      }
      text +=
          fmt::format("{}.register () -> (%r{}:tensor<[4, 4], Float32, CPU>[@{}]{})[symbol:{}]\n",
                      any({"tensor.CPU", "tensor.QNN"}), i, name, list, name);
    }
    return text + "}\n}\n";
  }

  std::string graph_text(int number) {
    const std::string name = fmt::format("g{}", number);
    return fmt::format(
        "graph.SubGraphOp @{0} <{1}> {2}{{\n(%x:tensor<[4], Float32, CPU>) -> (%x:tensor<[4], "
        "Float32, CPU>) {{\n{3}cf.ReturnOp (%x:tensor<[4], Float32, CPU>) -> ()\n}}\n}}\n",
        name, any({"CPU", "QNN", "notype"}), one_in(2) ? fmt::format("[symbol:{}] ", name) : "",
        is_portable_ ? linear(name) : op(name, 0) + op(name, 10));
  }

  std::string linear(const std::string& graph) {
    const std::string in = fmt::format("in_channels:{}", one_in(4) ? 3 : 4), out = "out_channels:4";
    const std::string list = one_in(4) ? "bias:false"
                             : one_in(3)
                                 ? fmt::format("bias:false, {}, {}", in, out)
                                 : fmt::format("{}, {}, bias:{}", in, out, any({"false", "true"}));
    return fmt::format(
        "linalg.{}.LinearOp <name=\"{}.p\"> [{}] (%x) -> (%y:tensor<[4], Float32, CPU>)\n",
        any({"CPU", "QNN"}), one_in(4) ? "g0" : graph, list);
  }

  /// Two ops, of which the second uses the results of the first.
  std::string op(const std::string& graph, int first) {
    const std::string a = spec(first + 3), b = spec(first + 4);
    const auto value = [&](std::string_view name, const std::string& recipe) {
      return fmt::format("{}:tensor<[4], Float32, CPU>[quant_recipe:{}{}]", name, recipe,
                         is_constant_ ? ", constant:[2]" : "");
    };
    is_constant_ = one_in(3);
    const std::string_view name = any({"p", "q", "q-", "a b"});
    const std::string path = fmt::format("{}{}.{}", one_in(4) ? "z" : "", graph, name);
    const int number = graph.size() == 2 ? graph[1] - '0' : 0;
    const std::string weight = path == fmt::format("g{}.p", number) && !recipes_[number].empty()
                                   ? "weight_weight:" + entry(recipes_[number])
                                   : "";
    std::string annotation =
        fmt::format("quant_recipe:QuantAnnotation(inputs_0:{}, outputs_0:{}, {})", entry(a),
                    entry(one_in(5) ? a : b), one_in(5) ? "" : weight);
    const std::string list = fmt::format("{}{}{}", any({"", "fresh:1, ", "text:some words, "}),
                                         annotation, any({"", ", last:true", ", text:more"}));
    return fmt::format(
        "linalg.{0}.LinearOp <name=\"{1}\"> [{2}] ({3}) -> ({4})\n"
        "linalg.CPU.AddOp ({4}, {5}) -> ({6})\n",
        any({"CPU", "QNN", "kCPU"}), path, list, value("%a", a), value("%b", b),
        value("%a", one_in(4) ? b : a), value("%a", a));
  }

  std::mt19937_64 random_;
  bool is_portable_;
  bool is_constant_ = false;
  std::string recipes_[3];
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("short text") {
  TEST_CASE("repeated types get aliases, registers imply symbols, and both come back") {
    const std::string whole = module_with("1", "[@b.weight])[symbol:b.weight]");
    const std::string brief = short_of(whole);
    CHECK(
        brief.starts_with("!f32_1x4x64x64 = tensor<[1, 4, 64, 64], Float32, CPU>\n"
                          "!f32_64x64 = tensor<[64, 64], Float32, CPU>\n"
                          "@main [mir_version:2] (%x:!f32_1x4x64x64, %z:!f32_1x4x64x64) -> "
                          "(%y:!f32_1x4x64x64) {\n"));
    CHECK(has(brief, "register () -> (%1:!f32_64x64[@b.weight])\n"));
    CHECK(full_of(brief) == whole);
    check_meaning(whole);
  }

  TEST_CASE("short texts of version 1 have no forms that need version 2") {
    const std::string whole = module_with("1", "[@b.weight])[symbol:b.weight]");
    const std::string brief = short_of(whole, 1);
    CHECK(brief.starts_with("@main [mir_version:1] (%x:tensor<[1, 4, 64, 64], Float32, CPU>, %z:"));
    CHECK(has(brief, "[symbol:b.weight]"));
    CHECK(brief.size() < whole.size());  // types of operands are left out
    CHECK(full_of(brief) == whole);
  }

  TEST_CASE("a symbol that is no plain word comes back in quotes, another symbol stays") {
    const std::string quoted = module_with("2", "[@\"b c.weight\"])");
    CHECK(has(full_of(quoted), "[@\"b c.weight\"])[symbol:\"b c.weight\"]\n"));
    const std::string other = module_with("2", "[@b.weight])[symbol:b.weight, rank:2]");
    CHECK(has(short_of(other), "[@b.weight])[symbol:b.weight, rank:2]\n"));
    check_meaning(other);
  }

  TEST_CASE("a module of version 1 that version 2 would read otherwise keeps its version") {
    const std::string bare = module_with("1", "[@b.weight])");
    CHECK(has(short_of(bare), "[mir_version:1]"));
    CHECK(has(short_of(bare), "[symbol:a.weight]"));
    check_meaning(bare);
    std::string opaque = module_with("1", "[@b.weight])[symbol:b.weight]");
    opaque.insert(opaque.rfind("    cf.ReturnOp"), "    my.op (%y) -> (%3:!foo)\n");
    CHECK(has(short_of(opaque), "[mir_version:1]"));
    check_meaning(opaque);
    // A call without types of its own in version 1: the graph's symbols are the module's.
    const std::string shared =
        "@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>, %u:tensor<[$T], Float32, CPU>) -> "
        "(%y:tensor<[$T], Float32, CPU>) {\n"
        "    graph.SubGraphOp @g <CPU> [symbol:g] {\n"
        "        (%a:tensor<[$S], Float32, CPU>) -> (%b:tensor<[$S], Float32, CPU>) {\n"
        "            linalg.CPU.SiLUOp (%a) -> (%b:tensor<[$S], Float32, CPU>)\n"
        "            cf.ReturnOp (%b) -> ()\n        }\n    }\n"
        "    graph.CallGraphOp @g (%u) -> (%y:tensor<[$T], Float32, CPU>)\n"
        "    cf.ReturnOp (%y) -> ()\n}\n";
    CHECK(has(short_of(shared), "[mir_version:1]"));
    std::string own = shared;
    own.replace(own.find("mir_version:1"), 13, "mir_version:2");
    CHECK(has(short_of(own), "!f32_T = "));
  }

  TEST_CASE("full text keeps version 2 where the module needs it, or no short form was there") {
    std::string declared = module_with("2, symbols:{S:{min:1}}", "[@b.weight])[symbol:b.weight]");
    CHECK(has(full_of(short_of(declared)), "mir_version:2"));
    CHECK(has(short_of(declared), "register () -> (%1:!f32_64x64[@b.weight])\n"));
    const std::string unused = module_with("2", "[@b.weight])[symbol:b.weight]");
    CHECK(full_of(unused) == unused);
    // An op that no loaded dialect has, and blocks of the module.
    for (const std::string more : {"    my.op (%y) -> (%3:tensor<[2], Float32, CPU>)\n",
                                   "    cf.BranchOp () -> () [^next]\n^next:\n",
                                   "    dbg.HintsOp () -> () [^next]\n^next:\n"}) {
      std::string text = unused;
      text.insert(text.rfind("    cf.ReturnOp"), more);
      CHECK(has(full_of(short_of(text)), "mir_version:2"));
    }
  }

  TEST_CASE("names of aliases that the text has stay free") {
    const std::string text = "!f32_1x4x64x64 = tensor<[7], Int8, CPU>\n" +
                             module_with("2", "[@b.weight])[symbol:b.weight]");
    const std::string brief = short_of(text);
    CHECK(
        brief.starts_with("!f32_1x4x64x64 = tensor<[7], Int8, CPU>\n"
                          "!f32_1x4x64x64_2 = tensor<[1, 4, 64, 64]"));
    check_meaning(text);
  }

  TEST_CASE("an alias of an alias and a type in any spacing") {
    const std::string text =
        "!a = tensor < [2, 3], Float32 , CPU >  // rows\n"
        "!b = !a\n"
        "@main [mir_version:2] (%x:!b) -> (%y : !a) {\n"
        "    linalg.CPU.SiLUOp(%x:!b) -> (%y:!a)\n"
        "    cf.ReturnOp (%y) -> ()\n"
        "}\n";
    CHECK(has(full_of(text), "(%x:tensor<[2, 3], Float32, CPU>) -> (%y:tensor<[2, 3], Float32"));
    check_meaning(text);
  }

  TEST_CASE("aliases of types need version 2 and a definition above") {
    const auto errors = [](const std::string& version, const std::string& type) {
      return Reading("!t = tensor<[2], Float32, CPU>\n@main [mir_version:" + version +
                     "] (%x:" + type + ") -> (%x:!t) {\n    cf.ReturnOp (%x:!t) -> ()\n}\n")
          .errors();
    };
    CHECK(errors("2", "!t") == std::vector<std::string>{});
    CHECK(errors("1", "!t").size() == 1);  // once for the module
    CHECK(errors("2", "!u").size() > 0);
    CHECK(errors("2", "!u")[0].find("alias '!u' is not defined before its use") !=
          std::string::npos);
  }

  TEST_CASE("generated modules come back") {
    using Form = GeneratorOptions::Form;
    const mir::test::Seeds seeds = mir::test::seeds_of(100);
    std::size_t aliases = 0;
    for (const Form form : {Form::kPortable, Form::kDump, Form::kProgram}) {
      for (const std::uint64_t seed : seeds) {
        CAPTURE(seed);
        const std::string text =
            mir::test::generate_module({.seed = seed,
                                        .form = form,
                                        .graphs = 2,
                                        .ops = 8,
                                        .control_flow = form == Form::kPortable && seed % 4 == 3});
        check_meaning(text);
        aliases += short_of(text).starts_with('!') ? 1 : 0;
      }
    }
    CHECK(aliases > seeds.count());
  }

  TEST_CASE("texts that can leave out devices, names and recipes come back") {
    std::size_t names = 0, rests = 0, numbers = 0, recipes = 0;
    const mir::test::Seeds seeds = mir::test::seeds_of(800);
    for (const std::uint64_t seed : seeds) {
      CAPTURE(seed);
      const std::string text = TextOfForms(seed, seed % 3 == 0).make();
      CAPTURE(text);
      check_meaning(text);
      const std::string brief = short_of(text);
      names += has(brief, " <.") ? 1 : 0;
      rests += has(brief, "[*") ? 1 : 0;
      numbers += has(brief, "(1") ? 1 : 0;
      recipes += has(brief, "[#") ? 1 : 0;
    }
    CHECK(names > seeds.count() / 4);
    CHECK(rests > seeds.count() / 4);
    CHECK(numbers > seeds.count() / 4);
    CHECK(recipes > seeds.count() / 4);
  }

  TEST_CASE("each short form reads as the text in full") {
    const std::string brief =
        "#q = QuantSpec(Raw(type: Float32))\n"
        "@main () -> () {\n"
        "    graph.SubGraphOp @g.h <QNN> [*] {\n"
        "        (%0:tensor<[4], Float32, QNN>[#q(1)]) -> (%1:tensor<[4], Float32, QNN>[#q(2)]) {\n"
        "            .register () -> (%9:tensor<[4, 4], Float32, CPU>[@g.h.p.weight][#q(3), "
        "*])[*]\n"
        "            .LinearOp <.p> [text:a word, *, last:2] (%0[*]) -> (%1:tensor<[4], Float32, "
        "QNN>[#q(2)])\n"
        "            .NegOp <.n> [*] (%1[*]) -> (%1[#q(2)])\n"
        "            cf.ReturnOp (%1[*]) -> ()\n"
        "        }\n    }\n    .AbsOp(%5:tensor<[4], Float32, CPU>) -> (%5)\n}\n";
    const std::string whole = full_of(brief);
    for (const std::string_view part :
         {"@g.h <QNN> [symbol:g.h] {", "linalg.CPU.AbsOp(%5", "tensor.QNN.register () -> ",
          "[@g.h.p.weight][quant_recipe:QuantSpec(Raw(type: Float32), uuid=3), "
          "symbol:g.h.p.weight])[symbol:g.h.p.weight]\n",
          "linalg.QNN.LinearOp <name=\"g.h.p\"> [text:a word, "
          "quant_recipe:QuantAnnotation(inputs_0:QuantSpec(Raw(type: Float32), uuid=1, solved=0), "
          "outputs_0:QuantSpec(Raw(type: Float32), uuid=2, solved=0), "
          "weight_weight:QuantSpec(Raw(type: Float32), uuid=3, solved=0)), last:2] (%0:",
          "linalg.QNN.NegOp <name=\"g.h.n\"> [quant_recipe:QuantAnnotation(inputs_0:QuantSpec(Raw("
          "type: Float32), uuid=2, solved=0), outputs_0:QuantSpec(Raw(type: Float32), uuid=2, "
          "solved=0), )] (%1:tensor<[4], Float32, QNN>[quant_recipe:QuantSpec(Raw(type: Float32), "
          "uuid=2)])"}) {
      CAPTURE(part);
      CHECK(whole == mir::test::Part{std::string(part)});
    }
    check_meaning(brief);
  }

  TEST_CASE(
      "forms of version 2 are refused in version 1, and where nothing follows from the text") {
    const auto errors = [](const std::string& version, const std::string& line) {
      return Reading("#q = QuantSpec(Raw(type: Float32))\n@main " + version +
                     " (%x:tensor<[2], Float32, CPU>) -> () {\n    graph.SubGraphOp @g <CPU> {\n"
                     "    () -> () {\n    " +
                     line +
                     "\n    cf.ReturnOp () -> ()\n    }\n    }\n"
                     "    cf.ReturnOp () -> ()\n}\n")
          .errors();
    };
    const std::string value = "(%1:tensor<[2], Float32, CPU>[constant:[1, 2]])";
    const std::string recipe = "(%1:tensor<[2], Float32, CPU>[constant:[1, 2], ";
    struct Case {
      std::string line;
      std::size_t forms;
    };
    for (const Case& each : {Case{".NegOp" + value + " -> (%2)", 1},
                             Case{"linalg.CPU.NegOp <.n> " + value + " -> (%2)", 1},
                             Case{"linalg.CPU.NegOp" + recipe + "quant_recipe:#q(1)]) -> (%2)", 1},
                             Case{"linalg.CPU.NegOp" + recipe + "#q]) -> (%2)", 1}}) {
      CAPTURE(each.line);
      CHECK(errors("[mir_version:2]", each.line) == std::vector<std::string>{});
      const auto found = errors("[mir_version:1]", each.line);
      REQUIRE(found.size() == each.forms);
      CHECK(found[0] == mir::test::Part{"needs mir_version:2"});
    }
    for (const std::string& line : {"linalg.CPU.NegOp [*] " + value + " -> (%2)",
                                    "linalg.CPU.NegOp" + value + " -> (%2[*])"}) {
      const auto found = errors("[mir_version:2]", line);
      REQUIRE(found.size() == 1);
      CHECK(found[0] == mir::test::Part{"'*' stands for no attribute here"});
    }
    const auto outside = Reading("@main () -> () {\n    .NegOp <.n> (%1) -> (%2)\n}\n").errors();
    REQUIRE(outside.size() == 1);
    CHECK(outside[0] == mir::test::Part{"no graph is around the op"});
  }

  TEST_CASE("an edit of what short forms follow from writes them in full") {
    const std::string text =
        "@main [mir_version:2] (%x:tensor<[1, 4], Float32, CPU>) -> (%y:tensor<[1, 4], Float32, "
        "CPU>) {\n"
        "    graph.SubGraphOp @init <CPU> {\n        () -> () {\n"
        "            .register () -> (%0:tensor<[4, 4], Float32, CPU>[@g.p.weight])\n        }\n   "
        " }\n"
        "    graph.SubGraphOp @g <CPU> {\n"
        "        (%a:tensor<[1, 4], Float32, CPU>) -> (%b:tensor<[1, 4], Float32, CPU>) {\n"
        "            .LinearOp <.p> [*] (%a) -> (%b)\n"
        "            cf.ReturnOp (%b) -> ()\n        }\n    }\n"
        "    graph.CallGraphOp @g (%x) -> (%y)\n"
        "    cf.ReturnOp (%y) -> ()\n}\n";
    const auto printed = [&](const auto& edit) {
      IRContext context;
      register_builtin_dialects(context);
      const SourceFile* file = context.sources().add("test.mir", text);
      Diagnostics found;
      const auto tree = parse(*file, found);
      REQUIRE(tree);
      const std::vector<Module*> modules = resolve(*tree, context, found);
      CHECK(mir::test::lines_of(found, context) == std::vector<std::string>{});
      edit(*modules.front());
      return print(modules, *tree);
    };
    CHECK(printed([](Module&) {}) == text);
    const auto graph_of = [](Module& module) {
      return module.lookup_op(module.context().intern("g"));
    };
    CHECK(printed([&](Module& module) {
            Rewriter(module).set_symbol(*graph_of(module), module.context().intern("h"));
          }) ==
          mir::test::Part{"linalg.CPU.LinearOp <name=\"g.p\"> [in_channels:4, out_channels:4, "
                          "bias:false] (%a:"});
  }

  TEST_CASE("the dumps of the corpus come back") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (mir::test::is_ambiguous(path)) continue;
      std::ifstream in(path, std::ios::binary);
      check_meaning({std::istreambuf_iterator<char>(in), {}});
    }
  }
}

}  // namespace short_text_test
