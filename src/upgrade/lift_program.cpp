// Lifts the instructions of a program to graphs and calls.
#include "upgrade/lift_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mention.hpp"
#include "ir/program_fields.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "upgrade/form_limits.hpp"
#include "upgrade/granted.hpp"
#include "upgrade/lift_launch.hpp"
#include "upgrade/program_functions.hpp"

namespace mir {

namespace {

class Lift {
 public:
  Lift(Module& module, const UpgradeOptions& options, LossReport& report, Diagnostics& diagnostics,
       const ExplainConversion& explain)
      : module_(module),
        options_(options),
        report_(report),
        diagnostics_(diagnostics),
        explain_(explain),
        builder_(module, diagnostics),
        code_(module) {}

  bool run() {
    auto program = program_functions(code_, report_, diagnostics_);
    if (!program) return false;
    program_ = *std::move(program);
    note_dropped();
    const OpRange ops = module_.body().only_block().ops();
    const std::vector<Op*> fragments(ops.begin(), ops.end());
    for_each_op(module_, [&](Op& op) { editable_.emplace(&op, &op); });
    if (!stand_in_fragments(fragments)) return false;
    lift_parameters(fragments);
    settle_input_types();
    lift_main();
    for (Op* fragment : fragments) {
      if (!fragment->is_erased()) builder_.erase(*fragment);
    }
    note(*module_.top(), "graph form", fmt::format("{} graphs", program_.functions.size() - 1));
    return !diagnostics_.has_errors() &&
           lift_instructions(module_, report_, diagnostics_, explain_).has_value();
  }

 private:
  using Scope = std::unordered_map<std::uint32_t, Value*>;

  void note(const Op& op, std::string_view fact, std::string used,
            LossEntry::Source source = LossEntry::Source::kDerived) {
    report_.entries.push_back(
        {source, op.location(), std::string(op.name()), std::string(fact), std::move(used)});
  }

  /// Reports parts that graphs lack: storage ends with its last reader, and nothing chooses a mode.
  void note_dropped() {
    std::size_t frees = 0;
    for (const ProgramFunction& function : program_.functions) {
      for (const prog::Instruction& each : function.instructions) {
        frees += each.is<prog::Free>() ? 1 : 0;
        if (const auto* mode = each.as<prog::ModeConfig>()) {
          note(*each.op, key::kFlag, fmt::to_string(*mode->flag), LossEntry::Source::kDropped);
        }
        if (const auto* launch = each.as<prog::Launch>()) launched_.insert(launch->name);
      }
    }
    if (frees == 0) return;
    note(*module_.top(), "prog.free operations", fmt::to_string(frees),
         LossEntry::Source::kDropped);
  }

  void note_unused(const Op& op, const prog::KernelSymbol& kernel) {
    if (!kernel.name || launched_.contains(module_.context().text(*kernel.name))) return;
    note(op, "name of an op that nothing runs", std::string(module_.context().text(*kernel.name)),
         LossEntry::Source::kDropped);
  }

  /// Only comments may be beside the fragments: anything else would be lost with them.
  bool stand_in_fragments(std::span<Op* const> ops) {
    for (const Op* op : ops) {
      if (op->is(FragmentOp::kId) || op->is_in(DialectId::kDbg)) continue;
      report_.refuse(*op, "graph form", "it is outside the program's fragments", diagnostics_);
      return false;
    }
    return true;
  }

  // -- parameters ---------------------------------------------------------------------------------

