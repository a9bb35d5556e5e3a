// Applies rewrites of spelling to the token stream of a text and prints the result.
#include "syntax/edit.hpp"

#include "syntax/gaps.hpp"
#include "syntax/layout.hpp"
#include "syntax/token_stream.hpp"

namespace mir {

TokenStream::TokenStream(const SyntaxTree& tree) {
  using Role = StreamItem::Role;
  const auto comments = [&](std::string_view gap) {
    for_each_comment(gap, items.empty(), [&](std::string_view text, bool own_line) {
      const Role role = own_line ? Role::kOwnLineComment : Role::kTrailingComment;
      items.push_back({text, TokenKind::kUndefined, role});
    });
  };
  for_each_token(
      tree,
      [&](std::string_view gap, TokenKind kind, std::string_view text) {
        comments(gap);
        items.push_back({text, kind, Role::kToken});
      },
      comments);
}

std::size_t TokenStream::next_token(std::size_t at) const {
  while (at < items.size() && items[at].role != StreamItem::Role::kToken) ++at;
  return at;
}

std::string TokenStream::print() const {
  LayoutPrinter printer;
  for (const StreamItem& item : items) {
    if (item.role == StreamItem::Role::kToken) {
      printer.token(item.kind, item.text);
    } else {
      printer.comment(item.text, item.role == StreamItem::Role::kOwnLineComment);
    }
  }
  return printer.finish();
}

Result<std::string> rewrite(const SyntaxTree& tree, const Rewrites& rewrites) {
  TokenStream stream(tree);
  if (rewrites.expand_attributes) {
    if (auto done = expand_attributes(stream); !done) return std::move(done).error();
  }
  if (rewrites.modernize) modernize(stream);
  if (rewrites.renumber) renumber(stream);
  if (rewrites.alias_attributes) alias_attributes(stream);
  return stream.print();
}

}  // namespace mir
