// The module that a file of the command line holds.
#pragma once

#include <cstdint>
#include <memory>

#include "invocation.hpp"
#include "mir/module.hpp"
#include "verification.hpp"

namespace mir::tools {

/// Form of a module that is to be run.
enum class Loading : std::uint8_t {
  kGraphs,   ///< portable; a dump is upgraded
  kPaired,   ///< the same beside another module, which what is granted may be meant for
  kProgram,  ///< the same of a lowered program, which is kept beside
};

struct LoadedModule {
  Module* module = nullptr;         ///< null after reporting
  std::unique_ptr<Module> program;  ///< as it was before its upgrade, where that is asked for
};

/// Returns the verification of a module that is to be run.
Verification verification_of_run(const Run& run, const Invocation& invocation,
                                 const VerificationSettings& checks);

/// The module of --module in a text, or its only one, verified.
LoadedModule load_module(const Run& run, const SourceFile& file, const Invocation& invocation,
                         const VerificationSettings& checks, Loading loading, IRContext& context,
                         Diagnostics& diagnostics);

}  // namespace mir::tools
