// Derives the attributes and the names that short forms of an op leave to the text around it.
#include "text/implied_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/mention.hpp"
#include "ir/told_attributes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/control_flow.hpp"
#include "mir/dump_facts.hpp"
#include "support/characters.hpp"
#include "syntax/short_names.hpp"

namespace mir {

namespace {

/// The parameter of the op with this suffix; null if none is registered.
const Value* parameter_of(const OpSurroundings& of, std::string_view suffix) {
  IRContext& context = of.module.context();
  const Symbol name = context.strings().find(fmt::format("{}{}", context.text(of.path), suffix));
  return name ? of.module.lookup_value(name) : nullptr;
}

/// The attribute that parameters decide; null if they decide nothing.
const Attr* told_by_parameters(const OpSurroundings& of, const OpRow& row, const AttrRow& wanted) {
  IRContext& context = of.module.context();
  const auto decided = std::ranges::find(row.weights, wanted.name,
                                         [](const WeightRow& each) { return each.present_if; });
  if (decided != row.weights.end()) {
    return context.boolean(parameter_of(of, decided->suffix) != nullptr);
  }
  const Dim extent = extent_of_parameter(of.module, row, of.path, wanted.name);
  return extent.is_constant() ? context.integer(extent.constant()) : nullptr;
}

void add_parameter_attributes(const OpSurroundings& of, std::vector<NamedAttr>& list) {
  const OpRow* const row = of.name.info->row;
  if (row == nullptr || !of.path || !of.module.is_portable()) return;
  const bool has_parameter = std::ranges::any_of(row->weights, [&](const WeightRow& each) {
    return each.present_if.empty() && parameter_of(of, each.suffix) != nullptr;
  });
  if (!has_parameter) return;
  for (const AttrRow& each : row->attributes) {
    if (const Attr* const value = told_by_parameters(of, *row, each)) {
      list.push_back({of.module.context().intern(each.name), value});
    }
  }
}

/// The spec as an annotation states it; null if it is none.
const Attr* as_entry(IRContext& context, const Attr* recipe) {
  if (recipe == nullptr || recipe->kind() != AttrKind::kQuantSpec) return nullptr;
  constexpr std::string_view kSolved = ", solved=";
  const std::string_view spelling = recipe->spelling();
  if (spelling.find(kSolved) != spelling.npos) return recipe;
  return context.scalar(AttrKind::kQuantSpec,
                        fmt::format("{}{}0)", spelling.substr(0, spelling.size() - 1), kSolved));
}

/// Null if a value has no spec.
const Attr* annotation_of(const OpSurroundings& of) {
  IRContext& context = of.module.context();
  std::vector<NamedAttr> entries;
  bool are_complete = true;
  const auto add = [&](std::string_view side, std::span<const Attr* const> recipes) {
    for (std::size_t i = 0; are_complete && i < recipes.size(); ++i) {
      const Attr* const entry = as_entry(context, recipes[i]);
      entries.push_back({context.intern(fmt::format("{}_{}", side, i)), entry});
      are_complete = entry != nullptr;
    }
  };
  add("inputs", of.operand_recipes);
  add("outputs", of.result_recipes);
  if (entries.empty() || !are_complete) return nullptr;
  const OpRow* const row = of.name.info->row;
  const std::size_t values = entries.size();
  for (const WeightRow& each :
       row == nullptr || !of.path ? std::span<const WeightRow>() : row->weights) {
    const Value* const parameter = parameter_of(of, each.suffix);
    const Attr* const entry =
        parameter == nullptr ? nullptr : as_entry(context, parameter->attribute(key::kQuantRecipe));
    if (entry == nullptr) continue;
    entries.push_back({context.intern(fmt::format("weight_{}", each.suffix.substr(1))), entry});
  }
  if (entries.size() == values) entries.emplace_back();  // as upstream prints it
  return context.quant_annotation(entries);
}

}  // namespace

NamedAttr symbol_attribute(const Module& module, Symbol name) {
  IRContext& context = module.context();
  const std::string_view text = context.text(name);
  const bool is_quoted = module.is_portable() && !is_bare_word(text);
  return {key::kSymbol, is_quoted ? context.string(text) : context.word(text)};
}

std::vector<NamedAttr> implied_attributes(const OpSurroundings& of) {
  std::vector<NamedAttr> list;
  add_parameter_attributes(of, list);
  const bool has_recipe =
      std::ranges::any_of(of.operand_recipes, [](const Attr* each) { return each != nullptr; });
  if (has_recipe) {
    if (const Attr* const value = annotation_of(of)) list.push_back({key::kQuantRecipe, value});
  }
  if (of.symbol) list.push_back(symbol_attribute(of.module, *of.symbol));
  return list;
}

std::vector<NamedAttr> implied_attributes(const Op& op) {
  OpSurroundings of{.module = op.module(),
                    .name = op.op_name(),
                    .path = op.path(),
                    .symbol = {},
                    .operand_recipes = {},
                    .result_recipes = {}};
  for (const Use& use : op.plain_operands()) {
    of.operand_recipes.push_back(find_attribute(mention_of(use).attributes, key::kQuantRecipe));
  }
  for (const Value& result : op.results()) {
    of.result_recipes.push_back(find_attribute(result.attributes(), key::kQuantRecipe));
  }
  if (op.is(OpId::kTensorRegister) && op.result_count() == 1 && op.result(0)->has_symbol()) {
    of.symbol = op.result(0)->symbol();
  } else if (op.has_symbol() && op.is(OpId::kGraphSubGraph, OpId::kProgFragment)) {
    of.symbol = op.symbol();
  }
  return implied_attributes(of);
}

const Op* graph_around(const Op& op) {
  const Region* region = op.parent_region();
  while (region != nullptr && !is_graph(*region->parent())) {
    region = region->parent()->parent_region();
  }
  return region == nullptr ? nullptr : region->parent();
}

std::string_view device_in(const Op* graph) {
  if (graph == nullptr || graph->extra().angles.empty()) return kUsualDevice;
  const std::string_view device = graph->module().context().text(graph->extra().angles.front());
  const bool is_device = device != kGraphWithoutDevice && is_identifier(device);
  return is_device ? device : kUsualDevice;
}

namespace {

bool still_implies(const ShortForms& forms, const Op& op) {
  const std::vector<NamedAttr> implied = implied_attributes(op);
  std::size_t implied_count = 0;
  for (const NamedAttr& each : implied) {
    const bool is_stated =
        std::ranges::find(forms.keys, op.module().context().text(each.key)) != forms.keys.end();
    if (!is_stated && op.attribute(each.key) != each.value) return false;
    implied_count += is_stated ? 0 : 1;
  }
  return forms.keys.size() + implied_count == op.attributes().size();
}

/// True if each value of the op has the attributes that `*` may stand for.
bool values_imply(const Op& op) {
  if (op.first_region() != nullptr) return false;
  for (const Use& use : op.operand_uses()) {
    if (stated_mention(use) != nullptr) return false;
  }
  return std::ranges::all_of(op.results(), [&](const Value& each) {
    return !each.has_symbol() ||
           each.attribute(key::kSymbol) == symbol_attribute(op.module(), each.symbol()).value;
  });
}

}  // namespace

bool still_means(const ShortForms& forms, const Op& op) {
  IRContext& context = op.module().context();
  const Op* const graph = graph_around(op);
  const std::string_view name = forms.op_name, tag = forms.name_tag;
  if (!name.empty() &&
      full_op_name(name, device_in(graph)) != context.text(op.op_name().spelling)) {
    return false;
  }
  if (!tag.empty()) {
    const bool is_same =
        graph != nullptr && op.has_path() &&
        name_in_graph(context.text(op.path()), context.text(graph->symbol())) == relative_name(tag);
    if (!is_same) return false;
  }
  return (!forms.has_rest || still_implies(forms, op)) &&
         (!forms.have_values_rest || values_imply(op));
}

}  // namespace mir
