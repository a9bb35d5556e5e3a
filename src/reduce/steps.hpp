// The steps of a reduction: each one offers edits of a text that make it simpler.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "reduce/draft.hpp"

namespace mir::reduce {

/// The edits that a step offers for a draft, in an order that depends on the text alone. Any subset
/// may be applied, in order, followed by `finish`.
struct Edits {
  std::vector<std::function<void()>> list{};
  std::function<void()> finish{};
};

struct Step {
  std::string_view name;
  Edits (*offer)(Draft& draft);
  bool one_by_one = false;    ///< edits exclude each other
  bool drops_graphs = false;  ///< results count only if they have fewer graphs
};

Edits drop_modules(Draft& draft);        // drop_parts.cpp
Edits drop_graphs(Draft& draft);         // drop_parts.cpp
Edits drop_ops(Draft& draft);            // drop_parts.cpp
Edits bypass_ops(Draft& draft);          // drop_parts.cpp
Edits drop_outputs(Draft& draft);        // simplify_signatures.cpp
Edits drop_inputs(Draft& draft);         // simplify_signatures.cpp
Edits merge_inputs(Draft& draft);        // simplify_signatures.cpp
Edits drop_attributes(Draft& draft);     // simplify_attributes.cpp
Edits simplify_constants(Draft& draft);  // simplify_attributes.cpp
Edits bind_symbols(Draft& draft);        // shrink_extents.cpp
Edits shrink_extents(Draft& draft);      // shrink_extents.cpp
Edits eliminate_unused(Draft& draft);    // run_passes.cpp
Edits inline_calls(Draft& draft);        // run_passes.cpp
Edits extract_graph(Draft& draft);       // run_passes.cpp
Edits simplify_names(Draft& draft);      // run_passes.cpp

/// All steps, in the order in which they are tried: those that remove most come first.
std::span<const Step> all_steps();

}  // namespace mir::reduce
