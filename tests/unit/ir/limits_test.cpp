// Odd, large and hostile texts: an error or a module, never a crash, in time and memory that grow
// with the text.
#include <algorithm>

#include "isomorphic.hpp"
#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::errors;
using mir::test::Isomorphism;
using mir::test::Reading;

namespace {

using Lines = std::vector<std::string>;

std::string with_type(const std::string& type) {
  return "@main () -> () {\na.b () -> (%0:" + type + ")\n}\n";
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string tensor(int rank) {
  return "tensor<[" + repeated("1, ", rank - 1) + "1], F, D>";
}

void check_round_trip(const std::string& text) {
  Reading first(text);
  Reading second(print(first.module()));
  CHECK(Isomorphism(first.module(), second.module()).difference() == "");
}

}  // namespace

TEST_SUITE("limits") {
  TEST_CASE("a type has at most 64 dimensions") {
    CHECK(errors(with_type(tensor(64))) == Lines{});
    CHECK(errors(with_type(tensor(65))) ==
          Lines{"2:12 MIR0314 tensor type of rank 65, at most 64 are allowed"});
    CHECK(errors(with_type("tensor <[" + repeated("?,", 64) + "1], F, D>")).size() == 1);
  }

  TEST_CASE("extents and element counts fit 63 bits") {
    CHECK(errors(with_type("tensor<[9223372036854775807], F, D>")) == Lines{});
    CHECK(errors(with_type("tensor<[4611686018427387904], F, D>")) == Lines{});
    CHECK(errors(with_type("tensor<[4611686018427387904, 2], F, D>")) ==
          Lines{"2:12 MIR0315 element count does not fit 63 bits"});
    CHECK(errors(with_type("tensor<[3037000500, $S, 3037000500], F, D>")) ==
          Lines{"2:12 MIR0315 element count does not fit 63 bits"});
    CHECK(errors(with_type("tensor<[4294967296, 1073741824], F, D>")) == Lines{});
  }

  TEST_CASE("a dimension that cannot be read is named once, at its place") {
    const auto canonical = errors(with_type("tensor<[1, 9223372036854775808], F, D>"));
    REQUIRE(canonical.size() == 1);
    CHECK(canonical[0].starts_with("2:26 MIR0301 "));
    const auto spaced = errors(with_type("tensor<[1,$S/0], F, D>"));
    REQUIRE(spaced.size() == 1);
    CHECK(spaced[0].starts_with("2:25 MIR0301 "));
    const auto value = errors("@main () -> () {\na.b [k:$S%0] () -> ()\n}\n");
    REQUIRE(value.size() == 1);
    CHECK(value[0].starts_with("2:8 MIR0301 "));
  }

  TEST_CASE("aliases of aliases stand for 64 MiB at most") {
    const auto bomb = [](int aliases) {
      std::string text = "#a0 = [1, 2]\n";
      for (int i = 1; i <= aliases; ++i) {
        const std::string before = "#a" + std::to_string(i - 1);
        text += "#a" + std::to_string(i) + " = [" + before + ", " + before + "]\n";
      }
      return text + "@main () -> () {\na.b [k:#a" + std::to_string(aliases) + "] () -> ()\n}\n";
    };
    CHECK(errors(bomb(8)) == Lines{});
    // #a22 spells #a21 twice, with 10 * 2^21 bytes; the uses above it stand for 20 * 2^21.
    CHECK(errors(bomb(64)) == Lines{"23:15 MIR0004 aliases stand for more than 67108864 bytes"});
  }

  TEST_CASE("the first hundred errors of a kind come with a suggestion") {
    std::string text = "@main [mir_version:1] () -> () {\n";
    for (int i = 0; i < 150; ++i)
      text += "a.b (%intermediate_valeu" + std::to_string(i) + ") -> ()\n";
    text += "a.b () -> (%intermediate_value:tensor<[1], Float32, CPU>)\n}\n";
    Reading reading(text);
    const auto all = reading.diagnostics.sorted();
    CHECK(all.size() == 150);
    CHECK(std::ranges::count_if(all, [](const Diagnostic& each) { return !each.hint.empty(); }) ==
          100);
  }

  TEST_CASE("bodies nest to the limit of the grammar and no further") {
    const auto nested = [](int depth) {
      return "@main () -> () {\n" + repeated("a.b {\n", depth) + repeated("}\n", depth) + "}\n";
    };
    check_round_trip(nested(250));
    const auto too_deep = errors(nested(2000));
    REQUIRE(too_deep.size() == 1);
    CHECK(too_deep[0] == test::Part{"MIR0202"});
    Reading reading(nested(250));
    Module& module = reading.module();
    Rewriter(module).erase(*module.body().entry()->front());
    CHECK(module.body().entry()->empty());
  }

  TEST_CASE("ids of any size are names") {
    check_round_trip(
        "@main () -> () {\n"
        "a.b () -> (%2147483646:tensor<[1], F, D>, %2147483647:tensor<[1], F, D>, "
        "%2147483648:tensor<[1], F, D>)\n"
        "a.b () -> (%4294967295:tensor<[1], F, D>, %4294967296:tensor<[1], F, D>)\n"
        "a.b () -> (%18446744073709551616:tensor<[1], F, D>, %00:tensor<[1], F, D>, %0:tensor<[1], "
        "F, D>)\n"
        "a.c (%2147483646, %2147483647, %2147483648, %4294967295, %4294967296, "
        "%18446744073709551616, %00, %0) -> ()\n"
        "}\n");
    Reading reading(
        "@main () -> () {\na.b () -> (%2147483647:tensor<[1], F, D>, %16777215:tensor<[1], F, D>, "
        "%16777216:tensor<[1], F, D>)\n}\n");
    const Op* op = reading.module().body().entry()->front();
    CHECK_FALSE(op->result(0)->name().is_number());
    CHECK(op->result(1)->name().number() == 16777215);
    CHECK(op->result(2)->name().number() == 16777216);
  }

  TEST_CASE("many uses above their definition resolve in linear time") {
    constexpr int kCount = 60000;
    std::string text = "@main [mir_version:1] () -> () {\n";
    for (int i = 0; i < kCount; ++i) text += "a.b (%" + std::to_string(i) + ") -> ()\n";
    for (int i = 0; i < kCount; ++i)
      text += "a.c () -> (%" + std::to_string(i) + ":tensor<[1], F, D>)\n";
    Reading reading(text + "}\n");
    CHECK(reading.module().body().free_values().empty());
  }

  TEST_CASE("many regions, attributes, operands and results on one op are kept") {
    check_round_trip("@main () -> () {\na.b {\n" + repeated("() -> () {\n}\n", 70000) + "}\n}\n");
    std::string attributes;
    for (int i = 0; i < 70000; ++i) attributes += (i == 0 ? "k" : ", k") + std::to_string(i) + ":1";
    check_round_trip("@main () -> () {\na.b () -> ()[" + attributes + "]\n}\n");
    check_round_trip("@main () -> () {\na.b (%0" + repeated(", %0", 70000) +
                     ") -> (%1:tensor<[1], F, D>" + repeated(", %1:tensor<[1], F, D>", 70000) +
                     ")\n}\n");
  }

  TEST_CASE("a module after a text error is not delivered, and nothing is lost of the error") {
    const auto found = errors("@main () -> () {\na.b () -> ()\n)\n}\n");
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].starts_with("3:1 MIR02"));
  }

  TEST_CASE("errors beyond the limit are counted, not kept") {
    std::string text = "@main [mir_version:1] () -> () {\n";
    for (int i = 0; i < 1000; ++i) text += "a.b (%" + std::to_string(i) + ") -> ()\n";
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics(20);
    read_modules(*context.sources().add("t", text + "}\n"), context, diagnostics);
    CHECK(diagnostics.error_count() == 1000);
    CHECK(diagnostics.sorted().size() == 20);
  }

  TEST_CASE("a text of many small modules takes memory in proportion to them") {
    Reading reading("@a () -> () {\n}\n@b () -> () {\na.b () -> ()\n}\n");
    REQUIRE(reading.modules.size() == 2);
    for (const Module* module : reading.modules) CHECK(module->memory() <= 4096);
  }
}