  /// Declarations of values become registers; a constant's mentions say what it is. The old ones go
  /// first, for two ops cannot declare one symbol.
  void lift_parameters(std::span<Op* const> fragments) {
    struct Parameter {
      Symbol symbol;
      const Type* type;
      std::vector<NamedAttr> notes;
    };
    std::vector<Parameter> parameters;
    for (const prog::Fragment& fragment : code_.fragments()) {
      if (fragment.kind == prog::FragmentKind::kCode) continue;
      for (const prog::Instruction& each : fragment.instructions) {
        if (const auto* kernel = each.as<prog::KernelSymbol>()) note_unused(*each.op, *kernel);
        const auto* declared = each.as<prog::ValueSymbol>();
        if (declared == nullptr || each.op->result_count() != 1) continue;
        const Value& value = *each.op->result();
        const bool is_parameter = !code_.is_constant(value) && declared->name;
        if (is_parameter) parameters.push_back({*declared->name, value.type(), notes_of(value)});
      }
    }
    for (Op* fragment : fragments) {
      const auto view = dyn_cast<FragmentOp>(fragment);
      if (view && view.kind() != program_fragment::kCode) builder_.erase(*fragment);
    }
    if (parameters.empty()) return;
    Op* init = builder_.subgraph("init", {}, "notype");
    for (const Parameter& each : parameters) {
      Value* value = builder_.parameter(module_.context().text(each.symbol), each.type);
      if (!each.notes.empty()) builder_.set_attributes(*value, each.notes);
    }
    builder_.set_insertion_point_to_end(*init->block());
  }

  /// Attributes of a declared value, without its symbol, which its register has.
  std::vector<NamedAttr> notes_of(const Value& value) const {
    std::vector<NamedAttr> notes(value.attributes().begin(), value.attributes().end());
    std::erase_if(notes, [&](const NamedAttr& each) { return each.key == key::kSymbol; });
    return notes;
  }

  // -- types of what bodies take ------------------------------------------------------------------

  /// A body's input has the type of its first mention there.
  void settle_input_types() {
    input_types_.resize(program_.functions.size());
    for (const std::size_t index : program_.callees_first) {
      auto& types = input_types_[index];
      for (const prog::Instruction& each : program_.functions[index].instructions) {
        if (const auto* jump = each.as<prog::Jump>()) {
          const auto& inner = input_types_[program_.callee(*jump)];
          types.insert(inner.begin(), inner.end());
        } else if (each.is<prog::Launch, prog::Free>()) {
          for (const Use& use : each.op->operand_uses()) {
            types.emplace(use.value()->name().raw(), mention_of(use).type);
          }
        }
      }
    }
  }

  const Type* input_type(std::size_t function, ValueName name) const {
    const auto found = input_types_[function].find(name.raw());
    return found == input_types_[function].end() ? nullptr : found->second;
  }

  // -- bodies -------------------------------------------------------------------------------------

  void lift_main() {
    Region& body = module_.body();
    std::vector<ValueName> names;
    for (const auto& [position, name] : program_.inputs) names.push_back(name);
    const std::size_t bound = names.size();
    const auto& unbound = program_.functions[0].inputs;
    names.insert(names.end(), unbound.begin(), unbound.end());
    std::vector<const Type*> types;
    for (const ValueName name : names) {
      const Type* type = input_type(0, name);
      types.push_back(type == nullptr ? granted_type(name) : type);
    }
    if (std::find(types.begin(), types.end(), nullptr) != types.end()) return;
    Scope scope;
    for (const Type* type : types) builder_.add_argument(body.only_block(), type);
    const ValueRange arguments = body.only_block().arguments();
    for (std::size_t i = 0; i < names.size(); ++i) {
      builder_.set_name(arguments[i], names[i]);
      scope[names[i].raw()] = &arguments[i];
      if (i < bound) continue;
      note(*module_.top(), "input",
           fmt::format("{}, which nothing binds", describe(module_.context(), arguments[i])),
           LossEntry::Source::kAssumed);
    }
    builder_.set_has_signature(body, true);
    Op* const first_graph = declare_graphs();
    fill(0, body, first_graph, scope);
    builder_.set_insertion_point_to_end(body.only_block());
    std::vector<ValueName> outputs;
    for (const auto& [position, name] : program_.outputs) outputs.push_back(name);
    for (const ValueName name : outputs) give_declared(name, body, scope);
    give_back(*module_.top(), outputs, scope);
  }

  /// A constant or parameter of the tables that the program outputs as it is.
  void give_declared(ValueName name, Region& body, Scope& scope) {
    const Value* declared = code_.declared(name);
    if (declared == nullptr || scope.contains(name.raw())) return;
    Value* value = builder_.create_free_value(body, declared->type(), name);
    if (code_.is_constant(*declared)) {
      builder_.set_attributes(*value, declared->attributes());
    } else {
      builder_.set_symbol(*value, declared->symbol());
    }
    scope[name.raw()] = value;
  }

