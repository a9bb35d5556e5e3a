// Graphs for some values of a symbol, and the choice between them.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/call_types.hpp"
#include "ir/extent_prover.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/extract/body_graph.hpp"
#include "passes/standard_passes.hpp"
#include "passes/symbols/graph_copies.hpp"
#include "passes/symbols/substitute_extents.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

constexpr std::string_view kSpecializedSymbol = "SYMBOL";

/// The body of the module becomes a graph, unless it only calls one; blocks of the module call
/// copies of it, and the extent of an input selects the block.
class Dispatch {
 public:
  Dispatch(PassRun& run, Symbol symbol, std::vector<std::int64_t> values)
      : run_(run),
        module_(run.module()),
        context_(module_.context()),
        rewriter_(module_),
        copies_(run, rewriter_),
        symbol_(symbol),
        values_(std::move(values)) {}

  PassResult apply() {
    if (!check_values() || !find_extent() || !raise_version()) return PassResult::kFailed;
    take_call();
    add_dispatch();
    for (const std::int64_t value : values_) add_choice(value);
    if (copies_.has_failed()) return PassResult::kFailed;
    run_.count("graphs specialized", copies_.count());
    return run_.result();
  }

 private:
  bool refuse(DiagCode code, const Op& at, std::string message) {
    run_.diagnostics().error(code, at.span(), std::move(message));
    return false;
  }

  std::string_view text(Symbol symbol) const { return context_.text(symbol); }
  Region& body() const { return module_.body(); }
  Block& entry() const { return *body().entry(); }

  // -- the values --------------------------------------------------------------------------------

  bool check_values() {
    for (const SymbolDeclaration& each : symbol_declarations(module_)) {
      if (each.name != symbol_) continue;
      const auto other =
          std::ranges::find_if_not(values_, [&](std::int64_t value) { return each.admits(value); });
      if (other == values_.end()) continue;
      return refuse(diag::kSymbolOutOfRange, *module_.top(),
                    fmt::format("'${}' is {} by the pass, its declaration admits {}", text(symbol_),
                                *other, each.text()));
    }
    const ExtentProver prover(context_, symbol_declarations(module_));
    for (const std::int64_t value : values_) {
      DimBindings bound;
      bound.bind(symbol_, value);
      const SymbolRelation* broken = prover.impossible_for(bound);
      if (broken == nullptr) continue;
      return refuse(diag::kSymbolOutOfRange, *module_.top(),
                    fmt::format("'${}' is {} by the pass, the module requires {}", text(symbol_),
                                value, broken->text(context_.dims())));
    }
    return true;
  }

  /// The dimension of an input that is the symbol.
  bool find_extent() {
    NearestName nearest(text(symbol_));
    const Dim wanted = context_.dims().symbol(text(symbol_));
    for (Value& input : body().entry_arguments()) {
      if (input.tensor_type() == nullptr) continue;
      const auto extents = input.tensor_type()->dims();
      const auto found = std::ranges::find(extents, wanted);
      if (found != extents.end()) {
        input_ = &input;
        dimension_ = found - extents.begin();
        return true;
      }
      for (const Dim extent : extents) {
        for (const Symbol each : context_.dims().symbols(extent)) nearest.offer(text(each));
      }
    }
    Diagnostic& problem = run_.diagnostics().error(
        diag::kPipeline, module_.top()->span(),
        fmt::format("no dimension of an input is '${}', by which a run could select a graph",
                    text(symbol_)));
    suggest(problem, nearest.best());
    return false;
  }

  /// Before kSymbolsVersion, the symbols of graphs are those of the module.
  bool raise_version() {
    if (module_.version() >= kSymbolsVersion) return true;
    rewriter_.set_version(kSymbolsVersion);
    const Op* other = nullptr;
    for_each_op(module_, [&](const Op& op) {
      const Op* const graph = isa<CallGraphOp>(&op) ? called_graph(op) : nullptr;
      const bool has_body = graph != nullptr && graph->first_region() != nullptr;
      if (other == nullptr && has_body && CallTypes::are_own(op, *graph)) other = &op;
    });
    if (other == nullptr) return true;
    return refuse(diag::kPipeline, *other,
                  fmt::format("the result needs mir_version:{}, where the symbols of '@{}' are its "
                              "own: give the module this version",
                              kSymbolsVersion, text(other->symbol())));
  }

