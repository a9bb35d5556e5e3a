// Computes the calls of a model at once, each op in a session of its own.
#include "trace/executor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "extents/dim_expr.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/verification.hpp"

namespace mir::trace {

Executor::~Executor() {
  reset();
}

void Executor::reset() {
  for (auto& [path, state] : states_) {
    Module* const module = state.module;
    { const State ended = std::move(state); }
    context_.release(*module);
  }
  states_.clear();
}

void Executor::begin(const EagerRun::Tensors& inputs, Diagnostics& diagnostics) {
  begin_reports(diagnostics);
  tensors_ = &inputs;
  outputs_.clear();
  dims_.clear();
  past_.clear();
}

// -- inputs and outputs ---------------------------------------------------------------------------

bool Executor::bind(const TensorType& type, const Tensor& tensor, std::string_view name,
                    Place place) {
  bool fits = type.dtype() == tensor.dtype() && type.dims().size() == tensor.shape().size();
  for (std::size_t i = 0; fits && i < tensor.shape().size(); ++i) {
    const Dim dim = type.dims()[i];
    const auto solved = context_.dims().solve(dim, tensor.shape()[i], dims_);
    if (solved) dims_.bind(solved->first, solved->second);
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
  if (!declare_input(name, place)) return {};
  const auto found = tensors_->find(name);
  if (found == tensors_->end()) {
    error(place, diag::kInputMissing, fmt::format("input '{}' has no value", name));
    return {};
  }
  if (!bind(type, found->second, name, place)) return {};
  Var var = made(nullptr, &type);
  var.tensor_ = found->second;
  return var;
}

void Executor::output(std::string_view name, const Var& value, Place place) {
  if (!has_value(name, value, place) || !declare_output(name, place)) return;
  const Var result = computed(value, place);
  if (!result.is_empty()) outputs_.try_emplace(std::string(name), *result.tensor());
}

Var Executor::computed(const Var& operand, Place place) {
  if (!are_own({&operand, 1}, place)) return {};
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

DimBindings Executor::extents_of(std::span<const Var> operands, const Session& session) const {
  DimBindings dims = dims_;
  // Caches may hold different numbers of tokens: the extents of operands say more.
  for (const Var& each : operands) {
    for (std::size_t i = 0; each.tensor() != nullptr && i < each.rank(); ++i) {
      const auto solved =
          context_.dims().solve(each.type()->dims()[i], each.tensor()->shape()[i], dims);
      if (solved) dims.bind(solved->first, solved->second);
    }
  }
  const DimBindings of_caches = session.cache_bindings();
  for (const DimBindings* each : {&of_caches, &past_}) {
    for (const auto& [symbol, value] : each->entries()) {
      if (!dims.find(symbol)) dims.bind(symbol, value);
    }
  }
  return dims;
}

Vars Executor::run(Session& session, std::span<const Var> operands, Place place) {
  std::vector<Tensor> inputs;
  for (const Var& each : operands) {
    if (each.tensor() != nullptr) inputs.push_back(*each.tensor());
  }
  Diagnostics found;
  RunOptions options;
  options.dims = extents_of(operands, session);
  const DimBindings of_caches = session.cache_bindings();
  for (const auto& [symbol, value] : of_caches.entries()) past_.bind(symbol, value);
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
  if (!are_own(request.operands, place)) return {};
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
                    const std::function<Vars(const Vars&)>& body, Place place) {
  if (std::ranges::any_of(operands, &Var::is_empty)) return {};
  Vars results = inside(name, [&] { return body(operands); });
  return are_returned(results, place) ? results : Vars();
}

// -- control flow ---------------------------------------------------------------------------------

std::optional<std::int64_t> Executor::integer_of(const Var& operand,
                                                 std::initializer_list<DType> dtypes, Place place) {
  const Var value = computed(operand, place);
  if (value.is_empty()) return std::nullopt;
  const Tensor& tensor = *value.tensor();
  if (tensor.elements() != 1 || std::ranges::find(dtypes, tensor.dtype()) == dtypes.end()) {
    std::vector<std::string_view> names;
    for (const DType each : dtypes) names.push_back(name_of(each));
    error(place, diag::kControlOperand,
          fmt::format("expected one element of {}, found {}", fmt::join(names, " or "),
                      value.type()->spelling()));
    return std::nullopt;
  }
  if (tensor.dtype() == DType::kBool) return std::to_integer<std::int64_t>(tensor.bytes()[0]);
  if (tensor.dtype() == DType::kInt32) return tensor.as<std::int32_t>()[0];
  return tensor.as<std::int64_t>()[0];
}

Vars Executor::if_else(const Var& condition, const std::function<Vars()>& then,
                       const std::function<Vars()>& otherwise, Place place) {
  const auto holds = integer_of(condition, {DType::kBool}, place);
  if (!holds) return {};
  Vars results = nested(*holds != 0 ? then : otherwise);
  return are_returned(results, place) ? results : Vars();
}

Vars Executor::while_loop(const Vars& carried, const std::function<Var(const Vars&)>& condition,
                          const std::function<Vars(const Vars&)>& body, Place place) {
  Vars values = carried;
  while (true) {
    const Var tested = nested([&] { return condition(values); });
    if (!are_returned({&tested, 1}, place)) return {};
    const auto holds = integer_of(tested, {DType::kBool}, place);
    if (!holds) return {};
    if (*holds == 0) return values;
    Vars next = nested([&] { return body(values); });
    if (!are_returned(next, place) || !are_carried(next, carried, place)) return {};
    values = std::move(next);
  }
}

Vars Executor::for_loop(const Vars& bounds, const Vars& carried,
                        const std::function<Vars(const Var&, const Vars&)>& body, Place place) {
  std::vector<std::int64_t> numbers;
  for (const Var& each : bounds) {
    const auto number = integer_of(each, {DType::kInt32, DType::kInt64}, place);
    if (!number) return {};
    numbers.push_back(*number);
    if (each.type() == bounds[0].type()) continue;
    error(place, diag::kControlOperand,
          fmt::format("the bounds of a loop are {} and {}, expected one type",
                      bounds[0].type()->spelling(), each.type()->spelling()));
    return {};
  }
  const std::int64_t step = numbers[2];
  if (step <= 0) {
    error(place, diag::kControlOperand,
          fmt::format("the step of a loop is {}, expected a number above 0", step));
    return {};
  }
  Vars values = carried;
  const Tensor first = *computed(bounds[0], place).tensor();
  for (std::optional<std::int64_t> i = numbers[0]; i && *i < numbers[1];
       i = checked_add(*i, step)) {
    auto tensor = Tensor::allocate(first.dtype(), first.shape());
    if (!tensor) {
      error(place, tensor.error().code, tensor.error().message);
      return {};
    }
    if (first.dtype() == DType::kInt32) {
      tensor->as_mutable<std::int32_t>()[0] = static_cast<std::int32_t>(*i);
    } else {
      tensor->as_mutable<std::int64_t>()[0] = *i;
    }
    Var index = made(nullptr, bounds[0].type());
    index.tensor_ = *std::move(tensor);
    Vars next = nested([&] { return body(index, values); });
    if (!are_returned(next, place) || !are_carried(next, carried, place)) return {};
    values = std::move(next);
  }
  return values;
}

}  // namespace mir::trace
