// What a program takes and gives, with the slots that hold it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/session.hpp"
#include "program/program_code.hpp"

namespace mir {

/// A slot's number, or its name in a text that has one, without `%`.
std::string text_of(ValueName slot, const IRContext& context);

/// Inputs or outputs of a program, each with the number of its slot.
struct SlotPorts {
  std::vector<Port> ports;
  std::vector<std::uint32_t> slots;
  std::size_t bound = 0;  ///< of them the program binds; the others are slots alone

  std::size_t size() const { return ports.size(); }
  void add(const ProgramCode& code, ValueName slot);
  /// Adds what the program binds in a direction, by position; false after reporting positions that
  /// are not 0, 1, ...
  bool bind(const ProgramCode& code, prog::Direction direction, Diagnostics& diagnostics);
  bool contains(ValueName slot) const;
  bool binds(ValueName slot) const;
};

}  // namespace mir
