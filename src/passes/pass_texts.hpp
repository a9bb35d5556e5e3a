// What testdata/passes/data has of the passes of the build: examples and claims.
#pragma once

#include <span>
#include <string_view>

#include "mir/pass.hpp"

namespace mir {

/// A file of testdata/passes/data. Comments at its head state the options and facts of the example
/// and the claim: `// options: S=4`, `// fact: --assume=...`, `// claim: ...`.
struct PassText {
  std::string_view name;  ///< of the pass
  std::string_view text;
};

/// In order of their names.
std::span<const PassText> pass_texts();

/// Gives a pass its example and claim, if there is a text with its name.
void add_text(Pass& pass);

}  // namespace mir
