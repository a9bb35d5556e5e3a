#include "upgrade/program_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/ops.hpp"

namespace mir {

namespace {

constexpr std::string_view kEntrySuffix = ".__entry";

using Names = std::unordered_set<std::uint32_t>;

class Analysis {
 public:
  Analysis(const Module& module, LossReport& report, Diagnostics& diagnostics)
      : module_(module), report_(report), diagnostics_(diagnostics) {}

  std::optional<ProgramFunctions> run() {
    const std::size_t before = diagnostics_.error_count();
    const Op* code = find_code();
    if (code == nullptr) return std::nullopt;
    split(*code);
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

  const Op* find_code() {
    const Op* found = nullptr;
    for (Op* op : module_.body().ops()) {
      const auto fragment = dyn_cast<FragmentOp>(op);
      if (!fragment || fragment.kind() != "code") continue;
      if (found != nullptr) {
        refuse(*op, "a second code segment: which one runs first is lost");
        return nullptr;
      }
      found = op;
    }
    if (found == nullptr) refuse(*module_.top(), "the program has no code segment");
    return found;
  }

  /// Cuts the segment at its labels.
  void split(const Op& code) {
    result_.functions.emplace_back();
    bool ended = false;
    for (Op* op : code.first_region()->ops()) {
      if (op->is(OpId::kProgLabel)) {
        start(*op, ended);
        ended = false;
      } else if (op->is(OpId::kProgRet, OpId::kProgExit)) {
        if (op->is(OpId::kProgRet) == (result_.functions.size() == 1) && !ended) {
          refuse(*op, "a program ends with prog.exit, a body behind a label with prog.ret");
        }
        ended = true;
      } else if (ended) {
        unreached_.push_back(op);
      } else {
        result_.functions.back().instructions.push_back(op);
      }
    }
    if (!ended) refuse(code, "the last body of the program has no end");
  }

  void start(const Op& label, bool ended) {
    const Symbol symbol = module_.declared_symbol(&label).value_or(Symbol());
    if (!ended) refuse(label, "the code before this label runs into it");
    if (!result_.by_label.emplace(symbol, result_.functions.size()).second) {
      refuse(label, fmt::format("a second label '{}'", module_.context().text(symbol)));
    }
    std::string name(module_.context().text(symbol));
    if (name.ends_with(kEntrySuffix)) name.resize(name.size() - kEntrySuffix.size());
    result_.functions.emplace_back().name = std::move(name);
  }

  /// Upstream puts what a module runs behind its call behind prog.exit, where nothing reaches it.
  void report_unreached() {
    for (std::size_t i = 0; i < result_.functions.size(); ++i) {
      if (states_[i] != State::kNew) continue;
      const auto& instructions = result_.functions[i].instructions;
      unreached_.insert(unreached_.end(), instructions.begin(), instructions.end());
    }
    for (const Op* op : unreached_) {
      if (!op->is(OpId::kProgKernelLaunch, OpId::kProgJump)) continue;
      report_.entries.push_back({LossEntry::Source::kAssumed, op->location(),
                                 std::string(op->name()), "left out",
                                 fmt::format("{}, which nothing reaches", what_runs(*op))});
    }
  }

  std::string what_runs(const Op& op) const {
    if (op.is(OpId::kProgJump)) return std::string(module_.context().text(op.extra().label));
    const auto text = [&](std::string_view key) {
      const Attr* value = op.attribute(key);
      return value != nullptr && value->kind() == AttrKind::kString ? value->text() : "";
    };
    const auto name = text("symbol_name");
    return name.empty() ? std::string(text("op_type"))
                        : fmt::format("{} '{}'", text("op_type"), name);
  }

  // -- what a body reads before it writes, and what it writes -------------------------------------

  bool follow(std::size_t index, int depth) {
    constexpr int kDeepest = 1000;
    ProgramFunction& function = result_.functions[index];
    states_[index] = State::kOpen;
    for (const Op* op : function.instructions) {
      if (op->is(OpId::kProgJump)) {
        const auto found = result_.by_label.find(op->extra().label);
        if (found == result_.by_label.end()) {
          refuse(*op, fmt::format("no label '{}'", module_.context().text(op->extra().label)));
          return false;
        }
        const std::size_t callee = found->second;
        if (states_[callee] == State::kOpen || depth == kDeepest) {
          refuse(*op, "calls that contain themselves or lie too deep have no graph form");
          return false;
        }
        if (states_[callee] == State::kNew && !follow(callee, depth + 1)) return false;
        for (const ValueName name : result_.functions[callee].inputs) read(index, name);
        writes_[index].insert(writes_[callee].begin(), writes_[callee].end());
      } else if (op->is(OpId::kProgBind)) {
        if (index != 0) {
          refuse(*op, "a body behind a label binds an input or output of the program");
          return false;
        }
        bindings_.push_back(op);
        if (is_input(*op)) writes_[index].insert(bound(*op).raw());
        if (!is_input(*op)) read(index, bound(*op));
      } else if (!op->is(OpId::kProgFree)) {
        for (const Use& use : op->operand_uses()) {
          const ValueName name = use.value()->name();
          if (!is_given(module_, use) && !factors_.contains(name.raw())) read(index, name);
        }
        for (const Value& result : op->results()) writes_[index].insert(result.name().raw());
      }
    }
    states_[index] = State::kDone;
    result_.callees_first.push_back(index);
    return true;
  }

  /// Numbers that products take and nothing fills: constants from before upstream printed them.
  /// Each graph has its own, so what it is can follow from where it stands.
  void find_factors() {
    Names others;
    const auto look = [&](const Op& op) {
      for (const Use& use : op.operand_uses()) {
        const auto* type = use.value()->tensor_type();
        const bool factor = use.index() == 1 && is_launch_of(op, "Mul") && type != nullptr &&
                            type->dtype() == DType::kFloat32 && type->rank() == 1 &&
                            type->element_count() == 1;
        (factor ? factors_ : others).insert(use.value()->name().raw());
      }
      for (const Value& result : op.results()) others.insert(result.name().raw());
      if (op.is(OpId::kProgBind)) others.insert(bound(op).raw());
    };
    for (const ProgramFunction& function : result_.functions) {
      for (const Op* op : function.instructions) {
        if (!op->is(OpId::kProgFree)) look(*op);
      }
    }
    std::erase_if(factors_, [&](std::uint32_t name) { return others.contains(name); });
  }

  static bool is_launch_of(const Op& op, std::string_view type) {
    const Attr* stated = op.is(OpId::kProgKernelLaunch) ? op.attribute("op_type") : nullptr;
    return stated != nullptr && stated->kind() == AttrKind::kString && stated->text() == type;
  }

  void read(std::size_t index, ValueName name) {
    if (writes_[index].contains(name.raw()) || !reads_[index].insert(name.raw()).second) return;
    result_.functions[index].inputs.push_back(name);
  }

  static ValueName bound(const Op& bind) {
    const Attr* id = bind.attribute("program_uuid");
    const bool number = id != nullptr && id->kind() == AttrKind::kInt && id->integer() >= 0 &&
                        id->integer() <= ValueName::kMaxNumber;
    return number ? ValueName::number(static_cast<std::uint32_t>(id->integer())) : ValueName();
  }
  static bool is_input(const Op& bind) {
    const Attr* type = bind.attribute("type");
    return type != nullptr && type->kind() == AttrKind::kInt && type->integer() == 0;
  }

  void bind() {
    for (const Op* op : bindings_) {
      const Attr* position = op->attribute("input_pos");
      const std::int64_t at =
          position != nullptr && position->kind() == AttrKind::kInt ? position->integer() : 0;
      (is_input(*op) ? result_.inputs : result_.outputs).emplace_back(at, bound(*op));
    }
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
      for (const Op* op : result_.functions[index].instructions) {
        for (const Use& use : op->operand_uses()) used.insert(use.value()->name().raw());
        if (!op->is(OpId::kProgKernelLaunch)) continue;
        for (const Value& result : op->results()) written.push_back(&result);
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
    // Callers come behind their callees, so from the back each body's outputs are known.
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
      const Op& op = **at;
      if (op.is(OpId::kProgJump)) {
        const std::size_t callee = result_.by_label.at(op.extra().label);
        for (const std::uint32_t name : writes_[callee]) {
          if (live.erase(name) != 0) given[callee].insert(name);
        }
        for (const ValueName name : result_.functions[callee].inputs) live.insert(name.raw());
      } else if (op.is(OpId::kProgBind) && !is_input(op)) {
        live.insert(bound(op).raw());
      } else if (!op.is(OpId::kProgFree, OpId::kProgBind)) {
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
    for (const Op* op : function.instructions) {
      if (op->is(OpId::kProgJump)) {
        const auto& callee = result_.functions[result_.by_label.at(op->extra().label)];
        for (const ValueName name : callee.outputs) add(name);
      }
      for (const Value& result : op->results()) add(result.name());
    }
  }

  enum class State : std::uint8_t { kNew, kOpen, kDone };

  const Module& module_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  ProgramFunctions result_;
  std::vector<Names> reads_, writes_;  // by function
  Names factors_;
  std::vector<State> states_;
  std::vector<const Op*> bindings_;
  std::vector<const Op*> unreached_;  // code that nothing leads to
};

}  // namespace

bool is_given(const Module& module, const Use& use) {
  const Symbol constant = module.context().intern("constant");
  const Value& value = *use.value();
  if (value.has_symbol() || value.attribute(constant) != nullptr) return true;
  const UseOverride* other = module.use_override(use);
  if (other == nullptr) return false;
  return other->has_symbol ||
         std::any_of(other->attributes.begin(), other->attributes.end(),
                     [&](const NamedAttr& attribute) { return attribute.key == constant; });
}

std::optional<ProgramFunctions> program_functions(const Module& module, LossReport& report,
                                                  Diagnostics& diagnostics) {
  return Analysis(module, report, diagnostics).run();
}

}  // namespace mir
