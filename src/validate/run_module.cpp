#include "validate/run_module.hpp"

#include "mir/session.hpp"

namespace mir::validate {

std::optional<std::vector<Tensor>> run_module(const Module& module,
                                              std::span<const Tensor> inputs) {
  Diagnostics ignored(1);
  auto session = Session::create(module, {}, ignored);
  if (!session) return std::nullopt;
  return session->run(inputs, ignored);
}

}  // namespace mir::validate
