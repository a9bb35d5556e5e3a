// Changes to generated modules that keep what they give.
#pragma once

#include <cstdint>
#include <string>

#include "mir/module.hpp"

namespace mir::test {

/// The module with what generated ones lack: inputs that nothing reads, outputs that no operation
/// makes, locations.
std::string garnished(Module& module, std::uint64_t seed);

/// The module that also returns each value that its body makes.
std::string exposed(Module& module, std::uint64_t seed);

/// The module with outputs under names that no view shares and nothing reads, and with all
/// operations named.
std::string named(Module& module, std::uint64_t seed);

/// The module with operations put behind some, that undo each other, repeat themselves or change
/// nothing.
std::string padded(Module& module, std::uint64_t seed);

/// The module with some operations twice, each read in places.
std::string doubled(Module& module, std::uint64_t seed);

}  // namespace mir::test
