// Records the calls of a model as ops of a module.
#include "trace/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/version_needs.hpp"
#include "mir/codes/verification.hpp"

namespace mir::trace {

namespace {

std::vector<const Type*> types_of(std::span<Value* const> values) {
  std::vector<const Type*> types;
  for (const Value* value : values) types.push_back(value->type());
  return types;
}

std::vector<const Type*> types_of(std::span<const Var> vars) {
  std::vector<const Type*> types;
  for (const Var& var : vars) types.push_back(var.type());
  return types;
}

const Region& region_of(const Value& value) {
  if (value.is_free()) return *value.free_in();
  const Block* block = value.is_result() ? value.defining_op()->block() : value.argument_of();
  return *block->parent();
}

}  // namespace

Recorder::Recorder(IRContext& context, std::string_view name, Diagnostics& diagnostics)
    : Backend(context),
      module_(context.create_module(name)),
      builder_(module_, found_),
      body_(builder_.insertion_block()) {
  begin_reports(diagnostics);
  builder_.set_version(2);
  init_ = builder_.subgraph("init", {}, "notype");
  builder_.set_insertion_point_to_end(*body_);
}

void Recorder::set_place(Op& op, Place place) {
  builder_.set_location(
      op, context_.locations().file(place.file_name(),
                                    {.line = place.line(), .column = place.column()}));
}

// -- values ---------------------------------------------------------------------------------------

Value* Recorder::value_of(const Var& operand, Place place) {
  Region& region = *builder_.insertion_block()->parent();
  if (operand.literal_) {
    return builder_.constant(operand.literal_->type, std::span(&operand.literal_->number, 1));
  }
  if (operand.parameter_) {
    const Parameter parameter{std::string(context_.text(operand.parameter_)), operand.type_};
    if (!register_parameters({&parameter, 1}, place)) return nullptr;
    return builder_.constant(
        region, {.type = operand.type_, .symbol = operand.parameter_, .has_symbol = true});
  }
  if (region.sees(region_of(*operand.value_))) return operand.value_;
  error(place, diag::kValueNotVisible,
        "the value is not visible here: a graph takes values as operands, a body returns them");
  return nullptr;
}

std::optional<Recorder::Values> Recorder::values_of(std::span<const Var> operands, Place place) {
  Values values;
  if (!are_own(operands, place)) return std::nullopt;
  for (const Var& operand : operands) {
    values.push_back(operand.is_empty() ? nullptr : value_of(operand, place));
    if (values.back() == nullptr) return std::nullopt;
  }
  return values;
}

Vars Recorder::results_of(Op& op) {
  Vars results;
  for (Value& result : op.results()) results.push_back(made(&result, result.type()));
  return results;
}

Vars Recorder::arguments_of(Block& block) {
  Vars arguments;
  for (Value& argument : block.arguments()) arguments.push_back(made(&argument, argument.type()));
  return arguments;
}

bool Recorder::register_parameters(std::span<const Parameter> parameters, Place place) {
  Block* const block = builder_.insertion_block();
  for (const Parameter& each : parameters) {
    const Symbol name = context_.intern(each.name);
    const Op* const op = module_.lookup_op(name);
    if (op != nullptr && op->is(OpId::kGraphSubGraph)) {
      error(place, diag::kDuplicateSymbol,
            fmt::format("parameter '{}' has the name of a graph", each.name));
      return false;
    }
    if (module_.lookup_value(name) != nullptr) continue;
    builder_.set_insertion_point_to_end(*init_->region()->entry());
    builder_.parameter(each.name, each.type);
    builder_.set_insertion_point_to_end(*block);
  }
  return true;
}

// -- calls ----------------------------------------------------------------------------------------

Var Recorder::input(std::string_view name, const TensorType& type, Place place) {
  if (!declare_input(name, place)) return {};
  Value* const argument = builder_.add_argument(*body_, &type);
  builder_.set_name(*argument, ValueName::symbol(context_.intern(name)));
  return made(argument, &type);
}

void Recorder::output(std::string_view name, const Var& value, Place place) {
  if (!has_value(name, value, place) || !declare_output(name, place)) return;
  if (const auto returned = values_of({&value, 1}, place)) {
    outputs_.push_back({std::string(name), returned->front()});
  }
}

Vars Recorder::apply(const OpRequest& request, Place place) {
  const auto values = values_of(request.operands, place);
  if (!values) return {};
  for (const Parameter& each : request.parameters) {
    if (!declare(each, place)) return {};
  }
  if (!register_parameters(request.parameters, place)) return {};
  Op* const op = request.build(builder_, *values);
  if (!report(found_, place) || op == nullptr) return {};
  set_place(*op, place);
  return results_of(*op);
}

Vars Recorder::call(std::string_view name, const Vars& operands,
                    const std::function<Vars(const Vars&)>& body, Place place) {
  const auto values = values_of(operands, place);
  if (!values) return {};
  const std::string path = path_of(name);
  const std::vector<const Type*> types = types_of(*values);
  const auto [entry, is_new] = graphs_.try_emplace(path, Callee{types, {}, false});
  Callee& callee = entry->second;
  if (!is_new && !callee.is_done) return {};  // after an error in its body
  if (callee.arguments != types) {
    error(place, diag::kCallMismatch,
          fmt::format("graph '{}' was called with operands of other types before", path));
    return {};
  }
  Block* const block = builder_.insertion_block();
  if (is_new) {
    if (module_.lookup_symbol(path)) {
      error(place, diag::kDuplicateSymbol,
            fmt::format("graph '{}' has the name of a parameter or of graph 'init'", path));
      return {};
    }
    builder_.set_insertion_point_to_end(*body_);
    Op* const graph = builder_.subgraph(path, types);
    set_place(*graph, place);
    const Vars results =
        inside(name, [&] { return body(arguments_of(*builder_.insertion_block())); });
    const auto returned = are_returned(results, place) ? values_of(results, place) : std::nullopt;
    if (returned) {
      set_place(*builder_.return_op(*returned), place);
      callee.results = types_of(*returned);
    }
    builder_.set_insertion_point_to_end(*block);
    if (!returned) return {};
    callee.is_done = true;
  }
  Op* const op = builder_.call(path, *values, callee.results);
  if (!report(found_, place) || op == nullptr) return {};
  set_place(*op, place);
  return results_of(*op);
}

// -- control flow ---------------------------------------------------------------------------------

Block& Recorder::begin_region(Op& op, std::uint32_t index, std::span<const Type* const> arguments) {
  Region& region = *op.region(index);
  Block& block = *builder_.create_block(region, arguments);
  builder_.set_has_signature(region, true);
  builder_.set_insertion_point_to_end(block);
  return block;
}

bool Recorder::end_region(OpId op, std::span<const Var> passed, std::size_t decisive, Place place) {
  if (!are_returned(passed, place)) return false;
  const auto values = values_of(passed, place);
  if (!values) return false;
  Op* const end = builder_.create({.name = context_.op_name(op), .operands = *values});
  set_place(*end, place);
  builder_.set_result_types(*builder_.insertion_block()->parent(),
                            types_of(std::span(*values).subspan(decisive)));
  return true;
}

Vars Recorder::finish_op(Op& op, std::span<const Type* const> types, Block& after) {
  for (const Type* type : types) builder_.add_result(op, type);
  builder_.set_insertion_point_to_end(after);
  return results_of(op);
}

Vars Recorder::if_else(const Var& condition, const std::function<Vars()>& then,
                       const std::function<Vars()>& otherwise, Place place) {
  const auto values = values_of({&condition, 1}, place);
  if (!values) return {};
  Block& block = *builder_.insertion_block();
  Op& op =
      *builder_.create({.name = context_.op_name(OpId::kCfIf), .operands = *values, .regions = 2});
  set_place(op, place);
  std::vector<const Type*> types;
  bool is_good = true;
  for (std::uint32_t i = 0; i < 2 && is_good; ++i) {
    begin_region(op, i, {});
    const Vars passed = nested(i == 0 ? then : otherwise);
    is_good = !has_failed() && end_region(OpId::kCfYield, passed, 0, place);
    if (is_good && i == 0) types = types_of(passed);
    if (is_good && types_of(passed) != types) {
      error(place, diag::kRegionFlow, "both branches must return values of the same types");
      is_good = false;
    }
  }
  if (is_good) return finish_op(op, types, block);
  builder_.set_insertion_point_to_end(block);
  return {};
}

Vars Recorder::while_loop(const Vars& carried, const std::function<Var(const Vars&)>& condition,
                          const std::function<Vars(const Vars&)>& body, Place place) {
  const auto values = values_of(carried, place);
  if (!values) return {};
  Block& block = *builder_.insertion_block();
  Op& op = *builder_.create(
      {.name = context_.op_name(OpId::kCfWhile), .operands = *values, .regions = 2});
  set_place(op, place);
  const std::vector<const Type*> types = types_of(*values);
  const Vars tested = arguments_of(begin_region(op, 0, types));
  Vars passed = {nested([&] { return condition(tested); })};
  passed.insert(passed.end(), tested.begin(), tested.end());
  bool is_good = end_region(OpId::kCfCondition, passed, 1, place);
  if (is_good) {
    const Vars arguments = arguments_of(begin_region(op, 1, types));
    const Vars next = nested([&] { return body(arguments); });
    is_good = are_returned(next, place) && are_carried(next, carried, place) &&
              end_region(OpId::kCfYield, next, 0, place);
  }
  if (is_good) return finish_op(op, types, block);
  builder_.set_insertion_point_to_end(block);
  return {};
}

Vars Recorder::for_loop(const Vars& bounds, const Vars& carried,
                        const std::function<Vars(const Var&, const Vars&)>& body, Place place) {
  Vars operands = bounds;
  operands.insert(operands.end(), carried.begin(), carried.end());
  const auto values = values_of(operands, place);
  if (!values) return {};
  Block& block = *builder_.insertion_block();
  Op& op =
      *builder_.create({.name = context_.op_name(OpId::kCfFor), .operands = *values, .regions = 1});
  set_place(op, place);
  std::vector<const Type*> arguments = types_of(*values);
  arguments.erase(arguments.begin() + 1, arguments.begin() + 3);
  const Vars inner = arguments_of(begin_region(op, 0, arguments));
  const Vars next =
      nested([&] { return body(inner.front(), Vars(inner.begin() + 1, inner.end())); });
  if (are_returned(next, place) && are_carried(next, carried, place) &&
      end_region(OpId::kCfYield, next, 0, place)) {
    return finish_op(op, std::span(arguments).subspan(1), block);
  }
  builder_.set_insertion_point_to_end(block);
  return {};
}

// -- the end --------------------------------------------------------------------------------------

Module& Recorder::finish() {
  Values returned;
  std::vector<ValueName> ports;
  std::vector<const Value*> named;
  for (const Output& each : outputs_) {
    const ValueName name = ValueName::symbol(context_.intern(each.name));
    // An input, and the second output of one value, is read under another name than its own.
    const bool is_free = each.value->is_result() &&
                         std::ranges::find(named, each.value) == named.end() &&
                         std::ranges::find(inputs_, each.name) == inputs_.end();
    if (is_free) builder_.set_name(*each.value, name);
    named.push_back(each.value);
    ports.push_back(is_free ? ValueName() : name);
    returned.push_back(each.value);
  }
  builder_.return_op(returned);
  builder_.set_ports(module_.body(), {.outputs = ports});
  if (init_->region()->entry()->empty()) builder_.erase(*init_);
  builder_.set_version(lowest_version(module_));
  return module_;
}

}  // namespace mir::trace
