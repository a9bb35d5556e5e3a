// The words of a text, also of what cannot be read.
#pragma once

#include <functional>

#include "lsp/features.hpp"

namespace mir::lsp {

/// Calls `visit(kind, place)` for each token that touches a range, in order. Text that cannot be
/// read is scanned again, so its words are visited too.
void for_each_word(const View& view, Span in, const std::function<void(TokenKind, Span)>& visit);

/// The words of one token of kind kError.
void scan_words(const View& view, Span damaged, const std::function<void(TokenKind, Span)>& visit);

/// All of the text.
Span whole_text(const View& view);

}  // namespace mir::lsp
