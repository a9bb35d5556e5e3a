// Computes the calls of a model at once, each op in a session of its own.
#include "trace/executor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mir/codes/inputs.hpp"
#include "mir/codes/verification.hpp"

namespace mir::trace {

Executor::~Executor() {
  reset();
}

void Executor::reset() {
  for (auto& [path, state] : states_) {
    const State ended = std::move(state);
    context_.release(*ended.module);
  }
  states_.clear();
}

void Executor::begin(const EagerRun::Tensors& inputs, Diagnostics& diagnostics) {
  begin_reports(diagnostics);
  inputs_ = &inputs;
  outputs_.clear();
  dims_.clear();
  parameters_.clear();
}

// -- inputs and outputs ---------------------------------------------------------------------------

bool Executor::bind(const TensorType& type, const Tensor& tensor, std::string_view name,
                    Place place) {
  bool fits = type.dtype() == tensor.dtype() && type.dims().size() == tensor.shape().size();
  for (std::size_t i = 0; fits && i < tensor.shape().size(); ++i) {
    const Dim dim = type.dims()[i];
    const auto symbol = std::ranges::find(symbols_, dim, &std::pair<Dim, Symbol>::first);
    if (symbol != symbols_.end() && !dims_.find(symbol->second)) {
      dims_.bind(symbol->second, tensor.shape()[i]);
    }
    const auto extent = dim.is_constant() ? dim.constant() : context_.dims().evaluate(dim, dims_);
    fits = extent == tensor.shape()[i];
  }
  if (!fits) {
    error(place, diag::kInputMismatch,
          fmt::format("input '{}' is {} [{}], expected {}", name, name_of(tensor.dtype()),
                      fmt::join(tensor.shape(), ", "), type.spelling()));
  }
  return fits;
}

Var Executor::input(std::string_view name, const TensorType& type, Place place) {
  const auto found = inputs_->find(name);
  if (found == inputs_->end()) {
    error(place, diag::kInputMissing, fmt::format("input '{}' has no value", name));
    return {};
  }
  if (!bind(type, found->second, name, place)) return {};
  Var var = made(nullptr, &type);
  var.tensor_ = found->second;
  return var;
}

void Executor::output(std::string_view name, const Var& value, Place place) {
  if (!has_value(name, value, place)) return;
  const Var result = computed(value, place);
  if (result.is_empty()) return;
  if (!outputs_.try_emplace(std::string(name), *result.tensor()).second) {
    error(place, diag::kDuplicateSymbol, fmt::format("output '{}' is declared twice", name));
  }
}

Var Executor::computed(const Var& operand, Place place) {
  if (operand.is_empty() || operand.tensor() != nullptr) return operand;
  const BuildOp build = [](Builder& builder, std::span<Value* const> of) {
    return detail::op_of(linalg::Clone::build(builder, of[0]));
  };
  return detail::only(apply({.operands = {&operand, 1}, .build = build}, place));
}

// -- ops ------------------------------------------------------------------------------------------

Module* Executor::module_of(const OpRequest& request, std::span<const Var> operands, Place place) {
  Module& module = context_.create_module("eager");
  Rewriter(module).set_version(2);
  std::vector<const Type*> types;
  for (const Var& each : operands) {
    if (each.tensor() != nullptr) types.push_back(each.type());
  }
  Diagnostics found;
  Builder builder(module, found, types);
  Block& body = *builder.insertion_block();
  std::vector<Parameter> parameters(request.parameters.begin(), request.parameters.end());
  for (const Var& each : operands) {
    if (each.parameter_)
      parameters.push_back({std::string(context_.text(each.parameter_)), each.type()});
  }
  if (!parameters.empty()) {
    builder.subgraph("init", {}, "notype");
    for (const Parameter& each : parameters) {
      if (!module.lookup_symbol(each.name)) builder.parameter(each.name, each.type);
    }
    builder.set_insertion_point_to_end(body);
  }
  std::vector<Value*> values;
  std::size_t argument = 0;
  for (const Var& each : operands) {
    if (each.literal_) {
      values.push_back(builder.constant(each.literal_->type, std::span(&each.literal_->number, 1)));
    } else if (each.parameter_) {
      values.push_back(builder.constant(
          module.body(), {.type = each.type(), .symbol = each.parameter_, .has_symbol = true}));
    } else {
      values.push_back(&body.arguments()[argument++]);
    }
  }
  Op* const op = request.build(builder, values);
  if (op != nullptr) {
    std::vector<Value*> results;
    for (Value& result : op->results()) results.push_back(&result);
    builder.return_op(results);
  }
  if (report(found, place) && op != nullptr) return &module;
  context_.release(module);
  return nullptr;
}

Vars Executor::run(Session& session, std::span<const Var> operands, Place place) {
  std::vector<Tensor> inputs;
  for (const Var& each : operands) {
    if (each.tensor() != nullptr) inputs.push_back(*each.tensor());
  }
  const DimBindings of_caches = session.cache_bindings();
  for (const auto& [symbol, value] : of_caches.entries()) dims_.bind(symbol, value);
  Diagnostics found;
  RunOptions options;
  options.dims = dims_;
  const auto tensors = session.run(inputs, found, options);
  if (!report(found, place) || !tensors) return {};
  Vars results;
  for (std::size_t i = 0; i < tensors->size(); ++i) {
    results.push_back(made(nullptr, session.outputs()[i].type));
    results.back().tensor_ = (*tensors)[i];
  }
  return results;
}

Vars Executor::apply(const OpRequest& request, Place place) {
  if (std::ranges::any_of(request.operands, &Var::is_empty)) return {};
  for (const Parameter& each : request.parameters) {
    if (!declare(each, place)) return {};
  }
  const auto known = states_.find(request.state);
  if (known != states_.end()) return run(known->second.session, request.operands, place);
  Module* const module = module_of(request, request.operands, place);
  if (module == nullptr) return {};
  Diagnostics found;
  auto session = Session::create(*module, {.entry = "", .weights = &weights_}, found);
  Vars results;
  if (report(found, place) && session) results = run(*session, request.operands, place);
  if (session && !request.state.empty()) {
    states_.emplace(request.state, State{module, *std::move(session)});
  } else {
    session.reset();
    context_.release(*module);
  }
  return results;
}

Vars Executor::call(std::string_view name, const Vars& operands,
                    const std::function<Vars(const Vars&)>& body, Place) {
  if (std::ranges::any_of(operands, &Var::is_empty)) return {};
  return inside(name, [&] { return body(operands); });
}

// -- control flow ---------------------------------------------------------------------------------

std::optional<std::int64_t> Executor::integer_of(const Var& operand, Place place) {
  const Var value = computed(operand, place);
  if (value.is_empty()) return std::nullopt;
  const Tensor& tensor = *value.tensor();
  if (tensor.elements() == 1) {
    if (tensor.dtype() == DType::kBool) return std::to_integer<std::int64_t>(tensor.bytes()[0]);
    if (tensor.dtype() == DType::kInt32) return tensor.as<std::int32_t>()[0];
    if (tensor.dtype() == DType::kInt64) return tensor.as<std::int64_t>()[0];
  }
  error(place, diag::kControlOperand,
        fmt::format("expected one element of Bool, Int32 or Int64, found {}",
                    value.type()->spelling()));
  return std::nullopt;
}

Vars Executor::if_else(const Var& condition, const std::function<Vars()>& then,
                       const std::function<Vars()>& otherwise, Place place) {
  const auto holds = integer_of(condition, place);
  if (!holds) return {};
  return *holds != 0 ? then() : otherwise();
}

Vars Executor::while_loop(const Vars& carried, const std::function<Var(const Vars&)>& condition,
                          const std::function<Vars(const Vars&)>& body, Place place) {
  Vars values = carried;
  while (std::ranges::none_of(values, &Var::is_empty)) {
    const auto holds = integer_of(condition(values), place);
    if (!holds) return {};
    if (*holds == 0) return values;
    values = body(values);
  }
  return {};
}

Vars Executor::for_loop(const Vars& bounds, const Vars& carried,
                        const std::function<Vars(const Var&, const Vars&)>& body, Place place) {
  std::vector<std::int64_t> numbers;
  for (const Var& each : bounds) {
    const auto number = integer_of(each, place);
    if (!number) return {};
    numbers.push_back(*number);
  }
  if (numbers[2] <= 0) {
    error(place, diag::kControlOperand,
          fmt::format("the step of a loop is {}, expected a number above 0", numbers[2]));
    return {};
  }
  Vars values = carried;
  for (std::int64_t i = numbers[0]; i < numbers[1]; i += numbers[2]) {
    const Var index = computed(literal(*bounds[0].type(), static_cast<double>(i)), place);
    values = body(index, values);
    if (std::ranges::any_of(values, &Var::is_empty)) return {};
    if (numbers[1] - i <= numbers[2]) break;
  }
  return values;
}

}  // namespace mir::trace
