// Indexes the tokens of ops, blocks and mentions, for printing unmodified parts verbatim.
#include "syntax/source_tokens.hpp"

#include <algorithm>

#include "syntax/gaps.hpp"
#include "syntax/numbered_specs.hpp"
#include "syntax/short_names.hpp"

namespace mir {
namespace {
using K = TokenKind;
}

/// Follows the nodes of all units once.
class SourceTokens::Indexer {
 public:
  explicit Indexer(SourceTokens& index) : index_(index) {}

  void run() {
    for (const Unit& unit : index_.tree_.units()) {
      for (const Node& each : unit.nodes()) node(unit, each);
      next_begins(static_cast<std::uint32_t>(unit.tokens().size()));
      ++unit_;
    }
    const auto by_position = [](const OpTokens& a, const OpTokens& b) { return a.at < b.at; };
    std::sort(index_.ops_.begin(), index_.ops_.end(), by_position);
    const auto by_name = [&](const BlockTokens& a, const BlockTokens& b) {
      if (a.op != b.op) return a.op < b.op;
      return a.region != b.region ? a.region < b.region : index_.name_of(a) < index_.name_of(b);
    };
    std::stable_sort(index_.blocks_.begin(), index_.blocks_.end(), by_name);
  }

 private:
  /// An op whose end has not been reached.
  struct Open {
    SourcePos at;
    std::uint32_t piece_begin;     // first token of the piece being read
    std::uint32_t contents_begin;  // first token after the last brace that opened
    bool has_regions = false;      // with signatures
    bool in_contents = false;
    std::vector<TokenRange> pieces;
  };

