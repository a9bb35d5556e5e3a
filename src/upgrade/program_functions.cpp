// Analyses which storages each function of a program reads and writes.
#include "upgrade/program_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/program_fields.hpp"
#include "program/program_counter.hpp"

namespace mir {

namespace {

using Names = std::unordered_set<std::uint32_t>;

class Analysis {
 public:
  Analysis(const ProgramCode& code, LossReport& report, Diagnostics& diagnostics)
      : module_(code.module()), code_(code), report_(report), diagnostics_(diagnostics) {}

  std::optional<ProgramFunctions> run() {
    const std::size_t before = diagnostics_.error_count();
    if (!has_code()) return std::nullopt;
    for (const prog::Defect& defect : code_.defects()) refuse(*defect.op, prog::describe(defect));
    split();
    if (diagnostics_.error_count() != before) return std::nullopt;
    reads_.resize(result_.functions.size());
    writes_.resize(result_.functions.size());
    states_.assign(result_.functions.size(), State::kNew);
    find_factors();
    if (!follow(0, 0)) return std::nullopt;
    report_unreached();
    bind();
    if (result_.outputs.empty()) assume_outputs();
    settle_outputs();
    return std::move(result_);
  }

 private:
  void refuse(const Op& at, std::string_view why) {
    report_.refuse(at, "graph form", why, diagnostics_);
  }

  bool has_code() {
    if (const prog::Fragment* second = code_.second_code()) {
      refuse(*second->op, "a second code fragment: which one runs first is lost");
      return false;
    }
    if (code_.code() == nullptr) refuse(*module_.top(), "the program has no code fragment");
    return code_.code() != nullptr;
  }

  /// A function for each body.
  void split() {
    const auto code = code_.instructions();
    result_.by_label.resize(code.size());
    bool ended = false;
    for (const prog::Body& body : code_.bodies()) {
      ProgramFunction& function = result_.functions.emplace_back();
      if (body.label != prog::kOutside) start(body.label, ended);
      function.instructions = code.subspan(body.begin, body.last - body.begin);
      ended = body.last != body.end;
      for (std::size_t at = body.last + 1; at < body.end; ++at) {
        if (!code[at].is<prog::Return, prog::Exit>()) unreached_.push_back(&code[at]);
      }
      const bool is_first = result_.functions.size() == 1;
      if (ended && code[body.last].is<prog::Return>() == is_first) {
        refuse(*code[body.last].op,
               "a program ends with prog.exit, a body after a label with prog.ret");
      }
    }
    if (!ended) refuse(*code_.code()->op, "the last body of the program has no end");
  }

  void start(std::size_t at, bool ended) {
    const prog::Instruction& label = code_.instructions()[at];
    const Symbol symbol = label.as<prog::Label>()->name.value_or(Symbol());
    if (!ended) refuse(*label.op, "the code before this label runs into it");
    if (!labels_.insert(symbol).second) {
      refuse(*label.op, fmt::format("a second label '{}'", module_.context().text(symbol)));
    }
    std::string name(module_.context().text(symbol));
    if (name.ends_with(program_field::kEntrySuffix))
      name.resize(name.size() - program_field::kEntrySuffix.size());
    result_.functions.back().name = std::move(name);
    result_.by_label[at] = result_.functions.size() - 1;
  }

  /// Upstream puts what a module runs after its call after prog.exit, where nothing reaches it.
  void report_unreached() {
    for (std::size_t i = 0; i < result_.functions.size(); ++i) {
      if (states_[i] != State::kNew) continue;
      for (const auto& each : result_.functions[i].instructions) unreached_.push_back(&each);
    }
    for (const prog::Instruction* each : unreached_) {
      if (!each->is<prog::Launch, prog::Jump>()) continue;
      report_.entries.push_back({LossEntry::Source::kAssumed, each->op->location(),
                                 std::string(each->op->name()), "left out",
                                 fmt::format("{}, which nothing reaches", what_runs(*each))});
    }
  }

