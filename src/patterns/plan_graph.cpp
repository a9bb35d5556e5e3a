// Plans the ops of a template graph under bindings, and creates them.
#include "patterns/plan_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/generic_form.hpp"
#include "ir/casts.hpp"
#include "ir/one_element.hpp"
#include "mir/infer.hpp"
#include "patterns/constant_values.hpp"

namespace mir::patterns {

namespace {

class GraphPlanner {
 public:
  GraphPlanner(const GraphTemplate& graph, const Bindings& bindings, IRContext& context,
               GraphPlan& plan)
      : graph_(graph), bindings_(bindings), context_(context), plan_(plan) {}

  std::optional<std::string> run() {
    for (std::uint32_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].constant && !plan_constant(i)) return reason_;
    }
    for (const OpTemplate& op : graph_.ops) {
      if (!plan_op(op, plan_.ops)) return reason_;
    }
    plan_.fault = nullptr;
    return std::nullopt;
  }

 private:
  bool fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  bool plan_constant(std::uint32_t number) {
    const ValueTemplate& value = graph_.values[number];
    plan_.types[number] = instantiate(value.type, bindings_, context_);
    plan_.constants[number] = instantiate(*value.constant, bindings_, context_);
    const TensorType* type = held_type(plan_.types[number]);
    const Attr* elements = plan_.constants[number];
    if (type == nullptr || elements == nullptr) {
      return fail(fmt::format("constant '%{}' has no value", value.name));
    }
    const std::string breach = breach_of_values(*type, *elements);
    if (breach.empty()) return true;
    return fail(fmt::format("constant '%{}' would be no {}: {}", value.name,
                            plan_.types[number]->spelling(), breach));
  }

  bool plan_op(const OpTemplate& op, std::vector<PlannedOp>& into) {
    plan_.fault = &op;
    if (op.number) bindings_.variables[op.number->first] = op.number->second;
    PlannedOp made{.operands = op.operands, .results = op.results, .at = op.at};
    Symbol device;
    if (op.device) {
      const Attr* const bound =
          op.device->variable ? bindings_.variables[*op.device->variable] : nullptr;
      if (op.device->variable && bound == nullptr) {
        return fail(fmt::format("the device of the new '{}' is not known", op.info->name));
      }
      device = bound != nullptr ? context_.intern(bound->text()) : op.device->name;
    }
    made.name = context_.op_name(op.kind, device);
    for (const OpTemplate::Attribute& each : op.attributes) {
      const Attr* value = instantiate(each.value, bindings_, context_);
      // A list that the op at hand does not state is not one of the new op.
      const bool is_absent = value == nullptr && bindings_.takes_unknown && !each.row->required &&
                             each.row->type == AttrType::kAny &&
                             each.value.kind == AttributeTemplate::Kind::kVariable;
      if (is_absent) continue;
      if (value == nullptr || !admits(*each.row, *value)) {
        plan_.needs_number = value != nullptr && value->kind() == AttrKind::kDim;
        return fail(fmt::format("attribute '{}' of the new '{}' would be {}", each.row->name,
                                op.info->name, value == nullptr ? "unknown" : value->spelling()));
      }
      made.attributes.push_back({each.key, value});
    }
    if (op.others && !plan_others(op, made)) return false;
    if (op.path && !plan_path(op, made)) return false;
    if (!(op.regions.empty() ? infer_results(op, made) : plan_regions(op, made))) return false;
    into.push_back(std::move(made));
    return true;
  }

  /// Without the name of the op that it continues, a name begins after the dot.
  bool plan_path(const OpTemplate& op, PlannedOp& made) {
    const Attr* path = instantiate(*op.path, bindings_, context_);
    if (path == nullptr) return fail(fmt::format("the new '{}' has no name", op.info->name));
    std::string suffix = op.path_suffix;
    for (const auto& [variable, number] : op.path_variables) {
      const Attr* const value = bindings_.variables[number];
      const std::size_t at = suffix.find(variable);
      if (value == nullptr || at == suffix.npos) {
        return fail(fmt::format("the name of the new '{}' has no {}", op.info->name, variable));
      }
      suffix.replace(at, variable.size(),
                     value->kind() == AttrKind::kString ? value->text() : value->spelling());
    }
    if (path->text().empty() && suffix.starts_with('.')) suffix.erase(0, 1);
    const std::string text = std::string(path->text()) + suffix;
    if (text.empty()) return true;
    made.path = context_.intern(text);
    made.has_path = true;
    return true;
  }

  // -- control flow -------------------------------------------------------------------------------

  /// Types follow the values: from the operands into the regions, in their order, and to the
  /// results.
  bool plan_regions(const OpTemplate& op, PlannedOp& made) {
    if (!check_operands(op) || !pass_from(op, RegionEdge::kOp)) return false;
    for (std::uint32_t number = 0; number < op.regions.size(); ++number) {
      const OpTemplate::Region& region = op.regions[number];
      if (op.kind == OpId::kLinalgGeneric && !set_number_types(op, region)) return false;
      if (op.kind == OpId::kCfFor && !set_type(region.arguments.front(), op, type_of(op, 0))) {
        return false;
      }
      PlannedOp::Region& planned = made.regions.emplace_back();
      planned.arguments = region.arguments;
      for (const OpTemplate& inner : region.ops) {
        if (!plan_op(inner, planned.ops)) return false;
      }
      if (!pass_from(op, number)) return false;
    }
    return op.kind != OpId::kLinalgGeneric || infer_results(op, made);
  }

