// Generated dialects: modules that use them print, verify and run as what their bodies say.
#include <fmt/format.h>

#include <array>

#include "../seeds.hpp"
#include "dialect_text.hpp"
#include "diff/module_diff.hpp"
#include "ir/rewrite/bodies.hpp"
#include "mir/pass.hpp"
#include "mir/rewriter.hpp"
#include "mir/session.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Declared;
using mir::test::DialectText;
using mir::test::generate_dialect;

namespace {

/// The bytes of the outputs on fixed inputs.
std::vector<std::byte> run(const Module& module, KernelSet kernels) {
  Diagnostics diagnostics;
  SessionOptions options;
  options.kernels = kernels;
  auto session = Session::create(module, options, diagnostics);
  for (const Diagnostic& each : diagnostics.sorted()) MESSAGE(each.message);
  REQUIRE(session);
  DimBindings dims;
  dims.bind(module.context().intern("S"), 3);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < session->inputs().size(); ++i) {
    arguments.push_back(fmt::format("{}=random:{}", i, i + 1));
  }
  const auto inputs = load_inputs(*session, arguments, dims);
  REQUIRE(inputs);
  const auto outputs = session->run(*inputs, diagnostics);
  for (const Diagnostic& each : diagnostics.sorted()) MESSAGE(each.message);
  REQUIRE(outputs);
  std::vector<std::byte> all;
  for (const Tensor& output : *outputs) {
    const auto bytes = output.bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

bool replace_all(Module& module) {
  Rewriter rewriter(module);
  Diagnostics found;
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    walk(module, WalkOrder::kPreOrder, [&](Op& op) {
      if (has_body(op)) has_changed |= replace_by_body(rewriter, op, found);
      return WalkResult::kContinue;
    });
  }
  return !found.has_errors() && verify(module, found);
}

bool transform(Module& module, std::string_view pipeline) {
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto passes = registry.read_pipeline(SourceFile("-p", std::string(pipeline), 1), problems);
  return passes && run_pipeline(module, *passes, {}, problems) && !problems.has_errors();
}

constexpr std::uint64_t kAllSeeds = 100;

/// Prints, reads, decomposes and runs a module of a dialect `made` in all ways.
void check_in_all_ways(const std::string& dialect, const std::string& text) {
  Declared read(dialect + text);
  REQUIRE(read.problems == "");
  Module& module = *read.modules.back();
  // What is printed is the same dialect and the same module, in one text or in two.
  Declared again(print(*read.modules.front()) + print(module));
  REQUIRE(again.problems == "");
  CHECK(print(*again.modules.front()) == print(*read.modules.front()));
  CHECK(print(*again.modules.back()) == print(module));
  again.read(print(module));
  REQUIRE(again.problems == "");
  Declared separate(dialect);
  separate.read(text);
  REQUIRE(separate.problems == "");
  const std::array<Module*, 1> first{separate.modules.back()};
  separate.read(print(module));
  const std::array<Module*, 1> second{separate.modules.back()};
  CHECK(diff_modules(first, second).entries.empty());

  const auto ref = run(module, KernelSet::kRef), fast = run(module, KernelSet::kFast);
  CHECK(run(*again.modules.back(), KernelSet::kRef) == ref);
  Declared kept(dialect + text);
  REQUIRE(
      transform(*kept.modules.back(), "cse,hoist-invariants,sink,eliminate-dead-ops,canonicalize"));
  CHECK(run(*kept.modules.back(), KernelSet::kRef) == ref);
  REQUIRE(transform(*again.modules.back(), "decompose{only-bodies}"));
  CHECK(print(*again.modules.back()).find("made.") == std::string::npos);
  CHECK(run(*again.modules.back(), KernelSet::kRef) == ref);
  CHECK(run(*again.modules.back(), KernelSet::kFast) == fast);
  REQUIRE(replace_all(module));
  CHECK(print(module).find("made.") == std::string::npos);
  CHECK(run(module, KernelSet::kRef) == ref);
  CHECK(run(module, KernelSet::kFast) == fast);
}

}  // namespace

TEST_CASE("an op of a generated dialect runs as its body in its place, bit for bit") {
  for (const std::uint64_t seed : test::seeds_of(kAllSeeds)) {
    const DialectText text = generate_dialect(seed);
    CAPTURE(seed);
    CAPTURE(text.dialect);
    CAPTURE(text.module);
    check_in_all_ways(text.dialect, text.module);
  }
}

TEST_CASE("a body gives an op the results that it has") {
  check_in_all_ways(
      "@made [mir_version:2] () -> () {\n    dialect.OpOp @PartsOp {\n"
      "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>, %z:tensor<[$n], T, D>[optional:true]) {\n"
      "linalg.D.NegOp(%x) -> (%y)\nlinalg.D.AbsOp(%x) -> (%z)\ncf.ReturnOp (%y, %z) -> ()\n}\n"
      "    }\n}\n",
      "@main [mir_version:2] (%x:tensor<[3], Float32, CPU>) -> (%a:tensor<[3], Float32, CPU>, "
      "%b:tensor<[3], Float32, CPU>, %c:tensor<[3], Float32, CPU>) {\n"
      "    made.PartsOp(%x) -> (%a)\n    made.PartsOp(%a) -> (%b, %c)\n"
      "    cf.ReturnOp (%a, %b, %c) -> ()\n}\n");
}

TEST_CASE("a body that gives another number of results than the op has is refused") {
  constexpr std::string_view kResults[] = {"%y:tensor<[$n], T, D>[many:true]",
                                           "%y:tensor<[$n], T, D>[many:true, optional:true]"};
  for (const std::string_view results : kResults) {
    const Declared read(
        fmt::format("@made [mir_version:2] () -> () {{\n    dialect.OpOp @ManyOp {{\n"
                    "(%x:tensor<[$n], T, D>) -> ({}) {{\nlinalg.D.NegOp(%x) -> (%y)\n"
                    "cf.ReturnOp (%y) -> ()\n}}\n    }}\n}}\n"
                    "@main [mir_version:2] (%x:tensor<[3], Float32, CPU>) -> () {{\n"
                    "    made.ManyOp(%x) -> (%a)\n    made.ManyOp(%x) -> (%b, %c)\n"
                    "    cf.ReturnOp () -> ()\n}}\n",
                    results));
    CHECK(read.problems == "MIR0508 the body of 'made.ManyOp' gives 1 result, the op has 2\n");
  }
}

TEST_CASE("a wrong use of a generated dialect is refused by name") {
  for (const std::uint64_t seed : test::seeds_of(kAllSeeds)) {
    const DialectText text = generate_dialect(seed);
    CAPTURE(text.dialect);
    CAPTURE(text.mistaken);
    Declared read(text.dialect + text.mistaken);
    // As in tools, verification tells more than that a type is missing.
    Diagnostics found;
    for (const Module* module : read.modules) verify(*module, found);
    std::string problems;
    for (const Diagnostic& each : found.sorted()) problems += each.message + "\n";
    CAPTURE(problems);
    CHECK(problems.find("made.Op") != std::string::npos);
  }
}
