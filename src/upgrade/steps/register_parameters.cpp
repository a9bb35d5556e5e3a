// Registers the parameters that ops own and a dump does not register.
#include <vector>

#include "dialects/parameters.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "upgrade/steps/recovery.hpp"

// Parameters that a named op owns and the dump does not register: lowered modules of older versions
// declare kernels only. Their types follow from the op.

namespace mir {

namespace {

class Registration {
 public:
  explicit Registration(Recovery& recovery) : recovery_(recovery), module_(recovery.module) {}

  void run() {
    walk<LinalgOp>(module_, [&](LinalgOp op) {
      if (op->has_path() && op->row() != nullptr) register_all(*op.op());
    });
    std::vector<Value*> mentioned;
    for_each_value(module_, [&](Value& value, Op&) {
      if (value.has_symbol() && value.has_uses()) mentioned.push_back(&value);
    });
    for (Value* value : mentioned) register_mentioned(*value);
    collect_registers();
  }

 private:
  void register_all(const Op& op) {
    for (const WeightRow& weight : op.row()->weights) {
      if (!owns_parameter(*op.row(), weight, recovery_.context(), op.attributes())) continue;
      const std::string symbol = fmt::format("{}{}", recovery_.text(op.path()), weight.suffix);
      if (module_.lookup_symbol(symbol).value != nullptr) continue;
      const TensorType* type = type_of(op, weight);
      if (type == nullptr) {
        recovery_.refuse(op, weight.suffix, "no register states its extents");
        continue;
      }
      Value* parameter = builder().parameter(symbol, type);
      const Attr* recipe = recipe_of(op, weight);
      if (recipe != nullptr && fits(*recipe, *type)) {
        std::vector<NamedAttr> list(parameter->attributes().begin(), parameter->attributes().end());
        list.push_back({key::kQuantRecipe, recipe});
        recovery_.rewriter.set_attributes(*parameter, list);
      }
      // Nothing tells the type in which the elements are kept, unless they lay in packed bytes.
      const bool certain = recovery_.notes.unpacked.contains(op.id());
      recovery_.note(op, certain ? LossEntry::Source::kDerived : LossEntry::Source::kAssumed,
                     fmt::format("parameter {}", weight.suffix), std::string(type->spelling()));
    }
  }

  /// Upstream registers what ops own, and not the parameters that it hands to them as operands.
  void register_mentioned(const Value& value) {
    const auto symbol = std::string(recovery_.text(value.symbol()));
    if (value.defining_op() != nullptr || value.tensor_type() == nullptr ||
        module_.lookup_symbol(symbol).value != nullptr) {
      return;
    }
    builder().parameter(symbol, value.type());
    recovery_.note(*value.first_use()->user(), LossEntry::Source::kDerived,
                   fmt::format("parameter @{}", symbol), std::string(value.type()->spelling()));
  }

  const TensorType* type_of(const Op& op, const WeightRow& weight) const {
    if (op.operand_count() == 0 || op.result_count() == 0) return nullptr;
    const TensorType* result = op.result()->tensor_type();
    const auto extents = parameter_extents(weight, recovery_.context(),
                                           op.operand(0)->tensor_type(), result, op.attributes());
    if (!extents || result == nullptr) return nullptr;
    std::vector<Dim> dims;
    for (const std::int64_t extent : *extents) dims.push_back(Dim(extent));
    const Attr* recipe = recipe_of(op, weight);
    if (recipe != nullptr && has_two_levels(read_quant_spec(*recipe))) {
      // As the registers of other dumps have them: QNN's convolutions in bytes, others as numbers.
      const bool bytes = op.is(OpId::kLinalgConv2D) && dims.size() == 4;
      if (bytes) dims = {dims[2], dims[3], dims[1], dims[0]};
      const auto dtype = bytes ? DType::kInt8 : DType::kFloat32;
      return recovery_.context().tensor(dims, dtype, recovery_.text(result->device()));
    }
    return recovery_.context().tensor(dims, result->dtype_name(), result->device());
  }

  /// Older versions of upstream noted the recipe of a Linear's weight at its convolutions, whose
  /// channels lie elsewhere.
  static bool fits(const Attr& recipe, const TensorType& type) {
    const QuantSpec spec = read_quant_spec(recipe);
    return !has_two_levels(spec) || type.dtype() != DType::kInt8 || spec.integer("ch_axis") == 3;
  }

  /// Recipe of the parameter in the op's own note; null if there is none.
  const Attr* recipe_of(const Op& op, const WeightRow& weight) const {
    const Attr* note = op.attribute(key::kQuantRecipe);
    return note == nullptr ? nullptr : weight_recipe(recovery_.context(), *note, weight.suffix);
  }

  /// Dumps that are cut or written by hand register elsewhere. What reads such a result there reads
  /// the parameter by its name.
  void collect_registers() {
    std::vector<Op*> strays;
    walk<RegisterOp>(module_, [&](RegisterOp op) {
      const Op* graph = op->parent_op();
      if (graph->is(OpId::kProgFragment)) return;
      if (!isa<SubGraphOp>(graph) || recovery_.text(graph->symbol()) != "init") {
        strays.push_back(op.op());
      }
    });
    for (Op* op : strays) collect(*op);
  }

  void collect(Op& op) {
    if (op.result_count() != 1 || op.is(OpId::kLinalgRegister)) return;
    Value& parameter = *op.result();
    if (parameter.has_uses()) {
      Value* mention = recovery_.rewriter.create_free_value(*op.parent_region(), parameter.type(),
                                                            parameter.name());
      recovery_.rewriter.set_attributes(*mention, parameter.attributes());
      if (parameter.has_symbol()) recovery_.rewriter.set_symbol(*mention, parameter.symbol());
      recovery_.rewriter.replace_all_uses(parameter, *mention);
    }
    recovery_.rewriter.move_to_end(op, *builder().insertion_block());
  }

  /// Inserts at the end of `@init`, which is made where the module has none.
  Builder& builder() {
    if (builder_) return *builder_;
    builder_.emplace(module_, recovery_.diagnostics);
    const SubGraphOp init = dyn_cast<SubGraphOp>(module_.lookup_symbol("init").op);
    if (init && init.body() != nullptr && !init.body()->empty()) {
      builder_->set_insertion_point_to_end(init.body()->only_block());
      return *builder_;
    }
    if (Op* first = module_.body().only_block().front()) builder_->set_insertion_point(*first);
    builder_->subgraph("init", {}, "notype");
    return *builder_;
  }

  Recovery& recovery_;
  Module& module_;
  std::optional<Builder> builder_;
};

}  // namespace

const Attr* weight_recipe(const IRContext& context, const Attr& annotation,
                          std::string_view suffix) {
  if (annotation.kind() != AttrKind::kQuantAnnotation || !suffix.starts_with('.')) return nullptr;
  const std::string key = fmt::format("weight_{}", suffix.substr(1));
  for (const NamedAttr& each : annotation.entries()) {
    const bool spec = each.value != nullptr && each.value->kind() == AttrKind::kQuantSpec;
    if (spec && context.text(each.key) == key) return each.value;
  }
  return nullptr;
}

void register_parameters(Recovery& recovery) {
  Registration(recovery).run();
}

}  // namespace mir
