// Pipelines as text.
#include <random>

#include "known_passes.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;

namespace pipeline_test {

namespace {

const std::vector<PassOption> kOptions = {
    {.name = "size",
     .kind = PassOption::Kind::kInteger,
     .by_default = "8",
     .summary = "a size",
     .least = 1,
     .most = 64},
    {.name = "rate", .kind = PassOption::Kind::kNumber, .by_default = "0.5", .summary = "a rate"},
    {.name = "mode",
     .kind = PassOption::Kind::kText,
     .by_default = "fast",
     .summary = "a mode",
     .choices = {"fast", "safe"}},
    {.name = "loud", .summary = "speaks"},
    {.name = "S", .kind = PassOption::Kind::kInteger, .is_list = true, .summary = "extents"},
    {.name = "names", .kind = PassOption::Kind::kText, .is_list = true, .summary = "names"}};

PassResult nothing(PassRun& run) {
  return run.result();
}

void add(PassRegistry& registry) {
  registry.add({.name = "m", .summary = "on modules", .options = kOptions, .run = nothing});
  registry.add({.name = "g",
                .summary = "on graphs",
                .anchor = Anchor::kGraph,
                .options = kOptions,
                .run = nothing});
  registry.add({.name = "r", .summary = "on regions", .anchor = Anchor::kRegion, .run = nothing});
  registry.add({.name = "o",
                .summary = "on ops",
                .anchor = Anchor::kOp,
                .options = kOptions,
                .run = nothing});
  registry.add_pipeline("both", "two of them", "g{size=4},graph(@a:o)");
}

struct Registered : Passes {
  Registered() { add(registry); }
};

/// The pipeline printed; the first problem instead.
std::string canonical(std::string_view text) {
  Registered all;
  const auto pipeline = all.read(text);
  if (!pipeline) return all.problems.front();
  CHECK(all.problems == Lines{});
  return spelling(*pipeline);
}

/// The options of the one pass of a text.
PassOptions options_of(Registered& all, std::string_view text) {
  const auto pipeline = all.read(text);
  REQUIRE(pipeline);
  REQUIRE(pipeline->items.size() == 1);
  return pipeline->items.front().options;
}

std::string word(std::mt19937& random) {
  constexpr std::string_view kCharacters = "abzXYZ019_-.*? ,=:@(){}[]\"\\/\n";
  std::string text;
  for (std::size_t n = random() % 6; n > 0; --n) text += kCharacters[random() % kCharacters.size()];
  return text;
}

/// Any pipeline; `deepest` is the anchor of the innermost group around it.
std::vector<PipelineItem> items(std::mt19937& random, const PassRegistry& registry, int around) {
  std::vector<PipelineItem> list;
  const std::string_view names[] = {"m", "g", "r", "o"};
  for (std::size_t n = 1 + random() % 3; n > 0; --n) {
    PipelineItem& item = list.emplace_back();
    const int anchor = around + static_cast<int>(random() % static_cast<unsigned>(4 - around));
    if (random() % 3 == 0 && anchor > 0 && anchor > around) {
      item.anchor = static_cast<Anchor>(anchor);
      if (item.anchor == Anchor::kOp && random() % 2 == 0) item.op = "linalg.AddOp";
      if (item.anchor != Anchor::kRegion && random() % 2 == 0) item.selector = word(random);
      item.items = items(random, registry, anchor);
      continue;
    }
    item.pass = registry.find(names[anchor]);
    item.options = PassOptions(item.pass->options);
    const std::size_t rows = item.pass->options.size();
    for (std::size_t row = 0; row < rows; ++row) {
      if (random() % 3 != 0) continue;
      const std::string values[] = {"7", "1e-3", "safe", "", "12", word(random)};
      if (item.pass->options[row].is_list) item.options.take_none(row);
      for (std::size_t k = item.pass->options[row].is_list ? random() % 3 : 1; k > 0; --k) {
        REQUIRE(item.options.take(row, values[row]));
      }
    }
  }
  return list;
}

}  // namespace

TEST_SUITE("pipelines") {
  TEST_CASE("passes, groups, selectors and options") {
    CHECK(canonical("") == "");
    CHECK(canonical(" m , g\n// with a comment\n, o ") == "m,g,o");
    CHECK(canonical("graph(g,o),module(@main:m,graph(@layer.*:region(r,o)))") ==
          "graph(g,o),module(@main:m,graph(@layer.*:region(r,o)))");
    CHECK(canonical("linalg.AddOp(@\"a, (b)\":o)") == "linalg.AddOp(@\"a, (b)\":o)");
    CHECK(canonical("graph(@\"plain\":g)") == "graph(@plain:g)");
    CHECK(canonical("m{}") == "m");
    CHECK(canonical("m{loud,size=4}") == "m{size=4,loud}");
    CHECK(canonical("m{S=1,32,128}") == "m{S=[1,32,128]}");
    CHECK(canonical("m{S=[1,32],loud}") == "m{loud,S=[1,32]}");
    CHECK(canonical("m{S=[]}") == "m{S=[]}");
    CHECK(canonical("m{names=a,\"b c\",mode=safe}") == "m{mode=safe,names=[a,\"b c\"]}");
  }

  TEST_CASE("a pipeline with a name is written out") {
    CHECK(canonical("m,both,g") == "m,g{size=4},graph(@a:o),g");
    CHECK(canonical("graph(both)") == "1:7 MIR0920 a group of graphs stands in a group of graphs");
  }

  TEST_CASE("options have what was given, or their default") {
    Registered all;
    const PassOptions given = options_of(all, "m{size=16,rate=2,mode=safe,loud,S=3,-4,names=[x]}");
    CHECK(given.integer("size") == 16);
    CHECK(given.number("rate") == 2.0);
    CHECK(given.text("mode") == "safe");
    CHECK(given.flag("loud"));
    CHECK(given.integers("S") == std::vector<std::int64_t>{3, -4});
    CHECK(given.texts("names") == std::vector<std::string_view>{"x"});
    const PassOptions defaults = options_of(all, "m");
    CHECK(defaults.integer("size") == 8);
    CHECK(defaults.number("rate") == 0.5);
    CHECK(defaults.text("mode") == "fast");
    CHECK_FALSE(defaults.flag("loud"));
    CHECK(defaults.integers("S").empty());
  }

  TEST_CASE("what is wrong has a place, and what was meant a name") {
    CHECK(canonical("m,,g") == "1:3 MIR0920 expected the name of a pass or of a group, found ','");
    CHECK(canonical("m g") == "1:3 MIR0920 expected ',' or the end of the text, found 'g'");
    CHECK(canonical("m,") ==
          "1:3 MIR0920 expected the name of a pass or of a group, found the end of the text");
    CHECK(canonical("m,\nelimnate-debug") ==
          "2:1 MIR0920 no pass is called 'elimnate-debug'; did you mean 'eliminate-debug'?");
    CHECK(canonical("graph(g") == "1:8 MIR0920 expected ',' or ')', found the end of the text");
    CHECK(canonical("graph()") ==
          "1:7 MIR0920 expected the name of a pass or of a group, found ')'");
    CHECK(canonical("graph(@:g)") ==
          "1:8 MIR0920 expected a name, with '*' and '?' for what may differ, found ':'");
    CHECK(canonical("graph(@a g)") == "1:10 MIR0920 expected ':' after the name, found 'g'");
    CHECK(canonical("graph(m)") == "1:7 MIR0920 a pass on a module stands in a group of graphs");
    CHECK(canonical("region(graph(g))") ==
          "1:8 MIR0920 a group of graphs stands in a group of regions");
    CHECK(canonical("graph(graph(g))") ==
          "1:7 MIR0920 a group of graphs stands in a group of graphs");
    CHECK(canonical("region(@a:r)") == "1:9 MIR0920 regions have no names");
    CHECK(
        canonical("grap(g)") ==
        "1:1 MIR0920 a group is of 'module', 'graph', 'region', 'op' or of the ops of a kind like "
        "'linalg.AddOp'; found 'grap'");
    CHECK(canonical("m{siz=4}") ==
          "1:3 MIR0920 pass 'm' has no option 'siz'; did you mean 'size'?");
    CHECK(canonical("r{size=4}") == "1:3 MIR0920 pass 'r' has no option 'size'");
    CHECK(canonical("m{size}") == "1:7 MIR0920 expected '=' and a value of 'size', found '}'");
    CHECK(canonical("m{size=65}") ==
          "1:8 MIR0920 'size' takes an integer from 1 to 64, found '65'");
    CHECK(canonical("m{rate=x}") == "1:8 MIR0920 'rate' takes a number, found 'x'");
    CHECK(canonical("m{mode=slow}") == "1:8 MIR0920 'mode' takes one of fast, safe, found 'slow'");
    CHECK(canonical("m{loud=1}") == "1:8 MIR0920 'loud' takes no value, found '1'");
    CHECK(canonical("m{size=1,size=2}") == "1:15 MIR0920 'size' is given twice");
    CHECK(canonical("m{size=[1]}") == "1:3 MIR0920 'size' takes one value");
    CHECK(canonical("m{S=1,x}") == "1:7 MIR0920 'S' takes an integer, found 'x'");
    CHECK(canonical("m{size=4") == "1:9 MIR0920 expected ',' or '}', found the end of the text");
    CHECK(canonical("m{names=\"a}") == "1:9 MIR0920 a quoted text has no end");
    CHECK(canonical("m\\") == "1:2 MIR0920 this character must be quoted");
  }

  TEST_CASE("any pipeline that is printed reads back as itself") {
    std::mt19937 random(7);
    Registered all;
    for (int i = 0; i < 3000; ++i) {
      const Pipeline pipeline{items(random, all.registry, 0)};
      const std::string text = spelling(pipeline);
      const auto again = all.read(text);
      INFO(text);
      REQUIRE(all.problems == Lines{});
      REQUIRE(again);
      REQUIRE(spelling(*again) == text);
    }
  }

  TEST_CASE("any bytes are a pipeline or an error") {
    std::mt19937 random(11);
    Registered all;
    for (int i = 0; i < 20'000; ++i) {
      std::string text;
      constexpr std::string_view kPieces[] = {"m", "g",    "graph", "(", ")",  "{",  "}",
                                              "[", "]",    "=",     ",", ":",  "@",  "\"",
                                              "S", "size", "4",     " ", "//", "\\", "\xff"};
      for (std::size_t n = random() % 14; n > 0; --n)
        text += kPieces[random() % std::size(kPieces)];
      const auto pipeline = all.read(text);
      CHECK(pipeline.has_value() == all.problems.empty());
    }
  }
}

}  // namespace pipeline_test
