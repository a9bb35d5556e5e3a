// Checks that a program fills slots before it reads them.
#include "support/pointer_table.hpp"
#include "verify/execution.hpp"
#include "verify/name_table.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

class Slots {
 public:
  explicit Slots(Reporter& reporter) : reporter_(reporter) {}

  /// Constants and parameters are there before the program starts. The registers of early dumps
  /// need no slot: every mention names them.
  void load(const ProgramCode& code) {
    for (const prog::Fragment& fragment : code.fragments()) {
      for (const prog::Instruction& each : fragment.instructions) load(each);
    }
  }

  /// An instruction that runs again is blamed once.
  void step(const prog::Instruction& instruction) {
    was_blamed_ = blamed_[instruction.op] != 0;
    const std::size_t before = reporter_.breaches();
    run(instruction);
    if (reporter_.breaches() != before) blamed_[instruction.op] = 1;
  }

  /// Reports slots that are filled when the program ends, if it frees at all.
  void finish(std::span<const Op* const> executed) {
    if (!frees_) return;
    for (const Op* op : executed) {
      for (const Value& result : op->results()) {
        Slot& slot = slots_[result.name().raw()];
        if (slot.state != State::kLive || slot.writer != op || slot.is_output) continue;
        reporter_.report(free_c3, *op, [&] {
          return fmt::format("{} is never freed", spelling_of(reporter_.module(), result.name()));
        });
      }
    }
  }

 private:
  enum class State : std::uint8_t { kUndefined, kLive, kFreed };
  struct Slot {
    State state = State::kUndefined;
    bool is_constant = false;
    bool is_output = false;
    const Op* writer = nullptr;       // or the op that freed it
    const Op* freed_empty = nullptr;  // the op that freed it before anything filled it
  };

  void load(const prog::Instruction& instruction) {
    const bool is_symbol = instruction.op->is(OpId::kProgValueSymbol);
    for (const Value& result : instruction.op->results()) {
      Slot& slot = slots_[result.name().raw()];
      if (is_symbol) slot = {.state = State::kLive, .is_constant = true, .writer = instruction.op};
      is_filled_[result.name().raw()] = true;
    }
    const auto* binding = instruction.as<prog::Bind>();
    if (binding == nullptr || !binding->slot) return;
    if (binding->direction == prog::Direction::kInput) is_filled_[binding->slot->raw()] = true;
  }

  template <class Message>
  Diagnostic* report(ConstraintId id, const Op& op, const Message& message) {
    return was_blamed_ ? nullptr : reporter_.report(id, op, message);
  }

  void run(const prog::Instruction& instruction) {
    const Op& op = *instruction.op;
    if (const auto* binding = instruction.as<prog::Bind>()) return bind(op, *binding);
    if (instruction.is<prog::Free>()) return free(op);
    for (const Use& use : op.operand_uses()) read(op, *use.value());
    for (const Value& result : op.results()) fill(op, result.name());
  }

  void fill(const Op& op, ValueName name) {
    Slot& slot = slots_[name.raw()];
    if (slot.freed_empty != nullptr) {
      note(reporter_.report(slot_c2, *slot.freed_empty,
                            [&] {
                              return fmt::format("{} is freed before anything fills it",
                                                 spelling_of(reporter_.module(), name));
                            }),
           op, "filled here");
    }
    slot = {.state = State::kLive, .writer = &op};
  }

  /// A mention of a parameter or constant needs no slot.
  bool stands_alone(const Value& value) const {
    return value.has_symbol() || value.attribute(key::kConstant) != nullptr;
  }

  void read(const Op& op, const Value& value) {
    read(op, value.name(), stands_alone(value), free_c1);
  }

  void read(const Op& op, ValueName name, bool stands_alone, ConstraintId use) {
    Slot& slot = slots_[name.raw()];
    if (slot.state == State::kFreed) {
      note(report(use, op,
                  [&] {
                    return fmt::format("{} is used after it was freed",
                                       spelling_of(reporter_.module(), name));
                  }),
           *slot.writer, "freed here");
    } else if (slot.state == State::kUndefined && !stands_alone) {
      report(slot_c1, op, [&] {
        return fmt::format("{} is read before anything fills it",
                           spelling_of(reporter_.module(), name));
      });
      slot = {.state = State::kLive, .is_output = true, .writer = &op};  // once is enough
    }
  }

  void bind(const Op& op, const prog::Bind& binding) {
    if (!binding.slot || !binding.direction) return;
    const ValueName name = *binding.slot;
    if (binding.direction == prog::Direction::kInput) {
      fill(op, name);
    } else {
      read(op, name, false, free_c5);
      slots_[name.raw()].is_output = true;
    }
  }

  void free(const Op& op) {
    frees_ = true;
    if (op.operand_count() == 0) return;
    const ValueName name = op.operand(0)->name();
    Slot& slot = slots_[name.raw()];
    const auto shown = [&] { return spelling_of(reporter_.module(), name); };
    const bool is_empty = slot.state == State::kUndefined && !stands_alone(*op.operand(0));
    if (slot.state == State::kFreed) {
      note(report(free_c2, op, [&] { return fmt::format("{} is freed twice", shown()); }),
           *slot.writer, "first freed here");
    } else if (op.operand(0)->attribute(key::kConstant) != nullptr) {
      report(free_c4, op, [&] { return fmt::format("{} is a constant and is freed", shown()); });
    } else if (slot.is_constant) {
      note(report(free_c4, op,
                  [&] {
                    return fmt::format(
                        "{} belongs to the symbol table and is freed: the program can "
                        "run only once",
                        shown());
                  }),
           *slot.writer, "declared here");
    } else if (is_empty && !is_filled_[name.raw()]) {
      report(slot_c2, op, [&] { return fmt::format("{} is freed and nothing fills it", shown()); });
    }
    slot = {.state = State::kFreed, .writer = &op, .freed_empty = is_empty ? &op : nullptr};
  }

  Reporter& reporter_;
  NameTable<Slot> slots_;
  NameTable<bool> is_filled_;  // by any instruction of the text, whether it runs or not
  PointerTable<char> blamed_;  // instructions
  bool was_blamed_ = false;    // the current one, when it ran before
  bool frees_ = false;
};

}  // namespace

void slots(const ProgramCode& code, const Execution& execution, Reporter& reporter) {
  if (!reporter.wants_any(free_c1, free_c2, free_c3, free_c4, free_c5, slot_c1, slot_c2)) return;
  Slots slots(reporter);
  slots.load(code);
  const bool exits = execution.replay([&](const prog::Instruction& each) { slots.step(each); });
  if (exits) slots.finish(execution.executed());
}

}  // namespace mir::checks
