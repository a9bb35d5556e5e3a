// What plan-memory shows in a text: the memory that estimates count, and nothing that a run
// notices.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/storage_marks.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/walk.hpp"
#include "module_runs.hpp"
#include "passes/estimate/cost.hpp"
#include "plan/memory.hpp"
#include "sample_changes.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// Adds up what the allocations and frees of a text say, in the order of a run. It knows nothing of
/// values and uses.
class ShownMemory {
 public:
  ShownMemory(const Module& module, const DimBindings& bindings)
      : dims_(module.context().dims()), bindings_(bindings) {}

  std::int64_t peak_of(const Region& region) {
    std::map<const Block*, std::int64_t> at_start;
    std::vector<const Block*> open{region.entry()};
    at_start[region.entry()] = 0;
    std::int64_t peak = 0;
    while (!open.empty()) {
      const Block& block = *open.back();
      open.pop_back();
      const std::int64_t after = follow(block, at_start.at(&block), peak);
      for (const auto& next : block.successors()) {
        const auto [known, is_new] = at_start.try_emplace(next.block, after);
        // All ways to a block leave the same storages.
        CHECK(known->second == after);
        if (is_new) open.push_back(next.block);
      }
    }
    return peak;
  }

 private:
  std::int64_t follow(const Block& block, std::int64_t alive, std::int64_t& peak) {
    for (const Op* op : block.ops()) {
      if (op->is(OpId::kTensorAlloc)) alive += bytes_of(*op->result());
      if (op->is(OpId::kTensorFree)) alive -= bytes_of(*op->operand(0));
      CHECK(alive >= 0);
      peak = std::max({peak, alive, alive + inside(*op)});
    }
    return alive;
  }

  std::int64_t inside(const Op& op) {
    if (const Op* graph = called_graph(op)) return peak_of(*graph->first_region());
    std::int64_t most = 0;
    const bool runs = !op.has(Trait::kIsolated) && !op.has(Trait::kTemplate);
    for (const Region* in = op.first_region(); runs && in != nullptr; in = in->next()) {
      most = std::max(most, peak_of(*in));
    }
    return most;
  }

  std::int64_t bytes_of(const Value& value) const {
    const TensorType& type = *value.tensor_type();
    std::uint64_t elements = 1;
    for (const Dim each : type.dims()) {
      elements *= static_cast<std::uint64_t>(dims_.evaluate(each, bindings_).value_or(0));
    }
    return static_cast<std::int64_t>(storage_bytes(*type.dtype(), elements).value_or(0));
  }

  const DimTable& dims_;
  const DimBindings& bindings_;
};

/// What estimates say of the body of a module, without its inputs.
struct Estimates {
  std::optional<std::int64_t> of_cost{};
  std::optional<std::int64_t> of_plan{};
};

Estimates estimates_of(const Module& module, const DimBindings& bindings) {
  Estimates estimates;
  const CostEstimate cost(module);
  const Maximum& peak = cost.body().peak_without_inputs;
  if (!peak.is_unknown()) {
    estimates.of_cost = 0;
    for (const Dim each : peak.extents()) {
      const auto value = module.context().dims().evaluate(each, bindings);
      REQUIRE(value);
      estimates.of_cost = std::max(*estimates.of_cost, *value);
    }
  }
  Diagnostics problems;
  const auto schedule = Schedule::build(module, "", problems);
  REQUIRE(schedule);
  if (const auto memory = estimate_memory(*schedule, bindings)) {
    estimates.of_plan = static_cast<std::int64_t>(memory->activations);
  }
  return estimates;
}

void run_pass(Module& module, std::string_view text) {
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", std::string(text), 1), problems);
  REQUIRE(pipeline);
  CHECK(run_pipeline(module, *pipeline, {.threads = 2}, problems));
  CHECK(text_of(problems) == "");
}

std::size_t marks_in(Module& module) {
  std::size_t count = 0;
  for_each_op(module, [&](const Op& op) { count += only_shows_memory(op) ? 1 : 0; });
  return count;
}

