// Gives values another floating-point type.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/infer.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/standard_passes.hpp"
#include "passes/types/parameter_users.hpp"
#include "passes/types/value_flow.hpp"
#include "patterns/constant_values.hpp"
#include "support/suggest.hpp"
#include "support/wildcards.hpp"

namespace mir {

namespace {

/// Names that an option selects, and the patterns that select nothing.
class NameFilter {
 public:
  explicit NameFilter(std::vector<std::string_view> patterns)
      : patterns_(std::move(patterns)), has_matched_(patterns_.size()) {}

  bool matches(std::string_view name) {
    if (patterns_.empty()) return true;
    names_.emplace_back(name);
    bool found = false;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (!fits_wildcards(patterns_[i], name)) continue;
      found = has_matched_[i] = true;
    }
    return found;
  }
  /// Reports the patterns that matched no name. True if there are none.
  bool check(Diagnostics& diagnostics, Span at) const {
    bool is_good = true;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (has_matched_[i]) continue;
      is_good = false;
      NearestName nearest(patterns_[i]);
      for (const std::string& name : names_) nearest.offer(name);
      suggest(diagnostics.error(diag::kPipeline, at,
                                fmt::format("no value or parameter that can be converted has the "
                                            "name '{}'",
                                            patterns_[i])),
              nearest.best());
    }
    return is_good;
  }

 private:
  std::vector<std::string_view> patterns_;
  std::vector<bool> has_matched_;
  std::vector<std::string> names_;
};

/// A value whose type may change.
struct ConvertibleValue {
  bool is_converted = false;  ///< those who read the value want the new type
  bool is_constant = false;   ///< each op reads it in the type of its other operands
  bool has_new_type = false;  ///< of the value itself
  Value* other = nullptr;     ///< the value in the other type; null: not made yet
};

/// How an op is changed.
struct OpPlan {
  bool is_converted = false;     ///< it computes in the new type
  std::vector<bool> operands{};  ///< whether each is read in the new type
  std::vector<NamedAttr> attributes{};
};

class TypeConversion {
 public:
  explicit TypeConversion(PassRun& run)
      : run_(run),
        module_(run.module()),
        context_(module_.context()),
        rewriter_(module_),
        from_(*dtype_from_name(run.options().text("from"))),
        to_(*dtype_from_name(run.options().text("to"))),
        names_(run.options().texts("names")),
        flow_(module_),
        parameters_(module_) {}

  PassResult apply() {
    if (from_ == to_) return run_.result();
    collect(module_.body());
    find_candidates();
    choose_parameters();
    choose_values();
    if (!names_.check(run_.diagnostics(), module_.top()->span())) return PassResult::kFailed;
    for (Op* op : ops_) plan(*op);
    keep_states_together();
    set_types();
    undo_casts();
    for (Op* op : ops_) set_operands(*op);
    erase_unread_casts();
    for (Region* region : regions_) finish(*region);
    return run_.result();
  }

 private:
  bool converts_parameters() const { return run_.options().text("scope") != "values"; }
  bool converts_values() const { return run_.options().text("scope") != "parameters"; }

  bool keeps_interface() const { return !run_.options().flag("interface"); }

  // -- what there is --------------------------------------------------------------------------

