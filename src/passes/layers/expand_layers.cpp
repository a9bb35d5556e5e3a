// Replaces layers by graphs or by their bodies, and registers the parameters of what they contain.
#include "passes/layers/expand_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "dialects/parameters.hpp"
#include "ir/rewrite/bodies.hpp"
#include "mir/codes/limits.hpp"
#include "mir/ops.hpp"
#include "mir/tensor.hpp"
#include "mir/walk.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Layers in layers can multiply without end.
constexpr std::size_t kMostLayers = std::size_t{1} << 16;

/// The type of a parameter of an op; null if types and attributes do not tell.
const Type* type_of_parameter(const Op& op, const WeightRow& weight) {
  IRContext& context = op.module().context();
  const std::vector<const Type*> operands = operand_types(op);
  if (op.result_count() == 0 || std::ranges::find(operands, nullptr) != operands.end()) {
    return nullptr;
  }
  const TensorType* const result = op.result(0)->tensor_type();
  const auto dims = parameter_dims({.context = context,
                                    .row = *op.row(),
                                    .operands = operands,
                                    .attributes = op.attributes(),
                                    .result_count = op.result_count()},
                                   weight, result);
  const bool are_known = dims && std::ranges::all_of(*dims, &Dim::is_constant);
  if (!are_known || result == nullptr) return nullptr;
  const bool is_float = result->dtype() && info(*result->dtype()).type_class == DTypeClass::kFloat;
  const std::string_view dtype =
      is_float ? context.text(result->dtype_name()) : name_of(DType::kFloat32);
  return context.tensor(*dims, context.intern(dtype), result->device());
}

class LayerExpander {
 public:
  LayerExpander(Module& module, bool as_graphs, Diagnostics& diagnostics)
      : module_(module),
        as_graphs_(as_graphs),
        builder_(module, diagnostics),
        diagnostics_(diagnostics) {}

  bool run() {
    for_each_op(module_, [&](Op& op) {
      if (is_layer(op)) open_.push_back(&op);
    });
    for (std::size_t count = 0; !open_.empty(); ++count) {
      Op& op = *open_.front();
      open_.pop_front();
      if (count > kMostLayers) {
        diagnostics_.error(diag::kLimitExceeded, op.span(),
                           fmt::format("the module has more than {} layers", kMostLayers));
        return false;
      }
      if (!(can_be_graph(op) ? replace_by_call(op) : replace_in_place(op))) return false;
    }
    return true;
  }

 private:
  bool can_be_graph(const Op& op) const {
    const auto is_tensor = [](const Type* type) { return dyn_cast<TensorType>(type) != nullptr; };
    return as_graphs_ && op.has_path() && op.region_count() == 0 &&
           module_.lookup_op(op.path()) == nullptr &&
           std::ranges::all_of(operand_types(op), is_tensor) &&
           std::ranges::all_of(op.results(),
                               [&](const Value& each) { return is_tensor(each.type()); });
  }

  bool replace_by_call(Op& op) {
    set_to_graphs();
    builder_.set_default_location(op.location());
    Op* const graph = builder_.subgraph(module_.context().text(op.path()), operand_types(op));
    if (graph == nullptr) return false;
    last_graph_ = graph;
    std::vector<Value*> operands;
    for (Value& argument : builder_.insertion_block()->arguments()) operands.push_back(&argument);
    const auto values = op.row()->body(op, operands, builder_, diagnostics_);
    if (!values) return false;
    builder_.return_op(*values);
    const Block& body = *graph->region()->entry();
    add_layers(body.front(), nullptr);
    add_parameters(body.front(), nullptr);
    builder_.set_insertion_point(op);
    operands.clear();
    for (const Use& use : op.operand_uses()) operands.push_back(use.value());
    std::vector<const Type*> types;
    for (const Value& result : op.results()) types.push_back(result.type());
    Op* const call = builder_.call(module_.context().text(op.path()), operands, types);
    std::vector<Value*> results;
    for (Value& result : call->results()) results.push_back(&result);
    std::vector<ValueName> names;
    for (const Value& result : op.results()) {
      names.push_back(result.name());
      builder_.set_attributes(*results[result.index()], result.attributes());
    }
    builder_.replace(op, results);
    for (std::size_t i = 0; i < results.size(); ++i) builder_.set_name(*results[i], names[i]);
    return true;
  }

