// Infers the result types of an op before the op exists.
#include "ir/rewrite/result_types.hpp"

#include <algorithm>

#include "ir/call_types.hpp"
#include "ir/casts.hpp"
#include "ir/told_attributes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/infer.hpp"
#include "mir/ops.hpp"

namespace mir {

namespace {

const Attr* find(std::span<const NamedAttr> attributes, Symbol key, AttrKind kind) {
  const Attr* found = find_attribute(attributes, key);
  return found != nullptr && found->kind() == kind ? found : nullptr;
}

std::vector<const Type*> types_of_graph(const Module& module, const UntypedOp& call) {
  std::vector<const Type*> types;
  const Op* graph = module.works_on_graphs() ? nullptr : module.lookup_op(call.symbol);
  const Region* region = graph == nullptr ? nullptr : graph->first_region();
  if (region == nullptr) return types;
  const CallTypes match(module.context(), *region, call.operands);
  for (const Type* type : region->result_types()) {
    const Value* returned = type == nullptr ? region->returned(types.size()) : nullptr;
    types.push_back(match.at_call(returned == nullptr ? type : returned->type()));
  }
  return types;
}

/// The parameter's type, with the extents of `shape` where that states any.
const Type* type_of_parameter(const Module& module, std::span<const NamedAttr> attributes) {
  IRContext& context = module.context();
  const Attr* name = find(attributes, key::kName, AttrKind::kString);
  const Value* parameter = name == nullptr ? nullptr : module.lookup_symbol(name->text()).value;
  const TensorType* type = parameter == nullptr ? nullptr : parameter->tensor_type();
  const Attr* shape = find(attributes, key::kShape, AttrKind::kArray);
  if (type == nullptr || shape == nullptr || shape->elements().empty()) return type;
  std::vector<Dim> extents;
  for (const Attr* extent : shape->elements()) {
    if (extent->kind() != AttrKind::kInt) return type;
    extents.emplace_back(extent->integer());
  }
  return context.tensor(extents, type->dtype_name(), type->device(), type->encoding());
}

/// The row whose rule an op follows, with the options that the rule reads.
struct Rule {
  const OpRow* row = nullptr;
  std::span<const NamedAttr> options;
};

Rule rule_of(const IRContext& context, const UntypedOp& op) {
  if (op.name.kind != OpId::kProgKernelLaunch) return {op.name.info->row, op.attributes};
  const Attr* type = find(op.attributes, key::kOpType, AttrKind::kString);
  const Attr* options = find(op.attributes, key::kOpOptions, AttrKind::kDict);
  if (type == nullptr || options == nullptr) return {};
  const auto kernel = context.find_kernel(type->text(), op.operands.size());
  return {kernel ? context.info(*kernel).row : nullptr, options->entries()};
}

}  // namespace

std::optional<std::vector<const Type*>> infer_result_types(const Module& module,
                                                           const UntypedOp& op,
                                                           Diagnostics& diagnostics,
                                                           ExtentProver* prover) {
  using Types = std::vector<const Type*>;
  const bool is_call = op.name.info->row != nullptr && op.name.info->row->callee;
  if (is_call) return types_of_graph(module, op);
  if (op.name.kind == OpId::kLinalgParam) {
    return Types{type_of_parameter(module, op.attributes)};
  }
  if (op.name.kind == OpId::kDialectCast && op.operands.size() == 1) {
    return Types{type_of_cast(op.operands.front())};
  }
  IRContext& context = module.context();
  const auto [row, options] = rule_of(context, op);
  if (row == nullptr || row->infer == nullptr) return Types{};
  const bool typed = std::ranges::find(op.operands, nullptr) == op.operands.end();
  if (!typed || !row->operands.admits(op.operands.size())) return Types{};
  const ToldAttributes told(module, *row, op.path, options);
  return infer({.context = context,
                .row = *row,
                .operands = op.operands,
                .attributes = told.all(),
                .result_count = op.result_count,
                .at = op.at,
                .op_name = op.name.info->mnemonic,
                .device = op.name.device,
                .prover = prover},
               diagnostics);
}

}  // namespace mir