  void collect(Region& region) {
    regions_.push_back(&region);
    for_each_child(region, [&](Op& op) {
      ops_.push_back(&op);
      if (op.has(Trait::kTemplate)) return;
      for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
        collect(*inner);
      }
    });
  }

  const Type* new_type(const Type& type) {
    return with_dtype(context_, *dyn_cast<TensorType>(&type), to_);
  }

  /// True if the value holds plain numbers of the old type.
  bool can_change(const Value& value) const {
    const TensorType* type = value.tensor_type();
    if (type == nullptr || type->dtype() != from_ || type->encoding() != nullptr) return false;
    return std::ranges::all_of(value.attributes(),
                               [&](const NamedAttr& each) { return each.key == key::kConstant; });
  }

  /// True if the op casts from the one type to the other.
  static bool is_cast(const Op& op, DType from, DType to) {
    if (!op.is(OpId::kLinalgCastType) || op.operand_count() != 1 || op.result_count() != 1) {
      return false;
    }
    const TensorType *x = op.operand(0)->tensor_type(), *y = op.result()->tensor_type();
    return x != nullptr && y != nullptr && x->dtype() == from && y->dtype() == to;
  }
  bool is_cast_between(const Op& op) const {
    return is_cast(op, from_, to_) || is_cast(op, to_, from_);
  }

  void add_candidate(Value& value) {
    if (!can_change(value)) return;
    candidates_[&value].is_constant =
        value.is_free() && !value.has_symbol() && constant_of(value).has_value();
  }

  void find_candidates() {
    for (Region* region : regions_) {
      for (Value* value : region->free_values()) add_candidate(*value);
      for (Block* block : region->blocks()) {
        for (Value& argument : block->arguments()) add_candidate(argument);
      }
    }
    for (Op* op : ops_) {
      for (Value& result : op->results()) add_candidate(result);
      if (is_cast_between(*op) && op->result()->has_uses()) casts_.push_back(op);
      ConvertibleValue* cast = is_cast(*op, to_, from_) ? candidate(*op->result()) : nullptr;
      if (cast != nullptr) cast->other = op->operand(0);
    }
  }

  ConvertibleValue* candidate(const Value& value) {
    const auto found = candidates_.find(&value);
    return found == candidates_.end() ? nullptr : &found->second;
  }

  // -- parameters -----------------------------------------------------------------------------

  void choose_parameters() {
    for (const Symbol symbol : parameters_.symbols()) {
      const ParameterUsers::Parameter& parameter = *parameters_.find(symbol);
      const bool is_read = !parameter.mentions.empty() || !parameter.owners.empty();
      bool is_wanted = converts_parameters() && is_read && can_convert(parameter) &&
                       names_.matches(context_.text(symbol));
      for (Value* mention : parameter.mentions) {
        if (ConvertibleValue* each = candidate(*mention)) each->is_converted = is_wanted;
        is_parameter_.insert_or_assign(mention, true);
      }
      is_parameter_.insert_or_assign(parameter.declared, true);
      if (ConvertibleValue* each = candidate(*parameter.declared)) each->is_converted = is_wanted;
      for (const Op* owner : parameter.owners) {
        if (states_element_type(*owner)) is_table_converted_[owner] = is_wanted;
      }
      if (is_wanted) run_.count("parameters converted");
    }
  }

  bool can_convert(const ParameterUsers::Parameter& parameter) {
    if (candidate(*parameter.declared) == nullptr) return false;
    const bool are_plain = std::ranges::all_of(
        parameter.mentions, [&](Value* each) { return candidate(*each) != nullptr; });
    return are_plain && std::ranges::all_of(parameter.owners, [&](Op* owner) {
             if (!states_element_type(*owner)) return true;
             // The op computes in the type of the table in any case.
             const bool can_follow =
                 std::ranges::all_of(owner->results(),
                                     [&](Value& each) { return candidate(each) != nullptr; }) &&
                 attributes_for(*owner, operand_types(*owner), new_result_types(*owner));
             return can_follow;
           });
  }

  /// Tells if the parameter is converted, for an op that returns elements of a parameter.
  std::optional<bool> table_of(const Op& op) const {
    const auto found = is_table_converted_.find(&op);
    return found == is_table_converted_.end() ? std::nullopt : std::optional(found->second);
  }

  // -- values ---------------------------------------------------------------------------------

  bool is_selected(const Value& value) {
    if (!converts_values()) return false;
    const Op* op = value.defining_op();
    const bool by_path =
        op != nullptr && op->has_path() && names_.matches(context_.text(op->path()));
    const bool by_name = names_.matches(name_of(value));
    return by_path || by_name;
  }

  std::string name_of(const Value& value) const {
    const ValueName name = value.name();
    return name.is_number() ? fmt::format("{}", name.number())
                            : std::string(context_.text(name.symbol()));
  }

  void choose_values() {
    std::vector<bool> stays(flow_.size());
    const auto keep = [&](std::optional<ValueFlow::Target> target) {
      if (target) stays[*target] = true;
    };
    std::map<const Value*, bool> is_unknown;
    for (const Value* value : flow_.unknown()) {
      is_unknown[value] = true;
      keep(flow_.of_value(*value));
    }
    const Region& body = module_.body();
    for (Region* region : regions_) {
      for (std::uint32_t i = 0; i < region->result_types().size(); ++i) {
        const auto* type = dyn_cast<TensorType>(region->result_types()[i]);
        const bool can_follow = type != nullptr && type->dtype() == from_ &&
                                type->encoding() == nullptr && converts_values();
        if (!can_follow || (region == &body && keeps_interface()))
          keep(flow_.of_result(*region, i));
      }
    }
    for (auto& [value, each] : candidates_) {
      if (is_parameter_.contains(value) || each.is_constant) continue;
      each.is_converted = is_selected(*value) && !is_unknown.contains(value);
    }
    // A target that cannot change keeps its class.
    for_each_target([&](Value& value, ValueFlow::Target target) {
      const ConvertibleValue* each = candidate(value);
      if (each == nullptr || !each->is_converted) stays[target] = true;
    });
    for_each_target([&](Value& value, ValueFlow::Target target) {
      if (ConvertibleValue* each = candidate(value)) each->is_converted = !stays[target];
    });
    is_target_converted_.resize(flow_.size());
    for (ValueFlow::Target i = 0; i < flow_.size(); ++i) is_target_converted_[i] = !stays[i];
    for (const auto& [value, each] : candidates_) {
      if (each.is_converted && !is_parameter_.contains(value)) run_.count("values converted");
    }
  }

  template <class Visit>
  void for_each_target(const Visit& visit) {
    const auto visit_value = [&](Value& value) {
      if (const auto target = flow_.of_value(value)) visit(value, *target);
    };
    for (Region* region : regions_) {
      for (Block* block : region->blocks()) {
        for (Value& argument : block->arguments()) visit_value(argument);
      }
    }
    for (Op* op : ops_) {
      for (Value& result : op->results()) visit_value(result);
    }
  }

  // -- ops ------------------------------------------------------------------------------------

  /// True if the op only hands its operands on.
  static bool passes_on(const Op& op) {
    return op.has(Trait::kTerminator) || op.first_region() != nullptr || callee_of(op) ||
           !op.extra().successors.empty();
  }

  /// True if the type of the result is that of a parameter.
  bool is_typed_by_parameter(const Op& op) const {
    return op.result_count() == 1 && is_parameter_.contains(op.result());
  }

  void plan(Op& op) {
    OpPlan& plan = plans_[&op];
    plan.operands.resize(op.operand_count());
    if (is_cast_between(op)) return;
    if (passes_on(op) || is_typed_by_parameter(op)) {
      plan.is_converted = true;
      for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
        const auto target = flow_.of_operand(op, i);
        plan.operands[i] = target && is_target_converted_[*target];
      }
      return;
    }
    plan_computation(op, plan);
  }

  void plan_computation(Op& op, OpPlan& plan) {
    const auto is_converted = [&](const Value& value) {
      const ConvertibleValue* each = candidate(value);
      return each != nullptr && each->is_converted;
    };
    const std::optional<bool> table = table_of(op);
    bool has_converted = table.value_or(false);
    for (const Use& use : op.operand_uses()) {
      has_converted = has_converted || is_converted(*use.value());
    }
    for (const Value& result : op.results()) has_converted = has_converted || is_converted(result);
    if (!has_converted || op.row() == nullptr || !op.row()->infer) return;
    std::vector<const Type*> types = operand_types(op);
    std::vector<bool> operands(op.operand_count());
    for (std::uint32_t i = 0; i < types.size(); ++i) {
      const ConvertibleValue* each = candidate(*op.operand(i));
      operands[i] = each != nullptr && (each->is_converted || each->is_constant);
      if (operands[i]) types[i] = new_type(*types[i]);
    }
    std::vector<const Type*> results;
    for (const Value& result : op.results()) {
      const bool is_new = table ? *table && candidate(result) != nullptr : is_converted(result);
      results.push_back(is_new ? new_type(*result.type()) : result.type());
    }
    auto attributes = attributes_for(op, types, results);
    if (!attributes) return;
    plan = {.is_converted = true,
            .operands = std::move(operands),
            .attributes = *std::move(attributes)};
  }

  /// The attributes with which the rule of the op gives these results for these operands: its own,
  /// or with the new element type in place of the old one. No value if there are none.
  std::optional<std::vector<NamedAttr>> attributes_for(const Op& op,
                                                       std::span<const Type* const> operands,
                                                       std::span<const Type* const> results) {
    if (op.row() == nullptr || !op.row()->infer) return std::nullopt;
    const auto own = std::vector<NamedAttr>(op.attributes().begin(), op.attributes().end());
    for (const auto& attributes : {own, retyped(op, own)}) {
      Diagnostics ignored(1);
      const auto inferred = infer(op, operands, attributes, ignored);
      const bool fits =
          inferred && std::ranges::equal(*inferred, results, [](const Type* a, const Type* b) {
            return a != nullptr && compatible(a, b);
          });
      if (fits) return attributes;
    }
    return std::nullopt;
  }

  std::vector<NamedAttr> retyped(const Op& op, std::vector<NamedAttr> attributes) {
    const Attr* dtype = context_.word(mir::name_of(to_));
    for (const AttrRow& row : op.row()->attributes) {
      if (row.type != AttrType::kDType && row.type != AttrType::kString) continue;
      const auto stated = std::ranges::find_if(
          attributes, [&](const NamedAttr& each) { return context_.text(each.key) == row.name; });
      if (stated != attributes.end()) {
        const bool is_text = stated->value->kind() == AttrKind::kString;
        if (is_text && dtype_from_name(stated->value->text()) == from_) stated->value = dtype;
      } else if (row.type == AttrType::kDType && dtype_from_name(row.default_text) == from_) {
        attributes.push_back({context_.intern(row.name), dtype});
      }
    }
    return attributes;
  }

  std::vector<const Type*> new_result_types(const Op& op) {
    std::vector<const Type*> types;
    for (const Value& result : op.results()) types.push_back(new_type(*result.type()));
    return types;
  }

  /// The steps on one state compute in one type.
  void keep_states_together() {
    constexpr Effect kState = Effect::kReadsState | Effect::kWritesState;
    std::map<std::uint32_t, std::vector<Op*>> users;
    std::map<std::uint32_t, bool> is_kept;
    for (Op* op : ops_) {
      const auto effects = passes_on(*op) ? std::optional(Effect::kNone) : effects_of(*op);
      if (!effects || !has(*effects, kState)) continue;
      const std::uint32_t state = resource_of(*op).id;
      users[state].push_back(op);
      is_kept[state] = is_kept[state] || !plans_[op].is_converted;
    }
    for (const auto& [state, steps] : users) {
      if (!is_kept[state]) continue;
      for (Op* op : steps) plans_[op] = {.operands = std::vector<bool>(op->operand_count())};
    }
  }

  // -- edits ----------------------------------------------------------------------------------

  void set_type(Value& value) {
    ConvertibleValue* each = candidate(value);
    if (each == nullptr) return;
    each->has_new_type = true;
    rewriter_.set_type(value, new_type(*value.type()));
  }

  void set_types() {
    for (Region* region : regions_) {
      for (Value* value : region->free_values()) {
        const ConvertibleValue* each = candidate(*value);
        if (each != nullptr && each->is_converted && !each->is_constant) set_type(*value);
      }
      for (Block* block : region->blocks()) {
        // Inputs that keep their types are cast for their readers.
        if (block == module_.body().entry() && keeps_interface()) continue;
        for (Value& argument : block->arguments()) {
          const ConvertibleValue* each = candidate(argument);
          if (each != nullptr && each->is_converted) set_type(argument);
        }
      }
    }
    for (Op* op : ops_) {
      const OpPlan& plan = plans_[op];
      if (!plan.is_converted) {
        if (has_converted_result(*op) && !is_cast_between(*op)) run_.count("operations kept");
        continue;
      }
      const bool computes = !passes_on(*op) && !is_typed_by_parameter(*op);
      const std::optional<bool> table = computes ? table_of(*op) : std::nullopt;
      for (Value& result : op->results()) {
        const ConvertibleValue* each = candidate(result);
        if (each != nullptr && table.value_or(each->is_converted)) set_type(result);
      }
      const bool has_new = !std::ranges::equal(plan.attributes, op->attributes());
      if (computes && has_new) rewriter_.set_attributes(*op, plan.attributes);
    }
  }

  bool has_converted_result(const Op& op) {
    return std::ranges::any_of(op.results(), [&](const Value& result) {
      const ConvertibleValue* each = candidate(result);
      return each != nullptr && each->is_converted;
    });
  }

  /// Replaces casts to the new type of values that have it now.
  void undo_casts() {
    for (Op* op : casts_) {
      Value &value = *op->operand(0), &cast = *op->result();
      const ConvertibleValue* each = candidate(value);
      if (each == nullptr || !each->has_new_type) continue;
      for (const Use* use = cast.first_use(); use != nullptr; use = use->next()) {
        const Op& user = *use->user();
        plans_[&user].operands[use->index()] = true;
        if (ends_module(user)) keep_name(cast, value);
      }
      rewriter_.replace_all_uses(cast, value);
    }
  }

  void erase_unread_casts() {
    for (Op* op : casts_) {
      if (op->result()->has_uses()) continue;
      rewriter_.erase(*op);
      run_.count("casts removed");
    }
  }

  bool ends_module(const Op& op) const {
    return op.parent_region() == &module_.body() && leaves_region(op);
  }

  void set_operands(Op& op) {
    const OpPlan& plan = plans_[&op];
    for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
      Value& value = *op.operand(i);
      ConvertibleValue* each = candidate(value);
      if (each == nullptr || each->has_new_type == plan.operands[i]) continue;
      if (each->other == nullptr) each->other = in_other_type(value, *each, op);
      rewriter_.set_operand(op, i, each->other);
      if (ends_module(op)) keep_name(value, *each->other);
    }
  }

  /// An output keeps its name, although it is another value now.
  void keep_name(Value& before, Value& output) {
    const bool have_ops = before.defining_op() != nullptr && output.defining_op() != nullptr;
    if (!have_ops || before.has_symbol()) return;
    const ValueName name = before.name();
    rewriter_.set_name(before, ValueName());
    rewriter_.set_name(output, name);
  }

  Value* in_other_type(Value& value, const ConvertibleValue& each, const Op& user) {
    const DType dtype = each.has_new_type ? from_ : to_;
    const Type* type = with_dtype(context_, *value.tensor_type(), dtype);
    if (each.is_constant) {
      Constant constant = *constant_of(value);
      constant.type = type;
      const Attr* numbers = value.attribute(key::kConstant);
      const bool holds = numbers != nullptr &&
                         patterns::breach_of_values(*dyn_cast<TensorType>(type), *numbers).empty();
      if (holds) return rewriter_.constant(*value.free_in(), constant);
    }
    set_insertion_point(value);
    const Op* definition = value.defining_op();
    rewriter_.set_default_location((definition != nullptr ? definition : &user)->location());
    const NamedAttr attribute{key::kDtype, context_.word(mir::name_of(dtype))};
    Value* operand = &value;
    run_.count("casts inserted");
    return rewriter_
        .create({.name = context_.op_name(OpId::kLinalgCastType, value.tensor_type()->device()),
                 .operands = {&operand, 1},
                 .result_types = {&type, 1},
                 .attributes = {&attribute, 1}})
        ->result();
  }

  /// Right after the definition. Graphs stay at the begin of a region.
  void set_insertion_point(Value& value) {
    if (Op* definition = value.defining_op()) {
      rewriter_.set_insertion_point_after(*definition);
      return;
    }
    Block* block = value.is_free() ? value.free_in()->entry() : value.argument_of();
    Op* first = block->front();
    while (first != nullptr && is_graph(*first)) first = first->next();
    if (first == nullptr) {
      rewriter_.set_insertion_point_to_end(*block);
    } else {
      rewriter_.set_insertion_point(*first);
    }
  }

  /// The value that becomes a result of a region; null if it is not known.
  static const Value* passed_on(const Region& region, std::uint32_t result) {
    const auto edges = region_edges(*region.parent());
    const Op* last = region.empty() ? nullptr : region.last_block()->terminator();
    if (!edges || last == nullptr) return nullptr;
    for (const RegionEdge& edge : *edges) {
      if (edge.from != region.index() || result >= edge.operand_count) continue;
      const std::uint32_t operand = edge.first_operand + result;
      return operand < last->operand_count() ? last->operand(operand) : nullptr;
    }
    return nullptr;
  }

  /// States the types that a region hands over, and drops constants that nothing reads.
  void finish(Region& region) {
    std::vector<const Type*> types(region.result_types().begin(), region.result_types().end());
    for (std::uint32_t i = 0; i < types.size(); ++i) {
      const auto target = flow_.of_result(region, i);
      const bool is_graph_result = target && is_target_converted_[*target];
      const Value* returned = target ? nullptr : passed_on(region, i);
      if (is_graph_result) {
        types[i] = new_type(*types[i]);
      } else if (returned != nullptr) {
        types[i] = returned->type();
      }
    }
    if (!std::ranges::equal(types, region.result_types())) {
      rewriter_.set_result_types(region, types);
    }
    rewriter_.erase_unused_free_values(region);
  }

  PassRun& run_;
  Module& module_;
  IRContext& context_;
  Rewriter rewriter_;
  DType from_, to_;
  NameFilter names_;
  ValueFlow flow_;
  ParameterUsers parameters_;
  std::vector<Region*> regions_;
  std::vector<Op*> ops_;
  std::vector<Op*> casts_;  ///< between the two types, whose results were used
  std::unordered_map<const Value*, ConvertibleValue> candidates_;
  std::unordered_map<const Value*, bool> is_parameter_;
  std::unordered_map<const Op*, bool> is_table_converted_;
  std::unordered_map<const Op*, OpPlan> plans_;
  std::vector<bool> is_target_converted_;
};

