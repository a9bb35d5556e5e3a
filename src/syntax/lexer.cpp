// The scanner's nesting context, quoted and unquoted texts, and recovery after errors.
#include "syntax/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mir/codes/syntax.hpp"
#include "mir/parse.hpp"
#include "support/characters.hpp"
#include "support/foreign_types.hpp"

// note [recovery]
// After an error nothing is known about open brackets, so scanning goes on at a place that is an op
// start by its look: the first text on a line that reads `word.word`, `addr:`, `^` or `}`, outside
// any module `@` or `#`. A skipped line whose last character is `{` has opened a body, which the
// parser must enter for the closing braces to pair up; a skipped `}` that only braces follow closes
// one. A brace that is itself the error is skipped in the same way, so its context is left again.

namespace mir {

namespace {

bool is_word_char(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

bool is_symbol_char(char c) {
  return is_word_char(c) || c == '.' || c == '$' || c == '/' || c == '-';
}

bool is_blank(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool is_space(unsigned char c) {
  return is_blank(c) || c == '\n';
}

bool is_comment(const unsigned char* at) {
  return at[0] == '/' && at[1] == '/';
}

/// True for characters that no unquoted text may hold: a line end, the end of the text or a NUL, an
/// escape.
bool ends_bare_text(unsigned char c) {
  return c == '\n' || c == 0 || c == 0x1b;
}

/// Returns the byte after the quote that closes the string whose opening quote is at `at`; null if
/// no quote on its line does.
const unsigned char* string_end(const unsigned char* at) {
  for (++at; *at != '\n' && *at != 0; ++at) {
    if (*at == '"') return at + 1;
    if (*at == '\\' && at[1] != '\n' && at[1] != 0) ++at;
  }
  return nullptr;
}

constexpr std::string_view kEntrySuffix = ".__entry";

// Texts without quotes are searched this far for their end, so that scanning takes linear time.
constexpr std::ptrdiff_t kLongestBareText = 1024;

/// For each byte, whether it can be part of the name of a value.
constexpr auto kIsName = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) {
    table[static_cast<std::size_t>(c)] = c < 128 && is_name_character(static_cast<char>(c), "_.$-");
  }
  return table;
}();

/// For each byte, whether it is a quote or may be in no unquoted text.
constexpr auto kEndsTag = [] {
  std::array<bool, 256> table{};
  for (const unsigned char c : {'"', '\n', '\0', '\x1b'}) table[c] = true;
  return table;
}();

}  // namespace

Lexer::KnownType* Lexer::slot_of_type(const Byte* type) {
  constexpr std::ptrdiff_t kPrefix = 8, kRead = 24;  // of `tensor<[`, and with what is hashed
  if (limit_ - type < kRead) return nullptr;
  std::uint64_t words[2];
  std::memcpy(words, type + kPrefix, sizeof words);
  const std::uint64_t hash = words[0] * 0x9E3779B97F4A7C15u ^ words[1] * 0xC2B2AE3D27D4EB4Fu;
  return &types_[hash >> 58];
}

bool Lexer::skip_to_known_value() {
  const Byte* begin = cursor_;
  while (*begin == ' ') ++begin;
  if (*begin != '%') return false;
  const Byte* type = begin + 1;
  while (kIsName[*type]) ++type;
  if (*type++ != ':') return false;
  const KnownType* known = slot_of_type(type);
  if (known == nullptr || known->begin == nullptr) return false;
  if (static_cast<std::size_t>(limit_ - type) < known->size) return false;
  if (std::memcmp(known->begin, type, known->size) != 0) return false;
  begin_ = begin;
  cursor_ = type + known->size;
  return true;
}

void Lexer::note_type() {
  const Byte* type = begin_;
  while (*type != ':') ++type;
  ++type;
  if (KnownType* slot = slot_of_type(type))
    *slot = {type, static_cast<std::size_t>(cursor_ - type)};
}

Lexer::Lexer(const SourceFile& file, Diagnostics& diagnostics, std::uint32_t offset)
    : file_(file),
      diagnostics_(diagnostics),
      limit_(reinterpret_cast<const Byte*>(file.text().data() + file.size())),
      cursor_(reinterpret_cast<const Byte*>(file.text().data() + offset)),
      begin_(cursor_),
      previous_end_(cursor_) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (offset == 0 && file.text().starts_with(kByteOrderMark)) cursor_ += kByteOrderMark.size();
  nesting_.push_back(Nesting::kBody);
  enter(Nesting::kBody);
}

