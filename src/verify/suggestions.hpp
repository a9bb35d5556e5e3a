// Suggestions for unknown names: hints, and edits if the text is available. A null diagnostic, one
// that is not kept, gets none.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir::checks {

/// The op's name, among the operations that a portable module may have.
void suggest_op(Diagnostic* diagnostic, const Op& op);
/// Attribute `key`, among those of the op's row that it does not have yet.
void suggest_attribute(Diagnostic* diagnostic, const Op& op, std::string_view key);
/// The element type that attribute `key` names.
void suggest_dtype(Diagnostic* diagnostic, const Op& op, std::string_view key);
/// The element type of a tensor, in every type of the text of `place` that has it.
void suggest_element_type(Diagnostic* diagnostic, const Op& place, const TensorType& type);
/// Device `meant` for `word`, in every op and type of the module that has it.
void suggest_device(Diagnostic* diagnostic, const Op& place, std::string_view word,
                    std::string_view meant);
/// The graph that a call names.
void suggest_callee(Diagnostic* diagnostic, const Op& call);
/// The operands that a call lacks: values that the call sees under the names of the arguments.
void suggest_operands(Diagnostic* diagnostic, const Op& call, const Region& body);
/// The parameter `symbol` that an op owns by its name, where `suffix` is the end of `symbol`.
void suggest_parameter(Diagnostic* diagnostic, const Op& op, std::string_view symbol,
                       std::string_view suffix);

/// Where quantisation specs stand in the text of a module and among the aliases before it. The text
/// is searched once, when the first spec is asked for.
class SpecPlaces {
 public:
  /// Every place of this text; `place` is an op of the module.
  std::vector<Span> of(std::string_view spec, const Op& place);

 private:
  const SourceFile* searched_ = nullptr;
  std::vector<std::pair<std::uint32_t, SourcePos>> begins_;  // by the hashes of specs
};

/// The ends of a quantised range, in every mention of the spec.
void suggest_quant_range(Diagnostic* diagnostic, const Op& place, const Attr& spec,
                         std::int64_t low, std::int64_t high, SpecPlaces& places);

}  // namespace mir::checks