  /// The region of a generic op takes a number of each operand.
  bool set_number_types(const OpTemplate& op, const OpTemplate::Region& region) {
    if (region.arguments.size() != op.operands.size()) {
      return fail(fmt::format("the region of the new '{}' takes {} numbers, expected {}",
                              op.info->name, region.arguments.size(), op.operands.size()));
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const auto* tensor = dyn_cast<TensorType>(type_of(op, i));
      const auto dtype = tensor == nullptr || !tensor->dtype()
                             ? std::nullopt
                             : accumulation_type(*tensor->dtype());
      if (!dtype) return fail(fmt::format("'{}' takes numbers", op.info->name));
      const Type* number = context_.tensor(std::span<const Dim>(), context_.intern(name_of(*dtype)),
                                           tensor->device());
      if (!set_type(region.arguments[i], op, number)) return false;
    }
    return true;
  }

  const Type* type_of(const OpTemplate& op, std::size_t operand) const {
    return plan_.types[op.operands[operand]];
  }

  /// Gives the values that edges reach the types of those that they pass.
  bool pass_from(const OpTemplate& op, std::uint32_t from) {
    const OpTemplate& source = from == RegionEdge::kOp ? op : op.regions[from].ops.back();
    for (const RegionEdge& edge : op.flow) {
      if (edge.from != from) continue;
      const auto& targets = edge.to == RegionEdge::kOp ? op.results : op.regions[edge.to].arguments;
      for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
        const Type* type = type_of(source, edge.first_operand + i);
        if (!set_type(targets[edge.first_target + i], source, type)) return false;
      }
    }
    return true;
  }

  /// False if the value has another type already, or states one.
  bool set_type(std::uint32_t value, const OpTemplate& source, const Type* passed) {
    if (passed == nullptr) {
      return fail(fmt::format("an operand of the new '{}' has no type", source.info->name));
    }
    const Type*& type = plan_.types[value];
    const Type* known =
        type != nullptr ? type : instantiate(graph_.values[value].type, bindings_, context_);
    if (type == nullptr) type = known != nullptr ? known : passed;
    if (type == passed || compatible(type, passed)) return true;
    return fail(fmt::format("the new '{}' would pass {} to '%{}', which is {}", source.info->name,
                            passed->spelling(), graph_.values[value].name, type->spelling()));
  }

  /// Conditions and bounds of control flow.
  bool check_operands(const OpTemplate& op) {
    if (op.kind != OpId::kCfFor) {
      return op.kind != OpId::kCfIf || check_condition(op);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const Type* type = type_of(op, i);
      if (type == type_of(op, 0) && is_one_element(type, is_index)) continue;
      return fail(
          fmt::format("the bounds and the step of the new '{}' would not be of one type "
                      "with one Int32 or Int64: {}",
                      op.info->name, type->spelling()));
    }
    return true;
  }

  bool check_condition(const OpTemplate& op) {
    const Type* type = type_of(op, 0);
    if (is_one_element(type, is_condition)) return true;
    return fail(fmt::format("the condition of the new '{}' would be {}, expected one Bool",
                            op.info->name, type->spelling()));
  }

  // -- attributes and results ---------------------------------------------------------------------

  /// The attributes that another op stated, as far as the new one can have them.
  bool plan_others(const OpTemplate& op, PlannedOp& made) {
    const Attr* others = instantiate(*op.others, bindings_, context_);
    if (others == nullptr || others->kind() != AttrKind::kDict) {
      return fail(fmt::format("the other attributes of the new '{}' are not known", op.info->name));
    }
    for (const NamedAttr& each : others->entries()) {
      const auto& rows = op.info->row->attributes;
      const auto row = std::ranges::find(rows, context_.text(each.key), &AttrRow::name);
      if (row == rows.end() || !admits(*row, *each.value)) {
        return fail(fmt::format("the new '{}' cannot have {}:{}", op.info->name,
                                context_.text(each.key), each.value->spelling()));
      }
      const bool is_stated =
          std::ranges::find(made.attributes, each.key, &NamedAttr::key) != made.attributes.end();
      if (!is_stated) made.attributes.push_back(each);
    }
    return true;
  }

  bool infer_results(const OpTemplate& op, const PlannedOp& made) {
    std::vector<const Type*> operands;
    for (const std::uint32_t operand : op.operands) {
      operands.push_back(plan_.types[operand]);
      if (operands.back() == nullptr) {
        return fail(fmt::format("an operand of the new '{}' has no type", op.info->name));
      }
    }
    if (op.kind == OpId::kCfCondition && !check_condition(op)) return false;
    Diagnostics found(1);
    auto inferred = infer({.context = context_,
                           .row = *op.info->row,
                           .operands = operands,
                           .attributes = made.attributes,
                           .result_count = op.results.size(),
                           .device = made.name.device,
                           .prover = bindings_.prover},
                          found);
    if (!inferred) {
      const auto errors = found.sorted();
      return fail(fmt::format("the new '{}' would not verify: {}", op.info->name,
                              errors.empty() ? "an operand has no type" : errors.front().message));
    }
    if (op.kind == OpId::kDialectCast) inferred->push_back(type_of_cast(operands.front()));
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const TypeTemplate& stated = graph_.values[op.results[i]].type;
      const Type* wanted = instantiate(stated, bindings_, context_);
      const Type* type = i < inferred->size() ? (*inferred)[i] : nullptr;
      if (type == nullptr || (wanted != nullptr && compatible(type, wanted))) type = wanted;
      if (type == nullptr || (wanted != nullptr && wanted != type)) {
        return fail(fmt::format("the new '%{}' would be {}, not {} as stated",
                                graph_.values[op.results[i]].name,
                                type == nullptr ? "untyped" : type->spelling(),
                                wanted == nullptr ? "known" : wanted->spelling()));
      }
      plan_.types[op.results[i]] = type;
      const auto breach =
          op.kind == OpId::kDialectCast ? breach_of_cast(operands.front(), type) : std::nullopt;
      if (breach) return fail(breach->message);
    }
    return true;
  }

  const GraphTemplate& graph_;
  Bindings bindings_;
  IRContext& context_;
  GraphPlan& plan_;
  std::string reason_;
};

}  // namespace

