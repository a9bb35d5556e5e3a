// Checks the syntax of the extents in a text without building IR.
#include "text/extents.hpp"

#include <unordered_set>

#include "extents/extent_words.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

class ExtentCheck {
 public:
  ExtentCheck(const SourceFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  void token(TokenKind kind, std::string_view text) {
    if (kind == TokenKind::kDim) return extent(text);
    if (kind == TokenKind::kTypedValue) text.remove_prefix(text.find(':') + 1);
    if (kind != TokenKind::kType && kind != TokenKind::kTypedValue) return;
    if (!types_.insert(text).second) return;
    for_each_extent(text, [&](std::string_view word) { extent(word); });
  }

 private:
  void extent(std::string_view word) {
    const auto dim = dims_.parse(word);
    if (dim) return;
    diagnostics_.error(
        dim.error().code,
        {file_.position_of(word.data()), file_.position_of(word.data() + word.size())},
        dim.error().message);
  }

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  StringInterner strings_;
  DimTable dims_{strings_};
  std::unordered_set<std::string_view> types_;  // that were looked at
};

}  // namespace

void check_extents(const SyntaxTree& tree, Diagnostics& diagnostics) {
  ExtentCheck check(tree.file(), diagnostics);
  for (const Unit& unit : tree.units()) {
    const auto tokens = unit.tokens();
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
      check.token(tokens[i].kind(), tree.text(unit, i));
    }
  }
}

}  // namespace mir
