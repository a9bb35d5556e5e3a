#include "machine/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "dialects/parameters.hpp"
#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"
#include "ir/mention.hpp"
#include "machine/slot_uses.hpp"
#include "mir/infer.hpp"
#include "mir/ops.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "upgrade/granted.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/program_functions.hpp"
#include "upgrade/recover/rotation_layout.hpp"

namespace mir {

namespace {

/// A dump of one launch: its operands are the inputs, its results the outputs, and the parameters
/// that it may own are registered.
class LaunchModule {
 public:
  LaunchModule(const ProgramCode& program, const Op& launch, std::span<const Tensor> operands)
      : program_(program),
        context_(program.module().context()),
        launch_(launch),
        operands_(operands),
        module_(std::make_unique<Module>(context_, program.module().name())),
        rewriter_(*module_) {}

  /// `place` names the launch where it has no name.
  std::unique_ptr<Module> build(std::string_view place) {
    Builder builder(*module_, unheard_, input_types());
    Block* const body = builder.block();
    Op* kernel = make_kernel(*module_, launch_, values(*body));
    rewriter_.clear_mentions();
    if (!place.empty() && !is_named_after(*kernel)) {
      rewriter_.set_path(*kernel, context_.intern(place));
    }
    if (kernel->is(OpId::kLinalgKVCache)) take_any_tokens(*kernel);
    if (kernel->is(OpId::kLinalgRoPE, OpId::kLinalgMultimodalRoPE)) take_layout(*kernel);
    settle_results(*kernel);
    register_parameters(*kernel, builder);
    builder.set_insertion_point_to_end(body);
    builder.insert(kernel);
    std::vector<Value*> results;
    for (Value& result : kernel->results()) results.push_back(&result);
    rewriter_.set_has_signature(module_->body(), true);
    builder.return_op(results);
    return std::move(module_);
  }

  /// Whether the rule of the op gives what the launch prints.
  bool gives_what_is_printed() {
    Builder builder(*module_, unheard_, input_types());
    Op* kernel = make_kernel(*module_, launch_, values(*builder.block()));
    rewriter_.clear_mentions();
    builder.insert(kernel);
    const auto types = inferred(*kernel);
    for (std::uint32_t i = 0; i < kernel->result_count(); ++i) {
      if (i >= types.size() || types[i] == nullptr || launch_.results()[i].type() == nullptr ||
          !compatible(types[i], launch_.results()[i].type())) {
        return false;
      }
    }
    return true;
  }

 private:
  std::vector<const Type*> input_types() const {
    std::vector<const Type*> types;
    for (const Use& use : launch_.operand_uses()) {
      if (!program_.stands_alone(use) && !is_stored_into(use)) types.push_back(type_of(use));
    }
    return types;
  }

  /// Whether parameters or state have names that begin with that of their op.
  static bool is_named_after(const Op& kernel) {
    return kernel.row() == nullptr || !kernel.row()->weights.empty() ||
           kernel.is(OpId::kLinalgKVCache);
  }

  /// A product computes without its destination.
  static bool is_stored_into(const Use& use) {
    return launch_has_destination(*use.user()) && is_destination(use);
  }

  /// What the slot holds; what a tensor does not have is as the launch prints it.
  const Type* type_of(const Use& use) const {
    const Tensor& tensor = operands_[use.index()];
    const auto* printed = dyn_cast<TensorType>(mention_of(use).type);
    std::vector<Dim> dims;
    for (const std::int64_t extent : tensor.shape()) dims.emplace_back(extent);
    if (printed == nullptr) return context_.tensor(dims, tensor.dtype());
    const bool same = printed->dtype() == tensor.dtype();
    return context_.tensor(dims,
                           same ? printed->dtype_name() : context_.intern(name_of(tensor.dtype())),
                           printed->device(), same ? printed->encoding() : nullptr);
  }

  std::vector<Value*> values(Block& body) {
    std::vector<Value*> values;
    std::size_t argument = 0;
    for (const Use& use : launch_.operand_uses()) {
      if (is_stored_into(use)) continue;
      if (!program_.stands_alone(use)) {
        Value& input = body.arguments()[argument++];
        rewriter_.set_name(input, module_->fresh_name());
        values.push_back(&input);
        continue;
      }
      values.push_back(given(use));
    }
    return values;
  }

