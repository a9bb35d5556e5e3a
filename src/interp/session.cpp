// Opens sessions: prepares weights, constants and caches, and checks them against the module.
#include "mir/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "dialects/parameters.hpp"
#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"
#include "interp/quantisations.hpp"
#include "interp/schedule_ports.hpp"
#include "interp/session_run.hpp"
#include "interp/stored_views.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "plan/report.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

std::optional<Shape> static_shape(const TensorType* type) {
  if (type == nullptr || !type->dtype() || !type->element_count()) return std::nullopt;
  Shape shape;
  for (const Dim dim : type->dims()) shape.push_back(dim.constant());
  return shape;
}

/// Returns the place at which a parameter is registered.
Span place_of(const Value& parameter) {
  const Op* definition = parameter.defining_op();
  return definition == nullptr ? Span{} : definition->span();
}

class Loader {
 public:
  Loader(const Schedule& schedule, const WeightSet* weights, const WeightStore* shared,
         Diagnostics& diagnostics)
      : schedule_(schedule), weights_(weights), shared_(shared), diagnostics_(diagnostics) {
    const auto bounds = index_bounds(schedule, {});
    for (ValueIndex i = 0; i < bounds.size(); ++i) {
      if (bounds[i]) bounds_.emplace(schedule.values()[i].value, *bounds[i]);
    }
    schedule.for_each([&](const Schedule& each) {
      for (const Step& step : each.steps()) bound_factors(*step.op);
    });
    specs_ = parameter_specs(schedule);
  }

  /// Adds what the store does not have yet.
  void load_into(WeightStore& store) {
    std::vector<const Value*> missing;
    std::vector<OtherBlocks> other_blocks;
    for (const Value* parameter : schedule_.parameters()) {
      if (store.contains(parameter->symbol())) continue;
      const auto loaded = load(*parameter, store);
      if (loaded) continue;
      if (loaded.error().code == diag::kParameterMissing) {
        missing.push_back(parameter);
      } else if (is_block(parameter->held_type()) && has_numbers(*parameter)) {
        other_blocks.push_back({parameter, loaded.error()});
      } else {
        diagnostics_.error(loaded.error().code, place_of(*parameter), loaded.error().message);
      }
    }
    if (!missing.empty()) report_missing(missing);
    if (!other_blocks.empty()) report_blocks(other_blocks);
    if (is_decoding_) remark_decoded();
  }

 private:
  /// A parameter in blocks whose stored tensor has another type.
  struct OtherBlocks {
    const Value* parameter;
    Error error;
  };

  static bool is_block(const TensorType* type) {
    return type != nullptr && type->dtype() &&
           info(*type->dtype()).type_class == DTypeClass::kBlock;
  }

  /// True if the stored tensor fits but for its type.
  bool has_numbers(const Value& parameter) const {
    const auto shape = static_shape(parameter.held_type());
    if (!shape) return false;
    WeightRequest request = request_for(parameter, DType::kFloat32, *shape);
    const WeightSource* source =
        weights_ == nullptr ? nullptr : weights_->source_of(request.stored_name());
    return source != nullptr && source->prepare(request).ok();
  }

  /// Reports all of them in one error, since one conversion repairs all.
  void report_blocks(std::span<const OtherBlocks> others) {
    const auto& [parameter, first] = others.front();
    std::string more;
    if (others.size() > 1)
      more = fmt::format("; {} more parameters have another type likewise", others.size() - 1);
    Diagnostic& error = diagnostics_.error(first.code, place_of(*parameter), first.message + more);
    error.hint =
        "make the module from these weights with 'mllm-import', or these weights for the module "
        "with 'mllm-weights convert --types-of=MODULE'";
  }

  void remark_decoded() {
    diagnostics_.remark(
        diag::kWeightsDecoded, {},
        fmt::format("parameters stored in blocks of {0} are decoded to {1}: a module that declares "
                    "them as {0}, as 'mllm-import' does, computes with the blocks",
                    name_of(decoded_from_), name_of(decoded_to_)));
  }