/// Names of the floating-point types.
std::vector<std::string> float_types() {
  std::vector<std::string> names;
  for (const DTypeInfo& row : dtype_table()) {
    if (row.type_class == DTypeClass::kFloat) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace

Pass convert_types_pass() {
  return {.name = "convert-types",
          .summary = "gives values and parameters of one floating-point type another one",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .options = {{.name = "from",
                       .kind = PassOption::Kind::kText,
                       .by_default = std::string(name_of(DType::kFloat32)),
                       .summary = "the element type that is replaced",
                       .choices = float_types()},
                      {.name = "to",
                       .kind = PassOption::Kind::kText,
                       .by_default = std::string(name_of(DType::kBFloat16)),
                       .summary = "the new element type",
                       .choices = float_types()},
                      {.name = "names",
                       .kind = PassOption::Kind::kText,
                       .is_list = true,
                       .summary = "convert only values, results of operations and parameters with "
                                  "these names; `*` is any text, `?` any character"},
                      {.name = "scope",
                       .kind = PassOption::Kind::kText,
                       .by_default = "all",
                       .summary = "convert only parameters, or only other values",
                       .choices = {"all", "parameters", "values"}},
                      {.name = "interface",
                       .summary = "also convert the inputs and outputs of the module"}},
          .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
          .run = [](PassRun& run) { return TypeConversion(run).apply(); }};
}

}  // namespace mir
