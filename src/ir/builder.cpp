#include "mir/ir/builder.hpp"

#include <algorithm>
#include <cmath>

#include "mir/ir/infer.hpp"

namespace mir {

namespace {

/// An operand that could not be made has been reported.
bool has_null(std::span<Value* const> values) {
  return std::find(values.begin(), values.end(), nullptr) != values.end();
}

}  // namespace

Builder::Builder(Module& module, Diagnostics& diagnostics, std::span<const Type* const> inputs)
    : module_(module), diagnostics_(diagnostics), block_(module.body().entry()) {
  if (block_ != nullptr) return;
  block_ = module.create_block(module.body(), inputs);
  for (Value& input : block_->arguments()) input.set_name(module.fresh_name());
}

void Builder::insert(Op* op) {
  for (Value& result : op->results()) {
    if (result.name().is_none()) result.set_name(module_.fresh_name());
  }
  block_->insert_before(op, before_);
}

Op* Builder::create(std::string_view spelling, std::span<Value* const> operands,
                    const Attributes& attributes, std::string_view path,
                    std::span<const Type* const> result_types) {
  if (has_null(operands)) return nullptr;
  std::vector<NamedAttr> list;
  for (const auto& [key, value] : attributes) list.push_back({context().intern(key), value});
  const OpName name = context().op_name(spelling);
  const OpKindInfo& info = context().info(name.kind);
  if (info.row != nullptr && !info.row->operands.admits(operands.size())) {
    diagnostics_.error(DiagCode::kWrongArity, {},
                       std::string("'") + std::string(info.name) + "' does not take " +
                           std::to_string(operands.size()) + " operands");
    return nullptr;
  }
  std::vector<const Type*> inferred;
  if (result_types.empty() && info.row != nullptr && info.row->results.max != 0) {
    const auto refuse = [&] {
      diagnostics_.error(DiagCode::kTypeNotInferred, {},
                         std::string("result types of '") + std::string(spelling) +
                             "' cannot be inferred and must be given");
      return nullptr;
    };
    if (info.row->infer == nullptr) return refuse();
    std::vector<const Type*> operand_types;
    for (const Value* operand : operands) operand_types.push_back(operand->type());
    InferContext inference(context(), info.mnemonic, operand_types, list, info.row->results.min, {},
                           diagnostics_);
    if (!info.row->infer(inference)) return nullptr;
    inferred = inference.results();
    if (!info.row->results.admits(inferred.size())) return refuse();
    if (std::find(inferred.begin(), inferred.end(), nullptr) != inferred.end()) return refuse();
    result_types = inferred;
  }
  Op* op = module_.create({.name = name,
                           .operands = operands,
                           .result_types = result_types,
                           .attributes = list,
                           .path = context().intern(path)});
  insert(op);
  return op;
}

Value* Builder::value(std::string_view spelling, std::initializer_list<Value*> operands,
                      const Attributes& attributes, std::string_view path) {
  Op* op = create(spelling, std::span(operands.begin(), operands.size()), attributes, path);
  return op == nullptr || op->result_count() == 0 ? nullptr : op->result();
}

Op* Builder::subgraph(std::string_view symbol, std::span<const Type* const> arguments,
                      std::string_view device) {
  const Symbol name = context().intern(symbol);
  Op* op = module_.create({.name = context().op_name("graph.SubGraphOp"),
                           .regions = 1,
                           .symbol = name,
                           .has_signature = false});
  op->set_symbol(name);
  const Symbol angle = context().intern(device);
  op->mutable_extra().angles = module_.copy(std::span(&angle, 1));
  insert(op);
  module_.declare(name, op);
  Region& region = *op->region();
  region.set_has_signature(true);
  Block* body = module_.create_block(region, arguments);
  for (Value& argument : body->arguments()) argument.set_name(module_.fresh_name());
  set_insertion_point_to_end(body);
  return op;
}

Op* Builder::call(std::string_view callee, std::span<Value* const> operands,
                  std::span<const Type* const> result_types) {
  if (has_null(operands)) return nullptr;
  Op* op = module_.create({.name = context().op_name("graph.CallGraphOp"),
                           .operands = operands,
                           .result_types = result_types});
  op->set_symbol(context().intern(callee));
  insert(op);
  return op;
}

Op* Builder::return_op(std::span<Value* const> values) {
  if (has_null(values)) return nullptr;
  Op* op = module_.create({.name = context().op_name("cf.ReturnOp"), .operands = values});
  insert(op);
  std::vector<RegionResult> results;
  for (const Value* value : values) {
    results.push_back(
        {value->name(), value->type(), value->symbol(), value->has_symbol(), value->attributes()});
  }
  block_->parent()->set_results(module_.copy(std::span<const RegionResult>(results)));
  return op;
}

Value* Builder::parameter(std::string_view symbol, const Type* type) {
  const NamedAttr attribute{context().intern("symbol"), is_bare_word(symbol)
                                                            ? context().word(symbol)
                                                            : context().string(symbol)};
  Op* op = module_.create({.name = context().op_name("tensor.CPU.register"),
                           .result_types = std::span(&type, 1),
                           .attributes = std::span(&attribute, 1)});
  insert(op);
  const Symbol name = context().intern(symbol);
  op->result()->set_symbol(name);
  module_.declare(name, op->result());
  return op->result();
}

Value* Builder::constant(const TensorType* type, std::span<const double> values) {
  std::vector<const Attr*> elements;
  for (const double value : values) {
    const bool negative_zero = value == 0 && std::signbit(value);
    const bool integral = value == std::trunc(value) && std::abs(value) < 1e15 && !negative_zero;
    elements.push_back(integral ? context().integer(static_cast<std::int64_t>(value))
                                : context().number(value));
  }
  const NamedAttr attribute{context().intern("constant"), context().array(elements)};
  Value* value = module_.create_free_value(*block_->parent(), type, module_.fresh_name());
  module_.set_value_attributes(value, std::span(&attribute, 1));
  return value;
}

}  // namespace mir