TokenKind Lexer::next() {
  previous_end_ = cursor_;
  brace_ = Brace::kNone;
  if (recovering_) return resume();
  return cursor_ == implied_ ? implied_brace() : scan();
}

TokenKind Lexer::implied_brace() {
  implied_ = nullptr;
  if (nesting_.back() != Nesting::kBody) return scan();
  begin_ = cursor_;
  return implied_brace_ == '{' ? push(Nesting::kBody, TokenKind::kLBrace)
                               : pop(Nesting::kBody, TokenKind::kRBrace);
}

bool Lexer::is_first_on_line() const {
  return std::memchr(previous_end_, '\n', static_cast<std::size_t>(begin_ - previous_end_)) !=
         nullptr;
}

void Lexer::stop() {
  recovering_ = false;
  cursor_ = limit_;
}

TokenKind Lexer::finish(TokenKind kind) {
  if (cursor_ - begin_ > static_cast<std::ptrdiff_t>(Token::kMaxLength)) [[unlikely]] {
    return fail(diag::kTokenTooLong, "token longer than 16 MiB");
  }
  return kind;
}

TokenKind Lexer::value_done(TokenKind kind) {
  if (nesting_.back() == Nesting::kAttributes) {
    enter(Nesting::kAttributes);
  } else if (nesting_.back() == Nesting::kBody) {  // the value of an alias definition
    enter(Nesting::kBody);
  }
  return finish(kind);
}

TokenKind Lexer::push(Nesting inside, TokenKind opener) {
  if (nesting_.size() > kMaxNesting) {
    const TokenKind kind = fail(diag::kNestingTooDeep, "nested deeper than 256 levels");
    stop();
    return kind;
  }
  nesting_.push_back(inside);
  enter(inside);
  if (inside == Nesting::kBody) brace_ = Brace::kOpened;
  return opener;
}

TokenKind Lexer::pop(Nesting inside, TokenKind closer) {
  // A closer that does not match is the parser's to report; the context stays.
  if (inside == Nesting::kBody && closes_module_too_early()) return TokenKind::kUndefined;
  if (nesting_.size() > 1 && nesting_.back() == inside) {
    nesting_.pop_back();
    enter(nesting_.back());
    if (inside == Nesting::kBody) brace_ = Brace::kClosed;
  }
  return closer;
}

// -- texts that end where their context says ----------------------------------------------------

SourcePos Lexer::position(const Byte* at) const {
  return file_.position_of(reinterpret_cast<const char*>(at));
}

const Lexer::Byte* Lexer::skip_blanks(const Byte* at) const {
  while (is_blank(*at)) ++at;
  return at;
}

const Lexer::Byte* Lexer::skip_space(const Byte* at) const {
  while (is_space(*at)) ++at;
  return at;
}

const Lexer::Byte* Lexer::skip_gap(const Byte* at) const {
  for (at = skip_space(at); is_comment(at); at = skip_space(at)) {
    at = std::find(at, limit_, '\n');
  }
  return at;
}

const Lexer::Byte* Lexer::bare_limit(const Byte* from) const {
  return from + std::min(limit_ - from, kLongestBareText);
}

void Lexer::trim_end() {
  while (cursor_ > begin_ && is_space(cursor_[-1])) --cursor_;
}

