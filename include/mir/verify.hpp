// Whether a module means something: the checks before anything runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "mir/constraint.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// What a module is held to. A dump is read as upstream prints it: what upstream itself gets wrong
/// is a finding (a warning), the rest is an error. Portable takes every finding for an error.
enum class VerifyLevel : std::uint8_t { kDump, kPortable };

struct VerifyOptions {
  std::optional<VerifyLevel> level{};  ///< none: by the form of the module
  CheckPolicy policy{};
  /// Findings kept of one code; further ones are only counted. 0 keeps all.
  std::size_t findings_per_code = 20;
  /// False: findings are not looked for, errors alone are.
  bool report_findings = true;
};

/// Checks a module and reports every problem found, in an order that depends on the module alone;
/// true when there is no error. Never changes the module, never stops at the first problem. Each
/// diagnostic names the constraint that is broken; docs/verification.md and the op pages explain
/// them. Takes time and memory in proportion to the module, nested calls to 1000
/// levels, and modules of any content.
bool verify(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options = {});

/// For modules of a text whose reading had errors, which are in `diagnostics`: adds errors that an
/// op has whatever the rest is (its name, its arity, its attributes, its callee), which are often
/// why reading failed. Nothing that could follow from another error is looked for.
void verify_unsound(std::span<Module* const> modules, Diagnostics& diagnostics,
                    const VerifyOptions& options = {});

}  // namespace mir
