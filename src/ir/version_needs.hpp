// The version of the language that a module needs, and the features that need it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "mir/module.hpp"

namespace mir {

/// A feature of the language in a module that versions before `version` lack.
struct VersionNeed {
  enum class Feature : std::uint8_t {
    kDialect,        ///< the module declares a dialect
    kSymbols,        ///< its head declares symbols
    kRelations,      ///< its head states relations between symbols
    kBlocks,         ///< its body has several blocks
    kOp,             ///< the row of the op has a later version
    kOperand,        ///< a later version added an operand that the op has
    kUnknownOp,      ///< the op may be of a dialect that another file declares
    kDeclaredOp,     ///< the op is of a dialect that a text declares
    kDeclaredType,   ///< the type of a value is
    kCalledSymbols,  ///< a call passes other extents for the symbols of its graph
    kPort,           ///< an input or output has a port that its value cannot be named after
    kExtremum        ///< an extent has a minimum or a maximum; each extent is visited once
  };

  Feature feature;
  std::int64_t version;
  const Op& place;             ///< the op that has the feature; for a module, its head
  const Type* type = nullptr;  ///< of kDeclaredType
  Dim extent{};                ///< of kExtremum
  std::string port{};          ///< of kPort: "'%q' of output 1 of '@main'"
};

/// True if the op has an operand that a later version than the op's own may have added.
bool has_added_operand(const Op& op);

/// Returns a sentence: "'cf.ForOp' needs mir_version:2".
std::string describe(const VersionNeed& need);

/// Calls `visit` for each feature of the portable `module` that needs a later version than
/// `admitted`. Short forms of its text are not visited: they are no part of the module.
void for_each_version_need(const Module& module, std::int64_t admitted,
                           const std::function<void(const VersionNeed&)>& visit);

/// Returns the lowest `mir_version` whose language has all that the portable `module` uses, at most
/// its own. Short forms of its text are not counted.
std::int64_t lowest_version(const Module& module);

}  // namespace mir
