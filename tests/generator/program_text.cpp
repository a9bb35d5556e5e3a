#include "program_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace mir::test {

namespace {

/// An instruction of the code fragment; jumps are completed when every label has its address.
struct Instruction {
  std::string text;
  int jump_to = -1;  // graph
  int label_of = -1;
  std::vector<std::size_t> reads, writes;  // slots
};

class ProgramWriter {
 public:
  ProgramWriter(IRContext& context, const Plan& plan)
      : context_(context), plan_(plan), slots_(plan.values.size()) {
    std::iota(slots_.begin(), slots_.end(), std::size_t{0});
  }

  std::string run() {
    for (const PlannedGraph& graph : plan_.graphs) share_slots(graph);
    main_body();
    for (std::size_t i = plan_.graphs.size() - 1; i-- > 0;) graph_body(static_cast<int>(i));
    free_slots();
    std::string text = "@main () -> () {\n";
    text +=
        "    prog.fragment @deinit <CPU> <data> {\n"
        "        addr:0xffffffffffffffff prog.label[symbol:deinit.__entry]\n    }\n";
    text += "    prog.fragment @__MLLM_JIT_PACKAGE_CODE_SEGMENT <CPU> <code> {\n";
    code(text);
    text += "    }\n    prog.fragment @__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT <CPU> <table> {\n";
    for (std::size_t i = 0; i < table_.size(); ++i) line(text, i, table_[i]);
    return text + "    }\n}\n";
  }

 private:
  // -- slots ------------------------------------------------------------------------------------

  std::size_t slot(std::size_t value) const {
    while (slots_[value] != value) value = slots_[value];
    return value;
  }

  /// A callee's inputs are its caller's operands, a call's results are the callee's outputs.
  void share_slots(const PlannedGraph& graph) {
    for (const PlannedStep& step : graph.steps) {
      if (step.callee < 0) continue;
      const PlannedGraph& callee = plan_.graphs[static_cast<std::size_t>(step.callee)];
      for (std::size_t i = 0; i < step.operands.size(); ++i) {
        slots_[callee.inputs[i]] = step.operands[i];
      }
      for (std::size_t i = 0; i < step.results.size(); ++i) {
        slots_[step.results[i]] = callee.outputs[i];
      }
    }
  }

  std::string mention(std::size_t value) const {
    return fmt::format("%{}:{}{}", slot(value), plan_.values[value].type->spelling(),
                       plan_.values[value].constant);
  }

  std::string list(std::span<const std::size_t> values) const {
    std::string text;
    for (const std::size_t value : values) text += (text.empty() ? "" : ", ") + mention(value);
    return "(" + text + ")";
  }

  // -- code -------------------------------------------------------------------------------------

  Instruction& add(std::string text) {
    instructions_.push_back({std::move(text), -1, -1, {}, {}});
    return instructions_.back();
  }

  void main_body() {
    const PlannedGraph& body = plan_.graphs.back();
    add("prog.mode_config[flag:1]");
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      const std::size_t bound = slot(body.inputs[i]);
      type_of_.emplace(bound, mention(body.inputs[i]));
      add(fmt::format("prog.bind[type:0, program_uuid:{}, input_pos:{}]", bound, i))
          .writes.push_back(bound);
    }
    steps(body);
    for (std::size_t i = 0; i < body.outputs.size(); ++i) {
      const std::size_t bound = slot(body.outputs[i]);
      outputs_.insert(bound);
      add(fmt::format("prog.bind[type:1, program_uuid:{}, input_pos:{}]", bound, i))
          .reads.push_back(bound);
    }
    add("prog.exit() -> ()");
  }

  void graph_body(int index) {
    const PlannedGraph& graph = plan_.graphs[static_cast<std::size_t>(index)];
    add(fmt::format("prog.label[symbol:{}.__entry]", graph.name)).label_of = index;
    steps(graph);
    add("prog.ret");
  }

  void steps(const PlannedGraph& graph) {
    for (const PlannedStep& step : graph.steps) {
      if (step.callee >= 0) {
        add("").jump_to = step.callee;
      } else {
        launch(step);
      }
    }
  }

