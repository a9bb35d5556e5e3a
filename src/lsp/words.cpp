// Iterates over the tokens of a range, and scans damaged ranges again.
#include "lsp/words.hpp"

#include <algorithm>

#include "syntax/lexer.hpp"

namespace mir::lsp {

void scan_words(const View& view, Span damaged, const std::function<void(TokenKind, Span)>& visit) {
  const SourceFile& file = view.now().file();
  Diagnostics ignored;
  Lexer lexer(file, ignored, damaged.begin - Document::kBase);
  while (true) {
    const TokenKind kind = lexer.next();
    const Span span{file.position_of(lexer.begin()), file.position_of(lexer.end())};
    if (kind == TokenKind::kEnd || span.begin >= damaged.end) return;
    if (span.end <= damaged.end) visit(kind, span);
  }
}

void for_each_word(const View& view, Span in, const std::function<void(TokenKind, Span)>& visit) {
  const auto units = view.now().tree().units();
  const auto visit_touching = [&](TokenKind kind, Span at) {
    if (at.end >= in.begin && at.begin <= in.end) visit(kind, at);
  };
  auto unit = std::ranges::upper_bound(units, in.begin, {}, &Unit::base);
  if (unit != units.begin()) --unit;
  if (unit != units.begin() && unit->base() == in.begin) --unit;  // its last token may touch
  for (; unit != units.end() && unit->base() <= in.end; ++unit) {
    const auto tokens = unit->tokens();
    const auto first = std::ranges::partition_point(
        tokens, [&](const Token& each) { return unit->base() + each.end() < in.begin; });
    for (auto token = first; token != tokens.end(); ++token) {
      view.check_stop();
      const Span at = unit->span(static_cast<std::uint32_t>(token - tokens.begin()));
      if (at.begin > in.end) return;
      if (token->kind() == TokenKind::kError) {
        scan_words(view, at, visit_touching);
      } else {
        visit(token->kind(), at);
      }
    }
  }
}

Span whole_text(const View& view) {
  return {Document::kBase, Document::kBase + static_cast<SourcePos>(view.document.text().size())};
}

}  // namespace mir::lsp