/// `@` of an op or module head was read. The name ends before `(`, `<`, `[` or `{`; upstream
/// prints it as it is, so it may hold blanks and may be empty.
TokenKind Lexer::symbol_in_head() {
  while (is_symbol_char(*cursor_) && !is_comment(cursor_)) ++cursor_;
  const auto ends_head = [&](const Byte* at) {
    if (*at == '{') return true;
    if (*at == '<') return std::find(at, bare_limit(at), '>') != bare_limit(at);
    if (*at != '(' && *at != '[') return false;
    const Byte* inner = skip_gap(at + 1);
    if (*at == '(') return *inner == '%' || *inner == ')';
    return is_symbol_char(*inner) || *inner == '"' || *inner == ']' || *inner == '^';
  };
  const Byte* after = skip_blanks(cursor_);
  const bool at_line_end = *after == '\n' || after == limit_ || is_comment(after);
  if (at_line_end || *after == '}' || ends_head(after)) return finish(TokenKind::kSymbol);
  const Byte* stop = bare_limit(after);
  for (const Byte* at = after; at != stop && !ends_bare_text(*at); ++at) {
    if (!ends_head(at)) continue;
    cursor_ = at;
    trim_end();
    return finish(TokenKind::kSymbol);
  }
  return finish(TokenKind::kSymbol);
}

/// `@` inside `[...]` was read: the name runs up to the bracket.
TokenKind Lexer::symbol_in_brackets() {
  while (*cursor_ != ']' && !ends_bare_text(*cursor_)) ++cursor_;
  trim_end();
  return finish(TokenKind::kSymbol);
}

/// A dotted word was read where an op may start. Plug-in ops have any text as their mnemonic
/// (`free_mnemonic`); it ends before the op's next part.
TokenKind Lexer::op_name(bool free_mnemonic) {
  const std::string_view text(begin(), static_cast<std::size_t>(end() - begin()));
  if (!free_mnemonic) {
    return finish(text.find('.') == text.npos ? TokenKind::kWord : TokenKind::kOpName);
  }
  const Byte* after = skip_blanks(cursor_);
  const Byte* stop = bare_limit(after);
  const auto continues = [&](const Byte* at) {
    return at != stop && !ends_bare_text(*at) && std::strchr("(<[{@", *at) == nullptr &&
           !is_comment(at);
  };
  if (!continues(after)) return finish(TokenKind::kOpName);
  const Byte* at = after;
  while (continues(at)) ++at;
  if (*at == '(' || *at == '<' || *at == '[') cursor_ = at;
  trim_end();
  return finish(TokenKind::kOpName);
}

/// The target of prog.jump: quoted, or upstream's `<symbol>.__entry` with any text in it, or one
/// word.
TokenKind Lexer::jump_label() {
  enter(Nesting::kBody);
  cursor_ = begin_;
  if (*cursor_ == '"') {
    const Byte* closed = string_end(cursor_);
    if (closed == nullptr) {
      return fail(diag::kUnterminatedString, "string without a closing quote");
    }
    cursor_ = closed;
    return finish(TokenKind::kLabel);
  }
  const Byte* line_end = cursor_;
  while (line_end != bare_limit(cursor_) && !ends_bare_text(*line_end) &&
         !(is_blank(*line_end) && is_comment(line_end + 1))) {
    ++line_end;
  }
  const auto found = std::search(cursor_, line_end, kEntrySuffix.begin(), kEntrySuffix.end());
  if (found != line_end) {
    const Byte* after = found + kEntrySuffix.size();
    if (!is_symbol_char(*after)) {
      cursor_ = after;
      return finish(TokenKind::kLabel);
    }
  }
  while (is_symbol_char(*cursor_)) ++cursor_;
  if (cursor_ != begin_) return finish(TokenKind::kLabel);
  return scan();
}

