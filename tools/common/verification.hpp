// Verification as the options of a tool ask for it.
#pragma once

#include <span>

#include "mir/verify.hpp"
#include "tool.hpp"

namespace mir::tools {

class Verification {
 public:
  /// What --level, --deny, --allow, --max-errors and --no-verify ask for; --deny wins over --allow.
  /// The tool itself may allow some constraints; then no findings are shown.
  static Result<Verification> create(const Run& run,
                                     std::span<const std::string_view> allowed = {});

  /// Whether the module has no error; with --no-verify nothing is looked at and none is found.
  bool accepts(const Module& module, Diagnostics& diagnostics) const {
    return is_off_ || verify(module, diagnostics, options_);
  }

  /// For modules whose reading had errors: see verify_unsound.
  void look_further(std::span<Module* const> modules, Diagnostics& diagnostics) const {
    if (!is_off_) verify_unsound(modules, diagnostics, options_);
  }

 private:
  Verification() = default;

  bool is_off_ = false;
  VerifyOptions options_;
};

}  // namespace mir::tools
