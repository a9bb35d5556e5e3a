// Words for values, by the ops that read or make them.
#pragma once

#include <string>
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

/// Returns a text as the name of a value: other characters become `_`.
std::string as_value_name(std::string_view text);

/// Returns a word for the results of an op: `mlp.up` of the layer `layers.0.mlp.up` in the graph
/// `layers.0`, and `add` of an AddOp without a path.
std::string word_for_results(std::string_view mnemonic, std::string_view path,
                             std::string_view graph);

}  // namespace mir
