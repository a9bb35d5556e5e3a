// A decoder with the loop around it that generates tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qwen2_decoder.hpp"

namespace mir::generate {

/// Sampling of a token from the `top_k` likeliest ones, after a softmax of the logits over
/// `temperature`. A token is a candidate if the tokens before it have a total probability below
/// `top_p`.
struct Sampling {
  std::int64_t top_k = 64;  ///< 1 to the vocabulary
  double top_p = 1;         ///< above 0
  double temperature = 1;   ///< above 0
};

/// The text of a module `@main(%ids, %end) -> (%tokens)`: ids are a prompt, [1, $S] Int64. Tokens
/// are those after it, [1, $T] Int64, the last one `end`, unless there are `most` before. They are
/// the likeliest ones, or drawn: then the module has a third input, %random, the state of
/// RandomUniform. `graphs` is what build_qwen2_graphs() built.
std::string generating_text(const Module& graphs, const DecoderShape& shape, std::int64_t most,
                            const std::optional<Sampling>& sampling);

}  // namespace mir::generate