  // -- the graph ----------------------------------------------------------------------------------

  /// Leaves the call of a graph and a return in the module.
  void take_call() {
    std::vector<Op*> ops;
    for (Op* op : entry().ops()) {
      if (!declares(*op)) ops.push_back(op);
    }
    if (!body().has_several_blocks() && ops.size() == 2 && is_whole(*ops[0], *ops[1])) {
      call_ = ops[0];
      end_ = ops[1];
      return;
    }
    move_to_graph();
  }

  /// True if a call passes the inputs, and its results are returned.
  bool is_whole(const Op& call, const Op& end) const {
    const auto is_argument = [](const Use& use, const Value& argument) {
      return use.value() == &argument;
    };
    const auto is_result = [](const Use& use, const Value& result) {
      return use.value() == &result;
    };
    return isa<CallGraphOp>(&call) && end.is(OpId::kCfReturn) &&
           std::ranges::equal(call.operand_uses(), entry().arguments(), is_argument) &&
           std::ranges::equal(end.operand_uses(), call.results(), is_result);
  }

  void move_to_graph() {
    const std::string name =
        unused_graph_name(module_, fmt::format("{}.body", text(module_.name())));
    const Op& graph = move_body_to_graph(rewriter_, name);
    const Region& region = *graph.first_region();
    rewriter_.set_insertion_point_to_end(entry());
    const std::vector<Value*> inputs = inputs_of_module();
    call_ = rewriter_.create({.name = context_.op_name(OpId::kGraphCallGraph),
                              .operands = inputs,
                              .result_types = region.result_types(),
                              .symbol = graph.symbol()});
    std::vector<Value*> outputs;
    for (Value& result : call_->results()) {
      const Value* const returned = region.returned(result.index());
      if (returned != nullptr && !returned->is_free()) {
        rewriter_.set_name(result, returned->name());
        rewriter_.set_attributes(result, returned->attributes());
      }
      outputs.push_back(&result);
    }
    end_ = rewriter_.create({.name = context_.op_name(OpId::kCfReturn), .operands = outputs});
  }

  std::vector<Value*> inputs_of_module() const {
    std::vector<Value*> inputs;
    for (Value& input : entry().arguments()) inputs.push_back(&input);
    return inputs;
  }

  // -- the choice ---------------------------------------------------------------------------------

  Symbol device() const { return input_->tensor_type()->device(); }

  /// The first successor takes any value: the call as it was.
  void add_dispatch() {
    Block& any = *rewriter_.create_block(body(), {}, context_.intern("any"));
    rewriter_.move_to_end(*call_, any);
    rewriter_.move_to_end(*end_, any);
    successors_.push_back({.block = &any});
    rewriter_.set_insertion_point_to_end(entry());
    const NamedAttr dim{key::kDim, context_.integer(dimension_)};
    const Dim one(1);
    const Type* number =
        context_.tensor({&one, 1}, context_.intern(name_of(DType::kInt64)), device());
    Value* const input = input_;
    Value* const extent = rewriter_
                              .create({.name = context_.op_name(OpId::kLinalgExtent, device()),
                                       .operands = {&input, 1},
                                       .result_types = {&number, 1},
                                       .attributes = {&dim, 1}})
                              ->result();
    std::vector<const Attr*> cases;
    for (const std::int64_t value : values_) cases.push_back(context_.integer(value));
    const NamedAttr list{key::kCases, context_.array(cases)};
    switch_ = rewriter_.create({.name = context_.op_name(OpId::kCfSwitch),
                                .operands = {&extent, 1},
                                .attributes = {&list, 1}});
  }

