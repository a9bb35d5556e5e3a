// Whether a module means something: the checks before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

struct Constraint;

/// Checks that belong together; `name_of` gives the word that options use.
enum class CheckGroup : std::uint8_t {
  kStructure,
  kAttributes,
  kSsa,
  kTypes,
  kShapes,  ///< the shape rules of the op pages
  kCalls,
  kWeights,
  kProgram,
  kLifetime,
  kQuantisation,
  kDump,  ///< what dumps lose
};
std::string_view name_of(CheckGroup group);
/// Every group's name, in order.
std::span<const std::string_view> check_group_names();

/// The severity of a violation: none, a warning, an error.
enum class Verdict : std::uint8_t { kOff, kFinding, kError };

/// Changes verdicts by code (`MIR0470`), constraint id (`dump_c1`) or group (`dump`); what was said
/// last wins.
class CheckPolicy {
 public:
  /// Breaches are errors. False when nothing has that code, id or name.
  [[nodiscard]] bool deny(std::string_view selector) { return add(selector, true); }
  /// One step milder: an error becomes a finding, a finding is not reported.
  [[nodiscard]] bool allow(std::string_view selector) { return add(selector, false); }

  Verdict apply(const Constraint& constraint, Verdict verdict) const;
  /// Whether a remark about what a dump lost is shown, MIR0700 of group `dump`.
  bool shows_losses() const;

 private:
  struct Change {
    std::string selector;
    bool deny;
  };
  bool add(std::string_view selector, bool deny);

  std::vector<Change> changes_;
};

/// The rules to check. At level dump, errors of upstream's own printer are findings (warnings) and
/// all others are errors. At level portable, every finding is an error.
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

/// For modules of a text whose reading had errors, which are in `diagnostics`: adds what
/// verification finds, except what could follow from one of those errors. Of `earlier`, the
/// findings of the text before it had errors, at their places now, those are added that could
/// follow from an error, so that nothing is known of them yet.
void verify_unsound(std::span<Module* const> modules, Diagnostics& diagnostics,
                    const VerifyOptions& options = {}, std::span<const Diagnostic> earlier = {});

}  // namespace mir