std::optional<std::string> plan_graph(const GraphTemplate& graph, const Bindings& bindings,
                                      IRContext& context, GraphPlan& plan) {
  return GraphPlanner(graph, bindings, context, plan).run();
}

namespace {

/// Makes planned ops, which read and extend `values`.
class GraphMaker {
 public:
  GraphMaker(const GraphPlan& plan, std::vector<Value*>& values) : plan_(plan), values_(values) {}

  void make(Rewriter& rewriter, const std::vector<PlannedOp>& ops) {
    for (const PlannedOp& op : ops) {
      const std::vector<Value*> operands = values_of(op.operands, rewriter);
      const std::vector<const Type*> types = types_of(op.results);
      OpSpec spec{.name = op.name,
                  .operands = operands,
                  .result_types = types,
                  .attributes = op.attributes,
                  .regions = static_cast<std::uint32_t>(op.regions.size())};
      if (op.has_path) spec.path = op.path;
      Op* made = rewriter.create(spec);
      for (std::size_t i = 0; i < op.results.size(); ++i) values_[op.results[i]] = made->result(i);
      for (std::uint32_t i = 0; i < op.regions.size(); ++i) {
        make_region(rewriter, op.regions[i], *made->region(i));
      }
    }
  }

 private:
  void make_region(const Rewriter& around, const PlannedOp::Region& planned, Region& region) {
    Rewriter rewriter(around.module());
    rewriter.set_default_location(around.default_location());
    Block& block = *rewriter.create_block(region, types_of(planned.arguments));
    for (std::size_t i = 0; i < planned.arguments.size(); ++i) {
      values_[planned.arguments[i]] = &block.arguments()[i];
    }
    rewriter.set_insertion_point_to_end(block);
    Region* const around_this =
        std::exchange(isolated_, region.parent()->has(Trait::kIsolated) ? &region : isolated_);
    make(rewriter, planned.ops);
    isolated_ = around_this;
    std::vector<std::uint32_t> results = planned.ops.back().operands;
    if (planned.ops.back().name.kind == OpId::kCfCondition) results.erase(results.begin());
    rewriter.set_has_signature(region, true);
    rewriter.set_result_types(region, types_of(results));
  }

  /// An isolated region has constants of its own.
  std::vector<Value*> values_of(const std::vector<std::uint32_t>& numbers,
                                Rewriter& rewriter) const {
    std::vector<Value*> found;
    for (const std::uint32_t each : numbers) {
      const auto constant = isolated_ == nullptr ? std::nullopt : constant_of(*values_[each]);
      found.push_back(constant ? rewriter.constant(*isolated_, *constant) : values_[each]);
    }
    return found;
  }
  std::vector<const Type*> types_of(const std::vector<std::uint32_t>& numbers) const {
    std::vector<const Type*> found;
    for (const std::uint32_t each : numbers) found.push_back(plan_.types[each]);
    return found;
  }

  const GraphPlan& plan_;
  std::vector<Value*>& values_;
  Region* isolated_ = nullptr;  // the innermost isolated region in which ops are made
};

}  // namespace

std::vector<Value*> make_graph(Rewriter& rewriter, const GraphPlan& plan, Region& region) {
  std::vector<Value*> values = plan.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (plan.constants[i] == nullptr) continue;
    const NamedAttr numbers{key::kConstant, plan.constants[i]};
    values[i] = rewriter.constant(region, {.type = plan.types[i], .attributes = {&numbers, 1}});
  }
  GraphMaker(plan, values).make(rewriter, plan.ops);
  return values;
}

}  // namespace mir::patterns