DimBindings bindings_of(const Module& module, const std::vector<Tensor>& inputs) {
  DimBindings bindings;
  DimTable& dims = module.context().dims();
  std::size_t number = 0;
  for (const Value& each : module.body().entry_arguments()) {
    const Shape& shape = inputs.at(number++).shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dim extent = each.tensor_type()->dims()[i];
      if (!extent.is_symbolic() || dims.symbols(extent).size() != 1) continue;
      const Symbol symbol = dims.symbols(extent)[0];
      if (dims.symbol(module.context().text(symbol)) == extent) bindings.bind(symbol, shape[i]);
    }
  }
  return bindings;
}

struct Found {
  std::size_t marks = 0;
  std::int64_t peak = 0;
  bool is_known = false;  ///< to both estimates
};

/// Text, cost and plan say the same, before and after the pass.
Found check_shown(const std::string& text, const std::vector<Tensor>& inputs) {
  Subject subject(text);
  REQUIRE(subject.is_read());
  Module& module = subject.module();
  const std::string plain = print(module);
  const DimBindings bindings = bindings_of(module, inputs);
  const Estimates before = estimates_of(module, bindings);
  run_pass(module, "plan-memory");
  const std::string shown = print(module);
  CAPTURE(shown);
  CHECK(findings(module) == "");
  const Estimates after = estimates_of(module, bindings);
  CHECK(after.of_cost == before.of_cost);
  CHECK(after.of_plan == before.of_plan);
  Found found{.marks = marks_in(module)};
  found.peak = ShownMemory(module, bindings).peak_of(module.body());
  if (before.of_cost) CHECK(found.peak == *before.of_cost);
  if (before.of_plan) CHECK(found.peak == *before.of_plan);
  found.is_known = before.of_cost && before.of_plan;
  run_pass(module, "plan-memory{remove}");
  CHECK(print(module) == plain);
  return found;
}

std::string unchanged(Module& module, std::uint64_t) {
  return print(module);
}

constexpr std::string_view kType = "tensor<[2, 8], Float32, CPU>";
constexpr std::int64_t kBytes = 64;

/// A module with the inputs %x, %c and %n, and the output %y.
std::string module_of(std::string_view body, std::string_view graphs = "") {
  std::string text = fmt::format(
      "@main [mir_version:2] (%x:T, %c:tensor<[1], Bool, CPU>, %n:tensor<[1], Int32, CPU>) -> "
      "(%y:T) {{\n{}{}}}\n",
      graphs, body);
  for (std::size_t at = 0; (at = text.find(":T", at)) != text.npos;) {
    const bool is_type = text.find_first_of(",) ", at) == at + 2;
    if (is_type) text.replace(at + 1, 1, kType);
    at += 2;
  }
  return text;
}

std::int64_t peak_of(std::string_view body, std::string_view graphs = "") {
  std::vector<Tensor> inputs;
  inputs.push_back(*Tensor::allocate(DType::kFloat32, {2, 8}));
  inputs.push_back(*Tensor::allocate(DType::kBool, {1}));
  inputs.push_back(*Tensor::allocate(DType::kInt32, {1}));
  const std::string text = module_of(body, graphs);
  CAPTURE(text);
  const Found found = check_shown(text, inputs);
  CHECK(found.is_known);
  return found.peak / kBytes;
}

}  // namespace

TEST_CASE("the memory that a text shows is that of the estimates, and a run gives the same bits") {
  std::size_t tried = 0, known = 0, shown = 0;
  for (const Change change : {&unchanged, &exposed, &doubled}) {
    for (const std::uint64_t seed : seeds_of(200)) {
      CAPTURE(seed);
      const auto found = sample(seed, change);
      if (!found) continue;
      CAPTURE(found->text);
      const Found memory = check_shown(found->text, found->in_order);
      ++tried;
      known += memory.is_known ? 1 : 0;
      shown += memory.marks > 0 ? 1 : 0;
      Subject subject(found->text);
      run_pass(subject.module(), "plan-memory");
      const Attempt again = run_graphs(subject.module(), found->inputs);
      CHECK(again.refusal == "");
      CHECK(difference(found->outcome, again.outcome) == "");
    }
  }
  CHECK(tried * 3 > seed_count(200));
  CHECK(known * 10 > tried * 9);
  CHECK(shown * 10 > tried * 9);
}

