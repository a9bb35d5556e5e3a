// What verification holds a module to, and how bad a breach is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic_code.hpp"

namespace mir {

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

/// What a breach becomes: nothing, a warning, an error.
enum class Verdict : std::uint8_t { kOff, kFinding, kError };

enum class ConstraintId : std::uint8_t {
#define MIR_CONSTRAINT(id, code, group, dump, portable, page) id,
#include "mir/constraints.def"
#undef MIR_CONSTRAINT
};

/// How many there are.
inline constexpr std::size_t kConstraintCount = 0
#define MIR_CONSTRAINT(id, code, group, dump, portable, page) +1
#include "mir/constraints.def"
#undef MIR_CONSTRAINT
    ;

struct Constraint {
  std::string_view id{};  ///< "ssa_c1"
  DiagCode code{};
  CheckGroup group{};
  Verdict in_dump = Verdict::kError;
  Verdict in_portable = Verdict::kError;
  std::string_view page{};      ///< below docs/
  std::string_view citation{};  ///< "ssa_c1, docs/verification.md"
};

/// Every constraint but those of the shape rules; the index is the ConstraintId.
std::span<const Constraint, kConstraintCount> constraints();

/// Changes verdicts by code (`MIR0470`), constraint id (`dump_c1`) or group (`dump`); what was said
/// last wins.
class CheckPolicy {
 public:
  /// Breaches are errors. False when nothing has that code, id or name.
  [[nodiscard]] bool deny(std::string_view selector) { return add(selector, true); }
  /// One step milder: an error becomes a finding, a finding is not reported.
  [[nodiscard]] bool allow(std::string_view selector) { return add(selector, false); }

  Verdict apply(const Constraint& constraint, Verdict verdict) const;

 private:
  struct Change {
    std::string selector;
    bool deny;
  };
  bool add(std::string_view selector, bool deny);

  std::vector<Change> changes_;
};

}  // namespace mir
