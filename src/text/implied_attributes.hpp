// Attributes that follow from the text around an op: what `*` in its list stands for.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/module.hpp"
#include "syntax/source_tokens.hpp"

namespace mir {

/// The parts of an op from which its attributes may follow.
struct OpSurroundings {
  const Module& module;
  OpName name;
  Symbol path;
  std::optional<Symbol> symbol;  ///< that the op declares, or the only result of a register
  std::vector<const Attr*> operand_recipes;  ///< null: the operand has none
  std::vector<const Attr*> result_recipes;
};

/// The attributes that the surroundings tell, in this order:
/// - in portable modules, those of the row that registered parameters of the op decide: extents,
///   and whether an optional parameter exists;
/// - `quant_recipe`, if all operands and results have a QuantSpec: an annotation of these and of
/// the
///   parameters of the op, with `solved=0` where a spec states nothing else;
/// - `symbol` of a graph, a fragment and a register.
std::vector<NamedAttr> implied_attributes(const OpSurroundings& of);
std::vector<NamedAttr> implied_attributes(const Op& op);

/// `symbol:name`.
NamedAttr symbol_attribute(const Module& module, Symbol name);

/// The word of a graph without a device.
inline constexpr std::string_view kGraphWithoutDevice = "notype";

/// The nearest graph around an op; null if there is none.
const Op* graph_around(const Op& op);
/// The device of a short name of an op in this graph, which may be null.
std::string_view device_in(const Op* graph);

/// True if the text of an unmodified op, which has these short forms, still means the op.
bool still_means(const ShortForms& forms, const Op& op);

}  // namespace mir
