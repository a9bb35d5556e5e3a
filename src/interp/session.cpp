#include "mir/interp/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>
#include <utility>

#include "mir/eval/evaluate.hpp"
#include "mir/eval/parameters.hpp"
#include "mir/plan/report.hpp"
#include "mir/support/suggest.hpp"
#include "session_run.hpp"

namespace mir {

namespace {

std::optional<Shape> static_shape(const TensorType* type) {
  if (type == nullptr || !type->dtype() || !type->element_count()) return std::nullopt;
  Shape shape;
  for (const Dim dim : type->dims()) shape.push_back(dim.constant());
  return shape;
}

/// Where a parameter is registered.
Span place_of(const Value& parameter) {
  const Op* definition = parameter.defining_op();
  return definition == nullptr ? Span{} : definition->span();
}

class Loader {
 public:
  Loader(const Schedule& schedule, const WeightSet* weights, Diagnostics& diagnostics)
      : schedule_(schedule), weights_(weights), diagnostics_(diagnostics) {
    const auto bounds = index_bounds(schedule, {});
    for (SlotIndex i = 0; i < bounds.size(); ++i) {
      if (bounds[i]) bounds_.emplace(schedule.slots()[i].value, *bounds[i]);
    }
  }

  ParameterTable load() {
    ParameterTable table;
    for (const Value* parameter : schedule_.parameters()) {
      auto tensor = load(*parameter);
      if (tensor) {
        table.emplace(parameter->symbol(), *std::move(tensor));
      } else {
        Diagnostic& error =
            diagnostics_.error(tensor.error().code, place_of(*parameter), tensor.error().message);
        if (error.code == DiagCode::kParameterMissing) suggest_weight(error, parameter->symbol());
      }
    }
    return table;
  }

 private:
  /// The tensor of a weight file that was probably meant.
  void suggest_weight(Diagnostic& diagnostic, Symbol symbol) const {
    if (weights_ == nullptr) return;
    NearestName nearest(schedule_.module().context().text(symbol));
    for (const std::string& name : weights_->names()) nearest.offer(name);
    suggest(diagnostic, nearest.best());
  }

  Result<Tensor> load(const Value& parameter) const {
    const std::string_view name = schedule_.module().context().text(parameter.symbol());
    const TensorType* type = parameter.tensor_type();
    const auto shape = static_shape(type);
    if (!shape) {
      return Error{
          DiagCode::kTensorTypeConflict,
          fmt::format("parameter '@{}' needs constant extents and a known element type", name)};
    }
    WeightRequest request{.name = name, .dtype = *type->dtype(), .shape = *shape};
    request.convert_floats = true;
    if (const auto bound = bounds_.find(&parameter); bound != bounds_.end()) {
      request.bound = bound->second;
    }
    auto found =
        weights_ == nullptr ? Result<std::optional<Tensor>>(std::nullopt) : weights_->find(request);
    if (!found) return std::move(found).error();
    if (found->has_value()) return **std::move(found);
    return Error{DiagCode::kParameterMissing,
                 fmt::format("no weight source has parameter '@{}' ({})", name, type->spelling())};
  }

  const Schedule& schedule_;
  const WeightSet* weights_;
  Diagnostics& diagnostics_;
  std::unordered_map<const Value*, std::int64_t> bounds_;
};

std::vector<Tensor> make_constants(const Schedule& schedule, Diagnostics& diagnostics) {
  std::vector<Tensor> constants(schedule.slots().size());
  for (SlotIndex i = 0; i < constants.size(); ++i) {
    const Slot& slot = schedule.slots()[i];
    if (slot.kind != SlotKind::kConstant) continue;
    auto tensor = constant_tensor(*slot.value, schedule.module().context());
    if (tensor) {
      constants[i] = *std::move(tensor);
    } else {
      const Use* use = slot.value->first_use();
      diagnostics.error(tensor.error().code, use == nullptr ? Span{} : use->user()->span(),
                        tensor.error().message);
    }
  }
  return constants;
}

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::optional<Session> Session::create(const Module& module, const SessionOptions& options,
                                       Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  auto schedule = Schedule::build(module, options.entry, diagnostics);
  if (!schedule) return std::nullopt;
  auto state = std::make_unique<State>(State{*std::move(schedule), {}, {}, {}});
  state->parameters = Loader(state->schedule, options.weights, diagnostics).load();
  state->constants = make_constants(state->schedule, diagnostics);
  if (diagnostics.error_count() != errors_before) return std::nullopt;
  return Session(std::move(state));
}

const Schedule& Session::schedule() const {
  return state_->schedule;
}

std::optional<std::vector<Tensor>> Session::run(std::span<const Tensor> inputs,
                                                Diagnostics& diagnostics,
                                                const RunOptions& options) {
  return SessionRun(*state_, options, diagnostics).run(inputs);
}

void Session::reset() {
  state_->caches.clear();
}

std::optional<std::int64_t> Session::cache_length(std::string_view name) const {
  const Symbol symbol = state_->schedule.module().context().intern(name);
  for (const Step& step : state_->schedule.steps()) {
    if (!symbol || cache_of(*step.op) != symbol) continue;
    const auto found = state_->caches.find(symbol);
    return found == state_->caches.end() ? 0 : found->second.length;
  }
  return std::nullopt;
}

}  // namespace mir