  std::string what_runs(const prog::Instruction& instruction) const {
    if (const auto* jump = instruction.as<prog::Jump>()) {
      return std::string(module_.context().text(jump->label));
    }
    const auto& launch = *instruction.as<prog::Launch>();
    return launch.name.empty() ? std::string(launch.spec.type_name())
                               : fmt::format("{} '{}'", launch.spec.type_name(), launch.name);
  }

  // -- what a body reads before it writes, and what it writes -------------------------------------

  bool follow(std::size_t index, int depth) {
    states_[index] = State::kOpen;
    for (const prog::Instruction& each : result_.functions[index].instructions) {
      if (const auto* jump = each.as<prog::Jump>()) {
        if (!call(index, each, *jump, depth)) return false;
      } else if (const auto* binding = each.as<prog::Bind>()) {
        if (!follow(index, each, *binding)) return false;
      } else if (!each.is<prog::Free>()) {
        if (!fits_kernel(each)) return false;
        for (const Use& use : each.op->operand_uses()) {
          const ValueName name = use.value()->name();
          if (!code_.stands_alone(use) && !factors_.contains(name.raw())) read(index, name);
        }
        for (const Value& result : each.op->results()) writes_[index].insert(result.name().raw());
      }
    }
    states_[index] = State::kDone;
    result_.callees_first.push_back(index);
    return true;
  }

  bool call(std::size_t index, const prog::Instruction& at, const prog::Jump& jump, int depth) {
    constexpr int kDeepest = ProgramCounter::kDeepest;
    if (!jump.has_label) {
      refuse(*at.op, fmt::format("no label '{}'", module_.context().text(jump.label)));
      return false;
    }
    const std::size_t callee = result_.callee(jump);
    if (states_[callee] == State::kOpen || depth == kDeepest) {
      refuse(*at.op, "calls that contain themselves or lie too deep have no graph form");
      return false;
    }
    if (states_[callee] == State::kNew && !follow(callee, depth + 1)) return false;
    for (const ValueName name : result_.functions[callee].inputs) read(index, name);
    writes_[index].insert(writes_[callee].begin(), writes_[callee].end());
    return true;
  }

  bool follow(std::size_t index, const prog::Instruction& at, const prog::Bind& binding) {
    if (index != 0) {
      refuse(*at.op, "a body after a label binds an input or output of the program");
      return false;
    }
    const bool is_input = binding.direction == prog::Direction::kInput;
    (is_input ? result_.inputs : result_.outputs).emplace_back(*binding.position, *binding.slot);
    if (is_input) {
      writes_[index].insert(binding.slot->raw());
    } else if (code_.declared(*binding.slot) == nullptr) {
      read(index, *binding.slot);
    }
    return true;
  }

  /// A graph has one op of a name, with its options.
  bool fits_kernel(const prog::Instruction& at) {
    const auto* launch = at.as<prog::Launch>();
    if (launch == nullptr || launch->kernel == prog::kOutside) return true;
    if (launch->spec.fits(code_.kernels()[launch->kernel].spec)) return true;
    refuse(*at.op,
           fmt::format("it has another type or other options than kernel '{}'", launch->name));
    return false;
  }

  /// Numbers that products take and nothing fills: constants from before upstream printed them.
  /// Each graph has its own, so what it is can follow from where it is.
  void find_factors() {
    Names others;
    const auto look = [&](const prog::Instruction& at) {
      for (const Use& use : at.op->operand_uses()) {
        const auto* type = use.value()->tensor_type();
        const bool factor = use.index() == 1 && is_launch_of(*at.op, OpId::kLinalgMul) &&
                            type != nullptr && type->dtype() == DType::kFloat32 &&
                            type->rank() == 1 && type->element_count() == 1;
        (factor ? factors_ : others).insert(use.value()->name().raw());
      }
      for (const Value& result : at.op->results()) others.insert(result.name().raw());
      if (const auto* binding = at.as<prog::Bind>()) others.insert(binding->slot->raw());
    };
    for (const ProgramFunction& function : result_.functions) {
      for (const prog::Instruction& each : function.instructions) {
        if (!each.is<prog::Free>()) look(each);
      }
    }
    std::erase_if(factors_, [&](std::uint32_t name) { return others.contains(name); });
  }