  WeightRequest request_for(const Value& parameter, DType dtype, const Shape& shape) const {
    WeightRequest request{.name = schedule_.module().context().text(parameter.symbol()),
                          .dtype = dtype,
                          .shape = shape};
    request.convert_floats = true;
    if (const Op* registration = parameter.defining_op())
      request.stored = stored_view(*registration);
    return request;
  }

  /// Integers that Linear multiplies by are 0 or 1 where they are invented.
  void bound_factors(const Op& op) {
    if (!op.is(OpId::kLinalgLinear)) return;
    for (const OwnedParameter& owned : owned_parameters(op)) {
      const Value* parameter = op.module().lookup_value(owned.symbol);
      if (parameter != nullptr) bounds_.try_emplace(parameter, 2);
    }
  }

  /// Reports all missing weights in one error, at the first one, with the options to add.
  void report_missing(std::span<const Value* const> missing) {
    constexpr std::size_t kShown = 20;
    std::string names;
    for (const Value* parameter : missing.first(std::min(missing.size(), kShown))) {
      const std::string near = missing.size() == 1 ? "" : nearest_weight(parameter->symbol());
      names += fmt::format("{}'@{}' ({}{})", names.empty() ? "" : ", ",
                           schedule_.module().context().text(parameter->symbol()),
                           parameter->type()->spelling(),
                           near.empty() ? "" : fmt::format("; there is '{}'", near));
    }
    if (missing.size() > kShown) names += fmt::format(" and {} more", missing.size() - kShown);
    Diagnostic& error = diagnostics_.error(
        diag::kParameterMissing, place_of(*missing.front()),
        missing.size() == 1
            ? fmt::format("no weight source has parameter {}", names)
            : fmt::format("no weight source has {} parameters: {}", missing.size(), names));
    if (weights_ == nullptr || weights_->names().empty()) {
      error.hint = "give them with --weights=FILE, or make them up with --weights=random:1";
    } else if (missing.size() == 1) {
      suggest(error, nearest_weight(missing.front()->symbol()));
    }
  }

  /// The tensor of a weight file that was probably meant; empty: none.
  std::string nearest_weight(Symbol symbol) const {
    if (weights_ == nullptr) return {};
    NearestName nearest(schedule_.module().context().text(symbol));
    for (const std::string& name : weights_->names()) nearest.offer(name);
    return std::string(nearest.best());
  }

  Result<void> load(const Value& parameter, WeightStore& store) {
    const std::string_view name = schedule_.module().context().text(parameter.symbol());
    const TensorType* type = parameter.held_type();
    auto shape = static_shape(type);
    if (!shape) {
      return Error{
          diag::kTensorTypeConflict,
          fmt::format("parameter '@{}' is {}, expected constant extents and a known element type",
                      name,
                      parameter.type() == nullptr ? "no tensor" : parameter.type()->spelling())};
    }
    const Symbol symbol = parameter.symbol();
    if (shared_ != nullptr && store.share(*shared_, symbol, *type->dtype(), *shape)) return {};
    WeightRequest request = request_for(parameter, *type->dtype(), *shape);
    if (const auto bound = bounds_.find(&parameter); bound != bounds_.end()) {
      request.bound = bound->second;
    }
    if (request.stored.is_whole()) {
      const auto [first, is_new] = whole_.try_emplace(
          std::tuple(std::string(request.stored_name()), *type->dtype(), *shape), symbol);
      if (!is_new && store.contains(first->second)) {
        store.add_alias(symbol, first->second);
        return {};
      }
    }
    auto weight = find(parameter, request);
    if (!weight) return std::move(weight).error();
    const DType stored = weight->stored().dtype();
    const bool is_decoded = weight->is_made() && weight->stored().defined() &&
                            info(stored).type_class == DTypeClass::kBlock && !is_block(type);
    if (is_decoded && !is_decoding_) {
      is_decoding_ = true;
      decoded_from_ = stored;
      decoded_to_ = *type->dtype();
    }
    store.add(symbol, *type->dtype(), *std::move(shape), *std::move(weight));
    return {};
  }