/// `<name="` or `[name="` was read. Upstream does not escape the name, so it ends at the first
/// quote and bracket that the rest of an op can follow.
TokenKind Lexer::op_name_tag(char close, TokenKind kind) {
  const Byte* fallback = nullptr;
  const Byte* stop = bare_limit(cursor_);
  for (const Byte* at = cursor_;; ++at) {
    while (at != stop && !kEndsTag[*at]) ++at;
    if (at == stop || *at != '"') break;
    const Byte* bracket = skip_space(at + 1);
    if (*bracket != close) continue;
    const Byte* after = skip_gap(bracket + 1);
    if (fallback == nullptr) fallback = bracket + 1;
    const bool before_loc = std::strncmp(reinterpret_cast<const char*>(after), "loc", 3) == 0;
    if (*after == '[' || *after == '(' || *after == '<' || before_loc) {
      cursor_ = bracket + 1;
      return finish(kind);
    }
  }
  if (fallback == nullptr) {
    return fail(diag::kUnterminatedString, "op name without a closing quote and bracket");
  }
  cursor_ = fallback;
  return finish(kind);
}

/// `%` and name characters were read inside a list. Dumps can hold any text up to the colon.
TokenKind Lexer::value_name() {
  const Byte* after = skip_space(cursor_);
  if (*after == ':' || *after == ',' || *after == ')' || *after == '[' || *after == ']' ||
      is_comment(after)) {
    return finish(TokenKind::kValue);
  }
  const Byte* at = cursor_;
  // strchr finds the NUL too
  while (std::strchr(":,()[]{}<>%\n\x1b", *at) == nullptr && !is_comment(at)) ++at;
  if (*at == ':' || *at == ',' || *at == ')' || *at == '[' || is_comment(at)) cursor_ = at;
  trim_end();
  return finish(TokenKind::kValue);
}

/// The first character of a key was matched along with what a plain key may hold.
TokenKind Lexer::attribute_key() {
  const Byte* after = skip_space(cursor_);
  if (*after == ':' || is_comment(after)) return finish(TokenKind::kKey);
  const Byte* at = cursor_;
  const Byte* stop = bare_limit(at);
  while (at != stop && std::strchr(":,()[]{}<>%@\"\n\x1b", *at) == nullptr && !is_comment(at)) {
    ++at;
  }
  if (*at == ':' || is_comment(at)) cursor_ = at;
  trim_end();
  return finish(TokenKind::kKey);
}

namespace {

/// True for the characters of an extent, which has a symbol.
bool is_expression(std::string_view text) {
  const auto is_part = [](char c) { return is_name_character(c, "_$+*/%() \t-"); };
  return !text.empty() && std::string_view("0123456789($-").find(text.front()) != text.npos &&
         std::ranges::all_of(text, is_part);
}

}  // namespace

/// An unquoted string: the shortest text up to `]`, to the end of the line, or to a comma that a
/// key and a colon follow, or a `*` that one of these or `]` follows. Interior commas and blanks
/// belong to it, and so does `//` unless what is before it is an extent.
TokenKind Lexer::bare_value() {
  const auto key_follows = [&](const Byte* comma) {
    const Byte* at = skip_gap(comma + 1);
    const Byte* key = at;
    if (*at == '"') {
      at = string_end(at);
    } else {
      while (is_symbol_char(*at)) ++at;
    }
    return at != nullptr && at != key && *skip_gap(at) == ':';
  };
  const auto rest_follows = [&](const Byte* comma) {
    const Byte* const rest = skip_gap(comma + 1);
    const Byte* const after = skip_gap(rest + (*rest == '*' ? 1 : 0));
    return *rest == '*' && (*after == ']' || (*after == ',' && key_follows(after)));
  };
  const auto text_to = [&](const Byte* end) {
    return std::string_view(begin(), static_cast<std::size_t>(end - begin_));
  };
  const Byte* at = begin_;
  bool symbolic = false;
  while (*at != ']' && !ends_bare_text(*at) &&
         !(*at == ',' && (key_follows(at) || rest_follows(at)))) {
    if (symbolic && is_comment(at) && is_expression(text_to(at))) break;
    symbolic |= *at == '$' && is_word_char(at[1]);
    ++at;
  }
  cursor_ = at;
  trim_end();
  const bool expression = symbolic && is_expression(text_to(cursor_));
  return value_done(expression ? TokenKind::kDim : TokenKind::kBare);
}

