#include "mir/parse.hpp"

#include <cstring>

#include "parser.hpp"
#include "syntax/tree_builder.hpp"

namespace mir {

static_assert(static_cast<int>(grammar::Parser::symbol_kind::S_FIELD_COLON) + 1 == kTokenKinds &&
                  static_cast<int>(grammar::Parser::symbol_kind::S_TYPED_VALUE) ==
                      static_cast<int>(TokenKind::kTypedValue) &&
                  static_cast<int>(grammar::Parser::symbol_kind::S_KEY) ==
                      static_cast<int>(TokenKind::kKey),
              "TokenKind follows the token declarations of parser.yy");

namespace {

/// First byte that is not part of well-formed UTF-8, or the end.
const char* find_invalid_utf8(const char* at, const char* end) {
  while (at != end) {
    std::uint64_t eight;
    while (end - at >= 8 && (std::memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0))
      at += 8;
    if (at == end) break;
    const auto lead = static_cast<unsigned char>(*at);
    const int length = lead < 0x80   ? 1
                       : lead < 0xc2 ? 0
                       : lead < 0xe0 ? 2
                       : lead < 0xf0 ? 3
                       : lead < 0xf5 ? 4
                                     : 0;
    if (length == 0 || end - at < length) return at;
    for (int i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(at[i]) & 0xc0) != 0x80) return at;
    }
    const auto second = length > 1 ? static_cast<unsigned char>(at[1]) : 0u;
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool surrogate = lead == 0xed && second >= 0xa0;
    const bool beyond = lead == 0xf4 && second >= 0x90;
    if (overlong || surrogate || beyond) return at;
    at += length;
  }
  return end;
}

}  // namespace

bool parse_units(const SourceFile& file, Diagnostics& diagnostics,
                 const std::function<bool(Unit&&)>& deliver) {
  const std::string_view text = file.text();
  const char* end = text.data() + text.size();
  const char* invalid = find_invalid_utf8(text.data(), end);
  if (invalid != end) {
    const SourcePos at = file.position_of(invalid);
    diagnostics.error(DiagCode::kInvalidUtf8, {at, at + 1}, "byte that is not part of UTF-8 text");
    return false;
  }
  const std::size_t errors_before = diagnostics.error_count();
  bool any_module = false;
  const std::function<bool(Unit &&)> counting = [&](Unit&& unit) {
    any_module |= unit.nodes().back().kind() == NodeKind::kModuleEnd;
    return deliver(std::move(unit));
  };
  TreeBuilder builder(file, diagnostics, counting);
  grammar::Parser parser(builder);
  const int status = parser.parse();
  if (diagnostics.error_count() != errors_before) return false;
  if (status == 0 && !any_module) {
    diagnostics.error(DiagCode::kEmptyFile, {file.base(), file.base()},
                      "the file contains no module");
    return false;
  }
  return status == 0;
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