  /// Upstream states a type where an instruction mentions the storage, and a binding does not.
  const Type* granted_type(ValueName name) {
    const std::string fact = fmt::format("type of %{}", name.is_number() ? name.number() : 0);
    for (const Grant& grant : options_.grants) {
      if (grant.kind != Grant::Kind::kType || fact != fmt::format("type of %{}", grant.op))
        continue;
      const Type* type = read_type(module_.context(), grant, diagnostics_);
      if (type != nullptr) {
        note(*module_.top(), fact, std::string(type->spelling()), LossEntry::Source::kAssumed);
      } else {
        report_.entries.push_back({LossEntry::Source::kRefused, module_.top()->location(),
                                   std::string(module_.top()->name()), fact,
                                   "what is granted cannot be read"});
      }
      return type;
    }
    const std::string storage = fmt::format("%{}", name.is_number() ? name.number() : 0);
    report_.refuse(*module_.top(), fact,
                   fmt::format("it is an input that no instruction mentions; grant it with "
                               "--assume='{}=tensor<...>'",
                               storage),
                   diagnostics_, {storage});
    return nullptr;
  }

  /// Graphs in the order of the text; calls need them to exist. Returns the first one, before which
  /// the module runs what is its own; null: there is none.
  Op* declare_graphs() {
    graphs_.assign(program_.functions.size(), nullptr);
    std::vector<bool> runs(program_.functions.size(), false);
    for (const std::size_t index : program_.callees_first) runs[index] = true;
    Block& main = *builder_.insertion_block();
    for (std::size_t i = 1; i < program_.functions.size(); ++i) {
      if (!runs[i]) continue;
      const ProgramFunction& function = program_.functions[i];
      std::vector<const Type*> types;
      for (const ValueName name : function.inputs) types.push_back(input_type(i, name));
      graphs_[i] = builder_.subgraph(function.name, types);
      builder_.set_insertion_point_to_end(main);
    }
    for (const std::size_t index : program_.callees_first) {
      if (index != 0) fill_graph(index);
    }
    const auto first = std::ranges::find_if(graphs_, [](Op* graph) { return graph != nullptr; });
    return first == graphs_.end() ? nullptr : *first;
  }

  void fill_graph(std::size_t index) {
    const ProgramFunction& function = program_.functions[index];
    Region& body = *graphs_[index]->region();
    Scope scope;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      Value& argument = body.only_block().arguments()[i];
      builder_.set_name(argument, function.inputs[i]);
      scope[function.inputs[i].raw()] = &argument;
    }
    fill(index, body, nullptr, scope);
    give_back(*graphs_[index], function.outputs, scope);
  }

  void give_back(const Op& graph, std::span<const ValueName> names, const Scope& scope) {
    std::vector<Value*> values;
    for (const ValueName name : names) {
      const auto found = scope.find(name.raw());
      if (found == scope.end()) {
        report_.refuse(graph, "output", "nothing writes it", diagnostics_);
        return;
      }
      values.push_back(found->second);
    }
    builder_.return_op(values);
  }

  /// The instructions of a function, in graph form but for launches and allocations, before an op
  /// of the body or at its end.
  void fill(std::size_t index, Region& body, Op* before, Scope& scope) {
    if (before == nullptr) {
      builder_.set_insertion_point_to_end(body.only_block());
    } else {
      builder_.set_insertion_point(*before);
    }
    for (const prog::Instruction& each : program_.functions[index].instructions) {
      if (const auto* jump = each.as<prog::Jump>()) {
        call(*each.op, program_.callee(*jump), scope);
      } else if (each.is<prog::Launch, prog::Alloc>()) {
        take(*editable_.at(each.op), body, before, scope);
      } else if (!each.is<prog::Bind, prog::Free, prog::ModeConfig>()) {
        report_.refuse(*each.op, "graph form", "graphs have no such operation", diagnostics_);
      }
    }
  }

