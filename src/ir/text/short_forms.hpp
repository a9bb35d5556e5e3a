// Short forms that a portable text may use from a version of the language on.
#pragma once

#include <cstdint>

namespace mir {

/// The first version in which types have aliases, `!name = type`. Dumps have them, too.
inline constexpr std::int64_t kTypeAliasVersion = 2;

/// The first version in which `tensor.CPU.register () -> (%0:T[@w])` means the same as with
/// `[symbol:w]` behind it.
inline constexpr std::int64_t kImpliedSymbolVersion = 2;

}  // namespace mir
