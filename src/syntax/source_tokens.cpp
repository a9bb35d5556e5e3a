// Indexes the tokens of ops, blocks and mentions, for printing unmodified parts verbatim.
#include "syntax/source_tokens.hpp"

#include <algorithm>
#include <utility>

#include "syntax/gaps.hpp"
#include "syntax/layout_rules.hpp"
#include "syntax/lexer.hpp"
#include "syntax/numbered_specs.hpp"
#include "syntax/short_names.hpp"

namespace mir {
namespace {
using K = TokenKind;
}

namespace {

/// True if an op may end with this kind and the layout after it depends on nothing else.
bool can_end_line(K kind) {
  return kind == K::kRParen || kind == K::kRBracket || kind == K::kNameAngle ||
         kind == K::kNameSquare || kind == K::kSymbol || kind == K::kLoc;
}

/// True if an opaque type is an alias: `!f32` names no dialect.
bool is_type_alias(std::string_view text) {
  return text.find_first_of(".<") == text.npos;
}

/// True if the meaning of the token depends on the text around its op.
bool is_short_form(K kind, std::string_view text) {
  switch (kind) {
    case K::kOpName:
      return is_short_op_name(text);
    case K::kNameAngle:
      return is_relative_tag(text);
    case K::kOpaqueType:
      return is_type_alias(text);
    case K::kWord:
      return text == "*";
    case K::kHash:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// Follows the nodes of each unit once.
class SourceTokens::Indexer {
 public:
  explicit Indexer(SourceTokens& index) : index_(index) {}

  void add(const Unit& unit) {
    unit_ = &unit;
    base_ = unit.base() - index_.file_.base();
    for (const Node& each : unit.nodes()) node(each);
    const auto count = static_cast<std::uint32_t>(unit.tokens().size());
    next_begins(count);
    if (count != 0) index_.end_ = base_ + unit.tokens()[count - 1].end();
  }

  void finish() {
    const auto by_name = [&](const BlockTokens& a, const BlockTokens& b) {
      if (a.op != b.op) return a.op < b.op;
      return a.region != b.region ? a.region < b.region : index_.name_of(a) < index_.name_of(b);
    };
    std::stable_sort(index_.blocks_.begin(), index_.blocks_.end(), by_name);
  }

 private:
  /// An op whose end has not been reached.
  struct Open {
    std::size_t entry;             // of ops_
    std::uint32_t piece_begin;     // first token of the piece being read
    std::uint32_t contents_begin;  // first token after the last brace that opened
    bool has_regions = false;      // with signatures
    bool in_contents = false;
    std::vector<TokenRange> pieces{};
  };

  void node(const Node& node) {
    switch (node.kind()) {
      case NodeKind::kAddress:
        address_ = node.token;
        break;
      case NodeKind::kOpName: {
        const std::uint32_t first = address_.value_or(node.token);
        address_.reset();
        next_begins(first);
        begin_contents();
        open_.push_back({index_.ops_.size(), first, first});
        index_.ops_.push_back({.at = unit_->span(node.token).begin});
        break;
      }
      case NodeKind::kBodyBegin:
        open_.back().contents_begin = node.token + 1;
        break;
      case NodeKind::kRegionBegin:
        open_.back().contents_begin = node.token + 1;
        open_.back().has_regions = true;
        break;
      case NodeKind::kBlock:
        block(node.token);
        break;
      case NodeKind::kRegionEnd:
        end_contents(node.token);
        break;
      case NodeKind::kBodyEnd:
        if (!open_.back().has_regions) end_contents(node.token);
        open_.back().has_regions = false;
        break;
      case NodeKind::kOpEnd:
        is_op_open_ = true;
        break;
      case NodeKind::kAttribute:
        portable_ |= open_.empty() && text(node.token) == "mir_version";
        break;
      case NodeKind::kAlias:
        index_.aliases_.push_back(whole());
        portable_ = false;
        break;
      case NodeKind::kModuleBegin:
        module_ = index_.ops_.size();
        index_.ops_.push_back({.at = unit_->span(node.token).begin, .portable = portable_});
        module_head_ = whole();
        portable_ = false;
        break;
      case NodeKind::kModuleEnd: {
        if (!module_) break;
        OpTokens& module = index_.ops_[*module_];
        module.first = static_cast<std::uint32_t>(index_.pieces_.size());
        module.second = 2;
        index_.pieces_.insert(index_.pieces_.end(), {module_head_, whole()});
        break;
      }
      default:
        break;
    }
  }

  std::string_view text(std::uint32_t token) const {
    return index_.file_.slice(unit_->span(token));
  }

  Token token(std::uint32_t number) const {
    Token token = unit_->tokens()[number];
    token.offset += base_;
    return token;
  }

  /// The end of the token before this one.
  std::uint32_t end_before(std::uint32_t number) const {
    return number == 0 ? index_.end_ : token(number - 1).end();
  }

  /// Stores tokens of the unit.
  TokenRange stored(std::uint32_t begin, std::uint32_t end) {
    std::vector<Token>& tokens = index_.tokens_;
    tokens.emplace_back(K::kEnd, end_before(begin), 0u);
    const auto first = static_cast<std::uint32_t>(tokens.size());
    for (std::uint32_t i = begin; i < end; ++i) tokens.push_back(token(i));
    return {first, static_cast<std::uint32_t>(tokens.size())};
  }

  TokenRange whole() { return stored(0, static_cast<std::uint32_t>(unit_->tokens().size())); }

  /// The innermost region has something in it.
  void begin_contents() {
    if (open_.empty() || open_.back().in_contents) return;
    Open& op = open_.back();
    op.pieces.push_back(stored(op.piece_begin, op.contents_begin));
    op.in_contents = true;
  }

  void end_contents(std::uint32_t brace) {
    next_begins(brace);
    begin_contents();
    open_.back().in_contents = false;
    open_.back().piece_begin = brace;
  }

  void block(std::uint32_t name) {
    next_begins(name);
    begin_contents();
    std::uint32_t at = name;
    for (int depth = 0; at < unit_->tokens().size(); ++at) {
      const K kind = unit_->tokens()[at].kind();
      depth += kind == K::kLParen ? 1 : kind == K::kRParen ? -1 : 0;
      if (kind == K::kColon && depth == 0) break;
    }
    const TokenRange head = stored(name, at + 1);
    if (open_.empty()) {  // of the module
      index_.blocks_.push_back({module_ ? index_.ops_[*module_].at : 0, 0, head});
      return;
    }
    const auto region = static_cast<std::uint32_t>(open_.back().pieces.size() - 1);
    index_.blocks_.push_back({index_.ops_[open_.back().entry].at, region, head});
  }

  /// Ends the op that ended last at `end`, where the next construct begins.
  void next_begins(std::uint32_t end) {
    if (!std::exchange(is_op_open_, false)) return;
    Open& op = open_.back();
    OpTokens& entry = index_.ops_[op.entry];
    if (op.pieces.empty() && is_line(op.piece_begin, end)) {
      entry.first = token(op.piece_begin).offset;
      entry.second = token(end - 1).end();
      entry.last = token(end - 1).kind();
    } else {
      op.pieces.push_back(stored(op.piece_begin, end));
      entry.first = static_cast<std::uint32_t>(index_.pieces_.size());
      entry.second = static_cast<std::uint32_t>(op.pieces.size());
      index_.pieces_.insert(index_.pieces_.end(), op.pieces.begin(), op.pieces.end());
    }
    open_.pop_back();
  }

  /// True if the tokens are a plain line.
  bool is_line(std::uint32_t begin, std::uint32_t end) {
    const std::span<const Token> tokens = unit_->tokens().subspan(begin, end - begin);
    if (tokens.empty() || !can_end_line(tokens.back().kind())) return false;
    const std::string_view source = index_.file_.text();
    const std::uint32_t from = base_ + tokens.front().offset, to = base_ + tokens.back().end();
    const std::uint32_t before = end_before(begin);
    if (source.substr(before, from - before).find('/') != source.npos) return false;
    const std::size_t after = source.find_first_not_of(" \t\r", to);
    if (after != source.npos && source[after] == '/') return false;
    return has_layout(tokens);
  }

  /// True if the layout prints the tokens of an op as the text has them, and none is a short form.
  bool has_layout(std::span<const Token> tokens) {
    const char* const source = index_.file_.text().data() + base_;
    layout::Before before = layout::before_of(K::kEnd, false);
    std::uint32_t end = tokens.front().offset;
    for (const Token& each : tokens) {
      const std::string_view text(source + each.offset, each.length());
      const K kind = each.kind();
      if (is_short_form(kind, text)) return false;
      const std::uint32_t gap = each.offset - end;
      end = each.end();
      if (&each == &tokens.front()) {
        if (kind != K::kOpName) return prints_alike(tokens);
        before = layout::before_of_op(text);
        continue;
      }
      std::uint8_t code = layout::step(before, kind);
      if (kind == K::kNameAngle && text.starts_with("<name=\"") && text.ends_with("\">")) {
        code &= static_cast<std::uint8_t>(~layout::kTracked);
      }
      if (code > static_cast<std::uint8_t>(layout::Gap::kBlank)) return prints_alike(tokens);
      if (gap != code || (gap == 1 && source[each.offset - 1] != ' ')) return false;
      before = layout::before_of(kind, false);
    }
    return true;
  }

  /// Like has_layout(), by printing the tokens.
  bool prints_alike(std::span<const Token> tokens) {
    constexpr std::uint32_t kLongest = 1u << 16;
    const std::uint32_t begin = tokens.front().offset, size = tokens.back().end() - begin;
    if (size > kLongest) return false;
    const char* const source = index_.file_.text().data() + base_;
    const auto text = [&](const Token& each) {
      return std::string_view(source + each.offset, each.length());
    };
    for (const Token& each : tokens) {
      if (is_short_form(each.kind(), text(each))) return false;
    }
    printer_.clear();
    for (const Token& each : tokens) printer_.token(each.kind(), text(each));
    std::string_view printed = printer_.text();
    if (printed.starts_with('\n')) printed.remove_prefix(1);  // after the op before
    // Further lines are printed at a depth that is not known here.
    return printed.find('\n') == printed.npos && printed == std::string_view(source + begin, size);
  }

  SourceTokens& index_;
  const Unit* unit_ = nullptr;
  std::uint32_t base_ = 0;  // where it begins in the text
  std::vector<Open> open_;
  std::optional<std::uint32_t> address_;  // of the op whose name comes next
  bool is_op_open_ = false;               // whether the end of the last op is still open
  bool portable_ = false;                 // whether the module whose head is being read is
  std::optional<std::size_t> module_;     // entry of ops_
  TokenRange module_head_;
  LayoutPrinter printer_;
};

SourceTokens::SourceTokens(const SourceFile& file)
    : file_(file), indexer_(std::make_unique<Indexer>(*this)) {
  // Texts with more are rare. What is reserved and not written takes no memory.
  constexpr std::size_t kTokenBytes = 12, kOpBytes = 128;
  tokens_.reserve(file.size() / kTokenBytes);
  ops_.reserve(file.size() / kOpBytes);
}

SourceTokens::SourceTokens(const SyntaxTree& tree) : SourceTokens(tree.file()) {
  for (const Unit& unit : tree.units()) add(unit);
  finish();
}

SourceTokens::~SourceTokens() = default;

void SourceTokens::add(const Unit& unit) {
  indexer_->add(unit);
}

void SourceTokens::finish() {
  indexer_->finish();
  indexer_.reset();
}

// -- looking up -----------------------------------------------------------------------------------

const SourceTokens::OpTokens* SourceTokens::find(SourcePos at) const {
  // Ops are printed in the order of the text.
  if (next_op_ >= ops_.size() || ops_[next_op_].at != at) {
    const auto found = std::ranges::lower_bound(ops_, at, {}, &OpTokens::at);
    if (found == ops_.end() || found->at != at) return nullptr;
    next_op_ = static_cast<std::size_t>(found - ops_.begin());
  }
  return &ops_[next_op_++];
}

TokenPieces SourceTokens::pieces(SourcePos at) const {
  const OpTokens* op = find(at);
  if (op == nullptr) return {};
  if (op->last != K::kEnd) return TokenPieces(TokenRange{op->first, op->second, op->last});
  return TokenPieces(std::span(pieces_).subspan(op->first, op->second));
}

std::optional<TokenRange> SourceTokens::block(SourcePos op, std::uint32_t region,
                                              std::string_view name) const {
  const auto before = [&](const BlockTokens& block, SourcePos at) {
    if (block.op != at) return block.op < at;
    return block.region != region ? block.region < region : name_of(block) < name;
  };
  const auto found = std::lower_bound(blocks_.begin(), blocks_.end(), op, before);
  const bool is_known = found != blocks_.end() && found->op == op && found->region == region &&
                        name_of(*found) == name;
  return is_known ? std::optional(found->tokens) : std::nullopt;
}

std::string_view SourceTokens::name_of(const BlockTokens& block) const {
  return text(block.tokens.begin).substr(1);
}

bool SourceTokens::is_portable(SourcePos module) const {
  const OpTokens* found = find(module);
  return found != nullptr && found->portable;
}

TokenKind SourceTokens::kind(const TokenRange& range, std::uint32_t token) const {
  return token < range.end ? tokens_[token].kind() : K::kEnd;
}

std::string_view SourceTokens::text(std::uint32_t token) const {
  return text(tokens_[token]);
}

SourcePos SourceTokens::begin(TokenRange range) const {
  return file_.base() + (range.is_line() ? range.begin : tokens_[range.begin].offset);
}

/// Scans the line again.
std::vector<Token> SourceTokens::tokens_of_line(TokenRange line) const {
  std::vector<Token> tokens;
  Diagnostics ignored(1);
  Lexer lexer(file_, ignored, line.begin);
  const char* const text = file_.text().data();
  while (tokens.empty() || tokens.back().end() < line.end) {
    const K kind = lexer.next();
    if (kind == K::kEnd || kind == K::kError) break;
    tokens.emplace_back(kind, static_cast<std::uint32_t>(lexer.begin() - text),
                        static_cast<std::uint32_t>(lexer.end() - lexer.begin()));
  }
  return tokens;
}

std::vector<TypedMention> SourceTokens::mentions(TokenRange range) const {
  std::vector<Token> scanned;
  if (range.is_line()) scanned = tokens_of_line(range);
  const std::span<const Token> tokens =
      range.is_line() ? scanned : std::span(tokens_).subspan(range.begin, range.end - range.begin);
  std::vector<TypedMention> list;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const K first = tokens[i].kind();
    if (first != K::kTypedValue && first != K::kValue) continue;
    const std::string_view spelled = text(tokens[i]);
    // After the type: `[@symbol]` and attribute lists, up to the mention's end.
    std::size_t at = i + 1;
    if (first == K::kValue && (at == tokens.size() || tokens[at].kind() != K::kColon)) continue;
    TypedMention mention{.name = spelled.substr(1, spelled.find(':') - 1)};
    for (; at < tokens.size(); ++at) {
      const K part = tokens[at].kind();
      if (part == K::kTypedValue || part == K::kValue || part == K::kRParen) break;
      mention.has_symbol |= part == K::kLBracketSymbol;
      mention.has_attributes |= part == K::kLBracket;
    }
    list.push_back(mention);
  }
  return list;
}

bool SourceTokens::has_type_alias(TokenRange range) const {
  if (range.is_line()) return false;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    if (kind(range, i) == K::kOpaqueType && is_type_alias(text(i))) return true;
  }
  return false;
}

ShortForms SourceTokens::short_forms(TokenRange range) const {
  ShortForms forms;
  if (range.is_line()) return forms;
  int depth = 0;  // of parentheses
  K before = K::kEnd;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const K each = kind(range, i);
    if (each == K::kLParen) ++depth;
    if (each == K::kRParen) --depth;
    if (each == K::kOpName && is_short_op_name(text(i))) forms.op_name = text(i);
    if (each == K::kNameAngle && is_relative_tag(text(i))) forms.name_tag = text(i);
    if (each == K::kWord && text(i) == "*") {
      (depth == 0 ? forms.has_rest : forms.have_values_rest) = true;
    }
    forms.has_short_recipe |=
        each == K::kHash && (before == K::kLBracket || before == K::kComma || is_numbered(text(i)));
    before = each;
  }
  if (forms.has_rest) forms.keys = keys(range);
  return forms;
}

/// The keys of the lists of an op itself. A spec without a key has one.
std::vector<std::string_view> SourceTokens::keys(TokenRange range) const {
  std::vector<std::string_view> list;
  int depth = 0;
  K before = K::kEnd;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const K each = kind(range, i);
    if (each == K::kLParen) ++depth;
    if (each == K::kRParen) --depth;
    if (depth == 0 && each == K::kKey) list.push_back(text(i));
    const bool is_item = before == K::kLBracket || before == K::kComma;
    if (depth == 0 && each == K::kHash && is_item) list.emplace_back("quant_recipe");
    before = each;
  }
  return list;
}

