// Runs a module once with reference kernels and a limit on loop iterations.
#include "validate/run_module.hpp"

#include <fmt/format.h>

#include "mir/session.hpp"

namespace mir::validate {

std::optional<std::vector<Tensor>> run_module(const Module& module, std::span<const Tensor> inputs,
                                              std::uint64_t seed) {
  WeightSet weights;
  if (!weights.add(fmt::format("random:{}", seed))) return std::nullopt;
  Diagnostics ignored(1);
  SessionOptions how;
  how.weights = &weights;
  auto session = Session::create(module, how, ignored);
  if (!session) return std::nullopt;
  RunOptions options;
  options.most_iterations = kMostIterations;
  return session->run(inputs, ignored, options);
}

}  // namespace mir::validate