/// A token whose bracketed part, if any follows at once, is kept as it is. Strings inside hide
/// brackets.
TokenKind Lexer::balanced(TokenKind kind, Byte open, Byte close) {
  const bool opened = cursor_[-1] == open;
  if (!opened && *cursor_ != open) return value_done(kind);
  const Byte* at = opened ? cursor_ : cursor_ + 1;
  std::uint32_t depth = 1;
  while (depth != 0) {
    if (depth > kMaxNesting) {
      return fail(diag::kNestingTooDeep, "nested deeper than 256 levels");
    }
    if (*at == 0 || *at == 0x1b) {
      return fail(diag::kUnbalancedBracket, "bracket that is never closed");
    }
    if (*at == '"') {
      at = string_end(at);
      if (at == nullptr) {
        return fail(diag::kUnterminatedString, "string without a closing quote");
      }
      continue;
    }
    if (*at == open) ++depth;
    if (*at == close && at[-1] != '-') --depth;
    ++at;
  }
  cursor_ = at;
  return kind == TokenKind::kLoc || kind == TokenKind::kAngle ? finish(kind) : value_done(kind);
}

// -- errors ---------------------------------------------------------------------------------------

TokenKind Lexer::fail(DiagCode code, const char* message) {
  if (cursor_ == begin_ && cursor_ != limit_) ++cursor_;
  // Point at a whole code point.
  while (cursor_ != limit_ && (*cursor_ & 0xc0) == 0x80) ++cursor_;
  diagnostics_.error(code, {position(begin_), position(cursor_)}, message);
  recover(Resume::kAfterToken);
  return TokenKind::kError;
}

/// Says what encloses a character that starts no token there: its closer is the likely omission.
TokenKind Lexer::fail_stray() {
  static constexpr std::string_view kPlaces[] = {"",
                                                 " in a list of values",
                                                 " in an attribute list",
                                                 " in '[@symbol]'",
                                                 " in an array",
                                                 " in a dictionary",
                                                 " in a quantisation spec",
                                                 " in a quantisation annotation",
                                                 " in a tensor type",
                                                 " in the dimensions of a tensor type"};
  while (cursor_ != limit_ && (*cursor_ & 0xc0) == 0x80) ++cursor_;
  const std::string_view found(begin(), static_cast<std::size_t>(end() - begin()));
  const std::string_view place = kPlaces[static_cast<std::size_t>(nesting_.back())];
  Diagnostic& diagnostic =
      diagnostics_.error(diag::kStrayCharacter, {position(begin_), position(cursor_)},
                         fmt::format("unexpected character '{}'{}", found, place));
  if (found == "=" && nesting_.back() == Nesting::kAttributes) {
    diagnostic.hint = "attributes are written key:value";
    diagnostic.fix(diagnostic.at, ":");
  }
  const std::string_view rest(begin(), static_cast<std::size_t>(limit_ - begin_));
  if (const auto shape = shape_from_mlir(rest)) {
    diagnostic.hint = fmt::format("'{}' is spelt as in MLIR, expected 'tensor<{}, CPU>'",
                                  shape->found, shape->spelling);
    cursor_ = begin_ + shape->found.size();
    diagnostic.at.end = position(cursor_);
  }
  recover(Resume::kAfterToken);
  return TokenKind::kError;
}

