// Constraints that verification checks, and how bad a breach is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/verify.hpp"

namespace mir {

enum class ConstraintId : std::uint8_t {
#define MIR_CONSTRAINT(id, code, group, dump, portable, scope) id,
#include "verify/constraints.def"
#undef MIR_CONSTRAINT
};

/// How many there are.
inline constexpr std::size_t kConstraintCount = 0
#define MIR_CONSTRAINT(id, code, group, dump, portable, scope) +1
#include "verify/constraints.def"
#undef MIR_CONSTRAINT
    ;

/// The text on which a report depends, besides heads of modules, signatures of graphs, aliases and
/// graphs that declare parameters.
enum class CheckScope : std::uint8_t {
  kGraph,       ///< the graph around the op
  kInterfaces,  ///< ops that connect graphs: calls, caches, declarations and uses of symbols
  kModule,  ///< all graphs: equal breaches are reported once, or others are searched for a repair
};

struct Constraint {
  std::string_view id{};  ///< "ssa_c1"
  DiagCode code{};
  CheckGroup group{};
  Verdict in_dump = Verdict::kError;
  Verdict in_portable = Verdict::kError;
  CheckScope scope = CheckScope::kGraph;
};

/// Every constraint but those of the shape rules; the index is the ConstraintId.
std::span<const Constraint, kConstraintCount> constraints();

/// The widest scope of a constraint with this code, or of an error of reading.
CheckScope scope_of(DiagCode code);

/// True if every constraint of the code tells what upstream loses, or does in its programs, so that
/// most dumps break it: group `dump`, and constants that a program frees. Its findings are counted
/// for people, not listed.
bool is_usual_in_dumps(DiagCode code);

}  // namespace mir
