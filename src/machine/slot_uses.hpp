// Which slots a program reads and stores into beyond what its bindings say.
#pragma once

#include <span>
#include <vector>

#include "program/program_code.hpp"

namespace mir {

/// Whether the launch is a product whose last operand is where its result is stored.
bool launch_has_destination(const Op& launch);
/// Whether the operand is where its launch stores its result.
bool is_destination(const Use& use);
/// Slots into which launches store: wholly, or through a slice that they change in place. In the
/// order of their ids.
std::vector<ValueName> stored_slots(const ProgramCode& code);

/// Slots that are read before anything fills them, in the order of execution as far as it is
/// known, with the use that reads first. `filled` are there at the start.
std::vector<const Use*> unfilled_reads(const ProgramCode& code,
                                       std::span<const std::uint32_t> filled);

}  // namespace mir
