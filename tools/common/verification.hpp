// Verification as the options of a tool ask for it.
#pragma once

#include <span>

#include "mir/verify.hpp"
#include "option.hpp"
#include "tool.hpp"

namespace mir::tools {

inline constexpr Choice<VerifyLevel> kVerifyLevels[] = {{"dump", VerifyLevel::kDump},
                                                        {"portable", VerifyLevel::kPortable}};

/// A code, a constraint or a group of them.
Argument<std::string> check_selector();

struct VerificationSettings {
  OptionSet& options;

  OptionGroup verification{options, "Verification"};
  Option<VerifyLevel> level{options,
                            {.name = "level",
                             .argument = "LEVEL",
                             .help = "check the rules for this form of modules",
                             .otherwise = "the module's form"},
                            choice(kVerifyLevels)};
  OptionList<std::string> deny{options,
                               {.name = "deny",
                                .argument = "WHAT",
                                .help = "report warnings of this code (MIR0470), constraint "
                                        "(dump_c1) or group (dump) as errors"},
                               check_selector()};
  OptionList<std::string> allow{
      options,
      {.name = "allow",
       .argument = "WHAT",
       .help =
           "report errors of this code, constraint or group as warnings, and hide its warnings; "
           "--allow=dump hides most warnings about dumps"},
      check_selector()};
  Flag no_verify{options, {.name = "no-verify", .help = "do not check modules"}};
};

class Verification {
 public:
  /// Verifies as the options request; --deny takes precedence over --allow. The tool itself may
  /// allow some constraints, which must exist; then no findings are shown.
  Verification(const VerificationSettings& settings, const Run& run,
               std::span<const std::string_view> allowed = {});

  /// True if the module has no error. With --no-verify nothing is checked.
  bool accepts(const Module& module, Diagnostics& diagnostics) const {
    return is_off_ || verify(module, diagnostics, options_);
  }

  /// True if a module that is to be converted has no error in its current form. Findings are not
  /// shown, because every dump has some.
  bool accepts_as_is(const Module& module, Diagnostics& diagnostics) const {
    VerifyOptions options = options_;
    options.level.reset();
    options.report_findings = false;
    return is_off_ || verify(module, diagnostics, options);
  }

  /// True if a tool that upgrades in memory shows the values that it assumed for lost facts.
  bool shows_losses() const { return options_.policy.shows_losses(); }

  /// For modules whose reading had errors: see verify_unsound.
  void look_further(std::span<Module* const> modules, Diagnostics& diagnostics) const {
    if (!is_off_) verify_unsound(modules, diagnostics, options_);
  }

 private:
  bool is_off_ = false;
  VerifyOptions options_;
};

}  // namespace mir::tools
