// Steps that remove attributes and simplify constants.
#include <algorithm>

#include "mir/attribute_keys.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "reduce/steps.hpp"

namespace mir::reduce {

namespace {

bool is_required(const Op& op, std::string_view key) {
  if (op.row() == nullptr) return false;
  const auto attributes = op.row()->attributes;
  const auto row = std::ranges::find(attributes, key, &AttrRow::name);
  return row != attributes.end() && row->required;
}

/// True if the value cannot exist without the attribute.
bool defines_value(std::string_view key) {
  return key == key::kConstant || key == key::kSymbol;
}

void remove_attribute(Module& module, Value& value, Symbol key) {
  std::vector<NamedAttr> left;
  std::ranges::copy_if(value.attributes(), std::back_inserter(left),
                       [&](const NamedAttr& each) { return each.key != key; });
  Rewriter(module).set_attributes(value, left);
}

/// Replaces every number of a constant by the first one.
void use_one_number(Module& module, Value& value, Symbol key, std::string_view number) {
  std::vector<NamedAttr> attributes(value.attributes().begin(), value.attributes().end());
  IRContext& context = module.context();
  for (NamedAttr& each : attributes) {
    if (each.key != key) continue;
    const Attr* one = number.empty() ? each.value->elements().front() : context.integer(1);
    each.value = context.array(std::vector<const Attr*>(each.value->elements().size(), one));
  }
  Rewriter(module).set_attributes(value, attributes);
}

}  // namespace

Edits drop_attributes(Draft& draft) {
  Edits edits;
  for (Module* module : draft.modules()) {
    const IRContext& context = module->context();
    for_each_op(*module, [&](Op& op) {
      if (isa<RegisterOp>(&op)) return;
      for (const NamedAttr& each : op.attributes()) {
        if (is_required(op, context.text(each.key))) continue;
        edits.list.push_back(
            [module, &op, key = each.key] { Rewriter(*module).remove_attribute(op, key); });
      }
    });
    for_each_value(*module, [&](Value& value, const Op&) {
      for (const NamedAttr& each : value.attributes()) {
        if (defines_value(context.text(each.key))) continue;
        edits.list.push_back(
            [module, &value, key = each.key] { remove_attribute(*module, value, key); });
      }
    });
  }
  return edits;
}

Edits simplify_constants(Draft& draft) {
  Edits edits;
  for (Module* module : draft.modules()) {
    for_each_value(*module, [&](Value& value, const Op&) {
      const Attr* numbers = value.attribute(key::kConstant);
      if (numbers == nullptr || numbers->elements().empty()) return;
      for (const std::string_view number : {"1", ""}) {
        edits.list.push_back(
            [module, &value, number] { use_one_number(*module, value, key::kConstant, number); });
      }
    });
  }
  return edits;
}

}  // namespace mir::reduce
