// Modules with conditions, loops and branches mean the same by all kernels, after all passes that
// keep numbers, as structured operations and as blocks.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/seeds.hpp"
#include "diff/module_diff.hpp"
#include "exact_passes.hpp"
#include "interp/summary.hpp"
#include "interp/tolerance.hpp"
#include "mir/codes/verification.hpp"
#include "mir/dialects.hpp"
#include "mir/ops.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"

namespace control_properties {

using namespace mir;
using namespace mir::test;

namespace {

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& each : diagnostics.sorted()) {
    text += std::string(spelling(each.code)) + " " + each.message + "\n";
  }
  return text;
}

/// A text, read.
class Subject {
 public:
  explicit Subject(const std::string& text) {
    register_builtin_dialects(context_);
    read(text);
  }

  /// Reads one more module.
  Module& read(const std::string& text) {
    const SourceFile* file = context_.sources().add("test.mir", text);
    Diagnostics problems;
    const auto modules = read_modules(*file, context_, problems);
    REQUIRE(text_of(problems) == "");
    REQUIRE(modules.size() == 1);
    modules_.push_back(modules.front());
    return *modules.front();
  }

  Module& module() { return *modules_.front(); }

  /// Errors and warnings; two ops of one kernel name may have one type, as upstream has it, and the
  /// branches that called a graph may be gone.
  std::string findings() {
    Diagnostics found;
    verify(module(), found);
    std::string text;
    for (const Diagnostic& each : found.sorted()) {
      if (each.code == diag::kAmbiguousKernel || each.code == diag::kUnusedGraph) continue;
      text += each.message + "\n";
    }
    return text;
  }

  bool run_passes(std::string_view passes) {
    PassRegistry registry;
    register_standard_passes(registry);
    Diagnostics problems;
    const auto pipeline =
        registry.read_pipeline(SourceFile("-p", std::string(passes), 1), problems);
    REQUIRE(pipeline);
    const bool is_good = run_pipeline(module(), *pipeline, {.threads = 2}, problems);
    CHECK(text_of(problems) == "");
    CHECK(findings() == "");
    return is_good;
  }

 private:
  IRContext context_;
  std::vector<Module*> modules_;
};

/// Results, or why there are none.
struct Outcome {
  std::string refusal;
  std::vector<Tensor> tensors;
};

constexpr std::uint64_t kMostIterations = 20'000;

const WeightSet& weights() {
  static const WeightSet set = [] {
    WeightSet made;
    REQUIRE(made.add("random:1").ok());
    return made;
  }();
  return set;
}

/// Runs a module on random inputs, or on those that another run has drawn.
Outcome run(Module& module, KernelSet kernels, std::vector<Tensor>& inputs) {
  Diagnostics problems;
  SessionOptions options;
  options.weights = &weights();
  options.kernels = kernels;
  auto session = Session::create(module, options, problems);
  if (!session) return {text_of(problems), {}};
  RunOptions how;
  how.most_iterations = kMostIterations;
  for (const char* symbol : {"A", "B", "N", "S"}) {
    how.dims.bind(module.context().intern(symbol), symbol[0] % 3 + 2);
  }
  how.dims.bind(module.context().intern("past"), 0);
  if (inputs.empty()) {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < session->inputs().size(); ++i) {
      arguments.push_back(fmt::format("{}=random:{}", i, i + 1));
    }
    auto drawn = load_inputs(*session, arguments, how.dims);
    if (!drawn) return {drawn.error().message, {}};
    inputs = *std::move(drawn);
  }
  auto results = session->run(inputs, problems, how);
  if (!results) return {text_of(problems), {}};
  return {"", *std::move(results)};
}

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.refusal != b.refusal) return a.refusal + " and " + b.refusal;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.dtype() != y.dtype() || x.shape() != y.shape() || hash_bytes(x) != hash_bytes(y)) {
      return fmt::format("output {}: {} and {}", i, render(summarise(x)), render(summarise(y)));
    }
  }
  return "";
}

constexpr std::uint64_t kAllSeeds = 40;

struct Sample {
  std::string text{};
  std::vector<Tensor> inputs{};
  Outcome outcome{};  ///< by reference kernels
};

