// Random dialects with modules that use them.
#pragma once

#include <cstdint>
#include <string>

namespace mir::test {

/// A dialect `made` whose ops have bodies, and a module `main` that uses them. All inputs of the
/// module are Float32; $S is the only symbol in their types.
struct DialectText {
  std::string dialect;
  std::string module;
  /// The module with one more use, which the declaration of its op refuses.
  std::string mistaken;
};

/// Types of results that the module states are computed here, from other rules than signatures.
DialectText generate_dialect(std::uint64_t seed);

}  // namespace mir::test
