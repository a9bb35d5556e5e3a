// Words for the inputs and outputs of graphs, by the ops that read or make them.
#pragma once

#include <string_view>

#include "mir/op.hpp"

namespace mir {

/// Returns a word for what ops read the value as: "ids" of an Embedding, "sin" and "cos" of a
/// rotary embedding, "keys" and "values" of attention, "mask" that is added to scores, "pixels" of
/// a convolution, "cache" that a copy overwrites. Views, slices, casts and calls are followed a few
/// steps. Returns an empty text if no such op is found.
std::string_view role_of_input(const Value& value);

/// Returns "logits" for what a Linear makes that is called `lm_head`, `head` or `classifier`, else
/// an empty text.
std::string_view role_of_output(const Value& value);

}  // namespace mir