/// No value if the module of this seed has no control flow or does not run.
std::optional<Sample> sample(std::uint64_t seed) {
  Sample made{.text = generate_module({.seed = seed,
                                       .graphs = static_cast<int>(seed % 3),
                                       .ops = 1 + static_cast<int>(seed % 5),
                                       .symbolic = seed % 2 == 0,
                                       .recalls = seed % 4 == 0,
                                       .control_flow = true,
                                       .most_elements = 1 << 10})};
  Subject subject(made.text);
  if (subject.module().version() < 2) return std::nullopt;
  made.outcome = run(subject.module(), KernelSet::kRef, made.inputs);
  if (!made.outcome.refusal.empty()) return std::nullopt;
  return made;
}

/// What the module gives after passes, by kernels of a kind.
Outcome after(Sample& of, std::string_view passes, KernelSet kernels) {
  Subject subject(of.text);
  if (!passes.empty()) CHECK(subject.run_passes(passes));
  if (kernels == KernelSet::kFast) CHECK(subject.run_passes("fusion-all"));
  const std::string text = print(subject.module());
  CAPTURE(text);
  return run(subject.module(), kernels, of.inputs);
}

constexpr std::array<std::string_view, 6> kConversions = {
    "structure-to-blocks",   "structure-to-blocks,blocks-to-structure",
    "blocks-to-structure",   "blocks-to-structure,structure-to-blocks",
    "simplify-control-flow", "unroll-loops"};

}  // namespace

TEST_SUITE("control flow") {
  TEST_CASE("conversions between structure and blocks keep the bits, by all kernels") {
    std::uint64_t tried = 0;
    for (const std::uint64_t seed : test::seeds_of(kAllSeeds)) {
      CAPTURE(seed);
      auto found = sample(seed);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      const Outcome fast = after(*found, "", KernelSet::kFast);
      CHECK(fast.refusal == "");
      for (std::size_t i = 0; i < fast.tensors.size(); ++i) {
        const auto compared = compare_tensors(found->outcome.tensors[i], fast.tensors[i],
                                              TolerancePolicy().of(fast.tensors[i].dtype()));
        REQUIRE(compared);
        CAPTURE(render(*compared));
        CHECK(compared->passed());
      }
      for (const std::string_view passes : kConversions) {
        CAPTURE(passes);
        CHECK(difference(found->outcome, after(*found, passes, KernelSet::kRef)) == "");
        CHECK(difference(fast, after(*found, passes, KernelSet::kFast)) == "");
      }
    }
    CHECK(tried * 3 > test::seed_count(kAllSeeds));
  }

  TEST_CASE("random passes keep the bits of a module with control flow") {
    for (const std::uint64_t seed : test::seeds_of(kAllSeeds)) {
      CAPTURE(seed);
      auto found = sample(seed);
      if (!found) continue;
      CAPTURE(found->text);
      std::mt19937_64 random(seed);
      PassRegistry registry;
      register_standard_passes(registry);
      const auto passes = exact_passes(registry);
      Subject subject(found->text);
      std::string done;
      for (std::size_t i = 0; i < 6; ++i) {
        std::string pass(kConversions[random() % kConversions.size()]);
        if (random() % 3 != 0) {
          pass = passes[random() % passes.size()]->name;
          pass += option_for(pass, subject.module(), random).text();
        }
        done += (done.empty() ? "" : ",") + pass;
        CAPTURE(done);
        CHECK(subject.run_passes(pass));
      }
      CAPTURE(done);
      const std::string text = print(subject.module());
      CAPTURE(text);
      Subject printed(text);
      CHECK(difference(found->outcome, run(printed.module(), KernelSet::kRef, found->inputs)) ==
            "");
    }
  }

  TEST_CASE("a module with control flow does not differ from itself") {
    for (const std::uint64_t seed : test::seeds_of(kAllSeeds)) {
      CAPTURE(seed);
      const std::string text =
          generate_module({.seed = seed, .graphs = 1, .ops = 4, .control_flow = true});
      CAPTURE(text);
      Subject subject(text);
      Module* before[] = {&subject.module()};
      Module* again[] = {&subject.read(text)};
      CHECK(diff_modules(before, again).entries.empty());
    }
  }
}

}  // namespace control_properties
