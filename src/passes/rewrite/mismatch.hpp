// Why a pattern does not match an op.
#pragma once

#include "mir/rewrite_patterns.hpp"

namespace mir {

/// `match` is what the pattern returned for the op, and has failed.
PatternMismatch mismatch_of(const RewritePattern& pattern, const PatternMatch& match, Op& op);

}  // namespace mir
