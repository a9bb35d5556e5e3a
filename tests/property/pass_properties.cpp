// Passes over generated modules: in random order they keep what they claim, and simplifying makes
// modules smaller.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/ir/isomorphic.hpp"
#include "exact_passes.hpp"
#include "ir/ports.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "mir/validate.hpp"
#include "mir/walk.hpp"
#include "module_runs.hpp"
#include "sample_changes.hpp"
#include "verify/verify_text.hpp"

namespace pass_properties {

using namespace mir;
using namespace mir::test;

namespace {

/// A chain of ops on codes, which keep the scale or change it.
std::string quantised_chain(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::span<const std::string_view> list) {
    return std::string(list[random() % list.size()]);
  };
  constexpr std::string_view kTypes[] = {"Int8PerTensor", "UInt8PerTensor", "Float32"};
  constexpr std::string_view kNotes[] = {"",
                                         "[quant_scale:0.05]",
                                         "[quant_scale:0.05]",
                                         "[quant_scale:0.07]",
                                         "[quant_scale:0.05, quant_zero_point:3]",
                                         "[quant_source:\"s\"]",
                                         "[quant_source:\"t\"]"};
  constexpr std::string_view kOps[] = {"ContiguousOp", "NegOp", "ReLUOp", "AbsOp",
                                       "TransposeOp [dim0:0, dim1:1]"};
  const std::string type = one_of(kTypes);
  const bool is_quantised = type != "Float32";
  const auto value = [&](std::size_t number) {
    return fmt::format("%{}:tensor<[3, 3], {}, CPU>{}", number, type,
                       is_quantised ? one_of(kNotes) : "");
  };
  std::string text =
      "@main [mir_version:1] (%0:tensor<[3, 3], Float32, CPU>) -> (%y:tensor<[3, 3], Float32, "
      "CPU>) {\n";
  std::string latest = value(1);
  text += fmt::format("linalg.CPU.CastTypeOp [dtype:{}] (%0) -> ({})\n", type, latest);
  std::string op = one_of(kOps);
  const std::size_t length = 2 + random() % 5;
  for (std::size_t i = 2; i < 2 + length; ++i) {
    if (random() % 3 == 0) op = one_of(kOps);
    const std::string next = value(i);
    text += fmt::format("linalg.CPU.{} (%{}) -> ({})\n", op, i - 1, next);
  }
  text += fmt::format("linalg.CPU.CastTypeOp [dtype:Float32] (%{}) -> (%y)\n", 1 + length);
  return text + "cf.ReturnOp (%y) -> ()\n}\n";
}

/// How many ops a module has.
std::size_t op_count(Module& module) {
  std::size_t count = 0;
  walk(module, [&](Op&) {
    ++count;
    return WalkResult::kContinue;
  });
  return count;
}

/// Whether the passes make the module smaller; it gives the same bits in any case.
bool becomes_smaller(const Sample& of, std::string_view passes) {
  Subject subject(of.text);
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", std::string(passes), 1), problems);
  REQUIRE(pipeline);
  const std::size_t before = op_count(subject.module());
  CHECK(run_pipeline(subject.module(), *pipeline, {.threads = 2}, problems));
  CHECK(text_of(problems) == "");
  CHECK(findings(subject.module()) == "");
  const Attempt again = run_graphs(subject.module(), of.inputs);
  CHECK(again.refusal == "");
  CHECK(difference(of.outcome, again.outcome) == "");
  return op_count(subject.module()) < before;
}

/// Passes make a third of the changed modules smaller.
void check_smaller(Change change, std::string_view passes) {
  std::uint64_t tried = 0, smaller = 0;
  for (const std::uint64_t seed : seeds_of(kAllSeeds)) {
    CAPTURE(seed);
    const auto found = sample(seed, change);
    if (!found) continue;
    ++tried;
    CAPTURE(found->text);
    smaller += becomes_smaller(*found, passes) ? 1 : 0;
  }
  CHECK(smaller * 3 > tried);
  CHECK(tried * 5 > seed_count(kAllSeeds));
}

/// The options that the pass needs, or some of its flags and choices, and small numbers for some of
/// its other options.
PassOptions random_options(const Pass& pass, const Module& module, std::mt19937_64& random) {
  const NeededOption needed = option_for(pass.name, module, random);
  if (!needed.key.empty()) {
    PassOptions options(pass.options);
    const auto row = options.find(needed.key);
    REQUIRE(row);
    const bool is_keyed = pass.options[*row].is_keyed;
    for (const std::string& value : needed.values) {
      CHECK(options.take(*row, value, is_keyed ? needed.key : std::string()));
    }
    return options;
  }
  PassOptions options(pass.options);
  for (std::size_t row = 0; row < pass.options.size(); ++row) {
    const PassOption& option = pass.options[row];
    if (option.is_list || option.is_keyed || random() % 3 != 0) continue;
    if (option.kind == PassOption::Kind::kFlag) {
      CHECK(options.take(row, ""));
    } else if (!option.choices.empty()) {
      CHECK(options.take(row, option.choices[random() % option.choices.size()]));
    } else if (option.kind == PassOption::Kind::kInteger) {
      constexpr std::int64_t kSpread = 5;
      const std::int64_t least = std::max<std::int64_t>(option.least, 1);
      const auto above = static_cast<std::int64_t>(random() % kSpread);
      CHECK(options.take(row, std::to_string(std::min(least + above, option.most))));
    }
  }
  return options;
}

/// The text in which all values have words as names, so that numbers are free.
std::string with_words(const std::string& text, const PassRegistry& registry) {
  Subject subject(text);
  Diagnostics problems;
  const Pipeline naming{.items = {{.pass = registry.find("name-values")}}};
  CHECK(run_pipeline(subject.module(), naming, {}, problems));
  return print(subject.module());
}

/// The findings of a pass, but for weights that have no other type.
std::string reports_of(const Diagnostics& problems) {
  std::string text;
  for (const Diagnostic& each : problems.sorted()) {
    if (each.code != diag::kTensorDtypeUnsupported) text += each.message + "\n";
  }
  return text;
}

/// The ports of the module, and of each graph by its name.
std::map<std::string, std::vector<std::string>> ports_by_graph(const Module& module) {
  const IRContext& context = module.context();
  std::map<std::string, std::vector<std::string>> ports;
  for_each_signature(module.body(), [&](const Region& each) {
    const bool is_body = each.parent() == module.top();
    auto& list = ports[is_body ? "" : std::string(context.text(each.parent()->symbol()))];
    for (const SignaturePort& port : ports_of(each)) {
      list.push_back((port.is_output ? "-> %" : "%") + name_text(port.name, context));
    }
  });
  return ports;
}

/// The module and the graphs that are left have as many ports as before, under the same names, in
/// the same order.
void check_ports(const std::map<std::string, std::vector<std::string>>& before,
                 const Module& module, const Pass& pass) {
  const auto is_number = [](const std::string& port) {
    return port.find_first_not_of("0123456789", port.find('%') + 1) == port.npos;
  };
  const bool names_numbers = pass.name == "name-values" || pass.name == "number-values";
  for (const auto& each : ports_by_graph(module)) {
    const std::string& graph = each.first;
    const std::vector<std::string>& after = each.second;
    CAPTURE(graph);
    const auto known = before.find(graph);
    if (known == before.end()) continue;
    REQUIRE(after.size() == known->second.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool may_change = names_numbers && is_number(known->second[i]);
      if (!may_change) CHECK(after[i] == known->second[i]);
    }
  }
}

/// Runs a pass, after which the module verifies, its text reads back as the same IR, and its ports
/// are what they were; a second run of an idempotent one changes nothing. Returns true if the first
/// run changed something.
bool run_pass(Module& module, const PipelineItem& item, const PipelineRun& how) {
  const std::string before = print(module);
  const auto ports = ports_by_graph(module);
  const Pipeline one{.items = {item}};
  Diagnostics problems;
  CHECK(run_pipeline(module, one, how, problems));
  CHECK(reports_of(problems) == "");
  CHECK(findings(module) == "");
  check_ports(ports, module, *item.pass);
  const std::string after = print(module);
  Diagnostics unread;
  CHECK(verify_text(module, unread));
  CHECK(text_of(unread) == "");
  Subject again(after);
  REQUIRE(again.is_read());
  const Isomorphism same(module, again.module(), Isomorphism::Match::kEdited);
  CHECK(same.difference() == "");
  if (item.pass->is_idempotent) {
    CHECK(run_pipeline(module, one, {}, problems));
    CHECK(print(module) == after);
  }
  return before != after;
}

/// The text was read and verifies.
void check_sound(Subject& written) {
  CHECK(written.problems() == "");
  REQUIRE(written.is_read());
  CHECK(findings(written.module()) == "");
}

/// A random pipeline of passes that keep numbers gives the same bits. Returns how many passes
/// changed something.
std::size_t run_exact_passes(const Sample& of, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PassRegistry registry;
  register_standard_passes(registry);
  const auto passes = exact_passes(registry);
  Subject subject(seed % 2 == 0 ? of.text : with_words(of.text, registry));
  REQUIRE(subject.is_read());
  std::size_t changed = 0;
  std::string done;
  for (unsigned i = 0; i < 6; ++i) {
    const Pass& pass = *passes[random() % passes.size()];
    const PipelineItem item{.pass = &pass,
                            .options = random_options(pass, subject.module(), random)};
    done += spelling(item) + " ";
    CAPTURE(done);
    changed += run_pass(subject.module(), item, {.threads = 1 + i % 3}) ? 1 : 0;
  }
  CAPTURE(done);
  const std::string text = print(subject.module());
  CAPTURE(text);
  Subject written(text);
  check_sound(written);
  const Attempt again = run_graphs(written.module(), of.in_order);  // inputs may have other names
  CHECK(again.refusal == "");
  CHECK(difference(of.outcome, again.outcome) == "");
  return changed;
}

/// True if the inputs have the element types that the module takes.
bool takes(const Module& module, const std::vector<Tensor>& inputs) {
  return std::ranges::equal(module.body().entry_arguments(), inputs,
                            [](const Value& argument, const Tensor& input) {
                              return argument.tensor_type()->dtype() == input.dtype();
                            });
}

/// In a random pipeline of all passes, each rewrite keeps what its pattern claims, and the result
/// runs. Returns how many rewrites were tried.
std::uint64_t run_all_passes(const Sample& of, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PassRegistry registry;
  register_standard_passes(registry);
  const auto passes = exact_and_bound_passes(registry);
  Subject subject(of.text);
  REQUIRE(subject.is_read());
  std::uint64_t tried = 0;
  std::string done;
  for (unsigned i = 0; i < 4; ++i) {
    const bool decomposes = i == 0 && seed % 2 == 0;  // most other passes then have more to do
    const std::string_view bound =
        decomposes ? "decompose" : kBoundPasses[random() % std::size(kBoundPasses)];
    const Pass& pass = i % 2 == 0 ? *registry.find(bound) : *passes[random() % passes.size()];
    const PipelineItem item{.pass = &pass,
                            .options = decomposes ? PassOptions(pass.options)
                                                  : random_options(pass, subject.module(), random)};
    done += spelling(item) + " ";
    CAPTURE(done);
    const std::unique_ptr<Module> whole = clone(subject.module());
    RewriteWatch watch;
    RewriteValidation validation(*whole, {.count = 6, .seed = seed});
    validation.watch(watch);
    run_pass(subject.module(), item, {.rewrites = &watch});
    const auto& refuted = validation.report().refuted;
    if (refuted) {
      INFO(refuted->pattern, ": ", refuted->counterexample.difference);
      INFO(refuted->counterexample.before, refuted->counterexample.after);
      CHECK(!refuted);
    }
    tried += validation.report().different;
  }
  CAPTURE(done);
  const std::string text = print(subject.module());
  CAPTURE(text);
  Subject written(text);
  check_sound(written);
  if (takes(written.module(), of.in_order)) {
    CHECK(run_graphs(written.module(), of.in_order).refusal == "");
  }
  return tried;
}

}  // namespace

