// Passes that keep every number.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "mir/pass.hpp"

namespace mir::test {

/// Passes that keep every number and need no options.
inline std::vector<const Pass*> exact_passes(const PassRegistry& registry) {
  constexpr std::array<std::string_view, 5> kBound = {"fuse-activations", "fuse-rotations",
                                                      "recompose", "decompose", "separate-weights"};
  std::vector<const Pass*> passes;
  for (const auto& [name, pass] : registry.passes()) {
    const bool keeps_form = pass.takes == PassForm::kPortable && pass.gives == PassForm::kAny;
    const bool is_bound = std::ranges::find(kBound, name) != kBound.end();
    if (keeps_form && pass.example_options.empty() && !is_bound) passes.push_back(&pass);
  }
  return passes;
}

}  // namespace mir::test