  /// A block that calls a copy, with the types of inputs and results as the module has them.
  void add_choice(std::int64_t value) {
    DimBindings values;
    values.bind(symbol_, value);
    ExtentSubstitution substitution(rewriter_);
    Block& block = *rewriter_.create_block(
        body(), {}, context_.intern(fmt::format("{}{}", text(symbol_), value)));
    rewriter_.set_insertion_point_to_end(block);
    std::vector<Value*> operands;
    for (Value* input : inputs_of_module()) {
      operands.push_back(matched(*input, substitution.replaced(input->type(), values)));
    }
    std::vector<const Type*> types;
    for (const Value& result : call_->results())
      types.push_back(substitution.replaced(result.type(), values));
    Op& call = *rewriter_.create({.name = call_->op_name(),
                                  .operands = operands,
                                  .result_types = types,
                                  .attributes = call_->attributes(),
                                  .symbol = call_->symbol(),
                                  .location = call_->location()});
    std::vector<Value*> results;
    for (Value& result : call.results()) {
      const Value& general = call_->results()[result.index()];
      rewriter_.set_attributes(result, general.attributes());
      results.push_back(matched(result, general.type()));
    }
    rewriter_.create({.name = context_.op_name(OpId::kCfReturn),
                      .operands = results,
                      .location = end_->location()});
    copies_.redirect(call);
    successors_.push_back({.block = &block});
    rewriter_.set_successors(*switch_, successors_);
  }

  /// The value as one with these extents.
  Value* matched(Value& value, const Type* type) {
    const auto* tensor = dyn_cast<TensorType>(type);
    if (tensor == nullptr || type == value.type()) return &value;
    std::vector<const Attr*> extents;
    for (const Dim extent : tensor->dims()) {
      extents.push_back(extent.is_constant() ? context_.integer(extent.constant())
                                             : context_.dim(extent));
    }
    const NamedAttr shape{key::kShape, context_.array(extents)};
    Value* const operand = &value;
    Value* const result =
        rewriter_
            .create({.name = context_.op_name(OpId::kLinalgMatchShape, tensor->device()),
                     .operands = {&operand, 1},
                     .result_types = {&type, 1},
                     .attributes = {&shape, 1}})
            ->result();
    rewriter_.set_attributes(*result, value.attributes());
    return result;
  }

  PassRun& run_;
  Module& module_;
  IRContext& context_;
  Rewriter rewriter_;
  GraphCopies copies_;
  Symbol symbol_;
  std::vector<std::int64_t> values_;
  Value* input_ = nullptr;
  std::int64_t dimension_ = 0;
  Op* call_ = nullptr;
  Op* end_ = nullptr;
  Op* switch_ = nullptr;
  std::vector<SuccessorSpec> successors_;
};

/// Calls that pass numbers call copies.
PassResult specialize_calls(PassRun& run) {
  Module& module = run.module();
  if (module.version() < kSymbolsVersion) return PassResult::kUnchanged;  // no call passes others
  std::vector<Op*> calls;
  for_each_op(module, [&](Op& op) {
    if (isa<CallGraphOp>(&op)) calls.push_back(&op);
  });
  Rewriter rewriter(module);
  GraphCopies copies(run, rewriter);
  for (Op* call : calls) {
    if (copies.redirect(*call)) run.count("calls specialized");
  }
  run.count("graphs specialized", copies.count());
  return copies.has_failed() ? PassResult::kFailed : run.result();
}

PassResult specialize(PassRun& run) {
  const auto given = run.options().keyed_integers(kSpecializedSymbol);
  if (given.empty()) return specialize_calls(run);
  const auto symbol_of = [](std::string_view name) {
    return name.starts_with('$') ? name.substr(1) : name;
  };
  const std::string_view symbol = symbol_of(given.front().first);
  std::vector<std::int64_t> values;
  for (const auto& [name, value] : given) {
    if (symbol_of(name) != symbol) {
      run.diagnostics().error(diag::kPipeline, run.module().top()->span(),
                              fmt::format("'specialize' takes one symbol, found '{}' and '{}': use "
                                          "it once for each",
                                          symbol, symbol_of(name)));
      return PassResult::kFailed;
    }
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return Dispatch(run, run.module().context().intern(symbol), std::move(values)).apply();
}

}  // namespace

Pass specialize_pass() {
  return {.name = "specialize",
          .summary =
              "copies graphs for values of a symbol, which an input selects: "
              "specialize{S=1,32}; without options for calls that pass numbers",
          .takes = PassForm::kPortable,
          .options = {{.name = std::string(kSpecializedSymbol),
                       .kind = PassOption::Kind::kInteger,
                       .is_list = true,
                       .is_keyed = true,
                       .summary = "values of the symbol `$SYMBOL` that get a graph of their own",
                       .least = 0}},
          .run = specialize};
}

}  // namespace mir