  /// A constant or a parameter.
  Value* given(const Use& use) {
    const StatedMention mention = program_.mention(use);
    Value* value =
        rewriter_.create_free_value(module_->body(), mention.type, module_->fresh_name());
    rewriter_.set_attributes(*value, mention.attributes);
    if (program_.constant_of(use) == nullptr) {
      rewriter_.set_symbol(*value, mention.symbol);
      parameters_.push_back({mention.symbol, mention.type});
    }
    return value;
  }

  /// A cache lives through runs that add other numbers of tokens: `$S` each, to the `$past` that it
  /// holds.
  void take_any_tokens(Op& cache) {
    const Attr* tokens_first = cache.attribute("use_fa2");
    const bool first = tokens_first != nullptr && tokens_first->kind() == AttrKind::kBool &&
                       tokens_first->boolean();
    for (Value& input : module_->body().only_block().arguments()) {
      const TensorType* type = input.tensor_type();
      if (type == nullptr || type->rank() != 4) return;
      std::vector<Dim> dims(type->dims().begin(), type->dims().end());
      dims[first ? 1 : 2] = context_.dims().symbol("S");
      rewriter_.set_type(
          input, context_.tensor(dims, type->dtype_name(), type->device(), type->encoding()));
    }
    rewriter_.set_attribute(cache, context_.intern("past"),
                            context_.dim(context_.dims().symbol("past")));
  }

  /// Alone, a rotation of as many heads as positions does not tell which of them come first.
  void take_layout(Op& rotation) {
    const RotationLayouts layouts = layouts_of_rotation(launch_);
    const bool open = layouts.heads_first && layouts.positions_first;
    const auto told = open ? positions_come_first(launch_) : std::nullopt;
    if (!told || rotation.attribute("input_type") != nullptr) return;
    rewriter_.set_attribute(rotation, context_.intern("input_type"),
                            context_.word(*told ? "BSHD" : "BHSD"));
  }

  /// Upstream leaves the distance of taps out of the options of a Conv1D. The rule takes 1 then,
  /// and only what is printed tells another one: it counts while the slots hold what is printed.
  bool tells_dilation(const Op& kernel) const {
    if (!kernel.is(OpId::kLinalgConv1D) || kernel.attribute("dilation") != nullptr) return false;
    return std::ranges::all_of(launch_.operand_uses(), [&](const Use& use) {
      return program_.stands_alone(use) || compatible(type_of(use), use.value()->type());
    });
  }

  /// The types that the rule gives for what the slots hold. What a launch prints is stale after a
  /// slice, and stands where the rule needs options that were lost.
  void settle_results(Op& kernel) {
    for (Value& result : kernel.results()) rewriter_.set_name(result, module_->fresh_name());
    if (tells_dilation(kernel)) return;
    const auto types = inferred(kernel);
    for (std::uint32_t i = 0; i < std::min<std::size_t>(types.size(), kernel.result_count()); ++i) {
      const auto* type = dyn_cast<TensorType>(types[i]);
      const bool known =
          type != nullptr && type->dtype() && std::ranges::none_of(type->dims(), &Dim::is_unknown);
      if (known) rewriter_.set_type(*kernel.result(i), type);
    }
  }

  /// What the rule gives; nothing where it needs options that were lost.
  std::vector<const Type*> inferred(const Op& kernel) {
    if (kernel.row() == nullptr || kernel.row()->infer == nullptr) return {};
    return infer(kernel, operand_types(kernel), kernel.attributes(), unheard_)
        .value_or(std::vector<const Type*>());
  }

  void register_parameters(const Op& kernel, Builder& builder) {
    for (const OwnedParameter& owned : possible_parameters(kernel)) {
      const Value* declared = program_.module().lookup_value(owned.symbol);
      if (declared != nullptr) parameters_.push_back({owned.symbol, declared->type()});
    }
    std::erase_if(parameters_, [](const auto& each) { return !each.first; });
    if (parameters_.empty()) return;
    builder.subgraph("init", {}, "notype");
    for (const auto& [symbol, type] : parameters_) {
      if (module_->lookup_value(symbol) == nullptr) builder.parameter(context_.text(symbol), type);
    }
  }

  /// Whether an op owns a bias is an option that may be lost, so every suffix of its row counts.
  std::vector<OwnedParameter> possible_parameters(const Op& kernel) const {
    std::vector<OwnedParameter> owned;
    if (kernel.row() == nullptr || !kernel.has_path()) return owned;
    for (const WeightRow& weight : kernel.row()->weights) {
      const std::string name = fmt::format("{}{}", context_.text(kernel.path()), weight.suffix);
      owned.push_back({weight.suffix, context_.intern(name)});
    }
    return owned;
  }

