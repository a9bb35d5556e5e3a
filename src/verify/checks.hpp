// The concerns of verification, one file each. Those that look at every op in turn are classes with
// headers of their own (see walk.hpp).
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "ir/joined_extents.hpp"
#include "verify/census.hpp"
#include "verify/report.hpp"

namespace mir::checks {

/// True if name, arity and place of an op are those of its row.
inline bool has_structure(const Op& op) {
  const OpRow* row = op.row();
  return row != nullptr && row->operands.admits(op.plain_operands().size()) &&
         row->results.admits(op.result_count()) && row->regions.admits(op.region_count()) &&
         row->successors.admits(op.extra().successors.size()) &&
         !has(row->traits, Trait::kDumpOnly) &&
         (op.next() == nullptr || !has(row->traits, Trait::kTerminator));
}
/// Reports the conditions of has_structure that an op breaks.
void structure(const Op& op, Reporter& reporter);
/// Values that an op passes to its regions, and they to its results.
void region_flow(const Op& op, Reporter& reporter);
/// Extents that calls and ends of regions or blocks pass for declared symbols, against the
/// declarations. A run checks what is neither proved nor refuted.
void passed_ranges(std::span<const std::pair<Symbol, Dim>> passed, ConstraintId constraint,
                   const Op& source, Reporter& reporter);
/// Ends of regions, conditions and bounds of an op of the cf dialect, and the end of a fused op.
void control_flow(const Op& op, Reporter& reporter);
/// Compares the operands of the end of a region, from operand `first` on, with the results that its
/// signature states. `owner` is the op whose results they are.
void region_results(const Region& region, const Op& last, std::uint32_t first,
                    const std::function<std::string()>& owner, Reporter& reporter);
/// Ends of graphs against their signatures.
void signatures(const Census& census, Reporter& reporter);
/// Blocks and successors of every region that has several blocks.
void blocks(const Census& census, Reporter& reporter);
/// The list of one op against its row.
void attributes(const Op& op, Reporter& reporter);
/// Symbols that several ops or values declare.
void symbols(const Census& census, Reporter& reporter);
/// Dimension symbols against the inputs and caches that bind them.
void bound_symbols(const Census& census, Reporter& reporter);
/// The declarations of symbols in the head of the module, and all extents against them.
void declared_symbols(Reporter& reporter);
/// Calls against the graphs they name, cycles, graphs that nothing calls.
void calls(const Census& census, Reporter& reporter);
/// The printed types of one op against each other, where its options are lost (relations.cpp).
void relations(const Op& op, const OpRow& row, std::span<const Type* const> operands,
               Reporter& reporter);
/// Checks the properties of operand 0 that an op of a portable module keeps if it leaves out the
/// attribute that determines its result (relations.cpp).
void kept_shape(const Op& op, const OpRow& row, std::span<const Type* const> operands,
                Reporter& reporter);
/// Element types that a device would have to convert.
void mixed_types(const Op& op, const OpRow& row, std::span<const Type* const> operands,
                 Reporter& reporter);
/// Steps on a cache against what the steps before left in it.
void caches(const Census& census, Reporter& reporter);
/// The program machine: jumps, returns, binds, addresses, kernels, slots.
void program(const Census& census, Reporter& reporter);
/// Rewrite patterns.
void patterns(const Census& census, Reporter& reporter);
/// Reports features that a module of version 1 cannot have.
void versions(Reporter& reporter);
/// Frees of graphs.
void lifetime(const Census& census, Reporter& reporter);

/// The values of a constant against its type; `values` is its attribute.
void constant_values(const Value& value, const Attr& values, const Op& place, Reporter& reporter);
/// Reports a type with an extent below 0.
void known_extents(const Type* type, const Op& place, Reporter& reporter);
/// Reports a type that only values of patterns can have.
void only_in_patterns(const Type* type, const Op& place, Reporter& reporter);
/// Reports a type whose element type is not known.
void known_element_type(const Type* type, const Op& place, Reporter& reporter);
/// True if the type is a tensor of an element type that is not known.
bool has_unknown_element(const Type* type);

}  // namespace mir::checks
