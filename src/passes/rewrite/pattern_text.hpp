// Texts of patterns that contexts read again, and the passes that they become.
#pragma once

#include <string_view>

#include "mir/pass.hpp"
#include "patterns/pattern.hpp"

namespace mir {

struct PatternText {
  std::string_view name, text;
};

/// The claim that a pattern states.
RewriteClaim claim_of(const patterns::Pattern& pattern);

/// The patterns of one module of a text, which must be sound.
PatternSet read_again(const PatternText& from, std::size_t module, IRContext& context);

/// A pass on graphs that applies patterns, which the caller sets.
Pass pass_of(std::string_view name, std::string_view summary);

}  // namespace mir
