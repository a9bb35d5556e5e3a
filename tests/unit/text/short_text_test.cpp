// Short and full texts mean the same modules.
#include "text/short_text.hpp"

#include <fstream>
#include <iterator>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
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

/// The short text means the same but for the version, and the full text of it all the same. Where
/// short forms go, so does a version 2 that nothing needs.
void check_meaning(const std::string& text) {
  const Reading first(text);
  REQUIRE(first.errors() == std::vector<std::string>{});
  const std::string brief = short_of(text);
  CHECK(short_of(brief) == brief);
  const std::string whole = full_of(brief);
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
    CHECK(errors("1", "!t").size() == 3);
    CHECK(errors("2", "!u").size() > 0);
    CHECK(errors("2", "!u")[0].find("alias '!u' is not defined before its use") !=
          std::string::npos);
  }

  TEST_CASE("generated modules come back") {
    using Form = GeneratorOptions::Form;
    std::size_t aliases = 0;
    for (const Form form : {Form::kPortable, Form::kDump, Form::kProgram}) {
      for (std::uint64_t seed = 0; seed < 25; ++seed) {
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
    CHECK(aliases > 30);
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