TokenKind Lexer::fail_log_line() {
  const Byte* line_end = std::find(begin_, limit_, '\n');
  cursor_ = line_end;
  while (is_blank(cursor_[-1])) --cursor_;  // the escape character is none
  auto& diagnostic =
      diagnostics_.error(diag::kLogLineInText, {position(begin_), position(cursor_)},
                         "terminal escape sequence: a log line was printed into the dump");
  diagnostic.hint =
      "upstream logs to the stream it dumps to when it cannot name an element type; remove the log "
      "line and write the type's name, or upgrade with --assume=Unknow=TYPE";
  cursor_ = line_end;
  recover(Resume::kAfterToken);
  return TokenKind::kError;
}

void Lexer::recover(Resume where) {
  if (brace_ == Brace::kOpened) nesting_.pop_back();
  if (brace_ == Brace::kClosed) nesting_.push_back(Nesting::kBody);
  if (where != Resume::kAfterToken || brace_ != Brace::kNone) cursor_ = begin_;
  body_is_missing_ = where == Resume::kInBody;
  recovering_ = true;
}

namespace {

/// True if the text at `at` looks like the name or the address of an op.
bool looks_like_name(const unsigned char* at) {
  if (*at == '.') return is_letter(static_cast<char>(at[1]));
  const unsigned char* word = at;
  while (is_word_char(*at)) ++at;
  if (at == word || (*word >= '0' && *word <= '9')) return false;
  if (*at == '.') return true;
  return std::string_view(reinterpret_cast<const char*>(word),
                          static_cast<std::size_t>(at - word)) == "addr" &&
         *at == ':';
}

/// True if the text at `at`, first on its line, looks like the start of an op or a closing brace.
bool looks_like_op(const unsigned char* at) {
  return *at == '}' || *at == '^' || looks_like_name(at);
}

/// The end of a run of closing braces and blanks.
const unsigned char* skip_braces(const unsigned char* at) {
  while (*at == '}' || is_blank(*at)) ++at;
  return at;
}

}  // namespace

bool Lexer::closes_module_too_early() const {
  return nesting_.size() == 2 && nesting_.back() == Nesting::kBody &&
         looks_like_name(skip_gap(cursor_));
}

TokenKind Lexer::resume() {
  recovering_ = false;
  while (nesting_.back() != Nesting::kBody) nesting_.pop_back();
  enter(Nesting::kBody);
  if (body_is_missing_) {
    begin_ = cursor_;
    return push(Nesting::kBody, TokenKind::kResumeBody);
  }
  const Byte* text = reinterpret_cast<const Byte*>(file_.text().data());
  const Byte* at = cursor_;
  const Byte* before = at;
  while (before > text && is_blank(before[-1])) --before;
  bool line_start = before == text || before[-1] == '\n';
  std::int64_t depth = 0;
  const Byte* last = nullptr;  // last character of the skipped line that is not blank
  bool after_comment = false;  // whether the line above is a comment
  while (at != limit_) {
    if (line_start) {
      at = skip_space(at);
      if (nesting_.size() == 1 ? *at == '@' || *at == '#' || *at == '!' : looks_like_op(at)) break;
      const bool comment = is_comment(at);
      // A line after a comment that is not an op has an error of its own: the comment's second
      // line.
      if (after_comment && !comment && nesting_.size() > 1) break;
      after_comment = comment;
      line_start = false;
    } else if (*at == '\n') {
      if (last != nullptr && *last == '{') {
        begin_ = cursor_ = last + 1;
        return push(Nesting::kBody, TokenKind::kResumeBody);
      }
      line_start = true;
      last = nullptr;
      depth = 0;
      ++at;
    } else if (is_comment(at)) {
      at = std::find(at, limit_, '\n');
    } else if (*at == '}' && --depth < 0 && nesting_.size() > 1) {
      last = at;
      const Byte* after = skip_braces(at);
      if (*after == '\n' || after == limit_ || is_comment(after)) break;
      at = after;
    } else {
      if (!is_blank(*at)) last = at;
      depth += *at == '{' ? 1 : 0;
      ++at;
    }
  }
  begin_ = cursor_ = at;
  return TokenKind::kResume;
}

}  // namespace mir
