// The features that need a later version: verification, the lowest version and lowering agree.
#include <fmt/format.h>

#include <set>

#include "ir/version_needs.hpp"
#include "mir/print.hpp"
#include "verified.hpp"
#include "verify/lower_version.hpp"

using mir::test::Lines;
using mir::test::lines_of;
using mir::test::Reading;
using mir::test::verified;
using Feature = mir::VersionNeed::Feature;

namespace versions_test {

namespace {

using namespace mir;

constexpr std::string_view kDialect =
    "@my [mir_version:2] () -> () {\n"
    "dialect.TypeOp @tile [parameters:{rows:int}]\n"
    "dialect.OpOp @AnOp {\n"
    "(%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {\n"
    "linalg.D.NegOp (%x) -> (%y)\ncf.ReturnOp (%y) -> ()\n}\n}\n}\n";

struct Subject {
  Feature feature;
  std::string text{};  ///< whose last module has the feature alone
  std::string problem{};
};

std::string with_body(std::string_view inputs, std::string_view body,
                      std::string_view head = "mir_version:2") {
  return fmt::format("@main [{}] ({}) -> () {{\n{}}}\n", head, inputs, body);
}

constexpr std::string_view kFour = "%x:tensor<[4], Float32, CPU>";

std::vector<Subject> subjects() {
  return {
      {Feature::kDialect, std::string(kDialect),
       "1:1 MIR0321 dialect 'my' is declared by a module, which needs mir_version:2"},
      {Feature::kSymbols,
       with_body("%x:tensor<[$S], Float32, CPU>", "cf.ReturnOp () -> ()\n",
                 "mir_version:2, symbols:{S:{max:8}}"),
       "1:1 MIR0321 'symbols' in the head of a module needs mir_version:2"},
      {Feature::kRelations,
       with_body("%x:tensor<[$S], Float32, CPU>", "cf.ReturnOp () -> ()\n",
                 "mir_version:2, where:\"$S <= 8\""),
       "1:1 MIR0321 'where' in the head of a module needs mir_version:2"},
      {Feature::kBlocks, with_body(kFour, "cf.ReturnOp () -> ()\n^next:\ncf.ReturnOp () -> ()\n"),
       "1:1 MIR0321 blocks in the body of a module need mir_version:2"},
      {Feature::kOp,
       with_body(kFour,
                 "graph.FusedOp () -> () {\n() -> () {\ncf.YieldOp () -> ()\n}\n}\n"
                 "cf.ReturnOp () -> ()\n"),
       "2:1 MIR0321 'graph.FusedOp' needs mir_version:2"},
      {Feature::kOperand,
       with_body("%x:tensor<[1, 2, 3, 3], Float32, CPU>, %p:tensor<[1, 3], Int32, CPU>",
                 "linalg.CPU.CausalMaskOp (%x, %p) -> (%y)\ncf.ReturnOp () -> ()\n"),
       "2:1 MIR0321 operand 1 of 'linalg.CausalMaskOp' needs mir_version:2"},
      {Feature::kUnknownOp, with_body(kFour, "other.AnOp (%x) -> ()\ncf.ReturnOp () -> ()\n"),
       "2:1 MIR0321 'other.AnOp' is unknown and may be of a dialect that a text declares, which "
       "needs mir_version:2"},
      {Feature::kDeclaredOp,
       std::string(kDialect) + with_body(kFour, "my.AnOp (%x) -> (%y)\ncf.ReturnOp () -> ()\n"),
       "11:1 MIR0321 'my.AnOp' is of a dialect that a text declares, so the module needs "
       "mir_version:2"},
      {Feature::kDeclaredType,
       std::string(kDialect) + with_body("%x:!my.tile<2>", "cf.ReturnOp () -> ()\n"),
       "10:1 MIR0321 !my.tile<2> is of a dialect that a text declares, so the module needs "
       "mir_version:2"},
      {Feature::kCalledSymbols,
       with_body(kFour,
                 "graph.SubGraphOp @part <CPU> {\n(%y:tensor<[$S], Float32, CPU>) -> () {\n"
                 "cf.ReturnOp () -> ()\n}\n}\ngraph.CallGraphOp @part (%x) -> ()\n"
                 "cf.ReturnOp () -> ()\n"),
       "7:1 MIR0321 the call of '@part' gives symbols of the graph other values, which needs "
       "mir_version:2"},
      {Feature::kPort,
       fmt::format("@main [mir_version:2] ({}) -> (%y:tensor<[4], Float32, CPU>[x]) {{\n"
                   "linalg.CPU.NegOp (%x) -> (%y)\ncf.ReturnOp (%y) -> ()\n}}\n",
                   kFour),
       "1:1 MIR0321 port '%x' of output 0 of '@main' cannot be the name of its value, so the "
       "module "
       "needs mir_version:2"},
      {Feature::kExtremum,
       with_body("%x:tensor<[$S min 4], Float32, CPU>", "cf.ReturnOp () -> ()\n"),
       "1:1 MIR0321 extent ($S min 4) has a minimum or a maximum, so the module needs "
       "mir_version:2"}};
}

/// The text, in which the last module has version 1.
std::string in_version_1(std::string text) {
  constexpr std::string_view kVersion = "mir_version:2";
  return text.replace(text.rfind(kVersion), kVersion.size(), "mir_version:1");
}

}  // namespace

TEST_SUITE("versions") {
  TEST_CASE("version_c1: MIR0321 lowering reports each feature of a later version") {
    std::set<Feature> tried;
    for (const Subject& subject : subjects()) {
      CAPTURE(subject.text);
      tried.insert(subject.feature);
      Reading reading(subject.text);
      REQUIRE(reading.errors() == Lines{});
      Module& module = *reading.modules.back();
      CHECK(lowest_version(module) == 2);
      std::vector<Feature> found;
      for_each_version_need(module, 1,
                            [&](const VersionNeed& need) { found.push_back(need.feature); });
      CHECK(found == std::vector{subject.feature});
      for_each_version_need(module, 2, [](const VersionNeed& need) { FAIL(describe(need)); });
      Diagnostics diagnostics(0);
      CHECK_FALSE(lower_version(module, 1, diagnostics));
      CHECK(lines_of(diagnostics, reading.context) == Lines{subject.problem});
      CHECK(module.version() == 2);
      CHECK(lower_version(module, 2, diagnostics));
    }
    CHECK(tried.size() == static_cast<std::size_t>(Feature::kExtremum) + 1);
  }

  TEST_CASE("version_c1: MIR0321 verification of version 1 reports the same") {
    for (const Subject& subject : subjects()) {
      // Version 1 has unknown ops, and calls that do not fit (MIR0412). Its texts have no ports.
      if (subject.feature == Feature::kUnknownOp || subject.feature == Feature::kCalledSymbols ||
          subject.feature == Feature::kPort) {
        continue;
      }
      CAPTURE(subject.text);
      Reading reading(in_version_1(subject.text));
      const Lines refused = reading.errors();
      Lines lines = refused.empty() ? verified(in_version_1(subject.text)) : refused;
      std::erase_if(lines,
                    [](const std::string& line) { return line.find("MIR0321") == line.npos; });
      CHECK(lines == Lines{subject.problem});
    }
  }

  TEST_CASE("version_c2: MIR0408 attributes at the head of a module without a version") {
    const auto found = [](const std::string& head) {
      return verified("@main " + head + "() -> () {\ncf.ReturnOp () -> ()\n}\n");
    };
    CHECK(found("") == Lines{});
    CHECK(found("[mir_version:1] ") == Lines{});
    CHECK(found("[mir_verison:2] ") == Lines{"1:8 MIR0408 warning the module has 'mir_verison' but "
                                             "no 'mir_version', so it is read as a "
                                             "dump"});
    CHECK(found("[symbols:{S:{max:8}}, a:1] ") ==
          Lines{"1:8 MIR0408 warning the module has 'symbols' but no 'mir_version', so it is read "
                "as a dump",
                "1:29 MIR0408 warning the module has 'a' but no 'mir_version', so it is read as a "
                "dump"});
  }

  TEST_CASE("all features of a module are reported, and nothing else changes") {
    const std::string body =
        "graph.FusedOp () -> () {\n() -> () {\ncf.YieldOp () -> ()\n}\n}\n"
        "cf.ReturnOp () -> ()\n^next:\ncf.ReturnOp () -> ()\n";
    Reading reading(with_body("%x:tensor<[$S max 2, $S min 4], Float32, CPU>", body,
                              "mir_version:2, symbols:{S:{max:8}}"));
    REQUIRE(reading.errors() == Lines{});
    Module& module = *reading.modules.front();
    const std::string before = print(module);
    Diagnostics diagnostics(0);
    CHECK_FALSE(lower_version(module, 1, diagnostics));
    CHECK(lines_of(diagnostics, reading.context).size() == 5);
    CHECK(print(module) == before);
  }

  TEST_CASE("lowering copies a value that is read as several outputs") {
    Reading reading(
        "@main [mir_version:2] (%0:tensor<[4], Float32, CPU>[x]) -> (%1:tensor<[4], Float32, "
        "CPU>[p], "
        "%1:tensor<[4], Float32, CPU>[q], %0:tensor<[4], Float32, CPU>[r]) {\n"
        "linalg.CPU.NegOp(%0) -> (%1:tensor<[4], Float32, CPU>)\ncf.ReturnOp (%1, %1, %0) -> "
        "()\n}\n");
    REQUIRE(reading.errors() == Lines{});
    Module& module = *reading.modules.front();
    Diagnostics diagnostics(0);
    CHECK(lower_version(module, 1, diagnostics));
    CHECK(lines_of(diagnostics, reading.context) == Lines{});
    const std::string text = print(module);
    CHECK(text.find("(%x:tensor<[4], Float32, CPU>) -> (%p:tensor<[4], Float32, CPU>, "
                    "%q:tensor<[4], Float32, CPU>, %r:tensor<[4], Float32, CPU>) {") != text.npos);
    CHECK(text.find("CloneOp(%p:tensor<[4], Float32, CPU>) -> (%q") != text.npos);
    CHECK(text.find("CloneOp(%x:tensor<[4], Float32, CPU>) -> (%r") != text.npos);
    CHECK(verified(text) == Lines{});
  }

  TEST_CASE("a module without such features gets version 1, others keep theirs") {
    Reading reading(with_body(kFour, "cf.ReturnOp () -> ()\n") +
                    "@other [mir_version:1] () -> () {\ncf.ReturnOp () -> ()\n}\n@dump () -> () "
                    "{\n}\n");
    REQUIRE(reading.errors() == Lines{});
    const std::int64_t versions[] = {1, 1, 0};
    for (std::size_t i = 0; i < 3; ++i) {
      Diagnostics diagnostics(0);
      CHECK(lower_version(*reading.modules[i], 1, diagnostics));
      CHECK(diagnostics.sorted().empty());
      CHECK(reading.modules[i]->version() == versions[i]);
    }
    CHECK(print(*reading.modules[0]).starts_with("@main [mir_version:1] ("));
  }
}

}  // namespace versions_test