  void node(const Unit& unit, const Node& node) {
    switch (node.kind()) {
      case NodeKind::kAddress:
        address_ = node.token;
        break;
      case NodeKind::kOpName: {
        const std::uint32_t first = address_.value_or(node.token);
        address_.reset();
        next_begins(first);
        begin_contents();
        open_.push_back({unit.span(node.token).begin, first, first, false, false, {}});
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
        block(unit, node.token);
        break;
      case NodeKind::kRegionEnd:
        end_contents(node.token);
        break;
      case NodeKind::kBodyEnd:
        if (!open_.back().has_regions) end_contents(node.token);
        open_.back().has_regions = false;
        break;
      case NodeKind::kOpEnd:
        end_op();
        break;
      case NodeKind::kAttribute:
        portable_ |= open_.empty() && text(unit, node.token) == "mir_version";
        break;
      case NodeKind::kAlias:
        index_.aliases_.push_back(whole(unit));
        portable_ = false;
        break;
      case NodeKind::kModuleBegin:
        module_ = OpTokens{};
        module_.at = unit.span(node.token).begin;
        module_.portable = portable_;
        module_head_ = whole(unit);
        portable_ = false;
        break;
      case NodeKind::kModuleEnd:
        module_.first_piece = static_cast<std::uint32_t>(index_.pieces_.size());
        module_.piece_count = 2;
        index_.pieces_.insert(index_.pieces_.end(), {module_head_, whole(unit)});
        index_.ops_.push_back(module_);
        break;
      default:
        break;
    }
  }

  std::string_view text(const Unit& unit, std::uint32_t token) const {
    return index_.tree_.text(unit, token);
  }

  TokenRange whole(const Unit& unit) const {
    return {unit_, 0, static_cast<std::uint32_t>(unit.tokens().size())};
  }

  /// The innermost region has something in it.
  void begin_contents() {
    if (open_.empty() || open_.back().in_contents) return;
    Open& op = open_.back();
    op.pieces.push_back({unit_, op.piece_begin, op.contents_begin});
    op.in_contents = true;
  }

  void end_contents(std::uint32_t brace) {
    next_begins(brace);
    begin_contents();
    open_.back().in_contents = false;
    open_.back().piece_begin = brace;
  }

  void block(const Unit& unit, std::uint32_t name) {
    next_begins(name);
    begin_contents();
    std::uint32_t at = name;
    for (int depth = 0; at < unit.tokens().size(); ++at) {
      const K kind = unit.tokens()[at].kind();
      depth += kind == K::kLParen ? 1 : kind == K::kRParen ? -1 : 0;
      if (kind == K::kColon && depth == 0) break;
    }
    const TokenRange head{unit_, name, at + 1};
    if (open_.empty()) {  // of the module
      index_.blocks_.push_back({module_.at, 0, head});
      return;
    }
    const auto region = static_cast<std::uint32_t>(open_.back().pieces.size() - 1);
    index_.blocks_.push_back({open_.back().at, region, head});
  }

  void end_op() {
    Open op = std::move(open_.back());
    open_.pop_back();
    op.pieces.push_back({unit_, op.piece_begin, op.piece_begin});
    index_.ops_.push_back({op.at, static_cast<std::uint32_t>(index_.pieces_.size()),
                           static_cast<std::uint32_t>(op.pieces.size()), false});
    index_.pieces_.insert(index_.pieces_.end(), op.pieces.begin(), op.pieces.end());
    ended_ = true;
  }

  /// Extends the construct that ended last to `token`, where the next one begins.
  void next_begins(std::uint32_t token) {
    if (ended_) index_.pieces_.back().end = token;
    ended_ = false;
  }

  SourceTokens& index_;
  std::uint32_t unit_ = 0;
  std::vector<Open> open_;
  std::optional<std::uint32_t> address_;  // of the op whose name comes next
  bool ended_ = false;                    // whether the end of the last piece is still open
  bool portable_ = false;                 // whether the module whose head is being read is
  OpTokens module_;
  TokenRange module_head_;
};

SourceTokens::SourceTokens(const SyntaxTree& tree) : tree_(tree) {
  Indexer(*this).run();
}

// -- looking up -----------------------------------------------------------------------------------

const SourceTokens::OpTokens* SourceTokens::find(SourcePos at) const {
  const auto found = std::lower_bound(ops_.begin(), ops_.end(), at,
                                      [](const OpTokens& op, SourcePos to) { return op.at < to; });
  return found == ops_.end() || found->at != at ? nullptr : &*found;
}

std::span<const TokenRange> SourceTokens::pieces(SourcePos at) const {
  const OpTokens* op = find(at);
  if (op == nullptr) return {};
  return std::span(pieces_).subspan(op->first_piece, op->piece_count);
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
  return text(block.tokens, block.tokens.begin).substr(1);
}

bool SourceTokens::is_portable(SourcePos module) const {
  const OpTokens* found = find(module);
  return found != nullptr && found->portable;
}

TokenKind SourceTokens::kind(const TokenRange& range, std::uint32_t token) const {
  return token < range.end ? tree_.units()[range.unit].tokens()[token].kind() : K::kEnd;
}

std::string_view SourceTokens::text(const TokenRange& range, std::uint32_t token) const {
  return tree_.text(tree_.units()[range.unit], token);
}

SourcePos SourceTokens::begin(TokenRange range) const {
  return tree_.units()[range.unit].span(range.begin).begin;
}

std::vector<TypedMention> SourceTokens::mentions(TokenRange range) const {
  std::vector<TypedMention> list;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const K first = kind(range, i);
    if (first != K::kTypedValue && first != K::kValue) continue;
    const std::string_view spelled = text(range, i);
    // After the type: `[@symbol]` and attribute lists, up to the mention's end.
    std::uint32_t at = i + 1;
    if (first == K::kValue && kind(range, at) != K::kColon) continue;
    TypedMention mention{.name = spelled.substr(1, spelled.find(':') - 1)};
    for (; at < range.end; ++at) {
      const K part = kind(range, at);
      if (part == K::kTypedValue || part == K::kValue || part == K::kRParen) break;
      mention.has_symbol |= part == K::kLBracketSymbol;
      mention.has_attributes |= part == K::kLBracket;
    }
    list.push_back(mention);
  }
  return list;
}

bool SourceTokens::has_type_alias(TokenRange range) const {
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    if (kind(range, i) != K::kOpaqueType) continue;
    if (text(range, i).find_first_of(".<") == std::string_view::npos) return true;
  }
  return false;
}