  void read(std::size_t index, ValueName name) {
    if (writes_[index].contains(name.raw()) || !reads_[index].insert(name.raw()).second) return;
    result_.functions[index].inputs.push_back(name);
  }

  void bind() {
    const auto by_position = [](const ProgramBinding& a, const ProgramBinding& b) {
      return a.first < b.first;
    };
    std::stable_sort(result_.inputs.begin(), result_.inputs.end(), by_position);
    std::stable_sort(result_.outputs.begin(), result_.outputs.end(), by_position);
  }

  /// Programs from before `prog.bind` name no output: it is what is written and neither read nor
  /// freed.
  void assume_outputs() {
    Names used;
    std::vector<const Value*> written;
    for (const std::size_t index : result_.callees_first) {
      for (const prog::Instruction& each : result_.functions[index].instructions) {
        for (const Use& use : each.op->operand_uses()) used.insert(use.value()->name().raw());
        if (!each.is<prog::Launch>()) continue;
        for (const Value& result : each.op->results()) written.push_back(&result);
      }
    }
    for (const Value* value : written) {
      if (!used.insert(value->name().raw()).second) continue;
      result_.outputs.emplace_back(static_cast<std::int64_t>(result_.outputs.size()),
                                   value->name());
      report_.entries.push_back({LossEntry::Source::kAssumed, value->defining_op()->location(),
                                 describe(*value->defining_op()), "output of the program",
                                 "what nothing reads"});
    }
  }

  // -- what is read after a body ------------------------------------------------------------------

  void settle_outputs() {
    std::vector<Names> given(result_.functions.size());
    for (const auto& [position, name] : result_.outputs) given[0].insert(name.raw());
    // Callers come after their callees, so from the back each body's outputs are known.
    for (auto it = result_.callees_first.rbegin(); it != result_.callees_first.rend(); ++it) {
      trace_back(*it, given);
    }
    for (const std::size_t index : result_.callees_first) {
      add_in_order_of_writing(index, given[index]);
    }
  }

  void trace_back(std::size_t index, std::vector<Names>& given) {
    Names live = given[index];
    const auto& instructions = result_.functions[index].instructions;
    for (auto at = instructions.rbegin(); at != instructions.rend(); ++at) {
      const Op& op = *at->op;
      if (const auto* jump = at->as<prog::Jump>()) {
        const std::size_t callee = result_.callee(*jump);
        for (const std::uint32_t name : writes_[callee]) {
          if (live.erase(name) != 0) given[callee].insert(name);
        }
        for (const ValueName name : result_.functions[callee].inputs) live.insert(name.raw());
      } else if (const auto* binding = at->as<prog::Bind>()) {
        const bool reads = binding->direction == prog::Direction::kOutput;
        if (reads) live.insert(binding->slot->raw());
      } else if (!at->is<prog::Free>()) {
        for (const Value& result : op.results()) live.erase(result.name().raw());
        for (const Use& use : op.operand_uses()) live.insert(use.value()->name().raw());
      }
    }
  }

  void add_in_order_of_writing(std::size_t index, Names& wanted) {
    ProgramFunction& function = result_.functions[index];
    const auto add = [&](ValueName name) {
      if (wanted.erase(name.raw()) != 0) function.outputs.push_back(name);
    };
    for (const prog::Instruction& each : function.instructions) {
      if (const auto* jump = each.as<prog::Jump>()) {
        for (const ValueName name : result_.functions[result_.callee(*jump)].outputs) add(name);
      }
      for (const Value& result : each.op->results()) add(result.name());
    }
  }

  enum class State : std::uint8_t { kNew, kOpen, kDone };

  const Module& module_;
  const ProgramCode& code_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  ProgramFunctions result_;
  std::vector<Names> reads_, writes_;  // by function
  Names factors_;
  std::vector<State> states_;
  std::unordered_set<Symbol> labels_;
  std::vector<const prog::Instruction*> unreached_;  // code that nothing leads to
};

}  // namespace

std::optional<ProgramFunctions> program_functions(const ProgramCode& code, LossReport& report,
                                                  Diagnostics& diagnostics) {
  return Analysis(code, report, diagnostics).run();
}

}  // namespace mir