  bool replace_in_place(Op& op) {
    Op* const before = op.previous();
    Block& block = *op.block();
    const Op* const next = op.next();
    if (!replace_by_body(builder_, op, diagnostics_)) return false;
    Op* const first = before == nullptr ? block.front() : before->next();
    add_layers(first, next);
    add_parameters(first, next);
    return true;
  }

  /// Graphs follow each other behind those that the module begins with.
  void set_to_graphs() {
    Block& block = *module_.body().entry();
    if (last_graph_ == nullptr) {
      Op* first = block.front();
      while (first != nullptr && isa<SubGraphOp>(first)) {
        last_graph_ = first;
        first = first->next();
      }
    }
    if (last_graph_ == nullptr) {
      builder_.set_insertion_point_to_start(block);
    } else {
      builder_.set_insertion_point_after(*last_graph_);
    }
  }

  template <class Visit>
  static void for_each_new(Op* first, const Op* end, const Visit& visit) {
    for (Op* op = first; op != end; op = op->next()) {
      visit(*op);
      for (Region* region = op->first_region(); region != nullptr; region = region->next()) {
        for_each_op(*region, visit);
      }
    }
  }

  /// The layers of a layer come before those that follow it.
  void add_layers(Op* first, const Op* end) {
    std::vector<Op*> found;
    for_each_new(first, end, [&](Op& op) {
      if (is_layer(op)) found.push_back(&op);
    });
    open_.insert(open_.begin(), found.begin(), found.end());
  }

  void add_parameters(Op* first, const Op* end) {
    for_each_new(first, end, [&](const Op& op) {
      if (op.row() == nullptr || op.row()->weights.empty()) return;
      if (!set_to_init()) return;
      register_parameters_of(op, builder_, module_);
    });
  }

  /// The graph in which parameters are registered.
  bool set_to_init() {
    Op* init = module_.lookup_op(module_.context().intern("init"));
    if (init == nullptr) {
      builder_.set_insertion_point_to_start(*module_.body().entry());
      init = builder_.subgraph("init", {}, "notype");
      if (init != nullptr && last_graph_ == nullptr) last_graph_ = init;
    }
    if (init == nullptr || init->first_region() == nullptr) return false;
    builder_.set_insertion_point_to_end(builder_.entry_of(*init->first_region()));
    return true;
  }

  Module& module_;
  bool as_graphs_;
  Builder builder_;
  Diagnostics& diagnostics_;
  std::deque<Op*> open_;
  Op* last_graph_ = nullptr;
};

}  // namespace

void register_parameters_of(const Op& op, Builder& into, const Module& around) {
  IRContext& context = into.context();
  if (op.row() == nullptr || !op.has_path()) return;
  for (const WeightRow& weight : op.row()->weights) {
    if (!owns_parameter(*op.row(), weight, context, op.attributes())) continue;
    const std::string name = fmt::format("{}{}", context.text(op.path()), weight.suffix);
    const Symbol symbol = context.intern(name);
    if (into.module().lookup_value(symbol) != nullptr || around.lookup_value(symbol) != nullptr) {
      continue;
    }
    const Type* const type = type_of_parameter(op, weight);
    if (type != nullptr) into.parameter(name, type);
  }
}

bool expand_layers(Module& module, bool as_graphs, Diagnostics& diagnostics) {
  return LayerExpander(module, as_graphs, diagnostics).run();
}

Pass expand_layers_pass() {
  return {.name = "expand-layers",
          .summary = "replaces layers of models by graphs, and registers their parameters",
          .takes = PassForm::kPortable,
          .options = {{.name = "inline", .summary = "makes no graphs: operations in their place"}},
          .run = [](PassRun& run) {
            bool has_layers = false;
            for_each_op(run.module(),
                        [&](const Op& op) { has_layers = has_layers || is_layer(op); });
            if (!has_layers) return run.result();
            const bool as_graphs = !run.options().flag("inline");
            return expand_layers(run.module(), as_graphs, run.diagnostics()) ? run.result()
                                                                             : PassResult::kFailed;
          }};
}

}  // namespace mir