TEST_SUITE("passes over modules") {
  TEST_CASE("random pipelines draw each pass that keeps numbers, with the options that it needs") {
    PassRegistry registry;
    register_standard_passes(registry);
    const auto exact = exact_passes(registry);
    std::vector<std::string_view> listed(std::begin(kBoundPasses), std::end(kBoundPasses));
    listed.insert(listed.end(), std::begin(kOtherPasses), std::end(kOtherPasses));
    listed.insert(listed.end(), std::begin(kPassesWithOptions), std::end(kPassesWithOptions));
    for (const std::string_view name : listed) {
      CAPTURE(name);
      CHECK(registry.find(name) != nullptr);
      CHECK(std::ranges::count(listed, name) == 1);
    }
    for (const auto& each : registry.passes()) {
      const std::string& name = each.first;
      const Pass& pass = each.second;
      CAPTURE(name);
      const bool is_drawn = std::ranges::find(exact, &pass) != exact.end();
      const bool is_listed = is_one_of(kBoundPasses, name) || is_one_of(kOtherPasses, name);
      CHECK(is_drawn != is_listed);
      // An example with options tells that the pass does nothing useful without.
      const bool needs_options = !pass.example_options.empty();
      CHECK((is_drawn && needs_options) == is_one_of(kPassesWithOptions, name));
    }
  }

  TEST_CASE("random passes keep the bits of a module") {
    std::uint64_t tried = 0, changed = 0;
    for (const std::uint64_t seed : seeds_of(kAllSeeds)) {
      CAPTURE(seed);
      constexpr Change kChanges[] = {padded, garnished, exposed};
      const auto found = sample(seed, kChanges[seed % std::size(kChanges)]);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      changed += run_exact_passes(*found, seed);
    }
    CHECK(changed > tried);
    CHECK(tried * 5 > seed_count(kAllSeeds));
  }

  TEST_CASE("each rewrite of random passes keeps what its pattern claims") {
    // Sanitizers try as many: few seeds have rewrites.
    std::uint64_t tried = 0, rewrites = 0;
    for (const std::uint64_t seed : seeds_of(400, About::kMemory)) {
      CAPTURE(seed);
      const auto found = sample(seed, seed % 4 == 0 ? garnished : exposed);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      rewrites += run_all_passes(*found, seed);
    }
    if (std::getenv("MIR_SEEDS") != nullptr) MESSAGE(tried, " modules, ", rewrites, " rewrites");
    CHECK(rewrites * 5 > tried);
  }

  TEST_CASE("a simplified module gives the same bits in fewer ops") {
    check_smaller(padded, "simplify,simplify-shapes,simplify-algebra");
  }

  TEST_CASE("a module whose equal ops are merged gives the same bits in fewer ops") {
    check_smaller(doubled, "cse");
  }

  TEST_CASE("a simplified chain of ops on codes gives the same bits") {
    std::uint64_t smaller = 0;
    for (const std::uint64_t seed : seeds_of(kAllSeeds)) {
      const std::string text = quantised_chain(seed);
      CAPTURE(text);
      const auto chain = sample_of(text);
      REQUIRE(chain);
      smaller += becomes_smaller(*chain, "simplify,cse") ? 1 : 0;
    }
    CHECK(smaller * 10 > seed_count(kAllSeeds));
  }
}

}  // namespace pass_properties
