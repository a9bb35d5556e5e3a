// Registers all passes of the toolkit.
#include "passes/standard_passes.hpp"

namespace mir {

void register_standard_passes(PassRegistry& registry) {
  register_eliminations(registry);
  register_simplifications(registry);
  register_pattern_library(registry);
  registry.add(batch_sequences_pass());
  registry.add(bind_symbols_pass());
  registry.add(blocks_to_structure_pass());
  registry.add(convert_pass(registry));
  registry.add(convert_types_pass());
  registry.add(cse_pass());
  registry.add(estimate_pass());
  registry.add(expand_layers_pass());
  registry.add(extract_graph_pass());
  registry.add(fold_constants_pass());
  registry.add(hoist_invariants_pass());
  registry.add(inline_pass());
  registry.add(loops_pass());
  registry.add(merge_graphs_pass());
  registry.add(name_values_pass());
  registry.add(narrow_slices_pass());
  registry.add(number_values_pass());
  registry.add(outline_pass());
  registry.add(peephole_pass(registry));
  registry.add(plan_memory_pass());
  registry.add(quantise_weights_pass());
  registry.add(separate_weights_pass());
  registry.add(simplify_control_flow_pass());
  registry.add(sink_pass());
  registry.add(sink_transposes_pass());
  registry.add(specialize_pass());
  registry.add(strip_locations_pass());
  registry.add(strip_names_pass());
  registry.add(structure_to_blocks_pass());
  registry.add(target_version_pass());
  registry.add(unroll_loops_pass());
  register_schedules(registry);
  register_fusions(registry);  // their pipelines begin with passes above
  registry.add_pipeline(
      "canonicalize", "removes what is computed twice, undone or not needed; every number is kept",
      "peephole,cse,eliminate-dead-ops");
}

}  // namespace mir
