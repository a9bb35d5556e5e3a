#include "mir/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "mir/rewriter.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/lower_program.hpp"

namespace mir {

namespace {

bool run_upgrade(Module& module, PassState& state) {
  return upgrade(module, state.granted, state.losses, state.diagnostics);
}

void correct_dump(Module& module, PassState& state) {
  if (!module.is_portable()) {
    take_corrections(module, state.granted, state.losses, state.diagnostics);
  }
}

bool run_lower_program(Module& module, PassState& state) {
  return lower_program(module, state.losses, state.diagnostics);
}
bool run_lift_program(Module& module, PassState& state) {
  return lift_program(module, state.granted, state.losses, state.diagnostics);
}

bool run_downgrade(Module& module, PassState& state) {
  return downgrade(module, state.generation, state.losses, state.diagnostics);
}

bool eliminate_debug(Module& module, PassState&) {
  IRWriter(module).walk<OpView>([](IRWriter& writer, OpView op) {
    if (op->name().starts_with("dbg.") && op->result_count() == 0) writer.removeOp(op.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  return true;
}

/// Graphs that no call leads to from the module body. `@init` and its kin are declarations.
bool eliminate_unused_graphs(Module& module, PassState&) {
  std::vector<Op*> open{module.top()}, used;
  while (!open.empty()) {
    Region& region = *open.back()->region();
    open.pop_back();
    IRWriter(module, region).walk<OpView>([&](IRWriter&, OpView inner) {
      if (isa<SubGraphOp>(inner.op())) return IRWriter::WalkResult::WALK_SKIP;
      const auto call = dyn_cast<CallGraphOp>(inner.op());
      Op* target = call ? call.target().op() : nullptr;
      if (target != nullptr && std::ranges::find(used, target) == used.end()) {
        used.push_back(target);
        open.push_back(target);
      }
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
  }
  IRWriter(module).walk<SubGraphOp>([&](IRWriter& writer, SubGraphOp graph) {
    const bool declares = graph->symbol() == module.context().intern("init");
    if (!declares && std::ranges::find(used, graph.op()) == used.end()) writer.removeOp(graph.op());
    return IRWriter::WalkResult::WALK_SKIP;
  });
  return true;
}

/// Ops without an effect whose results nobody reads, from the last to the first of each block.
void remove_dead_ops(Module& module, Region& region) {
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Op* op : block->reversed()) {
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        remove_dead_ops(module, *inner);
      }
      const bool pure = op->row() != nullptr && has(op->row()->traits, Trait::kPure);
      const auto results = op->results();
      if (!pure || std::ranges::any_of(results, [](const Value& each) { return each.has_uses(); }))
        continue;
      module.erase(op);
    }
  }
  module.remove_unused_free_values(region);
}

bool eliminate_dead_ops(Module& module, PassState&) {
  remove_dead_ops(module, module.body());
  return true;
}

constexpr Pass kPasses[] = {
    {"downgrade", "turns a portable module into a dump as a version of upstream prints it",
     PassForm::kPortable, run_downgrade},
    {"eliminate-dead-ops", "removes pure operations whose results nothing reads",
     PassForm::kPortable, eliminate_dead_ops},
    {"eliminate-debug", "removes comments that were traced as operations", PassForm::kAny,
     eliminate_debug},
    {"eliminate-unused-graphs", "removes graphs that no call from the module body leads to",
     PassForm::kPortable, eliminate_unused_graphs},
    {"lift-program", "turns the instructions of a lowered dump back into graphs", PassForm::kDump,
     run_lift_program},
    {"lower-program", "turns a portable module into a program of upstream's machine",
     PassForm::kPortable, run_lower_program},
    {"upgrade", "turns a dump into a portable module, lifting its program first", PassForm::kAny,
     run_upgrade, correct_dump},
};

bool takes(const Pass& pass, const Module& module, Diagnostics& diagnostics) {
  if (pass.takes == PassForm::kAny) return true;
  const bool portable = pass.takes == PassForm::kPortable;
  if (module.is_portable() == portable) return true;
  diagnostics.error(
      DiagCode::kWrongForm, module.top()->span(),
      fmt::format("pass '{}' takes modules in {} form", pass.name, portable ? "portable" : "dump"));
  return false;
}

}  // namespace

std::span<const Pass> all_passes() {
  return kPasses;
}

Result<std::vector<const Pass*>> parse_pipeline(std::string_view text) {
  std::vector<const Pass*> pipeline;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto found = std::ranges::find(kPasses, name, &Pass::name);
    if (found == std::end(kPasses)) {
      return Error{DiagCode::kUsage, fmt::format("no pass is called '{}'", name)};
    }
    pipeline.push_back(found);
  }
  return pipeline;
}

bool run_passes(Module& module, std::span<const Pass* const> passes, PassState& state,
                const AfterPass& after) {
  for (const Pass* pass : passes) {
    if (!takes(*pass, module, state.diagnostics)) return false;
    const auto start = std::chrono::steady_clock::now();
    if (!pass->run(module, state)) return false;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (after && !after(*pass, module, taken.count())) return false;
  }
  return true;
}

}  // namespace mir
