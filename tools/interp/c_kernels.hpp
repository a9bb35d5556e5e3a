// Runs modules as C that the system's compiler translates.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emit_c/c_module.hpp"
#include "mir/pass.hpp"
#include "mir/session.hpp"

namespace mir::tools {

/// The C of a module for each set of extents that runs have. Compilers and their output are those
/// of the machine: `$CC`, and a folder of shared objects that stays from run to run.
class CKernels {
 public:
  /// Both must outlive the object. The module must be verified.
  CKernels(const Module& module, const PassRegistry& registry)
      : module_(module), registry_(registry) {}

  /// Like Session::run() for the body of the module. The session has the parameters and the caches.
  std::optional<std::vector<Tensor>> run(Session& session, std::span<const Tensor> inputs,
                                         const RunOptions& options, Diagnostics& diagnostics);

 private:
  struct Compiled {
    CText text;
    int (*call)(void* const* arrays, void* caches, void* workspace) = nullptr;
  };

  const Compiled* compiled(const DimBindings& bindings, Diagnostics& diagnostics);
  std::optional<CText> emit(const std::string& bindings, Diagnostics& diagnostics) const;

  const Module& module_;
  const PassRegistry& registry_;
  std::map<std::string, Compiled> compiled_;  // by the numbers of symbols
};

}  // namespace mir::tools
