// Entry points of the parser: whole texts, units one by one, and damaged texts.
#include "mir/parse.hpp"

#include "mir/codes/syntax.hpp"
#include "support/utf8.hpp"
#include "syntax/damage.hpp"
#include "syntax/tree_builder.hpp"

namespace mir {

namespace {

bool parse_text(const SourceFile& file, Diagnostics& diagnostics,
                const std::function<bool(Unit&&)>& deliver, bool whole_only) {
  const std::string_view text = file.text();
  const char* end = text.data() + text.size();
  const char* invalid = find_invalid_utf8(text.data(), end);
  if (invalid != end) {
    const SourcePos at = file.position_of(invalid);
    diagnostics.error(diag::kInvalidUtf8, {at, at + 1}, "byte that is not part of UTF-8 text");
    return false;
  }
  const std::size_t errors_before = diagnostics.error_count();
  bool any_module = false;
  const std::function<bool(Unit &&)> counting = [&](Unit&& unit) {
    any_module |= unit.nodes().back().kind() == NodeKind::kModuleEnd;
    return deliver(std::move(unit));
  };
  TreeBuilder builder(file, diagnostics, counting, whole_only);
  if (const auto brace = missing_brace(text)) builder.imply(*brace);
  const bool is_parsed = grammar::parse(builder);
  if (diagnostics.error_count() != errors_before) {
    if (!whole_only) builder.finish();
    return false;
  }
  if (is_parsed && !any_module) {
    diagnostics.error(diag::kEmptyFile, {file.base(), file.base()}, "the file contains no module");
    return false;
  }
  return is_parsed;
}

}  // namespace

bool parse_units(const SourceFile& file, Diagnostics& diagnostics,
                 const std::function<bool(Unit&&)>& deliver) {
  return parse_text(file, diagnostics, deliver, true);
}

bool parse_damaged_units(const SourceFile& file, Diagnostics& diagnostics,
                         const std::function<bool(Unit&&)>& deliver) {
  return parse_text(file, diagnostics, deliver, false);
}

SyntaxTree parse_damaged(const SourceFile& file, Diagnostics& diagnostics) {
  SyntaxTree tree(file);
  parse_damaged_units(file, diagnostics, [&](Unit&& unit) {
    tree.add(std::move(unit));
    return true;
  });
  return tree;
}

std::optional<SyntaxTree> parse(const SourceFile& file, Diagnostics& diagnostics) {
  SyntaxTree tree(file);
  const bool complete = parse_units(file, diagnostics, [&](Unit&& unit) {
    tree.add(std::move(unit));
    return true;
  });
  if (!complete) return std::nullopt;
  return tree;
}

std::vector<Token> scan(const SourceFile& file, Diagnostics& diagnostics) {
  Lexer lexer(file, diagnostics);
  std::vector<Token> tokens;
  while (true) {
    const TokenKind kind = lexer.next();
    if (kind == TokenKind::kEnd) return tokens;
    if (kind == TokenKind::kError || kind == TokenKind::kResume) continue;
    tokens.emplace_back(kind, static_cast<std::uint32_t>(lexer.begin() - file.text().data()),
                        static_cast<std::uint32_t>(lexer.end() - lexer.begin()));
  }
}

}  // namespace mir
