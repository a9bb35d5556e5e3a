// A code segment, decoded.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

enum class Opcode : std::uint8_t {
  kNothing,  ///< labels and modes
  kBindInput,
  kBindOutput,
  kLaunch,
  kAlloc,
  kFree,
  kJump,
  kReturn,
  kExit,
  kUnknown,  ///< an error when it runs
};

struct Instruction {
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  Opcode code = Opcode::kUnknown;
  const Op* op = nullptr;
  ValueName slot{};               ///< of a binding
  std::int64_t position = 0;      ///< of a binding
  std::size_t target = kNowhere;  ///< of a jump
};

/// Bindings of one program are at positions below this.
inline constexpr std::int64_t kMostPorts = 1 << 16;

/// The instructions of the only code segment in order; comments are none. A jump leads to its
/// label or, where the code has no such label, as far as its offset says. None after reporting a
/// module without one code segment and bindings that say no slot, direction or position.
std::optional<std::vector<Instruction>> decode_program(const Module& module,
                                                       Diagnostics& diagnostics);

/// Whether the value's mentions state its numbers.
bool is_constant(const Value& value, const Module& module);
/// Whether an operand says itself what it is: a constant or a parameter.
bool needs_no_slot(const Use& use);

/// Whether the instruction launches a kernel of this type.
bool is_launch_of(const Op& op, std::string_view type);
/// Whether the launch is a product whose last operand is where its result is stored.
bool launch_has_destination(const Op& launch);
/// Whether the operand is where its launch stores its result.
bool is_destination(const Use& use);
/// Slots into which launches store: wholly, or through a slice that they change in place. In the
/// order of their ids.
std::vector<ValueName> stored_slots(std::span<const Instruction> code);

/// Slots that are read before anything fills them, in the order of execution as far as it is
/// known, with the use that reads first. `filled` are there at the start.
std::vector<const Use*> unfilled_reads(std::span<const Instruction> code,
                                       std::span<const std::uint32_t> filled);

}  // namespace mir