// -- printing -------------------------------------------------------------------------------------

std::string_view SourceTokens::gap(std::uint32_t token) const {
  const std::uint32_t begin = tokens_[token - 1].end();
  return file_.text().substr(begin, tokens_[token].offset - begin);
}

void SourceTokens::print(TokenRange range, LayoutPrinter& out) const {
  if (range.is_line()) {
    return out.line(file_.text().substr(range.begin, range.end - range.begin), range.last);
  }
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const std::string_view before = gap(i);
    if (before.size() > 1) {
      for_each_comment(before, begins_text(i), [&](std::string_view text, bool own_line) {
        if (own_line || i != range.begin) out.comment(text, own_line);
      });
    }
    out.token(kind(range, i), text(i));
  }
  print_trailing(range, out);
}

void SourceTokens::print_comments(TokenRange range, LayoutPrinter& out) const {
  if (range.is_line()) return;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    for_each_comment(gap(i), begins_text(i), [&](std::string_view text, bool own_line) {
      if (own_line || i != range.begin) out.comment(text, true);
    });
  }
}

void SourceTokens::print_trailing(TokenRange range, LayoutPrinter& out) const {
  if (range.is_line() || range.begin == range.end) return;
  const std::string_view text = file_.text();
  const std::size_t at = text.find_first_not_of(" \t\r", tokens_[range.end - 1].end());
  if (text.substr(std::min(at, text.size()), 2) != "//") return;
  out.comment(text.substr(at, text.find('\n', at) - at), false);
}

void SourceTokens::print_end(LayoutPrinter& out) const {
  if (ops_.empty() && aliases_.empty()) return;
  for_each_comment(file_.text().substr(end_), false, [&](std::string_view text, bool own_line) {
    if (own_line) out.comment(text, true);
  });
}

}  // namespace mir
