// Checks each op against its row, and remembers what was sound.
#include "verify/op_checks.hpp"

#include <algorithm>
#include <bit>

#include "dialects/rules.hpp"
#include "ir/mention.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"
#include "mir/walk.hpp"
#include "verify/declared_extents.hpp"

namespace mir::checks {

namespace {

/// Rules that hold for any options: what they lack makes extents unknown, never wrong.
bool needs_no_options(const OpRow& row) {
  constexpr std::array<InferFn, 6> kRules = {rules::cast_type, rules::linear,  rules::rms_norm,
                                             rules::softmax,   rules::reshape, rules::view};
  return row.attributes.empty() || std::ranges::find(kRules, row.infer) != kRules.end();
}

bool is_part(const OpRow& row) {
  return row.infer == rules::slice || row.infer == rules::split;
}

}  // namespace

OpChecks::OpChecks(Reporter& reporter)
    : reporter_(reporter),
      context_(reporter.module().context()),
      is_dump_(!reporter.module().is_portable()),
      sound_(std::clamp(std::bit_ceil(std::size_t{reporter.module().op_id_end()}), std::size_t{16},
                        kMostSlots)),
      weights_(reporter) {
  for (const AttrRow& each : annotation_attributes()) {
    annotations_.push_back(context_.intern(each.name));
  }
  if (is_dump_ && reporter.wants_rules()) find_stale_values();
}

// -- what a verdict depends on --------------------------------------------------------------------

inline void OpChecks::Signature::finish(const void** end) {
  count = static_cast<std::uint32_t>(end - words.data());
  // Two chains, which a processor follows side by side.
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
  std::uint64_t even = count, odd = 0;
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) {
    even = (even ^ reinterpret_cast<std::uintptr_t>(words[i])) * kFactor;
    odd = (odd ^ reinterpret_cast<std::uintptr_t>(words[i + 1])) * kFactor;
  }
  if (i < count) even = (even ^ reinterpret_cast<std::uintptr_t>(words[i])) * kFactor;
  hash = static_cast<std::uint32_t>((even ^ (odd >> 29)) * kFactor >> 32);
}

/// Each signature has two places. One that is too long is never found.
inline std::pair<bool, OpChecks::Sound&> OpChecks::find(const Signature& signature) {
  const std::size_t at = signature.hash & (sound_.size() - 1);
  Sound &first = sound_[at], &second = sound_[at ^ 1];
  if (first.is(signature)) return {true, first};
  const bool is_second = second.is(signature);
  return {is_second, is_second || first.words != nullptr ? second : first};
}

void OpChecks::remember(Sound& kept, const Signature& signature,
                        std::span<const OwnedParameter> parameters) {
  if (signature.count > kept.capacity) {
    kept.words = arena_.create_array<const void*>(signature.count).data();
    kept.capacity = signature.count;
  }
  std::copy_n(signature.words.begin(), signature.count, kept.words);
  kept.word_count = signature.count;
  kept.hash = signature.hash;
  kept.parameters = arena_.copy(parameters);
}

[[gnu::always_inline]] inline void OpChecks::sign(const Op& op, Signature& signature) const {
  const std::size_t most =
      operands_.size() + 2 * (op.attributes().size() + op.results().size()) + 3;
  if (most > Signature::kMax) return;
  const void** word = signature.words.data();
  *word++ = op.op_name().info;
  for (const Type* type : operands_) *word++ = type;
  *word++ = nullptr;
  const bool launch = is_launch(op);
  for (const NamedAttr& attribute : op.attributes()) {
    if (launch ? attribute.key != key::kOpType && attribute.key != key::kOpOptions
               : is_annotation(attribute.key)) {
      continue;
    }
    *word++ = reinterpret_cast<const void*>(std::uintptr_t{attribute.key.id} + 1);
    *word++ = attribute.value;
  }
  *word++ = nullptr;
  for (const Value& result : op.results()) {
    *word++ = is_stale(result) ? this : nullptr;
    *word++ = result.type();
  }
  signature.finish(word);
}

OpChecks::Target OpChecks::target_of(const Op& op) const {
  if (!is_launch(op)) {
    const bool has_options = std::ranges::any_of(
        op.attributes(), [&](const NamedAttr& each) { return !is_annotation(each.key); });
    return {op.row(), op.attributes(), has_options};
  }
  Target target;
  const Attr* type = op.attribute(key::kOpType);
  if (type == nullptr || type->kind() != AttrKind::kString) return target;
  const auto kernel = context_.find_kernel(type->text(), op.operand_count());
  if (kernel) target.row = context_.info(*kernel).row;
  const Attr* options = op.attribute(key::kOpOptions);
  if (options != nullptr && options->kind() == AttrKind::kDict) {
    target.options = options->entries();
    target.has_options = true;
  }
  return target;
}