TEST_CASE(
    "views keep storages, constants and parameters have none, results without uses end at once") {
  CHECK(peak_of("linalg.CPU.NegOp (%x) -> (%a:T)\nlinalg.CPU.ExpOp (%a) -> (%y:T)\n"
                "cf.ReturnOp (%y) -> ()\n") == 2);
  CHECK(peak_of("linalg.CPU.NegOp (%x) -> (%a:T)\n"
                "linalg.CPU.ViewOp [to_shape:[16]] (%a) -> (%v:tensor<[16], Float32, CPU>)\n"
                "linalg.CPU.AbsOp (%x) -> (%b:T)\nlinalg.CPU.ExpOp (%b) -> (%d:T)\n"
                "linalg.CPU.ViewOp [to_shape:[2, 8]] (%v) -> (%w:T)\n"
                "linalg.CPU.AddOp (%d, %w) -> (%y:T)\ncf.ReturnOp (%y) -> ()\n") == 3);
  CHECK(peak_of("linalg.CPU.NegOp (%x) -> (%a:T)\nlinalg.CPU.AbsOp (%x) -> (%y:T)\n"
                "cf.ReturnOp (%y) -> ()\n") == 1);
  CHECK(peak_of("linalg.CPU.AddOp (%x, %k:tensor<[], Float32, CPU>[constant:[2.0]]) -> (%y:T)\n"
                "cf.ReturnOp (%y) -> ()\n") == 1);
}

TEST_CASE("a graph holds what it makes, and its arguments belong to the caller") {
  constexpr std::string_view kGraph =
      "graph.SubGraphOp @f <CPU> {\n(%a:T) -> (%b:T) {\nlinalg.CPU.NegOp (%a) -> (%t:T)\n"
      "linalg.CPU.AbsOp (%t) -> (%b:T)\ncf.ReturnOp (%b) -> ()\n}\n}\n";
  // %t and %b of the second call, and %u, which the caller holds.
  CHECK(peak_of("graph.CallGraphOp @f (%x) -> (%u:T)\ngraph.CallGraphOp @f (%u) -> (%y:T)\n"
                "cf.ReturnOp (%y) -> ()\n",
                kGraph) == 3);
}

TEST_CASE("of the regions of an op the one that needs most counts") {
  // In the first region %a and %s besides %k, which the addition reads.
  CHECK(peak_of("linalg.CPU.NegOp (%x) -> (%k:T)\n"
                "cf.IfOp (%c) -> (%r:T) {\n() -> (%s:T) {\nlinalg.CPU.ExpOp (%x) -> (%a:T)\n"
                "linalg.CPU.SinOp (%a) -> (%s:T)\ncf.YieldOp (%s) -> ()\n}\n"
                "() -> (%e:T) {\nlinalg.CPU.AbsOp (%k) -> (%e:T)\ncf.YieldOp (%e) -> ()\n}\n}\n"
                "linalg.CPU.AddOp (%k, %r) -> (%y:T)\ncf.ReturnOp (%y) -> ()\n") == 3);
}

TEST_CASE("several blocks share what more than one of them uses") {
  // %k and the argument %q all the time, %a and %b in one block.
  CHECK(peak_of("linalg.CPU.NegOp (%x) -> (%k:T)\ncf.CondBranchOp (%c) -> () [^l, ^e(%k)]\n^l:\n"
                "linalg.CPU.ExpOp (%k) -> (%a:T)\nlinalg.CPU.SinOp (%a) -> (%b:T)\n"
                "cf.BranchOp () -> () [^e(%b)]\n^e(%q:T):\n"
                "linalg.CPU.AddOp (%k, %q) -> (%y:T)\ncf.ReturnOp (%y) -> ()\n") == 4);
}