  Result<Weight> find(const Value& parameter, const WeightRequest& request) const {
    const TensorType& type = *parameter.held_type();
    const WeightSource* source =
        weights_ == nullptr ? nullptr : weights_->source_of(request.stored_name());
    const auto recipe = quant_recipe(type, specs_.at(&parameter));
    if (source != nullptr && source->is_random() && recipe && *recipe) {
      return codes_from(*source, request, **recipe);
    }
    auto found =
        source == nullptr ? Result<std::optional<Weight>>(std::nullopt) : source->prepare(request);
    if (!found) return std::move(found).error();
    if (found->has_value()) return **std::move(found);
    return Error{diag::kParameterMissing, {}};  // see report_missing
  }

  const Schedule& schedule_;
  const WeightSet* weights_;
  const WeightStore* shared_;  // null: none
  Diagnostics& diagnostics_;
  bool is_decoding_ = false;  // some parameters are stored in blocks and used as floats
  DType decoded_from_ = DType::kFloat32, decoded_to_ = DType::kFloat32;  // the first one's types
  std::unordered_map<const Value*, std::int64_t> bounds_;
  std::unordered_map<const Value*, const Attr*> specs_;            // QuantSpecs; null: none
  std::map<std::tuple<std::string, DType, Shape>, Symbol> whole_;  // the first of each whole tensor
};

/// A cache without a name would be found out when the run comes to it.
void check_caches(const Schedule& schedule, Diagnostics& diagnostics) {
  schedule.for_each([&](const Schedule& each) {
    for (const Step& step : each.steps()) {
      if (!step.op->is(OpId::kLinalgKVCache) || cache_of(*step.op)) continue;
      report(diagnostics, *step.op, each.calls(), step.call, diag::kCacheUnnamed,
             "'KVCacheOp': neither 'cache' nor a name says where state lives");
    }
  });
}

bool has_cache(const Schedule& schedule, Symbol cache) {
  bool has = false;
  schedule.for_each([&](const Schedule& each) {
    has = has || std::ranges::any_of(each.steps(),
                                     [&](const Step& step) { return cache_of(*step.op) == cache; });
  });
  return has;
}

std::vector<Tensor> make_constants(const Schedule& schedule, Diagnostics& diagnostics) {
  std::vector<Tensor> constants(schedule.values().size());
  for (ValueIndex i = 0; i < constants.size(); ++i) {
    const ScheduledValue& scheduled = schedule.values()[i];
    if (scheduled.role != ValueRole::kConstant) continue;
    auto tensor = constant_tensor(*scheduled.value);
    if (tensor) {
      constants[i] = *std::move(tensor);
    } else {
      const Use* use = scheduled.value->first_use();
      diagnostics.error(tensor.error().code, use == nullptr ? Span{} : use->user()->span(),
                        tensor.error().message);
    }
  }
  return constants;
}

std::set<std::string, std::less<>> names_of(
    const std::map<std::string, std::string, std::less<>>& graphs) {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, graph] : graphs) names.insert(name);
  return names;
}

/// The pool of the sessions that share parameters, or a new one.
std::shared_ptr<WeightPool> pool_of(const WeightStore* shared, std::uint64_t limit) {
  if (shared != nullptr) return shared->pool();
  auto pool = std::make_shared<WeightPool>();
  pool->limit = limit;
  return pool;
}

bool is_named(const Op* op, std::string_view name) {
  return op != nullptr && (op->name() == name || op->info().mnemonic == name);
}

