// Copies ops of one block into a module of their own.
#include "passes/extract/extract_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "ir/rewrite/settle_relations.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/extract/body_graph.hpp"

namespace mir {

namespace {

class Extraction {
 public:
  Extraction(const Module& whole, std::span<Value* const> inputs)
      : whole_(whole),
        part_{.module = std::make_unique<Module>(whole.context(), whole.context().intern("main"))},
        rewriter_(module()) {
    rewriter_.set_version(std::max<std::int64_t>(whole.version(), 1));
    for (const AttrKey key : {key::kSymbols, key::kWhere}) {
      const Attr* declared = whole.top()->attribute(key);
      if (declared != nullptr) rewriter_.set_attribute(*module().top(), key, declared);
    }
    block_ = rewriter_.create_block(module().body());
    for (Value* input : inputs) add_input(*input);
  }

  ExtractedPart take(std::span<Op* const> ops, std::span<Value* const> results) {
    inside_ = {ops.begin(), ops.end()};
    for (const Op* op : ops) add_inputs(*op);
    for (Value* result : results) {
      if (!is_inside(*result)) add_input(*result);
    }
    rewriter_.set_insertion_point_to_end(*block_);
    for (const Op* op : ops) rewriter_.clone(*op, mapping_);
    std::vector<Value*> outputs;
    for (Value* result : results) outputs.push_back(mapped(*result));
    rewriter_.create({.name = module().context().op_name(OpId::kCfReturn), .operands = outputs});
    std::vector<const Type*> types;
    for (const Value* output : outputs) types.push_back(output->type());
    rewriter_.set_result_types(module().body(), types);
    add_declarations();
    settle_relations(module());
    return std::move(part_);
  }

 private:
  Module& module() { return *part_.module; }

  void add_input(Value& value) {
    // Constants and parameters follow the ops that use them.
    if (value.is_free() || mapping_.find(value) != nullptr) return;
    Value* argument = rewriter_.add_argument(*block_, value.type());
    rewriter_.set_name(*argument, module().fresh_name());
    rewriter_.set_attributes(*argument, value.attributes());
    mapping_.map(value, *argument);
    part_.inputs.push_back(&value);
  }

  /// The values from outside that the op and what is in it use.
  void add_inputs(const Op& op) {
    const auto add_operands = [&](const Op& user) {
      for (const Use& use : user.operand_uses()) {
        if (!is_inside(*use.value())) add_input(*use.value());
      }
    };
    add_operands(op);
    for (const Region* in = op.first_region(); in != nullptr; in = in->next()) {
      if (!op.has(Trait::kIsolated)) for_each_op(*in, add_operands);
    }
  }

  /// True if an op of the part, or an op nested in one, defines the value.
  bool is_inside(const Value& value) const {
    const Op* op = value.defining_op();
    if (const Block* block = value.argument_of()) op = block->parent()->parent();
    while (op != nullptr && !inside_.contains(op)) op = op->parent_op();
    return op != nullptr;
  }

  Value* mapped(Value& value) {
    if (Value* copy = mapping_.find(value)) return copy;
    return rewriter_.constant(module().body(), {.type = value.type(),
                                                .attributes = value.attributes(),
                                                .symbol = value.symbol(),
                                                .has_symbol = value.has_symbol()});
  }

  // -- what the whole declares --------------------------------------------------------------------

  void add_declarations() {
    // Graphs that are copied need others.
    std::size_t known = 0;
    for (collect_needs(module().body()); known != needed_.size();) {
      known = needed_.size();
      for (const Symbol symbol : std::vector<Symbol>(needed_)) add_declaration(symbol);
    }
  }

  void need(Symbol symbol) {
    if (std::ranges::find(needed_, symbol) == needed_.end()) needed_.push_back(symbol);
  }

  void collect_needs(const Region& region) {
    for_each_op(region, [&](const Op& op) {
      if (isa<CallGraphOp>(&op)) need(op.symbol());
      if (const auto named = named_parameter(op)) need(*named);
      for (const Use& use : op.operand_uses()) {
        if (use.value()->has_symbol()) need(use.value()->symbol());
      }
      for (const OwnedParameter& owned : owned_parameters(op)) need(owned.symbol);
    });
  }

  void add_declaration(Symbol symbol) {
    RewriteMapping ignored;
    if (const Op* graph = whole_.lookup_op(symbol); graph != nullptr && isa<SubGraphOp>(graph)) {
      if (module().lookup_op(symbol) != nullptr) return;
      rewriter_.set_insertion_point_to_start(*block_);
      Op& copy = *rewriter_.clone(*graph, ignored);
      erase_inner_graphs(rewriter_, copy);
      collect_needs(*copy.first_region());
      return;
    }
    const Value* parameter = whole_.lookup_value(symbol);
    if (parameter == nullptr || module().lookup_value(symbol) != nullptr) return;
    if (const Op* definition = parameter->defining_op()) {
      rewriter_.set_insertion_point_to_end(init());
      rewriter_.clone(*definition, ignored);
    }
  }

  Block& init() {
    if (init_ == nullptr) {
      Diagnostics ignored;
      Builder builder(module(), ignored);
      if (Op* first = block_->front()) builder.set_insertion_point(*first);
      builder.subgraph("init", {}, "notype");
      init_ = builder.insertion_block();
    }
    return *init_;
  }

  const Module& whole_;
  ExtractedPart part_;
  Rewriter rewriter_;
  Block* block_ = nullptr;
  Block* init_ = nullptr;
  std::set<const Op*> inside_;
  RewriteMapping mapping_;
  std::vector<Symbol> needed_;  // in the order in which they were met
};

}  // namespace

ExtractedPart extract_part(std::span<Op* const> ops, std::span<Value* const> results,
                           const Module& whole, std::span<Value* const> inputs) {
  return Extraction(whole, inputs).take(ops, results);
}

bool binds_its_symbols(const Op& graph, Diagnostics& diagnostics) {
  const IRContext& context = graph.module().context();
  std::set<std::string> taken;
  for (const Symbol symbol : symbols_taken_by(graph)) {
    taken.insert(fmt::format("'${}'", context.text(symbol)));
  }
  if (taken.empty()) return true;
  diagnostics.error(diag::kPipeline, graph.span(),
                    fmt::format("graph '@{}' must bind {} to become a module, it takes the value "
                                "from around its calls",
                                context.text(graph.symbol()), fmt::join(taken, ", ")));
  return false;
}

}  // namespace mir
