#include "machine/slot_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace mir {

std::string text_of(ValueName slot, const IRContext& context) {
  return slot.is_number() ? fmt::to_string(slot.number())
                          : std::string(context.text(slot.symbol()));
}

void SlotPorts::add(const ProgramCode& code, ValueName slot) {
  const auto* type = dyn_cast<TensorType>(code.type_of(slot));
  ports.push_back({text_of(slot, code.module().context()), type});
  slots.push_back(slot.raw());
}

bool SlotPorts::bind(const ProgramCode& code, prog::Direction direction, Diagnostics& diagnostics) {
  std::vector<std::pair<std::int64_t, const prog::Instruction*>> binds;
  for (const prog::Instruction& each : code.instructions()) {
    const auto* bind = each.as<prog::Bind>();
    if (bind != nullptr && bind->direction == direction) binds.emplace_back(*bind->position, &each);
  }
  std::ranges::stable_sort(binds, {}, [](const auto& each) { return each.first; });
  bool good = true;
  for (const auto& [position, bind] : binds) {
    if (position == static_cast<std::int64_t>(size())) {
      add(code, *bind->as<prog::Bind>()->slot);
      continue;
    }
    diagnostics.error(
        DiagCode::kBindPosition, bind->op->span(),
        fmt::format("{} {} is bound where {} is expected",
                    direction == prog::Direction::kInput ? "input" : "output", position, size()));
    good = false;
  }
  bound = size();
  return good;
}

bool SlotPorts::contains(ValueName slot) const {
  return std::ranges::find(slots, slot.raw()) != slots.end();
}

bool SlotPorts::binds(ValueName slot) const {
  return std::ranges::count(std::span(slots).first(bound), slot.raw()) > 0;
}

}  // namespace mir