// -- types of dumps -------------------------------------------------------------------------------

inline bool OpChecks::may_be_part(const Op& op) const {
  return op.is(OpId::kProgKernelLaunch, OpId::kLinalgSlice, OpId::kLinalgSplit);
}

/// True if a result has name and type of operand 0 of a part, or of a stale operand of any op.
inline bool OpChecks::repeats_stale_type(const Op& op, const Value& result) const {
  return std::ranges::any_of(op.operand_uses(), [&](const Use& use) {
    return use.value()->name() == result.name() && is_stale_type(use, result.type());
  });
}

/// True if an operand's type is stale in a result of its name.
bool OpChecks::is_stale_type(const Use& use, const Type* type) const {
  if (mentioned_type(use) != type) return false;
  if (is_stale(*use.value())) return true;
  if (use.index() != 0 || !may_be_part(*use.user())) return false;
  const Target target = target_of(*use.user());
  return target.row != nullptr && is_part(*target.row);
}

void OpChecks::find_stale_values() {
  // Without a part no type is stale.
  const Module& module = reporter_.module();
  if (!module.has_made(OpId::kProgKernelLaunch) && !module.has_made(OpId::kLinalgSlice) &&
      !module.has_made(OpId::kLinalgSplit))
    return;
  for_each_op(reporter_.module(), [&](const Op& op) {
    // The first stale value is a part's.
    if (stale_values_.empty() && !may_be_part(op)) return;
    for (const Value& result : op.results()) {
      if (!repeats_stale_type(op, result)) continue;
      stale_values_.resize(reporter_.module().value_id_end());
      stale_values_[result.id()] = true;
      if (!result.name().is_number()) {
        stale_words_.push_back(result.name().symbol());
        continue;
      }
      constexpr std::uint32_t kLargest = 1u << 26;  // ids beyond it are no storage of a model
      const std::uint32_t number = result.name().number();
      if (number >= kLargest) continue;
      if (number >= stale_numbers_.size()) stale_numbers_.resize(number + 1);
      stale_numbers_[number] = true;
    }
  });
  std::ranges::sort(stale_words_, {}, &Symbol::id);
}

inline bool OpChecks::has_stale_name(const Value& value) const {
  const ValueName name = value.name();
  if (name.is_number()) {
    return name.number() < stale_numbers_.size() && stale_numbers_[name.number()];
  }
  return !stale_words_.empty() &&
         std::ranges::binary_search(stale_words_, name.symbol().id, {}, &Symbol::id);
}

const Type* OpChecks::with_unknown_extents(const Type* type) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return type;
  const Type*& open = open_types_[type];
  if (open != nullptr) return open;
  const std::vector<Dim> dims(tensor->rank(), Dim::unknown());
  open = context_.tensor(dims, tensor->dtype_name(), tensor->device(), tensor->encoding());
  return open;
}

inline const Type* OpChecks::operand_type(const Use& use) {
  const Value& value = *use.value();
  if (!is_dump_) return value.type();
  const Type* type = mentioned_type(use);
  return has_stale_name(value) ? stale_operand_type(value, type) : type;
}

const Type* OpChecks::stale_operand_type(const Value& value, const Type* type) {
  const Op* definition = value.defining_op();
  const bool is_true = definition != nullptr && type == value.type() && !is_stale(value) &&
                       !definition->is(OpId::kGraphCallGraph);
  return is_true ? type : with_unknown_extents(type);
}

// -- checks ---------------------------------------------------------------------------------------

void OpChecks::enter(const Region& region) {
  for (const Value* value : region.free_values()) {
    if (!value->has_uses()) continue;
    const Op& user = *value->first_use()->user();
    check_strange_type(*value, user);
    if (const Attr* values = value->attribute(key::kConstant)) {
      constant_values(*value, *values, user, reporter_);
    }
  }
  for (const Block* block : region.blocks()) {
    for (const Value& argument : block->arguments()) {
      check_strange_type(argument, *region.parent());
    }
  }
}

/// Checks the constants that a program's symbol table declares.
void OpChecks::check_constant(const Op& op) {
  for (const Value& result : op.results()) {
    const Attr* values = result.attribute(key::kConstant);
    if (values != nullptr) constant_values(result, *values, op, reporter_);
  }
}

void OpChecks::check_strange_type(const Value& value, const Op& place) {
  if (value.type() == nullptr) return;
  const auto* type = value.tensor_type();
  if (type == nullptr) {
    if (strange_types_[value.type()]++ == 0) only_in_patterns(value.type(), place, reporter_);
    return;
  }
  // Types that never occur in dumps are tested last; inline, because every value is tested here.
  const bool is_common = type->dtype() && *type->dtype() < DType::kMirQ4A32;
  const auto is_strange = [](Dim dim) {
    return dim.is_negative() || (!dim.is_constant() && dim.is_pack());
  };
  const bool is_plain = is_common && std::ranges::none_of(type->dims(), is_strange);
  if (is_plain || strange_types_[type] != 0) return;
  strange_types_[type] = 1;
  known_element_type(type, place, reporter_);
  known_extents(type, place, reporter_);
  only_in_patterns(type, place, reporter_);
}

