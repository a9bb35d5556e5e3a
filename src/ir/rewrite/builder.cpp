// Creates blocks, ops, parameters and constants at an insertion point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>

#include "ir/extent_prover.hpp"
#include "ir/rewrite/result_types.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/verification.hpp"
#include "mir/op_attributes.hpp"
#include "mir/ops.hpp"
#include "syntax/spellings.hpp"

namespace mir {

namespace {

/// An operand that could not be made has been reported.
bool has_null(std::span<Value* const> values) {
  return std::find(values.begin(), values.end(), nullptr) != values.end();
}

struct AttributeMaker {
  IRContext& context;

  const Attr* operator()(const Attr* value) const { return value; }
  template <class T>
  const Attr* operator()(const std::optional<T>& value) const {
    if (!value) return nullptr;
    if constexpr (std::same_as<T, bool>) {
      return context.boolean(*value);
    } else if constexpr (std::integral<T>) {
      return context.integer(*value);
    } else if constexpr (std::floating_point<T>) {
      return context.number(*value);
    } else {
      return context.word(*value);
    }
  }
};

}  // namespace

Builder::Builder(Module& module, Diagnostics& diagnostics, std::span<const Type* const> inputs)
    : Rewriter(module), diagnostics_(diagnostics) {
  Block* body = module.body().entry();
  set_insertion_point_to_end(body != nullptr ? *body : *add_block(module.body(), inputs));
}

Block* Builder::add_block(Region& region, std::span<const Type* const> arguments) {
  Block* block = create_block(region, arguments);
  for (Value& argument : block->arguments()) set_name(argument, module().fresh_name());
  return block;
}

Op* Builder::refuse(std::string_view what, std::string_view text) {
  diagnostics_.error(diag::kQuotesNeeded, {},
                     fmt::format("'{}' is no name of {} {} that text can hold", text,
                                 what == "op" ? "an" : "a", what));
  return nullptr;
}

Op* Builder::build(std::string_view spelling, std::span<Value* const> operands,
                   std::initializer_list<StatedAttribute> attributes, std::string_view path) {
  if (has_null(operands)) return nullptr;
  if (!is_op_name(spelling)) return refuse("op", spelling);
  const Symbol name_in_model = context().intern(path);
  if (!can_set_path(name_in_model)) return refuse("path", path);
  std::vector<NamedAttr> list;
  for (const StatedAttribute& each : attributes) {
    const Symbol key = each.key.symbol ? each.key.symbol : context().intern(each.key.text);
    const Attr* value = std::visit(AttributeMaker{context()}, each.value);
    if (value != nullptr) list.push_back({key, value});
  }
  const OpName name = context().op_name(spelling);
  const OpKindInfo& info = context().info(name.kind);
  if (info.row != nullptr && !info.row->operands.admits(operands.size())) {
    diagnostics_.error(diag::kWrongArity, {},
                       std::string("'") + std::string(info.name) + "' does not take " +
                           std::to_string(operands.size()) + " operands");
    return nullptr;
  }
  std::vector<const Type*> types;
  if (info.row != nullptr && info.row->results.max != 0) {
    auto inferred = infer({.name = name,
                           .attributes = list,
                           .result_count = info.row->results.min,
                           .path = name_in_model},
                          operands, *info.row);
    if (!inferred) return nullptr;
    types = *std::move(inferred);
  }
  return create({.name = name,
                 .operands = operands,
                 .result_types = types,
                 .attributes = list,
                 .path = name_in_model});
}

/// None after reporting.
std::optional<std::vector<const Type*>> Builder::infer(UntypedOp op,
                                                       std::span<Value* const> operands,
                                                       const OpRow& row) {
  std::vector<const Type*> operand_types;
  for (const Value* operand : operands) operand_types.push_back(operand->type());
  op.operands = operand_types;
  std::optional<ExtentProver> prover = ExtentProver::of(module());
  auto types = infer_result_types(module(), op, diagnostics_, prover ? &*prover : nullptr);
  if (!types) return std::nullopt;
  // Without results is only the call of a graph that has none.
  const bool complete = (op.symbol || !types->empty()) && row.results.admits(types->size()) &&
                        std::find(types->begin(), types->end(), nullptr) == types->end();
  if (complete) return types;
  diagnostics_.error(diag::kTypeNotInferred, {},
                     std::string("result types of '") +
                         std::string(context().text(op.name.spelling)) +
                         "' cannot be inferred and must be given");
  return std::nullopt;
}

Op* Builder::subgraph(std::string_view symbol, std::span<const Type* const> arguments,
                      std::string_view device) {
  if (!is_angle_text(device)) return refuse("device", device);
  const Symbol name = context().intern(symbol);
  Op* op = create_detached({.name = context().op_name(OpId::kGraphSubGraph),
                            .regions = 1,
                            .symbol = name,
                            .has_signature = false});
  set_symbol(*op, name);  // an empty one too
  set_angles(*op, std::vector{context().intern(device)});
  set_has_signature(*op->region(), true);
  insert(*op);
  set_insertion_point_to_end(*add_block(*op->region(), arguments));
  return op;
}

Op* Builder::call(std::string_view callee, std::span<Value* const> operands,
                  std::span<const Type* const> result_types) {
  if (has_null(operands)) return nullptr;
  const OpName name = context().op_name(OpId::kGraphCallGraph);
  const Symbol graph = context().intern(callee);
  std::optional<std::vector<const Type*>> inferred;
  if (result_types.empty() && module().lookup_op(graph) != nullptr) {
    inferred = infer({.name = name, .symbol = graph}, operands, *name.info->row);
    if (!inferred) return nullptr;
    result_types = *inferred;
  }
  Op* op = create({.name = name, .operands = operands, .result_types = result_types});
  set_symbol(*op, graph);
  return op;
}

Op* Builder::return_op(std::span<Value* const> values) {
  if (has_null(values)) return nullptr;
  Op* op = create({.name = context().op_name(OpId::kCfReturn), .operands = values});
  std::vector<const Type*> types;
  for (const Value* value : values) types.push_back(value->type());
  set_result_types(*insertion_block()->parent(), types);
  return op;
}

Value* Builder::parameter(std::string_view symbol, const Type* type) {
  const NamedAttr attribute{
      key::kSymbol, is_bare_word(symbol) ? context().word(symbol) : context().string(symbol)};
  Op* op = create({.name = context().op_name("tensor.CPU.register"),
                   .result_types = std::span(&type, 1),
                   .attributes = std::span(&attribute, 1)});
  set_symbol(*op->result(), context().intern(symbol));
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
  const NamedAttr attribute{key::kConstant, context().array(elements)};
  return constant(*insertion_block()->parent(),
                  {.type = type, .attributes = std::span(&attribute, 1)});
}

Op* build_op(Builder& builder, OpId op, std::span<Value* const> operands,
             std::initializer_list<StatedAttribute> attributes, const OpPlace& place) {
  IRContext& context = builder.context();
  const OpName name = context.op_name(op, context.intern(place.device));
  return builder.build(context.text(name.spelling), operands, attributes, place.path);
}

Value* build_value(Builder& builder, OpId op, std::span<Value* const> operands,
                   std::initializer_list<StatedAttribute> attributes, const OpPlace& place) {
  Op* made = build_op(builder, op, operands, attributes, place);
  return made == nullptr || made->result_count() == 0 ? nullptr : made->result();
}

}  // namespace mir
