// A decoder with the loop around it that generates tokens.
#pragma once

#include <cstdint>
#include <string>

#include "qwen2_decoder.hpp"

namespace mir::generate {

/// The text of a module `@main(%ids, %end) -> (%tokens, %count)`: ids are a prompt, [1, $S] Int64.
/// Tokens are the likeliest ones after it, [1, `most`] Int64, the last one `end`, unless there are
/// `most` before; -1 stands in the places after the first `count`. `graphs` is what
/// build_qwen2_graphs() built.
std::string generating_text(const Module& graphs, const DecoderShape& shape, std::int64_t most);

}  // namespace mir::generate