namespace {

bool has_unknown_extent(const Value& value) {
  const TensorType* type = value.tensor_type();
  return type != nullptr && std::ranges::any_of(type->dims(), &Dim::is_unknown);
}

}  // namespace

void OpChecks::op(const Op& op) {
  const std::size_t before = reporter_.breaches();
  const bool is_structured = has_structure(op);
  if (!is_structured) {
    structure(op, reporter_);
    if (op.row() == nullptr || reporter_.breaches() != before) {
      for (const Value& result : op.results()) check_strange_type(result, op);
      if (op.row() != nullptr) attributes(op, reporter_);
      return;
    }
  }
  if (op.first_region() != nullptr) region_flow(op, reporter_);
  // Where a wrong number of operands is allowed, there is nothing to compare.
  const bool has_control =
      op.is_in(DialectId::kCf) ||
      op.is(OpId::kGraphFused, OpId::kLinalgGeneric, OpId::kLoopKernel, OpId::kLoopNest);
  if (is_structured && has_control) control_flow(op, reporter_);
  if (op.is(OpId::kLinalgParam)) check_named_parameter(op, reporter_);
  if (op.is(OpId::kTensorRegister)) check_parameter(op, reporter_);
  if (op.is(OpId::kProgValueSymbol)) check_constant(op);
  operands_.resize(op.plain_operands().size());
  std::ranges::transform(op.plain_operands(), operands_.begin(),
                         [&](const Use& use) { return operand_type(use); });
  Signature signature;
  sign(op, signature);
  const auto [is_known, known] = find(signature);
  if (is_known) {
    if (known.is_mixed) check_mixture(op, target_of(op));
    if (!known.parameters.empty()) weights_.check(op, known.parameters);
    check_by_row(op);
    return;
  }
  attributes(op, reporter_);
  // Rules rely on arity and on what kinds attributes are of.
  bool is_mixed = false;
  if (reporter_.breaches() == before) {
    const Target target = target_of(op);
    if (is_launch(op)) check_kernel(op, target);
    is_mixed = check_mixture(op, target);
    check_types(op, target);
  }
  if (reporter_.breaches() == before + is_mixed) check_by_row(op);
  for (const Value& result : op.results()) check_strange_type(result, op);
  if (reporter_.breaches() != before + is_mixed) return;
  const std::vector<OwnedParameter> parameters = weights_.owned_by(op, operands_);
  weights_.check(op, parameters);
  // Ops with the same signature need not share what a parameter tells of a result.
  if (std::ranges::any_of(op.results(), has_unknown_extent)) {
    if (reporter_.breaches() == before + is_mixed) check_open_extents(op);
    return;
  }
  if (signature.count == 0) return;
  remember(known, signature, parameters);
  known.is_mixed = is_mixed;
}

/// Checks that a result's type has the extents that neither operands nor attributes determine.
void OpChecks::check_open_extents(const Op& op) {
  if (is_dump_ || !reporter_.wants(ConstraintId::type_c9)) return;
  for (const auto& open : declared_extents(op, reporter_.prover())) {
    const TensorType* stated = op.result(open.result)->tensor_type();
    if (stated == nullptr || open.dim >= stated->rank()) continue;
    if (!stated->dims()[open.dim].is_unknown()) continue;
    reporter_.report(ConstraintId::type_c9, op, [&] {
      const std::string why =
          open.attribute.empty()
              ? std::string("no attribute determines")
              : fmt::format("neither '{}' nor a parameter determines", open.attribute);
      return fmt::format("result {} of '{}' is {}, and {} extent {}", open.result, op.name(),
                         stated->spelling(), why, open.dim);
    });
    return;
  }
}

/// True for type names that upstream declares and has no operation for.
static bool has_no_op(std::string_view type_name) {
  constexpr std::string_view kTypeNames[] = {"ReLU2",     "RadixAttn",  "Scatter2Shards",
                                             "AvgPool1d", "GraphBegin", "GraphEnd"};
  return std::ranges::find(kTypeNames, type_name) != std::end(kTypeNames);
}

