// Predicates that scan a text to decide if it can be written without quotes.
#include "syntax/spellings.hpp"

#include <algorithm>
#include <string>

#include "mir/parse.hpp"
#include "support/characters.hpp"
#include "support/utf8.hpp"
#include "syntax/layout.hpp"
#include "syntax/lexer.hpp"
#include "syntax/text_literal.hpp"
#include "syntax/token_text.hpp"

namespace mir {

namespace {

using K = TokenKind;

/// True if `text`, in a line of an op, is scanned as one token of this kind, and as it is written
/// in canonical text.
bool is_token(std::string_view before, std::string_view text, std::string_view after, K kind) {
  SourceManager sources;
  Diagnostics diagnostics(1);
  const SourceFile* file =
      sources.add("text", std::string(before).append(text).append(after).append("\n"));
  if (file == nullptr || !is_utf8(text)) return false;
  Lexer lexer(*file, diagnostics);
  const char* const begin = file->text().data() + before.size();
  K found = lexer.next();
  while (found != K::kEnd && found != K::kError && lexer.begin() < begin) found = lexer.next();
  if (found != kind || lexer.begin() != begin || lexer.end() != begin + text.size()) return false;
  return lexer.next() != K::kError && canonical_text(kind, text) == text;
}

/// Texts without quotes whose end is searched for have this many bytes at most.
constexpr std::size_t kMostBytes = 1000;

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

/// True for texts that need quotes in any context.
bool is_unquotable(std::string_view text) {
  return text.size() > kMostBytes || has_control_character(text);
}

}  // namespace

bool is_op_name(std::string_view text) {
  return is_token("", text, "() -> ()", K::kOpName) &&
         is_token("", text, " @s () -> ()", K::kOpName);
}

bool is_plain_op_name(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_name_character(c, "_.$-"); });
}

bool is_bare_text(std::string_view text) {
  if (is_bare_word(text)) return true;
  // A quote after a comma may close in what follows.
  for (auto at = text.find(','); at != text.npos; at = text.find(',', at + 1)) {
    const auto next = text.find_first_not_of(" \t", at + 1);
    if (next != text.npos && text[next] == '"') return false;
  }
  return !is_unquotable(text) && is_token("a.b [k:", text, "]", K::kBare) &&
         is_token("a.b [k:", text, ", l:1]", K::kBare);
}

bool is_data_word(std::string_view text) {
  return is_identifier(text) && is_bare_word(text);
}

bool is_value_name(std::string_view text, bool has_type) {
  if (is_plain_op_name(text)) return true;
  if (!has_type || is_unquotable(text)) return false;
  const std::string name = "%" + std::string(text);
  return is_token("a.b (", name, ":tensor<[], F, D>) -> ()", K::kValue);
}

bool is_block_name(std::string_view text) {
  return is_plain_name(text);
}

bool is_angle_text(std::string_view text) {
  if (text.size() < kMostBytes && is_identifier(text)) return true;
  const std::string whole = "<" + std::string(text) + ">";
  // A blank after `-` keeps `>` from being part of an arrow and is not read.
  return !is_unquotable(text) && !text.ends_with(' ') &&
         is_token("a.b ", whole, " () -> ()", K::kAngle);
}

bool is_path_text(std::string_view text) {
  if (is_unquotable(text)) return false;
  if (is_plain_op_name(text)) return true;
  const std::string inner = "name=\"" + std::string(text) + "\"";
  return is_token("a.b ", "<" + inner + ">", " () -> ()", K::kNameAngle) &&
         is_token("a.b ", "[" + inner + "]", "() -> ()", K::kNameSquare);
}

bool is_opaque_type(std::string_view text) {
  return is_token("a.b (%0:", text, ") -> ()", K::kOpaqueType);
}

bool is_opaque_value(std::string_view text) {
  return text.find('.') != text.npos && is_token("a.b [k:", text, "]", K::kHash);
}

bool is_quoted_text(std::string_view text) {
  return is_token("a.b [k:", text, "]", K::kString);
}

bool is_float_text(std::string_view text) {
  return is_token("a.b [k:", text, "]", K::kFloat) ||
         (!read_integer(text) && is_token("a.b [k:", text, "]", K::kInt));
}

bool is_location(std::string_view text) {
  return is_utf8(text) && is_token("a.b () -> () ", text, "", K::kLoc);
}

bool is_quant_spec(std::string_view text) {
  SourceManager sources;
  Diagnostics diagnostics(1);
  const SourceFile* file =
      sources.add("text", "@m () -> () {\na.b () -> () [k:" + std::string(text) + "]\n}\n");
  if (file == nullptr || has_control_character(text)) return false;
  const auto tree = parse(*file, diagnostics);
  if (!tree || diagnostics.has_errors()) return false;
  LayoutPrinter printer;
  std::size_t attributes = 0;
  bool is_spec = false;
  for (const Unit& unit : tree->units()) {
    for (const Node& node : unit.nodes()) {
      attributes += node.kind() == NodeKind::kAttribute ? 1 : 0;
      if (node.kind() != NodeKind::kLeaf) continue;
      const K kind = unit.tokens()[node.token].kind();
      is_spec = kind == K::kQuantSpec || kind == K::kQuantSpecOpen;
      for (std::uint32_t i = node.token; i < node.token + std::max(node.count(), 1u); ++i) {
        printer.token(unit.tokens()[i].kind(), file->slice(unit.span(i)));
      }
    }
  }
  return is_spec && attributes == 1 && printer.text() == text;
}

}  // namespace mir
