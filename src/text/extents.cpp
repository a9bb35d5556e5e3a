// Checks the syntax of the extents in a text without building IR.
#include "text/extents.hpp"

#include "extents/extent_words.hpp"

namespace mir {

void ExtentCheck::add(const Unit& unit) {
  for (const Token& token : unit.tokens()) {
    const TokenKind kind = token.kind();
    const bool is_type = kind == TokenKind::kType || kind == TokenKind::kTypedValue;
    if (!is_type && kind != TokenKind::kDim) continue;
    const SourcePos begin = unit.base() + token.offset;
    std::string_view text = file_.slice({begin, begin + token.length()});
    if (kind == TokenKind::kDim) {
      extent(text);
      continue;
    }
    if (kind == TokenKind::kTypedValue) text.remove_prefix(text.find(':') + 1);
    if (!types_.insert(text).second) continue;
    for_each_extent(text, [&](std::string_view word) { extent(word); });
  }
}

void ExtentCheck::extent(std::string_view word) {
  const auto dim = dims_.parse(word);
  if (dim) return;
  diagnostics_.error(dim.error().code,
                     {file_.position_of(word.data()), file_.position_of(word.data() + word.size())},
                     dim.error().message);
}

void check_extents(const SyntaxTree& tree, Diagnostics& diagnostics) {
  ExtentCheck check(tree.file(), diagnostics);
  for (const Unit& unit : tree.units()) check.add(unit);
}

}  // namespace mir
