// The passes of the toolkit, each in a source of its name.
#pragma once

#include "mir/pass.hpp"

namespace mir {

// Several passes each.
void register_eliminations(PassRegistry& registry);     // eliminate/
void register_simplifications(PassRegistry& registry);  // simplify/
void register_fusions(PassRegistry& registry);          // fuse/
void register_schedules(PassRegistry& registry);        // schedule/
void register_pattern_library(PassRegistry& registry);  // patterns/

Pass batch_sequences_pass();                       // batch/
Pass bind_symbols_pass();                          // symbols/
Pass blocks_to_structure_pass();                   // control/
Pass convert_pass(const PassRegistry& registry);   // rewrite/
Pass convert_types_pass();                         // types/
Pass cse_pass();                                   // cse/
Pass estimate_pass();                              // estimate/
Pass expand_layers_pass();                         // layers/
Pass extract_graph_pass();                         // extract/
Pass fold_constants_pass();                        // fold/
Pass hoist_invariants_pass();                      // hoist/
Pass inline_pass();                                // inline/
Pass loops_pass();                                 // loops/
Pass merge_graphs_pass();                          // merge/
Pass name_values_pass();                           // names/
Pass narrow_slices_pass();                         // narrow/
Pass number_values_pass();                         // names/
Pass outline_pass();                               // outline/
Pass peephole_pass(const PassRegistry& registry);  // simplify/
Pass plan_memory_pass();                           // estimate/
Pass quantise_weights_pass();                      // types/
Pass separate_weights_pass();                      // weights/
Pass simplify_control_flow_pass();                 // control/
Pass sink_pass();                                  // sink/
Pass sink_transposes_pass();                       // sink/
Pass specialize_pass();                            // symbols/
Pass strip_locations_pass();                       // names/
Pass strip_names_pass();                           // names/
Pass structure_to_blocks_pass();                   // control/
Pass target_version_pass();                        // version/
Pass unroll_loops_pass();                          // control/

}  // namespace mir
