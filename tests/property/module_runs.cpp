#include "module_runs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "interp/summary.hpp"
#include "mir/codes/verification.hpp"
#include "mir/dialects.hpp"
#include "mir/ops.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"

namespace mir::test {

namespace {

Attempt refused(std::string by, const Diagnostics& diagnostics) {
  return {std::move(by) + ": " + text_of(diagnostics), {}};
}

const WeightSet& weights() {
  static const WeightSet set = [] {
    WeightSet made;
    REQUIRE(made.add("random:1").ok());
    return made;
  }();
  return set;
}

std::optional<Session> session_of(Module& module, Diagnostics& problems) {
  if (!verify(module, problems)) return std::nullopt;
  auto session = Session::create(module, {.entry = {}, .weights = &weights()}, problems);
  if (!session) return std::nullopt;
  return *std::move(session);
}

Attempt run(Session& session, const std::vector<Tensor>& inputs, Diagnostics& problems) {
  auto outputs = session.run(inputs, problems);
  if (!outputs) return refused("run", problems);
  std::vector<std::string> names;
  for (const Port& port : session.outputs()) names.push_back(port.name);
  return {"", {std::move(names), *std::move(outputs)}};
}

/// True if a run is short even without optimisation.
bool is_small(Module& module) {
  constexpr std::int64_t kMost = 1 << 14;
  std::int64_t most = 0;
  const auto look = [&](const Value& value) {
    const TensorType* type = value.tensor_type();
    if (type != nullptr) most = std::max(most, type->element_count().value_or(0));
  };
  for (const Value& argument : module.body().entry_arguments()) look(argument);
  walk<OpView>(module, [&](OpView op) {
    for (const Value& result : op->results()) look(result);
  });
  return most <= kMost;
}

}  // namespace

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& each : diagnostics.sorted()) {
    text += fmt::format("{} {}\n", spelling(each.code), each.message);
  }
  return text;
}

Subject::Subject(const std::string& text) {
  register_builtin_dialects(context_);
  const SourceFile* file = context_.sources().add("test.mir", text);
  const auto modules = read_modules(*file, context_, problems_);
  if (!problems_.has_errors() && modules.size() == 1) module_ = modules.front();
}

std::string findings(const Module& module) {
  Diagnostics found;
  verify(module, found);
  std::string text;
  for (const Diagnostic& each : found.sorted()) {
    const bool is_expected = each.code == diag::kAmbiguousKernel || each.code == diag::kUnusedGraph;
    if (!is_expected) text += each.message + "\n";
  }
  return text;
}

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.tensors.size() != b.tensors.size()) {
    return fmt::format("{} and {} outputs", a.tensors.size(), b.tensors.size());
  }
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.dtype() != y.dtype() || x.shape() != y.shape() || hash_bytes(x) != hash_bytes(y)) {
      return fmt::format("output {}: {} and {}", i, render(summarise(x)), render(summarise(y)));
    }
  }
  return "";
}

Attempt run_graphs(Module& module, const Inputs& given) {
  Diagnostics problems;
  auto session = session_of(module, problems);
  if (!session) return refused("create", problems);
  std::vector<Tensor> inputs;
  for (const Port& port : session->inputs()) {
    const auto found = given.find(port.name);
    if (found == given.end()) return {"no input " + port.name, {}};
    inputs.push_back(found->second);
  }
  return run(*session, inputs, problems);
}

Attempt run_graphs(Module& module, const std::vector<Tensor>& given) {
  Diagnostics problems;
  auto session = session_of(module, problems);
  if (!session) return refused("create", problems);
  return run(*session, given, problems);
}

std::optional<Sample> sample_of(std::string text,
                                std::span<const std::pair<std::string, std::int64_t>> extents) {
  Sample made{.text = std::move(text)};
  Subject subject(made.text);
  REQUIRE(subject.problems() == "");
  REQUIRE(subject.is_read());
  Diagnostics problems;
  auto session = session_of(subject.module(), problems);
  if (!session) return std::nullopt;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < session->inputs().size(); ++i) {
    arguments.push_back(fmt::format("{}=random:{}", i, i + 1));
  }
  DimBindings dims;
  for (const auto& [symbol, extent] : extents) {
    dims.bind(subject.context().intern(symbol), extent);
  }
  auto drawn = load_inputs(*session, arguments, dims);
  if (!drawn) return std::nullopt;
  made.in_order = *std::move(drawn);
  for (std::size_t i = 0; i < made.in_order.size(); ++i) {
    made.inputs.emplace(session->inputs()[i].name, made.in_order[i]);
  }
  Attempt ran = run(*session, made.in_order, problems);
  if (!ran.refusal.empty()) return std::nullopt;
  made.outcome = std::move(ran.outcome);
  return made;
}

std::optional<Sample> sample(std::uint64_t seed, Change change, OwnOps own) {
  Subject plain(generate_module({.seed = seed,
                                 .graphs = static_cast<int>(seed % 3),
                                 .ops = 1 + static_cast<int>(seed % 7),
                                 .symbolic = false,
                                 .own_ops = own == OwnOps::kYes,
                                 .recalls = seed % 16 == 0,
                                 .control_flow = own == OwnOps::kYes && seed % 4 == 3}));
  REQUIRE(plain.is_read());
  std::string text = change(plain.module(), seed);
  if (!is_small(plain.module())) return std::nullopt;
  return sample_of(std::move(text));
}

}  // namespace mir::test