/// True if some step or call is an op of this name.
bool occurs(std::string_view name, const Schedule& schedule) {
  bool found = false;
  schedule.for_each([&](const Schedule& each) {
    found = found ||
            std::ranges::any_of(each.steps(),
                                [&](const Step& step) { return is_named(step.op, name); }) ||
            std::ranges::any_of(each.calls(),
                                [&](const Call& call) { return is_named(call.op, name); });
  });
  return found;
}

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::optional<Session> Session::create(const Module& module, const SessionOptions& options,
                                       Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  const WeightStore* const shared =
      options.share_parameters == nullptr ? nullptr : &options.share_parameters->state_->weights;
  auto state = std::make_unique<State>(pool_of(shared, options.weight_memory), options);
  ForeignOps foreign{.graphs = options.bound_ops};
  for (const auto& [name, callback] : options.custom_ops) foreign.callbacks.insert(name);
  std::vector<std::string> names = options.further_entries;
  names.insert(names.begin(), options.entry);
  for (const std::string& name : names) {
    auto schedule = Schedule::build(module, name, diagnostics, foreign);
    if (!schedule) return std::nullopt;
    Loader(*schedule, options.weights, shared, diagnostics).load_into(state->weights);
    resolve_quantisations(*schedule, options.weights, state->quantisations, diagnostics);
    check_caches(*schedule, diagnostics);
    auto constants = make_constants(*schedule, diagnostics);
    if (diagnostics.error_count() != errors_before) return std::nullopt;
    RunSymbols symbols(*schedule);
    auto inputs = input_ports(*schedule), outputs = output_ports(*schedule);
    state->entries.push_back({*std::move(schedule), std::move(inputs), std::move(outputs),
                              std::move(constants), std::move(symbols),
                              Binder(module.context(), {}, symbol_declarations(module))});
  }
  foreign.callbacks.merge(names_of(foreign.graphs));
  for (const std::string& name : foreign.callbacks) {
    const auto has = [&](const State::Entry& entry) { return occurs(name, entry.schedule); };
    if (std::ranges::any_of(state->entries, has)) continue;
    diagnostics.error(diag::kNotExecutable, {}, fmt::format("no op that runs is named '{}'", name));
    return std::nullopt;
  }
  state->make_plans(options, diagnostics);
  if (diagnostics.error_count() != errors_before) return std::nullopt;
  return Session(std::move(state));
}

const ExecutionPlan& SessionAccess::plan(const Session& session, std::size_t entry) {
  return *session.state_->entries[entry].plan;
}

const ExecutionPlan& SessionAccess::stepwise_plan(Session& session, std::size_t entry) {
  return session.state_->plan_of(session.state_->entries[entry], true);
}

const Schedule& SessionAccess::schedule(const Session& session, std::size_t entry) {
  return session.state_->entries[entry].schedule;
}

std::span<const Port> Session::inputs(std::size_t entry) const {
  return state_->entries[entry].inputs;
}

std::span<const Port> Session::outputs(std::size_t entry) const {
  return state_->entries[entry].outputs;
}

std::size_t Session::entry_count() const {
  return state_->entries.size();
}

std::optional<std::vector<Tensor>> Session::run(std::span<const Tensor> inputs,
                                                Diagnostics& diagnostics,
                                                const RunOptions& options) {
  if (options.entry >= state_->entries.size()) {
    diagnostics.error(diag::kEntryUnknown, {},
                      fmt::format("the session has {} entries, number {} is not among them",
                                  state_->entries.size(), options.entry));
    return std::nullopt;
  }
  return SessionRun(*state_, options, diagnostics).run(inputs);
}

std::uint64_t Session::made_weight_bytes() const {
  return state_->weights.made_bytes();
}

SessionMemory Session::memory() const {
  return {.parameters = state_->weights.stated_bytes(),
          .packed = state_->packed.bytes(),
          .caches = state_->caches.bytes()};
}

void Session::reset() {
  state_->caches.clear();
}

std::optional<std::int64_t> Session::cache_length(std::string_view name) const {
  for (const State::Entry& entry : state_->entries) {
    const Symbol symbol = entry.schedule.module().context().intern(name);
    if (symbol && has_cache(entry.schedule, symbol)) return state_->caches.length(symbol);
  }
  return std::nullopt;
}

DimBindings Session::cache_bindings(std::size_t entry) const {
  const Schedule& schedule = state_->entries[entry].schedule;
  Binder binder(schedule.module().context(), {});
  schedule.for_each(
      [&](const Schedule& each) { RunSymbols(each).bind_caches_that_fit(binder, state_->caches); });
  return binder.bindings();
}

}  // namespace mir