  void take(Op& instruction, Region& body, Op* before, Scope& scope) {
    for (const Use& use : instruction.operand_uses()) {
      const Type* type = mentioned_type(use);
      Value& value = *operand(use, body, scope);
      builder_.set_operand(instruction, use.index(), &value);
      if (type == nullptr || type == value.type()) continue;
      builder_.set_mention(use, {type, value.attributes(), value.symbol(), value.has_symbol()});
    }
    if (before == nullptr) {
      builder_.move_to_end(instruction, body.only_block());
    } else {
      builder_.move_before(instruction, *before);
    }
    for (Value& result : instruction.results()) scope[result.name().raw()] = &result;
  }

  Value* operand(const Use& use, Region& body, Scope& scope) {
    const ValueName name = use.value()->name();
    if (const auto found = scope.find(name.raw()); found != scope.end()) return found->second;
    const StatedMention mention = code_.mention(use);
    Value* value = builder_.create_free_value(body, mention.type, name);
    if (mention.has_symbol) builder_.set_symbol(*value, mention.symbol);
    builder_.set_attributes(*value, mention.attributes);
    scope[name.raw()] = value;
    return value;
  }

  void call(const Op& jump, std::size_t callee, Scope& scope) {
    const ProgramFunction& function = program_.functions[callee];
    std::vector<Value*> operands;
    for (const ValueName name : function.inputs) operands.push_back(scope.at(name.raw()));
    std::vector<const Type*> types;
    const auto results = signature_results(*graphs_[callee]->region());
    for (const RegionResult& result : results) types.push_back(result.type);
    Op* op = builder_.call(function.name, operands, types);
    builder_.set_location(*op, jump.location());
    for (std::size_t i = 0; i < results.size(); ++i) {
      builder_.set_name(*op->result(i), results[i].name);
      scope[results[i].name.raw()] = op->result(i);
    }
    state_operand_types(*op, function, callee);
  }

  /// A body may see the caller's storage with another shape.
  void state_operand_types(const Op& call, const ProgramFunction& function, std::size_t callee) {
    for (const Use& use : call.operand_uses()) {
      const Value& value = *use.value();
      const Type* type = input_type(callee, function.inputs[use.index()]);
      if (type == nullptr || type == value.type()) continue;
      builder_.set_mention(use, {type, value.attributes(), value.symbol(), value.has_symbol()});
    }
  }

  Module& module_;
  const UpgradeOptions& options_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  const ExplainConversion& explain_;
  Builder builder_;
  ProgramCode code_;
  ProgramFunctions program_;
  std::unordered_map<const Op*, Op*> editable_;                              // instructions
  std::unordered_set<std::string_view> launched_;                            // names of kernels
  std::vector<std::unordered_map<std::uint32_t, const Type*>> input_types_;  // by function
  std::vector<Op*> graphs_;                                                  // by function
};

}  // namespace

bool has_program(const Module& module) {
  bool has = false;
  for_each_op(module, [&](const Op& op) { has = has || op.is_in(DialectId::kProg); });
  return has;
}

/// Lifts a module in which only the ops are lowered.
static bool lift_launches(Module& module, LossReport& report, Diagnostics& diagnostics,
                          const ExplainConversion& explain) {
  const auto lifted = lift_instructions(module, report, diagnostics, explain);
  if (!lifted) return false;
  const auto note = [&](LossEntry::Source source, std::string_view fact, std::string used) {
    report.entries.push_back({source, module.top()->location(), std::string(module.top()->name()),
                              std::string(fact), std::move(used)});
  };
  note(LossEntry::Source::kDerived, "graph form", fmt::format("{} launches", lifted->launches));
  if (lifted->frees != 0) {
    note(LossEntry::Source::kDropped, "prog.free operations", fmt::to_string(lifted->frees));
  }
  return true;
}

bool lift_program(Module& module, const UpgradeOptions& options, LossReport& report,
                  Diagnostics& diagnostics, const ExplainConversion& explain) {
  if (!has_program(module)) return true;
  if (!refuse_several_blocks(module, "graph form", report, diagnostics)) return false;
  const OpRange ops = module.body().only_block().ops();
  const bool whole =
      std::any_of(ops.begin(), ops.end(), [](const Op* op) { return op->is(FragmentOp::kId); });
  if (!whole) return lift_launches(module, report, diagnostics, explain);
  return Lift(module, options, report, diagnostics, explain).run();
}

}  // namespace mir
