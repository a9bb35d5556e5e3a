// The printer of the canonical layout: chooses blanks, line ends and indentation between tokens.
#include "syntax/layout.hpp"

#include <algorithm>
#include <cstring>

#include "support/platform/memory.hpp"
#include "syntax/layout_rules.hpp"
#include "syntax/token_text.hpp"

namespace mir {

namespace {

using K = TokenKind;
using namespace layout;

constexpr std::size_t kSmallest = 4096;                // bytes of a new buffer
constexpr std::size_t kStep = std::size_t{256} << 10;  // by which it grows
constexpr std::size_t kSlack = 16;                     // bytes after the limit that may be written
constexpr std::uint32_t kIndent = 4;
constexpr std::uint32_t kContinuation = 2;  // in steps of kIndent

/// True if the scanner takes this word for a key after the comma that follows an unquoted string.
bool ends_text(std::string_view key) {
  return key.starts_with('"') || is_plain_name(key);
}

}  // namespace

// -- the printer ----------------------------------------------------------------------------------

LayoutPrinter::LayoutPrinter(std::size_t expected_size) {
  buffer_.reserve(std::max(expected_size, kSmallest));
  prefer_huge_pages(buffer_.data(), buffer_.capacity());
  buffer_.resize(kSmallest);
  at_ = buffer_.data();
  limit_ = at_ + buffer_.size() - kSlack;
}

LayoutPrinter::LayoutPrinter(Sink sink) : LayoutPrinter(kStep) {
  sink_ = std::move(sink);
}

/// A string cannot grow without being filled; in steps that stay in the cache that costs little.
void LayoutPrinter::grow(std::size_t bytes) {
  if (sink_ && text().size() + bytes + kSlack > kStep) {
    sink_(text());
    clear();
    if (static_cast<std::size_t>(limit_ - at_) >= bytes) return;
  }
  const std::size_t used = text().size();
  const std::size_t wanted = used + bytes + kSlack;
  if (wanted > buffer_.capacity()) {
    std::string larger;
    larger.reserve(std::max(2 * buffer_.capacity(), wanted));
    prefer_huge_pages(larger.data(), larger.capacity());
    larger.assign(buffer_, 0, used);
    buffer_.swap(larger);
  }
  buffer_.resize(std::max(wanted, std::min(used + kStep, buffer_.capacity())));
  at_ = buffer_.data() + used;
  limit_ = buffer_.data() + buffer_.size() - kSlack;
}

inline void LayoutPrinter::reserve(std::size_t bytes) {
  if (static_cast<std::size_t>(limit_ - at_) < bytes) [[unlikely]]
    grow(bytes);
}

/// Space must have been reserved; up to kSlack bytes after the text are written too.
inline void LayoutPrinter::put(std::string_view text) {
  const char* from = text.data();
  const std::size_t size = text.size();
  if (size == 1) {
    *at_ = *from;
  } else if (size > 32) {
    std::memcpy(at_, from, size);
  } else if (size >= 16) {
    std::memcpy(at_, from, 16);
    std::memcpy(at_ + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(at_, from, 8);
    std::memcpy(at_ + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(at_, from, 4);
    std::memcpy(at_ + size - 4, from + size - 4, 4);
  } else if (size != 0) {
    *at_ = *from;
    at_[size / 2] = from[size / 2];
    at_[size - 1] = from[size - 1];
  }
  at_ += size;
}

/// Ends the current line, if there is one, and indents the next by `indent` steps.
inline void LayoutPrinter::new_line(std::uint32_t indent) {
  reserve(std::size_t{kIndent} * indent + 1);
  if (anything_) *at_++ = '\n';
  anything_ = true;
  std::memset(at_, ' ', std::size_t{kIndent} * indent);
  at_ += std::size_t{kIndent} * indent;
}

void LayoutPrinter::token(TokenKind kind, std::string_view text) {
  const std::uint8_t code = step(before_, kind);
  if (code > static_cast<std::uint8_t>(Gap::kBlank) || careful_) [[unlikely]] {
    token_with_care(kind, text, code);
    return;
  }
  reserve(text.size() + 1);
  *at_ = ' ';
  at_ += code;
  put(text);
  before_ = before_of(kind, compact_);
}

void LayoutPrinter::typed_value(std::string_view name, std::string_view type) {
  const std::uint8_t code = step(before_, K::kTypedValue);
  if (code > static_cast<std::uint8_t>(Gap::kBlank) || careful_) [[unlikely]] {
    token_with_care(K::kValue, name.substr(0, name.size() - 1), code);
    token(K::kColon);
    token(K::kType, type);
    return;
  }
  reserve(name.size() + type.size() + 1);
  *at_ = ' ';
  at_ += code;
  put(name);
  put(type);
  before_ = before_of(K::kTypedValue, compact_);
}

void LayoutPrinter::token(TokenKind kind) {
  token(kind, fixed_spelling(kind));
}

/// Prints any token except one that stays on the line and needs no memory.
void LayoutPrinter::token_with_care(TokenKind kind, std::string_view text, std::uint8_t code) {
  const bool follows_text = open_text_ && kind == K::kComma && comments_.empty();
  if ((follows_text || !held_.empty()) && hold(kind, text)) return;
  separate(kind, code);
  reserve(text.size());
  if (has_inner_space(kind)) {
    at_ = write_canonical(kind, text, at_);
  } else {
    put(text);
  }
  track(kind, text);
}

void LayoutPrinter::separate(TokenKind kind, std::uint8_t code) {
  auto gap = static_cast<Gap>(code & ~kTracked);
  const bool commented = !comments_.empty();
  if (commented) {
    put_comments(gap == Gap::kLine ? depth_ : depth_ + kContinuation);
    if (gap != Gap::kLine) gap = Gap::kContinue;
  }
  if (kind == K::kRBrace && depth_ != 0) --depth_;
  reserve(1);
  switch (gap) {
    case Gap::kNone:
      break;
    case Gap::kBlank:
      *at_++ = ' ';
      break;
    case Gap::kLine:
      if (kind == K::kRBrace && before_ == before_of(K::kLBrace, false) && !commented)
        *at_++ = '\n';
      new_line(kind == K::kBlockName && depth_ != 0 ? depth_ - 1 : depth_);
      break;
    case Gap::kContinue:
      new_line(depth_ + kContinuation);
      break;
  }
}

void LayoutPrinter::line(std::string_view text, TokenKind last) {
  separate(K::kOpName, step(before_, K::kOpName));
  copy(text);
  before_ = before_of(last, compact_);
  careful_ = false;
}

void LayoutPrinter::copy(std::string_view text) {
  reserve(text.size());
  put(text);
  anything_ |= !text.empty();
}

void LayoutPrinter::copy(TokenKind kind, std::string_view text) {
  copy(text);
  if (kind == K::kRBrace && depth_ != 0) --depth_;
  track(kind, text);
}

inline void LayoutPrinter::open(bool compact) {
  outer_compact_.push_back(compact_);
  compact_ = compact;
}

/// Follows the nesting past `kind`.
inline void LayoutPrinter::track(TokenKind kind, std::string_view text) {
  const bool tight_angle = kind == K::kAngle && before_ == kRegisterName;
  before_ = tight_angle ? kTightAngle : before_of(kind, compact_);
  open_text_ = false;
  switch (kind) {
    case K::kOpName:
      before_ = before_of_op(text);
      break;
    case K::kLBrace:
      ++depth_;
      break;
    case K::kDictOpen:
      open(true);
      break;
    case K::kArrayOpen:
      open(compact_);
      break;
    case K::kTensor:
    case K::kQuantSpecOpen:
    case K::kQuantAnnotationOpen:
    case K::kDataLParen:
      open(false);
      break;
    case K::kDictClose:
    case K::kArrayClose:
    case K::kGreater:
    case K::kDataRParen:
      if (outer_compact_.empty()) break;
      compact_ = outer_compact_.back() != 0;
      outer_compact_.pop_back();
      break;
    case K::kBare:
    case K::kDim:
      open_text_ = outer_compact_.empty();
      break;
    default:
      break;
  }
  careful_ = open_text_;
}

/// Holds a comma and the key after it back until the colon: an unquoted string goes on past a comma
/// unless a key that ends_text() and a colon follow at once; a line end stops it. True if `kind` is
/// held back too.
bool LayoutPrinter::hold(TokenKind kind, std::string_view text) {
  const bool key = kind == K::kKey;
  if (held_.empty() || (key && comments_.empty() && ends_text(text))) {
    held_.append(key ? " " : "").append(text);
    before_ = before_of(kind, false);
    return true;
  }
  if (key || !comments_.empty()) new_line(depth_ + kContinuation);
  reserve(held_.size());
  put(held_);
  held_.clear();
  return false;
}

// -- comments -------------------------------------------------------------------------------------

void LayoutPrinter::comment(std::string_view text, bool own_line) {
  while (true) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, line_end);
    const std::size_t last = line.find_last_not_of(" \t\r");
    line = line.substr(0, last + 1);
    std::string stored(line.starts_with("//") ? "" : line.empty() ? "//" : "// ");
    stored += line;
    comments_.push_back({std::move(stored), own_line});
    careful_ = true;
    if (line_end == text.size()) return;
    text.remove_prefix(line_end + 1);
    own_line = true;
  }
}

void LayoutPrinter::put_comments(std::uint32_t indent) {
  for (std::size_t i = 0; i < comments_.size(); ++i) {
    const Comment& comment = comments_[i];
    if (comment.own_line || i != 0 || !anything_) {
      new_line(indent);
    } else {
      reserve(2);
      put("  ");
    }
    reserve(comment.text.size());
    put(comment.text);
  }
  comments_.clear();
}

std::string LayoutPrinter::finish() {
  reserve(held_.size());
  put(held_);
  held_.clear();
  put_comments(depth_);
  if (anything_) new_line(0);
  buffer_.resize(text().size());
  std::string result = std::move(buffer_);
  if (sink_) {
    sink_(result);
    result.clear();
  }
  buffer_.assign(kSmallest, '\0');
  at_ = buffer_.data();
  limit_ = at_ + buffer_.size() - kSlack;
  before_ = before_of(K::kEnd, false);
  anything_ = compact_ = open_text_ = careful_ = false;
  depth_ = 0;
  outer_compact_.clear();
  return result;
}

bool starts_line(TokenKind previous, TokenKind kind) {
  return begins_line(previous, kind);
}

}  // namespace mir