/// The op that a launch names against what it is launched with.
void OpChecks::check_kernel(const Op& op, const Target& target) {
  const Attr* type = op.attribute(key::kOpType);
  if (type == nullptr || type->kind() != AttrKind::kString) return;
  if (target.row == nullptr) {
    reporter_.report_at(ConstraintId::op_c1, op, {key::kOpType}, [&] {
      return has_no_op(type->text())
                 ? fmt::format("upstream has no operation for kernel '{}', so its meaning is lost",
                               type->text())
                 : fmt::format("kernel '{}' is not known", type->text());
    });
    return;
  }
  const OpRow& row = *target.row;
  if (row.operands.admits(op.plain_operands().size()) && row.results.admits(op.result_count()))
    return;
  reporter_.report(ConstraintId::op_c2, op, [&] {
    return fmt::format("kernel '{}' is launched with {} operands and {} results", type->text(),
                       op.plain_operands().size(), op.result_count());
  });
}

/// Calls the function of the row, which may check more than the signature of an op.
inline void OpChecks::check_by_row(const Op& op) {
  if (op.row() == nullptr || !op.row()->verify || !reporter_.wants_rules()) return;
  Diagnostics found(0);
  if (verify_by_row(op, found)) return;
  for (Diagnostic& breach : found.sorted()) reporter_.report_rule(op, std::move(breach));
}

/// Element types that differ are reported at each op that has them; whether one was.
bool OpChecks::check_mixture(const Op& op, const Target& target) {
  if (!reporter_.wants(ConstraintId::type_c2)) return false;
  const std::size_t before = reporter_.breaches();
  if (target.row != nullptr) mixed_types(op, *target.row, operands_, reporter_);
  return reporter_.breaches() != before;
}

void OpChecks::check_types(const Op& op, const Target& target) {
  if (!reporter_.wants_rules() || target.row == nullptr) return;
  // Resolve has reported values without a type.
  if (std::ranges::find(operands_, nullptr) != operands_.end()) return;
  if (is_dump_) return check_dump_types(op, target);
  if (target.row->infer == nullptr) return;
  if (run_rule(op, target, target.options, true)) {
    kept_shape(op, *target.row, operands_, reporter_);
  }
}

void OpChecks::check_dump_types(const Op& op, const Target& target) {
  const OpRow& row = *target.row;
  if (row.infer == nullptr || !row.operands.admits(op.plain_operands().size())) return;
  if (row.infer == rules::matmul && !target.has_options) return check_product(op, target);
  if (target.has_options || needs_no_options(row)) {
    run_rule(op, target, target.options, true);
    if (target.has_options) return;
  }
  const bool stale =
      std::ranges::any_of(op.results(), [&](const Value& result) { return is_stale(result); });
  if (!stale) relations(op, row, operands_, reporter_);
}

/// A product whose options are lost must fit with operand 1 as it is or transposed.
void OpChecks::check_product(const Op& op, const Target& target) {
  const NamedAttr transposed{key::kTransposeB, context_.boolean(true)};
  if (!run_rule(op, target, {&transposed, 1}, false)) run_rule(op, target, {}, true);
}

bool OpChecks::run_rule(const Op& op, const Target& target, std::span<const NamedAttr> options,
                        bool report) {
  Diagnostics found(1);
  const auto types = infer({.context = context_,
                            .row = *target.row,
                            .operands = operands_,
                            .attributes = options,
                            .result_count = op.result_count(),
                            .at = op.span(),
                            .device = op.op_name().device,
                            .prover = reporter_.prover()},
                           found);
  report_undecided(op);
  if (types) return compare(op, *types, report);
  for (Diagnostic& breach : found.sorted()) {
    // What a dump lacks it lacks everywhere.
    if (is_dump_ && breach.code == diag::kAttributeMissing) return true;
    if (report) reporter_.report_rule(op, std::move(breach));
  }
  return false;
}

void OpChecks::report_undecided(const Op& op) {
  if (reporter_.prover() == nullptr) return;
  for (const std::string& condition : reporter_.prover()->take_undecided()) {
    reporter_.report(ConstraintId::symbol_c7, op, [&] {
      return fmt::format(
          "'{}' needs {}, which is neither proved nor refuted and is checked at run time",
          op.name(), condition);
    });
  }
}

bool OpChecks::compare(const Op& op, const Types& inferred, bool report) {
  bool good = true;
  for (std::uint32_t i = 0; i < op.result_count() && i < inferred.size(); ++i) {
    const Type* stated = op.result(i)->type();
    const Type* given = inferred[i];
    // A null type means that the declared one stands.
    if (stated == nullptr || given == nullptr || reporter_.agree(stated, given)) continue;
    const auto* left = dyn_cast<TensorType>(stated);
    const auto* right = dyn_cast<TensorType>(given);
    if (is_dump_ && left != nullptr && right != nullptr &&
        (compatible_shapes(*left, *right) || is_stale(*op.result(i)))) {
      continue;
    }
    good = false;
    if (!report) continue;
    reporter_.report(ConstraintId::type_c1, op, [&] {
      return fmt::format("result {} of '{}' is stated as {}, its operands and attributes give {}",
                         i, op.name(), stated->spelling(), given->spelling());
    });
  }
  return good;
}

}  // namespace mir::checks
