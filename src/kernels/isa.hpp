// Instruction sets by name, and which of them the machine has.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "mir/compute.hpp"

namespace mir {

/// Every level, ascending.
std::span<const IsaLevel> isa_levels();

/// `scalar`, `avx2`, `avx512`, `avx512-vnni` or `avx512-bf16`.
std::string_view name_of(IsaLevel level);
std::optional<IsaLevel> isa_level_from_name(std::string_view name);

/// The highest level of which this machine and its operating system support all of it.
IsaLevel detected_isa_level();

}  // namespace mir
