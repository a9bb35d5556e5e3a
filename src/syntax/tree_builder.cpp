// Collects tokens and nodes of a unit, and reports syntax errors with the expected tokens.
#include "syntax/tree_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mir/codes/syntax.hpp"
#include "support/foreign_types.hpp"
#include "syntax/damage.hpp"

namespace mir {

TreeBuilder::TreeBuilder(const SourceFile& file, Diagnostics& diagnostics,
                         const std::function<bool(Unit&&)>& deliver, bool whole_only,
                         std::uint32_t offset)
    : file_(file),
      diagnostics_(diagnostics),
      deliver_(deliver),
      lexer_(file, diagnostics, offset),
      braces_(file.text().data()),
      errors_before_(diagnostics.error_count()),
      whole_only_(whole_only) {}

void TreeBuilder::begin_in_module() {
  using enum TokenKind;
  static constexpr TokenKind kHead[] = {kSymbol, kLParen, kRParen, kArrow,
                                        kLParen, kRParen, kLBrace};
  implied_ = kHead;
  braces_.open(lexer_.begin());
  lexer_.begin_in_module();
}

int TreeBuilder::next_token(std::uint32_t& number) {
  if (!implied_.empty()) {
    current_ = implied_.front();
    implied_ = implied_.subspan(1);
    number = token_end();
    tokens_.emplace_back(current_, static_cast<std::uint32_t>(lexer_.begin() - file_.text().data()),
                         0u);
    return static_cast<int>(current_);
  }
  if (diagnostics_.is_full()) lexer_.stop();
  current_ = lexer_.next();
  number = token_end();
  const auto offset = static_cast<std::uint32_t>(lexer_.begin() - file_.text().data());
  const auto length = static_cast<std::uint32_t>(lexer_.end() - lexer_.begin());
  if (current_ != TokenKind::kEnd) tokens_.emplace_back(current_, offset, length);
  if (current_ == TokenKind::kLBrace || current_ == TokenKind::kRBrace) {
    current_ == TokenKind::kLBrace ? braces_.open(lexer_.begin()) : braces_.close(lexer_);
    if (lexer_.is_implied()) report_implied_brace();
  }
  if (current_ == TokenKind::kError) note_error(false);
  return static_cast<int>(current_);
}

namespace {

constexpr std::string_view kStrayBraceHint =
    "operations must be inside a module; a '}' before this may be one too many";

/// Returns the indentation of the line of `at`.
std::size_t indentation(const char* begin, const char* at) {
  const char* line = at;
  while (line != begin && line[-1] != '\n') --line;
  return static_cast<std::size_t>(
      std::find_if(line, at, [](char c) { return c != ' ' && c != '\t'; }) - line);
}

}  // namespace

void TreeBuilder::Braces::close(const Lexer& lexer) {
  if (open_.empty()) return;
  const char* const opened = open_.back();
  open_.pop_back();
  if (suspect_ == nullptr && lexer.is_first_on_line() &&
      indentation(text_, lexer.begin()) < indentation(text_, opened)) {
    suspect_ = opened;
  }
}

void TreeBuilder::finish_unit(std::uint32_t end) {
  const std::uint32_t count = end - first_token_;
  const bool is_wanted = !whole_only_ || diagnostics_.error_count() == errors_before_;
  if (is_wanted && count != 0 && !nodes_.empty()) {
    const std::uint32_t base = tokens_.front().offset;
    for (std::uint32_t i = 0; i < count; ++i) tokens_[i].offset -= base;
    Unit unit(file_.base() + base, std::span(tokens_).first(count), nodes_);
    is_stopped_ = is_stopped_ || !deliver_(std::move(unit));
    if (is_stopped_) lexer_.stop();
  }
  if (!nodes_.empty()) {
    const NodeKind last = nodes_.back().kind();
    after_module_ |= last == NodeKind::kModuleEnd;
    in_module_ = last == NodeKind::kModuleBegin || (in_module_ && last != NodeKind::kModuleEnd);
  }
  tokens_.erase(tokens_.begin(), tokens_.begin() + count);
  nodes_.clear();
  first_token_ = end;
}

namespace {

bool contains(std::span<const TokenKind> kinds, TokenKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// Kinds as a person would list them: one of several spellings of a thing.
std::vector<TokenKind> without_variants(std::vector<TokenKind> kinds) {
  using enum TokenKind;
  constexpr std::pair<TokenKind, TokenKind> kVariants[] = {{kTypedValue, kValue},
                                                           {kTensor, kType},
                                                           {kOpaqueType, kType},
                                                           {kNameSquare, kNameAngle},
                                                           {kAddress, kOpName},
                                                           {kLBracketSymbol, kLBracket},
                                                           {kWord, kKey},
                                                           {kHash, kKey},
                                                           {kEnd, kSymbol},
                                                           {kResume, kResume},
                                                           {kResumeBody, kResumeBody}};
  for (const auto& [variant, thing] : kVariants) {
    if (contains(kinds, thing)) std::erase(kinds, variant);
  }
  return kinds;
}

/// "expected a, b or c". A long list is replaced by the name of its common kind.
std::string list_expected(std::span<const TokenKind> expected) {
  constexpr std::size_t kLongestList = 5;
  if (expected.empty()) return "";
  if (contains(expected, TokenKind::kSymbol) && contains(expected, TokenKind::kHash) &&
      contains(expected, TokenKind::kOpaqueType) && expected.size() == 3) {
    return "expected a module or an alias";
  }
  if (contains(expected, TokenKind::kOpName)) return "expected an operation or '}'";
  if (expected.size() > kLongestList) {
    if (contains(expected, TokenKind::kString)) {
      return contains(expected, TokenKind::kInt) ? "expected an attribute value"
                                                 : "expected a quoted or bracketed value";
    }
    return "";
  }
  std::string text = "expected ";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i != 0) text += i + 1 == expected.size() ? " or " : ", ";
    text += describe(expected[i]);
  }
  return text;
}

/// The start of a token's text in quotes, in whole code points.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongestQuote = 40;
  if (text.size() <= kLongestQuote) return fmt::format("'{}'", text);
  std::size_t length = kLongestQuote;
  while ((static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return fmt::format("'{}...'", text.substr(0, length));
}

}  // namespace

/// True for a `}` that would close the module above some of its ops.
bool TreeBuilder::is_stray_brace() const {
  return current_ == TokenKind::kUndefined && *lexer_.begin() == '}';
}

/// True if the whole text opens more braces than it closes, text that was skipped included.
bool TreeBuilder::is_short_of_braces() const {
  return unclosed_braces(file_.text()) > 0;
}

/// True if lines follow the one with the last error, so that the text does not just end there.
bool TreeBuilder::has_text_after_error() const {
  const std::string_view text = file_.text();
  const std::size_t line = text.find('\n', static_cast<std::size_t>(latest_error_ - text.data()));
  return line != text.npos && text.find_first_not_of(" \t\r\n", line) != text.npos;
}

void TreeBuilder::syntax_error(std::vector<TokenKind> expected) {
  if (is_stopped_) return;  // the text does not end here
  const bool any_error = diagnostics_.error_count() != errors_before_;
  const bool at_end = current_ == TokenKind::kEnd;
  const bool between_modules = contains(expected, TokenKind::kEnd);
  const bool is_op = current_ == TokenKind::kOpName || current_ == TokenKind::kAddress;
  // After an error the braces may not pair up. Tokens that this misplaces are not errors of their
  // own.
  const bool is_consequence =
      any_error && ((at_end && (braces_.unclosed() == told_brace_ || !is_short_of_braces() ||
                                !has_text_after_error())) ||
                    is_stray_brace() ||
                    (between_modules &&
                     (is_op || current_ == TokenKind::kRBrace || current_ == TokenKind::kLParen)));
  // Scanning that went on at this very token got no further.
  const bool is_repeated = last_error_ == lexer_.begin();
  last_error_ = lexer_.begin();
  note_error(contains(expected, TokenKind::kOpName));
  if (!is_consequence && !is_repeated) is_stray_brace() ? report_stray_brace() : report(expected);

  const bool body_is_missing =
      (between_modules && is_op) || expected == std::vector{TokenKind::kLBrace};
  if (is_mlir_) return lexer_.stop();
  using Resume = Lexer::Resume;
  lexer_.recover(at_end || is_repeated || is_stray_brace() || !lexer_.is_first_on_line()
                     ? Resume::kAfterToken
                 : body_is_missing ? Resume::kInBody
                                   : Resume::kAtToken);
}

/// Reports the op after the brace: as far as the text is known, the module ends with the brace.
void TreeBuilder::report_stray_brace() {
  const std::string_view text = file_.text();
  std::size_t begin = static_cast<std::size_t>(lexer_.end() - text.data());
  while ((begin = text.find_first_not_of(" \t\r\n", begin)) != text.npos &&
         text.substr(begin, 2) == "//") {
    begin = text.find('\n', begin);
  }
  const std::string_view op = text.substr(begin, text.find_first_of(" \t\r\n(<[{@", begin) - begin);
  const SourcePos at = file_.base() + static_cast<SourcePos>(begin);
  const TokenKind kind = op.starts_with("addr:") ? TokenKind::kAddress : TokenKind::kOpName;
  Diagnostic& diagnostic = diagnostics_.error(
      diag::kTrailingText, {at, at + static_cast<SourcePos>(op.size())},
      fmt::format("expected a module or an alias, found {} {}", describe(kind), quoted(op)));
  diagnostic.hint = kStrayBraceHint;
}

void TreeBuilder::report_implied_brace() {
  const SourcePos at = file_.position_of(lexer_.begin());
  const bool opens = missing_.brace == '{';
  Diagnostic& diagnostic = diagnostics_.error(
      diag::kMissingBrace, {at, at},
      opens ? "expected '{' before the body that follows" : "expected '}' at the end of the body");
  const FixIt fix{{at, at}, opens ? " {" : " }"};
  if (!missing_.opening) {
    diagnostic.fixes.push_back(fix);
    return;
  }
  const SourcePos opening = file_.base() + static_cast<SourcePos>(*missing_.opening);
  const std::string_view body = file_.text().substr(*missing_.opening + 1, at - opening - 1);
  if (body.find_first_not_of(" \t\r\n") == body.npos) {
    // Which of both is wrong, only the writer knows.
    diagnostic.hint = "if nothing belongs into the body, remove the '{'";
    diagnostic.proposals = {{{opening, opening + 1}, ""}, fix};
  } else {
    diagnostic.fixes.push_back(fix);
  }
  diagnostic.note({opening, opening + 1}, "this '{' is not closed");
}

void TreeBuilder::report(const std::vector<TokenKind>& expected) {
  const bool at_end = current_ == TokenKind::kEnd;
  const std::string_view text(lexer_.begin(),
                              static_cast<std::size_t>(lexer_.end() - lexer_.begin()));
  std::string found(describe(current_));
  if (!at_end && found.front() != '\'') found += " " + quoted(text);
  const std::vector<TokenKind> kinds = without_variants(expected);
  const std::string wanted = list_expected(kinds);
  const std::string message = wanted.empty() ? "unexpected " + found : wanted + ", found " + found;

  // A token missing at a line's end is reported there, not at the next line's first word.
  Span at{file_.position_of(lexer_.begin()), file_.position_of(lexer_.end())};
  const bool is_op = current_ == TokenKind::kOpName || current_ == TokenKind::kAddress;
  const bool between_modules = contains(expected, TokenKind::kEnd);
  const bool is_missing =
      lexer_.is_first_on_line() && !between_modules && !contains(expected, TokenKind::kOpName);
  if ((at_end || is_missing) && lexer_.previous_end() != file_.text().data()) {
    at.begin = at.end = file_.position_of(lexer_.previous_end());
  }
  const bool is_trailing = between_modules && after_module_;
  Diagnostic& diagnostic =
      diagnostics_.error(is_trailing ? diag::kTrailingText : diag::kUnexpectedToken, at, message);
  explain(diagnostic, kinds);
  offer_mark(diagnostic, kinds);
  // An op or block that a list of regions cannot contain belongs after its closing brace.
  const bool is_brace_missing = contains(expected, TokenKind::kRBrace) &&
                                !contains(expected, TokenKind::kOpName) &&
                                (is_op || current_ == TokenKind::kBlockName);
  const char* const opened = at_end || is_brace_missing ? braces_.unclosed() : nullptr;
  if (opened == nullptr) return;
  told_brace_ = opened;
  const SourcePos place = file_.position_of(opened);
  diagnostic.note({place, place + 1}, "this '{' is not closed");
}

/// The end of a list of values without its `)` that ends at `end`: an op prints `[symbol:...]`
/// after its results, and no value has it. Null if the `)` is there.
const char* TreeBuilder::end_of_values(const char* end) const {
  std::string_view line(file_.text().data(), static_cast<std::size_t>(end - file_.text().data()));
  line.remove_prefix(line.rfind('\n') + 1);
  const std::size_t tail = line.rfind("[symbol:");
  if (tail == line.npos || tail == 0 || line.find('[', tail + 1) != line.npos) return end;
  if (line[tail - 1] == ')') return nullptr;
  return line[tail - 1] == ']' ? line.data() + tail : end;
}

/// Offers the mark that is missing before the token, where only one can be meant.
void TreeBuilder::offer_mark(Diagnostic& diagnostic, std::span<const TokenKind> expected) const {
  using enum TokenKind;
  const bool ends_list = current_ == kArrow || current_ == kOpName || current_ == kLBrace ||
                         current_ == kRBrace || current_ == kLoc || current_ == kEnd ||
                         lexer_.is_first_on_line();
  const bool is_value = current_ == kValue || current_ == kTypedValue;
  const char* at = lexer_.previous_end();
  std::string_view mark;
  if (contains(expected, kComma) && is_value) {
    // `%8%8` is rather a name that was typed twice.
    if (at != lexer_.begin()) mark = ",";
  } else if (contains(expected, kRParen) && ends_list) {
    mark = ")";
    at = end_of_values(at);
  } else if (contains(expected, kArrow) && current_ == kLParen) {
    mark = " ->";
  } else if (contains(expected, kLParen) && is_value) {
    mark = " (";
  }
  if (mark.empty() || at == nullptr) return;
  const SourcePos place = file_.position_of(at);
  diagnostic.fix({place, place}, std::string(mark));
}

/// Says how a shape that is spelt as in MLIR is written.
void TreeBuilder::explain_mlir_type(Diagnostic& diagnostic) const {
  const std::string_view text = file_.text();
  const std::size_t offset = static_cast<std::size_t>(lexer_.begin() - text.data());
  const auto shape = shape_from_mlir(text.substr(offset));
  if (!shape) return;
  diagnostic.hint = fmt::format("'{}' is spelt as in MLIR, expected 'tensor<{}, CPU>'",
                                shape->found, shape->spelling);
}

/// Names the mistake people really make, where it can be told.
void TreeBuilder::explain(Diagnostic& diagnostic, std::span<const TokenKind> expected) {
  const bool op_expected = contains(expected, TokenKind::kOpName);
  const std::string_view text(lexer_.begin(),
                              static_cast<std::size_t>(lexer_.end() - lexer_.begin()));
  is_mlir_ = contains(expected, TokenKind::kHash) && !in_module_ && !after_module_ &&
             (text == "module" || text == "builtin.module" || text == "func.func");
  if (is_mlir_) {
    diagnostic.hint = "this is text of MLIR; a module of MLLM IR begins with '@main () -> () {'";
  } else if (contains(expected, TokenKind::kShapeOpen) || contains(expected, TokenKind::kType)) {
    explain_mlir_type(diagnostic);
  } else if (current_ == TokenKind::kWord && op_expected) {
    const std::string_view gap(lexer_.previous_end(),
                               static_cast<std::size_t>(lexer_.begin() - lexer_.previous_end()));
    diagnostic.code = diag::kTextInOpPosition;
    diagnostic.hint = gap.find("//") != gap.npos
                          ? "every line of a comment needs its own '//'; an upgrade takes "
                            "--assume='comment=TEXT' for what upstream printed without"
                          : "an operation is named 'dialect.Name', a comment starts with '//'; an "
                            "upgrade takes --assume='comment=TEXT' for one that does not";
  } else if (current_ == TokenKind::kValue && op_expected) {
    diagnostic.hint = "results follow the operands: 'dialect.Name (operands) -> (results)'";
  } else if (lexer_.in_attributes() && contains(expected, TokenKind::kRBracket)) {
    diagnostic.hint =
        "where a string of a dump ends can be lost, as upstream quotes none; an upgrade takes "
        "--assume='text:KEY=TEXT'";
  } else if (current_ == TokenKind::kOpName && contains(expected, TokenKind::kHash)) {
    diagnostic.hint = kStrayBraceHint;
  }
}

}  // namespace mir
