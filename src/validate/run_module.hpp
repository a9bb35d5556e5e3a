// Running a module once with reference kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mir/module.hpp"
#include "mir/tensor.hpp"

namespace mir::validate {

/// Iteration limit of a trial; random inputs may loop for ever.
inline constexpr std::uint64_t kMostIterations = 100'000;

/// The outputs, with weights `random:SEED`; no value if the module cannot run or the run fails.
std::optional<std::vector<Tensor>> run_module(const Module& module, std::span<const Tensor> inputs,
                                              std::uint64_t seed = 0);

}  // namespace mir::validate