ShortForms SourceTokens::short_forms(TokenRange range) const {
  ShortForms forms;
  int depth = 0;  // of parentheses
  K before = K::kEnd;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const K each = kind(range, i);
    if (each == K::kLParen) ++depth;
    if (each == K::kRParen) --depth;
    if (each == K::kOpName && is_short_op_name(text(range, i))) forms.op_name = text(range, i);
    if (each == K::kNameAngle && is_relative_tag(text(range, i))) forms.name_tag = text(range, i);
    if (each == K::kWord && text(range, i) == "*") {
      (depth == 0 ? forms.has_rest : forms.have_values_rest) = true;
    }
    forms.has_short_recipe |= each == K::kHash && (before == K::kLBracket || before == K::kComma ||
                                                   is_numbered(text(range, i)));
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
    if (depth == 0 && each == K::kKey) list.push_back(text(range, i));
    const bool is_item = before == K::kLBracket || before == K::kComma;
    if (depth == 0 && each == K::kHash && is_item) list.emplace_back("quant_recipe");
    before = each;
  }
  return list;
}

// -- printing -------------------------------------------------------------------------------------

std::string_view SourceTokens::gap(std::uint32_t unit, std::uint32_t token) const {
  const Unit& of = tree_.units()[unit];
  const SourcePos base = tree_.file().base();
  SourcePos begin = base;
  if (token != 0) {
    begin = of.span(token - 1).end;
  } else if (unit != 0) {
    const Unit& before = tree_.units()[unit - 1];
    begin = before.span(static_cast<std::uint32_t>(before.tokens().size()) - 1).end;
  }
  const SourcePos end =
      token < of.tokens().size() ? of.span(token).begin : base + tree_.file().size();
  return tree_.file().slice({begin, end});
}

std::string_view SourceTokens::gap_after(const TokenRange& range) const {
  const bool last_of_unit = range.end == tree_.units()[range.unit].tokens().size();
  if (last_of_unit && range.unit + 1 < tree_.units().size()) return gap(range.unit + 1, 0);
  return gap(range.unit, range.end);
}

void SourceTokens::print(TokenRange range, LayoutPrinter& out) const {
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const bool first = i == range.begin;
    for_each_comment(gap(range.unit, i), range.unit == 0 && i == 0,
                     [&](std::string_view text, bool own_line) {
                       if (own_line || !first) out.comment(text, own_line);
                     });
    out.token(kind(range, i), text(range, i));
  }
  print_trailing(range, out);
}

void SourceTokens::print_comments(TokenRange range, LayoutPrinter& out) const {
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    for_each_comment(gap(range.unit, i), range.unit == 0 && i == 0,
                     [&](std::string_view text, bool own_line) {
                       if (own_line || i != range.begin) out.comment(text, true);
                     });
  }
}

void SourceTokens::print_trailing(TokenRange range, LayoutPrinter& out) const {
  for_each_comment(gap_after(range), false, [&](std::string_view text, bool own_line) {
    if (!own_line) out.comment(text, false);
  });
}

void SourceTokens::print_end(LayoutPrinter& out) const {
  if (tree_.units().empty()) return;
  const auto unit = static_cast<std::uint32_t>(tree_.units().size() - 1);
  const auto end = static_cast<std::uint32_t>(tree_.units()[unit].tokens().size());
  for_each_comment(gap(unit, end), false, [&](std::string_view text, bool own_line) {
    if (own_line) out.comment(text, true);
  });
}

}  // namespace mir