  void launch(const PlannedStep& step) {
    const std::string_view type = step.op.row->type_name;
    const std::string options = options_of(step.op);
    const std::string linked = step.path.empty() ? "" : "symbol_name:" + step.path + ", ";
    Instruction& instruction =
        add(fmt::format("prog.kernel_launch{} -> {}[{}op_type:{}, op_options:{}]",
                        list(step.operands), list(step.results), linked, type, options));
    for (const std::size_t operand : step.operands) {
      if (plan_.values[operand].constant.empty()) {
        instruction.reads.push_back(slot(operand));
      } else {
        table_.push_back(
            fmt::format("prog.value_symbol() -> (%{}:{}[@constant_{}]{})[symbol:constant_{}]",
                        slot(operand), plan_.values[operand].type->spelling(), slot(operand),
                        plan_.values[operand].constant, slot(operand)));
      }
    }
    for (const std::size_t result : step.results) {
      instruction.writes.push_back(slot(result));
      type_of_.emplace(slot(result), mention(result));
    }
    if (step.path.empty()) return;
    for (const PlannedParameter& parameter : plan_.parameters) {
      if (!parameter.name.starts_with(step.path + ".")) continue;
      table_.push_back(fmt::format("prog.value_symbol() -> (%{}:{}[@{}])[symbol:{}]",
                                   plan_.values.size() + table_.size(), parameter.type->spelling(),
                                   parameter.name, parameter.name));
    }
    table_.push_back(fmt::format("prog.kernel_symbol[symbol:{}, op_type:{}, op_options:{}]",
                                 step.path, type, options));
  }

  /// JSON of the options; null where upstream could not write one of them.
  std::string options_of(const OpPattern& op) {
    std::vector<NamedAttr> options;
    for (NamedAttr attribute : op.attributes) {
      switch (attribute.value->kind()) {
        case AttrKind::kString:
          attribute.value = context_.string(attribute.value->text());
          break;
        case AttrKind::kInt:
        case AttrKind::kFloat:
        case AttrKind::kBool:
          break;
        case AttrKind::kArray:
          for (const Attr* element : attribute.value->elements()) {
            if (element->kind() != AttrKind::kInt) return "null";
          }
          break;
        default:
          return "null";
      }
      options.push_back(attribute);
    }
    return options.empty() ? "null" : std::string(context_.dict(options)->spelling());
  }

  // -- lifetimes --------------------------------------------------------------------------------

  /// Runs the calls, which meets every instruction once, and frees what is not needed after it.
  void free_slots() {
    std::vector<std::size_t> order;
    visit(0, order);
    std::map<std::size_t, std::size_t> last;  // slot to instruction
    for (const std::size_t at : order) {
      for (const std::size_t written : instructions_[at].writes) last[written] = at;
      for (const std::size_t read : instructions_[at].reads) last[read] = at;
    }
    // Inputs are bound without anything between them.
    const std::size_t first = 1 + plan_.graphs.back().inputs.size();
    std::vector<std::vector<std::size_t>> freed(instructions_.size());
    for (const auto& [dead, at] : last) {
      if (!outputs_.contains(dead)) freed[std::max(at, first)].push_back(dead);
    }
    std::vector<Instruction> with_frees;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      with_frees.push_back(std::move(instructions_[i]));
      for (const std::size_t dead : freed[i]) {
        with_frees.push_back(
            {fmt::format("prog.free({}) -> ()", type_of_.at(dead)), -1, -1, {}, {}});
      }
    }
    instructions_ = std::move(with_frees);
  }

  void visit(std::size_t at, std::vector<std::size_t>& order) const {
    for (; at < instructions_.size(); ++at) {
      order.push_back(at);
      const Instruction& instruction = instructions_[at];
      if (instruction.text == "prog.ret" || instruction.text.starts_with("prog.exit")) return;
      if (instruction.jump_to >= 0) visit(label(instruction.jump_to), order);
    }
  }

  std::size_t label(int graph) const {
    const auto found =
        std::find_if(instructions_.begin(), instructions_.end(),
                     [&](const Instruction& each) { return each.label_of == graph; });
    return static_cast<std::size_t>(found - instructions_.begin());
  }

  // -- text -------------------------------------------------------------------------------------

  static void line(std::string& text, std::size_t address, std::string_view instruction) {
    text += fmt::format("        addr:{:#016x} {}\n", address, instruction);
  }

  void code(std::string& text) const {
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const int target = instructions_[i].jump_to;
      if (target < 0) {
        line(text, i, instructions_[i].text);
      } else {
        const auto offset = static_cast<std::int64_t>(label(target)) - static_cast<std::int64_t>(i);
        line(text, i,
             fmt::format("prog.jump {}.__entry[offset:{}]",
                         plan_.graphs[static_cast<std::size_t>(target)].name, offset));
      }
    }
  }

  IRContext& context_;
  const Plan& plan_;
  std::vector<std::size_t> slots_;  // of each value; a shared one leads to another value's
  std::vector<Instruction> instructions_;
  std::vector<std::string> table_;
  std::map<std::size_t, std::string> type_of_;  // slot to a mention of it
  std::set<std::size_t> outputs_;
};

}  // namespace

std::string program_text(IRContext& context, const Plan& plan) {
  return ProgramWriter(context, plan).run();
}

}  // namespace mir::test