  const ProgramCode& program_;
  IRContext& context_;
  const Op& launch_;
  std::span<const Tensor> operands_;
  std::unique_ptr<Module> module_;
  Rewriter rewriter_;
  std::vector<std::pair<Symbol, const Type*>> parameters_;
  Diagnostics unheard_;
};

bool states_option(const prog::KernelSpec& spec, Symbol key) {
  return std::ranges::any_of(spec.entries(),
                             [&](const NamedAttr& each) { return each.key == key; });
}

bool was_made_for(std::span<const std::pair<DType, Shape>> types,
                  std::span<const Tensor> operands) {
  return std::ranges::equal(types, operands, [](const auto& type, const Tensor& tensor) {
    return type.first == tensor.dtype() && type.second == tensor.shape();
  });
}

bool has_state(const Module& module) {
  const auto ops = module.body().only_block().ops();
  return std::any_of(ops.begin(), ops.end(),
                     [](const Op* op) { return static_cast<bool>(cache_of(*op)); });
}

}  // namespace

/// Facts about this launch alone: a grant that no op of a module needs is an error there.
UpgradeOptions MachineKernels::granted(const prog::Instruction& instruction,
                                       std::string_view place) const {
  UpgradeOptions options;
  const auto& launch = *instruction.as<prog::Launch>();
  const auto states = [&](std::string_view key) {
    return states_option(launch.spec, program_.module().context().intern(key));
  };
  if (is_launch_of(*instruction.op, OpId::kLinalgRMSNorm) && !states("epsilon"))
    options.rms_epsilon = options_.assumed.rms_epsilon;
  if (is_launch_of(*instruction.op, OpId::kLinalgLayerNorm, OpId::kLinalgLayerNorm2D) &&
      !states("eps")) {
    options.layer_norm_epsilon = options_.assumed.layer_norm_epsilon;
  }
  for (const Grant& grant : options_.assumed.grants) {
    if (is_lost(launch, place, grant)) options.grants.push_back(grant);
  }
  return options;
}

bool MachineKernels::is_lost(const prog::Launch& launch, std::string_view place,
                             const Grant& grant) const {
  const bool meant = grant.op == launch.spec.type_name() || grant.op == launch.name ||
                     (!place.empty() && grant.op == place);
  return meant && !states_option(launch.spec, program_.module().context().intern(grant.key));
}

std::string_view MachineKernels::place_of(const Op& launch) const {
  const auto found = places_.find(&launch);
  return found == places_.end() ? std::string_view() : found->second;
}

bool MachineKernels::uses_grants(Diagnostics& diagnostics) {
  Diagnostics unheard;  // the run itself ends where the code is no call tree
  LossReport unread;
  const auto program = program_functions(program_, unread, unheard);
  if (!program) return true;
  const auto is_used = [&](const Grant& grant) {
    return std::ranges::any_of(program->callees_first, [&](std::size_t index) {
      return std::ranges::any_of(
          program->functions[index].instructions, [&](const prog::Instruction& each) {
            const auto* launch = each.as<prog::Launch>();
            return launch != nullptr && is_lost(*launch, place_of(*each.op), grant);
          });
    });
  };
  const std::size_t errors = diagnostics.error_count();
  for (const Grant& grant : options_.assumed.grants) {
    const bool is_about_op =
        grant.kind == Grant::Kind::kAttribute || grant.kind == Grant::Kind::kName;
    // What is left out is stated.
    if (!is_about_op || grant.text == "none" || is_used(grant)) continue;
    refuse_unused(program_.module(), grant, losses_, diagnostics);
  }
  return diagnostics.error_count() == errors;
}

SessionOptions MachineKernels::session_options() const {
  SessionOptions options;
  options.weights = options_.weights;
  options.share_parameters = first_;
  options.weight_memory = options_.weight_memory;
  return options;
}

bool MachineKernels::make(Kernel& kernel, const prog::Instruction& instruction,
                          std::span<const Tensor> operands, Diagnostics& diagnostics) {
  const std::string_view place = place_of(*instruction.op);
  kernel.module = LaunchModule(program_, *instruction.op, operands).build(place);
  const UpgradeOptions assumed = granted(instruction, place);
  if (!upgrade(*kernel.module, assumed, losses_, diagnostics)) return false;
  if (!verify(*kernel.module, diagnostics, {.report_findings = false})) return false;
  kernel.session = Session::create(*kernel.module, session_options(), diagnostics);
  if (!kernel.session) return false;
  for (const Tensor& tensor : operands)
    kernel.operands.emplace_back(tensor.dtype(), tensor.shape());
  return true;
}

MachineKernels::Kernel* MachineKernels::kernel_of(const prog::Instruction& instruction,
                                                  std::span<const Tensor> operands,
                                                  Diagnostics& diagnostics) {
  const std::size_t named = instruction.as<prog::Launch>()->kernel;
  Kernel& kernel =
      kernels_[named == prog::kOutside ? instruction.op : program_.kernels()[named].op];
  // A cache takes any number of tokens.
  const bool fits =
      kernel.session && (was_made_for(kernel.operands, operands) || has_state(*kernel.module));
  if (fits) return &kernel;
  Kernel fresh;
  if (!make(fresh, instruction, operands, diagnostics)) return nullptr;
  kernel = std::move(fresh);
  // A kernel that is made anew stays where it is.
  if (first_ == nullptr) first_ = &*kernel.session;
  return &kernel;
}

std::optional<std::vector<Tensor>> MachineKernels::launch(const prog::Instruction& instruction,
                                                          std::span<const Tensor> operands,
                                                          bool is_last, Diagnostics& diagnostics) {
  const Op& op = *instruction.op;
  Kernel* kernel = kernel_of(instruction, operands, diagnostics);
  if (kernel == nullptr) return std::nullopt;
  std::vector<Tensor> inputs;
  for (const Use& use : op.operand_uses()) {
    const bool stored_into = launch_has_destination(op) && is_destination(use);
    if (!program_.stands_alone(use) && !stored_into) inputs.push_back(operands[use.index()]);
  }
  RunOptions options;
  options.is_last = is_last;
  return kernel->session->run(inputs, diagnostics, options);
}

bool MachineKernels::gives_what_is_printed(const Op& instruction,
                                           std::span<const Tensor> operands) const {
  return LaunchModule(program_, instruction, operands).gives_what_is_printed();
}

std::optional<Tensor> MachineKernels::parameter(const Value& declared, const Op& instruction,
                                                Diagnostics& diagnostics) {
  IRContext& context = program_.module().context();
  Module module(context, program_.module().name());
  Builder builder(module, diagnostics, {});
  Block* const body = builder.block();
  builder.subgraph("init", {}, "notype");
  builder.parameter(context.text(declared.symbol()), declared.type());
  Rewriter& rewriter = builder.rewriter();
  Value* value = rewriter.create_free_value(module.body(), declared.type(), module.fresh_name());
  rewriter.set_symbol(*value, declared.symbol());
  builder.set_insertion_point_to_end(body);
  rewriter.set_location(*builder.return_op(std::vector<Value*>{value}), instruction.location());
  rewriter.set_has_signature(module.body(), true);
  rewriter.set_version(1);
  auto session = Session::create(module, session_options(), diagnostics);
  if (!session) return std::nullopt;
  auto results = session->run({}, diagnostics, {});
  return results ? std::optional(std::move(results->front())) : std::nullopt;
}

std::optional<Tensor> MachineKernels::store(const Op& instruction, const Op* slice,
                                            const Tensor& part, const Tensor& whole,
                                            Diagnostics& diagnostics) {
  IRContext& context = program_.module().context();
  const auto type_of = [&](const Tensor& tensor) {
    std::vector<Dim> dims;
    for (const std::int64_t extent : tensor.shape()) dims.emplace_back(extent);
    return context.tensor(dims, tensor.dtype());
  };
  Module module(context, program_.module().name());
  const Type* types[] = {type_of(part), type_of(whole)};
  Builder builder(module, diagnostics, types);
  Value* operands[] = {&builder.block()->arguments()[0], &builder.block()->arguments()[1]};
  std::span<const NamedAttr> bounds;
  if (slice != nullptr) bounds = prog::read_launch(*slice).spec.entries();
  Op* copy = builder.rewriter().create_detached(
      {.name = context.op_name(OpId::kLinalgCopy, context.intern("CPU")),
       .operands = operands,
       .result_types = std::span(types).subspan(1),
       .attributes = bounds,
       .location = instruction.location()});
  builder.insert(copy);
  builder.return_op(std::vector<Value*>{copy->result()});
  builder.rewriter().set_has_signature(module.body(), true);
  builder.rewriter().set_version(1);
  if (!verify(module, diagnostics, {.report_findings = false})) return std::nullopt;
  auto session = Session::create(module, {}, diagnostics);
  if (!session) return std::nullopt;
  const Tensor inputs[] = {part, whole};
  auto results = session->run(inputs, diagnostics, {});
  return results ? std::optional(std::move(results->front())) : std::nullopt;
}

}  // namespace mir
