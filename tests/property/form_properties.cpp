// The forms of a module mean the same: lowered, lifted again, as a dump and back, it gives the bits
// that it gave, or the conversion says what it has no place for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "interp/summary.hpp"
#include "mir/dialects.hpp"
#include "mir/machine.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"
#include "upgrade/lower_program.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// What a run gave, under the names of the outputs.
struct Outcome {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

/// Why a module does not run; empty: it did.
struct Attempt {
  std::string refusal;
  Outcome outcome;
};

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& each : diagnostics.sorted()) {
    text += std::string(spelling(each.code)) + " " + each.message + "\n";
  }
  return text;
}

class Subject {
 public:
  explicit Subject(const std::string& text) : text_(text) {
    register_builtin_dialects(context_);
    const SourceFile* file = context_.sources().add("test.mir", text);
    const auto modules = read_modules(*file, context_, problems_);
    if (!problems_.has_errors() && modules.size() == 1) module_ = modules.front();
  }

  Module& module() { return *module_; }
  IRContext& context() { return context_; }
  bool is_read() const { return module_ != nullptr; }
  std::string problems() const { return text_of(problems_); }

 private:
  std::string text_;
  IRContext context_;
  Diagnostics problems_;
  Module* module_ = nullptr;
};

Attempt refused(std::string by, const Diagnostics& diagnostics) {
  return {std::move(by) + ": " + text_of(diagnostics), {}};
}

std::vector<std::string> random_arguments(std::size_t count) {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    arguments.push_back(std::to_string(i) + "=random:" + std::to_string(i + 1));
  }
  return arguments;
}

template <class Ports>
std::vector<std::string> names_of(const Ports& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

const WeightSet& weights() {
  static const WeightSet set = [] {
    WeightSet made;
    REQUIRE(made.add("random:1").ok());
    return made;
  }();
  return set;
}

using Inputs = std::map<std::string, Tensor, std::less<>>;

Attempt run_graphs(Module& module, const Inputs* given, Inputs* drawn = nullptr) {
  Diagnostics problems;
  if (!verify(module, problems)) return refused("verify", problems);
  auto session = Session::create(module, {.entry = {}, .weights = &weights()}, problems);
  if (!session) return refused("create", problems);
  std::vector<Tensor> inputs;
  if (given == nullptr) {
    auto loaded = load_inputs(*session, random_arguments(session->inputs().size()), {});
    if (!loaded) return {"inputs: " + loaded.error().message, {}};
    inputs = *std::move(loaded);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      drawn->emplace(session->inputs()[i].name, inputs[i]);
    }
  } else {
    for (const Port& port : session->inputs()) {
      const auto found = given->find(port.name);
      if (found == given->end()) return {"no input " + port.name, {}};
      inputs.push_back(found->second);
    }
  }
  auto outputs = session->run(inputs, problems);
  if (!outputs) return refused("run", problems);
  return {"", {names_of(session->outputs()), *std::move(outputs)}};
}

Attempt run_machine(Module& module, const Inputs& given) {
  Diagnostics problems;
  auto machine = ProgramMachine::load(module, {.weights = &weights(), .assumed = {}}, problems);
  if (!machine) return refused("load", problems);
  std::vector<Tensor> inputs;
  for (const Port& port : machine->inputs()) {
    const auto found = given.find(port.name);
    if (found == given.end()) return {"no input " + port.name, {}};
    inputs.push_back(found->second);
  }
  auto outputs = machine->run(inputs, problems);
  if (!outputs) return refused("run", problems);
  return {"", {names_of(machine->outputs()), *std::move(outputs)}};
}

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.tensors.size() != b.tensors.size()) {
    return std::to_string(a.tensors.size()) + " and " + std::to_string(b.tensors.size()) +
           " outputs";
  }
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.dtype() != y.dtype() || x.shape() != y.shape() || hash_bytes(x) != hash_bytes(y)) {
      return "output " + std::to_string(i) + ": " + render(summarise(x)) + " and " +
             render(summarise(y));
    }
  }
  return "";
}

}  // namespace

TEST_SUITE("forms") {
  TEST_CASE("lowered modules give the same bits or are refused") {
    const char* count = std::getenv("MIR_SEEDS");
    const char* first = std::getenv("MIR_FIRST");
    const std::uint64_t begin = first == nullptr ? 0 : std::strtoull(first, nullptr, 10);
    const std::uint64_t seeds = count == nullptr ? 100 : std::strtoull(count, nullptr, 10);
    std::map<std::string, int> tally;
    for (std::uint64_t seed = begin; seed < begin + seeds; ++seed) {
      const GeneratorOptions options{.seed = seed,
                                     .graphs = static_cast<int>(seed % 3),
                                     .ops = 1 + static_cast<int>(seed % 7),
                                     .symbolic = false};
      const std::string text = generate_module(options);
      CAPTURE(seed);
      Subject original(text);
      REQUIRE(original.is_read());
      Inputs inputs;
      const Attempt wanted = run_graphs(original.module(), nullptr, &inputs);
      if (!wanted.refusal.empty()) {
        ++tally["original refused " + wanted.refusal.substr(0, 90)];
        continue;
      }
      Subject lowered(text);
      LossReport losses;
      Diagnostics problems;
      if (!lower_program(lowered.module(), losses, problems)) {
        ++tally["lower refused " + text_of(problems).substr(0, 90)];
        continue;
      }
      const std::string program = print(lowered.module());
      CAPTURE(program);
      Diagnostics found;
      verify(lowered.module(), found);
      CHECK(text_of(found) == "");
      const Attempt machine = run_machine(lowered.module(), inputs);
      CHECK(machine.refusal == "");
      if (machine.refusal.empty()) CHECK(difference(wanted.outcome, machine.outcome) == "");
      ++tally[machine.refusal.empty() ? "machine" : "machine refused " + machine.refusal.substr(0, 80)];

      Subject lifted(program);
      CHECK(lifted.problems() == "");
      if (!lifted.is_read()) continue;
      Diagnostics lifting;
      LossReport lift_losses;
      if (!upgrade(lifted.module(), {}, lift_losses, lifting)) {
        ++tally["lift refused " + text_of(lifting).substr(0, 90)];
        continue;
      }
      CAPTURE(print(lifted.module()));
      const Attempt graphs = run_graphs(lifted.module(), &inputs);
      CHECK(graphs.refusal == "");
      if (graphs.refusal.empty()) CHECK(difference(wanted.outcome, graphs.outcome) == "");
      ++tally[graphs.refusal.empty() ? "lift" : "lifted refused " + graphs.refusal.substr(0, 80)];
    }
    for (const auto& [what, times] : tally) MESSAGE(times, " ", what);
  }
}
