// The lists of attributes of a module: of ops, values, mentions and signatures.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

/// Returns what a list of attributes becomes. `own` is the symbol of the op or value that has the
/// list; none if it has no symbol.
using RewriteAttributes =
    std::function<std::vector<NamedAttr>(std::span<const NamedAttr> list, Symbol own)>;

/// Replaces each list of the module that has attributes. All ops are printed anew.
void rewrite_attribute_lists(Rewriter& rewriter, const RewriteAttributes& rewrite);

}  // namespace mir
