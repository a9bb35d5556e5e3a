// Plans the ops of a template graph under bindings, and creates them.
#include "patterns/plan_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/casts.hpp"
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
      if (!plan_op(op)) return reason_;
    }
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

  bool plan_op(const OpTemplate& op) {
    PlannedOp made{.operands = op.operands, .results = op.results};
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
      if (value == nullptr || !admits(*each.row, *value)) {
        return fail(fmt::format("attribute '{}' of the new '{}' would be {}", each.row->name,
                                op.info->name, value == nullptr ? "unknown" : value->spelling()));
      }
      made.attributes.push_back({each.key, value});
    }
    if (op.others && !plan_others(op, made)) return false;
    if (op.path) {
      const Attr* path = instantiate(*op.path, bindings_, context_);
      if (path == nullptr) return fail(fmt::format("the new '{}' has no name", op.info->name));
      made.path = context_.intern(std::string(path->text()) + op.path_suffix);
      made.has_path = true;
    }
    if (!infer_results(op, made)) return false;
    plan_.ops.push_back(std::move(made));
    return true;
  }

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
  const Bindings& bindings_;
  IRContext& context_;
  GraphPlan& plan_;
  std::string reason_;
};

}  // namespace

std::optional<std::string> plan_graph(const GraphTemplate& graph, const Bindings& bindings,
                                      IRContext& context, GraphPlan& plan) {
  return GraphPlanner(graph, bindings, context, plan).run();
}

std::vector<Value*> make_graph(Rewriter& rewriter, const GraphPlan& plan, Region& region) {
  std::vector<Value*> values = plan.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (plan.constants[i] == nullptr) continue;
    const NamedAttr numbers{key::kConstant, plan.constants[i]};
    values[i] = rewriter.constant(region, {.type = plan.types[i], .attributes = {&numbers, 1}});
  }
  for (const PlannedOp& op : plan.ops) {
    std::vector<Value*> operands;
    for (const std::uint32_t operand : op.operands) operands.push_back(values[operand]);
    std::vector<const Type*> types;
    for (const std::uint32_t result : op.results) types.push_back(plan.types[result]);
    OpSpec spec{
        .name = op.name, .operands = operands, .result_types = types, .attributes = op.attributes};
    if (op.has_path) spec.path = op.path;
    Op* made = rewriter.create(spec);
    for (std::size_t i = 0; i < op.results.size(); ++i) values[op.results[i]] = made->result(i);
  }
  return values;
}

}  // namespace mir::patterns
