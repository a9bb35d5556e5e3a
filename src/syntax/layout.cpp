#include "mir/syntax/layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "token_text.hpp"

namespace mir {

namespace {

using K = TokenKind;

constexpr std::size_t kSmallest = 4096;  // bytes of a new buffer
constexpr std::size_t kSlack = 16;       // bytes behind the limit that may be written
constexpr std::uint32_t kIndent = 4;
constexpr std::uint32_t kContinuation = 2;  // in steps of kIndent

// -- what stands between two tokens ---------------------------------------------------------------

enum class Gap : std::uint8_t {
  kNone,
  kBlank,
  kLine,      // begins a line of its own
  kContinue,  // goes on in the next line
};

/// Kinds that can be the last token of a module or of an alias definition.
constexpr bool ends_item(K kind) {
  return kind == K::kEnd || kind == K::kRBrace || kind == K::kString || kind == K::kHash ||
         kind == K::kArrayClose || kind == K::kDictClose || kind == K::kQuantSpec ||
         kind == K::kDataRParen;
}

constexpr bool begins_line(K previous, K kind) {
  switch (kind) {
    case K::kRBrace:
    case K::kAddress: return true;
    case K::kOpName: return previous != K::kAddress;
    case K::kBlockName: return previous != K::kLBracketBlock && previous != K::kComma;
    case K::kLParen: return previous == K::kLBrace || previous == K::kRBrace;
    case K::kSymbol:
    case K::kHash: return ends_item(previous);
    default: return false;
  }
}

constexpr Gap gap_before_bracket(K previous) {
  switch (previous) {
    case K::kOpName:
    case K::kSymbol:
    case K::kAngle:
    case K::kNameAngle:
    case K::kNameSquare: return Gap::kBlank;
    default: return Gap::kNone;
  }
}

constexpr Gap gap_before_parenthesis(K previous) {
  switch (previous) {
    case K::kAngle:
    case K::kSymbol:
    case K::kLabel:
    case K::kRBracket: return Gap::kBlank;
    default: return Gap::kNone;
  }
}

constexpr Gap gap_between(K previous, K kind) {
  if (begins_line(previous, kind)) return Gap::kLine;
  if (previous == K::kComma || previous == K::kArrow || previous == K::kAddress ||
      previous == K::kFieldColon) {
    return Gap::kBlank;
  }
  if (previous == K::kEqual) return kind == K::kInt ? Gap::kNone : Gap::kBlank;
  switch (kind) {
    case K::kArrow:
    case K::kLBrace:
    case K::kLBracketBlock:
    case K::kLabel:
    case K::kNameAngle:
    case K::kNameSquare:
    case K::kAngle: return Gap::kBlank;
    case K::kLBracket: return gap_before_bracket(previous);
    case K::kLParen: return gap_before_parenthesis(previous);
    case K::kSymbol:
      return previous == K::kOpName || previous == K::kLabel ? Gap::kBlank : Gap::kNone;
    case K::kEqual: return previous == K::kHash ? Gap::kBlank : Gap::kNone;
    case K::kLoc:
      return previous == K::kSymbol || previous == K::kLabel ? Gap::kContinue : Gap::kBlank;
    default: return Gap::kNone;
  }
}

// -- the same as a table ------------------------------------------------------------------------------

/// What precedes a token: the kind of the one before, or one of the cases that its kind leaves open.
using Before = std::uint8_t;
constexpr Before kLinalgName = kTokenKinds;        // its mnemonic is any text
constexpr Before kRegisterName = kTokenKinds + 1;  // `linalg.CPU.register<Linear>()`
constexpr Before kTightAngle = kTokenKinds + 2;
constexpr Before kProgramName = kTokenKinds + 3;  // `prog.label[`
constexpr Before kListedName = kTokenKinds + 4;   // `cf.ReturnOp (`
constexpr Before kCompactComma = kTokenKinds + 5;
constexpr int kBefores = kTokenKinds + 6;

constexpr K kind_before(Before before) {
  switch (before) {
    case kLinalgName:
    case kRegisterName:
    case kProgramName:
    case kListedName: return K::kOpName;
    case kTightAngle: return K::kAngle;
    case kCompactComma: return K::kComma;
    default: return static_cast<K>(before);
  }
}

constexpr Gap gap_after(Before before, K kind) {
  const Gap usual = gap_between(kind_before(before), kind);
  if (usual == Gap::kLine) return usual;
  switch (before) {
    case kCompactComma: return Gap::kNone;
    case kLinalgName: return kind == K::kLoc ? Gap::kContinue : usual;
    case kRegisterName:
      return kind == K::kLoc ? Gap::kContinue : kind == K::kAngle ? Gap::kNone : usual;
    case kTightAngle: return kind == K::kLParen ? Gap::kNone : usual;
    case kProgramName: return kind == K::kLBracket ? Gap::kNone : usual;
    case kListedName: return kind == K::kLParen ? Gap::kBlank : usual;
    default: return usual;
  }
}

/// Kinds after which more than the last token has to be remembered, or with several spellings.
constexpr bool is_tracked(K kind) {
  switch (kind) {
    case K::kOpName:
    case K::kLBrace:
    case K::kDictOpen:
    case K::kArrayOpen:
    case K::kTensor:
    case K::kDataLParen:
    case K::kDictClose:
    case K::kArrayClose:
    case K::kGreater:
    case K::kDataRParen:
    case K::kBare: return true;
    default: return has_inner_space(kind);
  }
}

constexpr std::uint8_t kTracked = 0x80;

/// The gap, marked where the token is tracked, so that one comparison finds the plain cases.
constexpr auto kSteps = [] {
  std::array<std::array<std::uint8_t, kTokenKinds>, kBefores> table{};
  for (int before = 0; before < kBefores; ++before) {
    for (int kind = 0; kind < kTokenKinds; ++kind) {
      const Gap gap = gap_after(static_cast<Before>(before), static_cast<K>(kind));
      table[before][kind] = static_cast<std::uint8_t>(
          static_cast<int>(gap) | (is_tracked(static_cast<K>(kind)) ? kTracked : 0));
    }
  }
  return table;
}();

std::uint8_t step(Before before, K kind) { return kSteps[before][static_cast<std::size_t>(kind)]; }

Before before_of(K kind, bool compact) {
  return compact && kind == K::kComma ? kCompactComma : static_cast<Before>(kind);
}

Before before_of_op(std::string_view name) {
  if (name.starts_with("linalg.")) return name.ends_with(".register") ? kRegisterName : kLinalgName;
  if (name.starts_with("prog.")) return kProgramName;
  if (name.starts_with("graph.") || name.starts_with("tensor.") || name.starts_with("cf.")) {
    return kListedName;
  }
  return before_of(K::kOpName, false);
}

/// Whether the scanner knows a key for one after the comma that follows an unquoted string.
bool ends_text(std::string_view key) { return key.starts_with('"') || is_plain_name(key); }

constexpr std::string_view fixed_spelling(K kind) {
  switch (kind) {
    case K::kArrow: return "->";
    case K::kLParen:
    case K::kDataLParen: return "(";
    case K::kRParen:
    case K::kDataRParen: return ")";
    case K::kLBrace:
    case K::kDictOpen: return "{";
    case K::kRBrace:
    case K::kDictClose: return "}";
    case K::kLBracket:
    case K::kLBracketSymbol:
    case K::kLBracketBlock:
    case K::kShapeOpen:
    case K::kArrayOpen: return "[";
    case K::kRBracket:
    case K::kShapeClose:
    case K::kArrayClose: return "]";
    case K::kComma: return ",";
    case K::kColon:
    case K::kFieldColon: return ":";
    case K::kEqual: return "=";
    case K::kTensor: return "tensor";
    case K::kLess: return "<";
    case K::kGreater: return ">";
    case K::kTrue: return "true";
    case K::kFalse: return "false";
    case K::kNull: return "null";
    case K::kInvalid: return "<InvalidAttribute NYI>";
    case K::kQuantSpecOpen: return "QuantSpec(";
    case K::kQuantAnnotationOpen: return "QuantAnnotation(";
    case K::kNoneOpen: return "None(";
    default: return "";
  }
}

}  // namespace

// -- the printer ------------------------------------------------------------------------------------

LayoutPrinter::LayoutPrinter(std::size_t expected_size)
    : buffer_(std::max(expected_size, kSmallest), '\0'),
      at_(buffer_.data()),
      limit_(at_ + buffer_.size() - kSlack) {}

void LayoutPrinter::grow(std::size_t bytes) {
  const std::size_t used = text().size();
  buffer_.resize(std::max(buffer_.size() * 2, used + bytes + kSlack));
  at_ = buffer_.data() + used;
  limit_ = buffer_.data() + buffer_.size() - kSlack;
}

inline void LayoutPrinter::reserve(std::size_t bytes) {
  if (static_cast<std::size_t>(limit_ - at_) < bytes) [[unlikely]] grow(bytes);
}

/// Space must have been reserved; up to kSlack bytes behind the text are written too.
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

void LayoutPrinter::token(TokenKind kind) { token(kind, fixed_spelling(kind)); }

/// Everything but a token that stands on the same line and needs no memory.
void LayoutPrinter::token_with_care(TokenKind kind, std::string_view text, std::uint8_t code) {
  if (open_text_ && kind == K::kKey && (!comments_.empty() || !ends_text(text))) {
    break_before_comma();
  }
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
    case Gap::kNone: break;
    case Gap::kBlank: *at_++ = ' '; break;
    case Gap::kLine:
      if (kind == K::kRBrace && before_ == before_of(K::kLBrace, false) && !commented) *at_++ = '\n';
      new_line(kind == K::kBlockName && depth_ != 0 ? depth_ - 1 : depth_);
      break;
    case Gap::kContinue: new_line(depth_ + kContinuation); break;
  }
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
  if (kind != K::kComma) open_text_ = false;
  switch (kind) {
    case K::kOpName: before_ = before_of_op(text); break;
    case K::kLBrace: ++depth_; break;
    case K::kDictOpen: open(true); break;
    case K::kArrayOpen: open(compact_); break;
    case K::kTensor:
    case K::kQuantSpecOpen:
    case K::kQuantAnnotationOpen:
    case K::kDataLParen: open(false); break;
    case K::kDictClose:
    case K::kArrayClose:
    case K::kGreater:
    case K::kDataRParen:
      if (outer_compact_.empty()) break;
      compact_ = outer_compact_.back() != 0;
      outer_compact_.pop_back();
      break;
    case K::kBare:
    case K::kDim: open_text_ = outer_compact_.empty(); break;
    default: break;
  }
  careful_ = open_text_;
}

/// An unquoted string goes on past a comma unless a key that ends_text() follows; a line end stops
/// it.
void LayoutPrinter::break_before_comma() {
  --at_;
  new_line(depth_ + kContinuation);
  reserve(1);
  put(",");
}

// -- comments -----------------------------------------------------------------------------------------

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
  put_comments(depth_);
  if (anything_) new_line(0);
  buffer_.resize(text().size());
  std::string result = std::move(buffer_);
  buffer_.assign(kSmallest, '\0');
  at_ = buffer_.data();
  limit_ = at_ + buffer_.size() - kSlack;
  before_ = before_of(K::kEnd, false);
  anything_ = compact_ = open_text_ = careful_ = false;
  depth_ = 0;
  outer_compact_.clear();
  return result;
}

bool starts_line(TokenKind previous, TokenKind kind) { return begins_line(previous, kind); }

}  // namespace mir
