// Reads the words before a place, to tell what is typed there.
#include "lsp/op_context.hpp"

#include <algorithm>

#include "mir/dialects.hpp"
#include "patterns/body_attributes.hpp"
#include "syntax/lexer.hpp"

namespace mir::lsp {

namespace {

/// The words of one op from its start to the place.
OpContext context_from(const View& view, SourcePos begin, SourcePos at) {
  OpContext context;
  const SourceFile& file = view.now().file();
  Diagnostics ignored;
  Lexer lexer(file, ignored, begin - Document::kBase);
  std::vector<TokenKind> open;
  bool after_arrow = false;
  while (true) {
    const TokenKind kind = lexer.next();
    if (kind == TokenKind::kEnd || file.position_of(lexer.begin()) >= at) break;
    if (kind == TokenKind::kError || kind == TokenKind::kResume) break;
    const std::string_view text(lexer.begin(),
                                static_cast<std::size_t>(lexer.end() - lexer.begin()));
    context.after_arrow = kind == TokenKind::kArrow;
    switch (kind) {
      case TokenKind::kOpName:
        context = {};
        context.op = text;
        after_arrow = false;
        open.clear();
        break;
      case TokenKind::kArrow:
        after_arrow = true;
        break;
      case TokenKind::kLParen:
        context.inside = after_arrow ? OpContext::Inside::kResults : OpContext::Inside::kOperands;
        context.commas = 0;
        open.push_back(kind);
        break;
      case TokenKind::kLBracket:
        context.inside = OpContext::Inside::kAttributes;
        context.key = {};
        open.push_back(kind);
        break;
      case TokenKind::kRParen:
      case TokenKind::kRBracket:
        if (!open.empty()) open.pop_back();
        if (open.empty()) context.inside = OpContext::Inside::kNothing;
        break;
      case TokenKind::kLess:
        context.in_type = true;
        break;
      case TokenKind::kGreater:
        context.in_type = false;
        break;
      case TokenKind::kKey:
        context.key = text;
        break;
      case TokenKind::kComma:
        if (!context.in_type) context.key = {};
        if (open.size() == 1 && !context.in_type) ++context.commas;
        break;
      case TokenKind::kLBrace:
      case TokenKind::kRBrace:
        context = {};
        open.clear();
        break;
      default:
        break;
    }
  }
  return context;
}

/// Returns the place from which to scan for a completion: the op around the place, or the op above
/// it.
SourcePos start_for(const View& view, SourcePos at) {
  const Outline& outline = view.outline();
  const auto next = std::ranges::upper_bound(outline.ops, at, {},
                                             [](const OutlineOp& op) { return op.whole.begin; });
  if (next == outline.ops.begin()) return Document::kBase;
  const OutlineOp& op = *std::prev(next);
  // Text after a whole op, on a line of its own, is not part of the op.
  const std::string_view between = view.text({std::min(op.head.end, at), at});
  if (at > op.head.end && between.find('\n') != between.npos) {
    return at - static_cast<SourcePos>(between.size() - between.rfind('\n') - 1);
  }
  return op.whole.begin;
}

}  // namespace

OpContext op_context(const View& view, SourcePos at, SourcePos end) {
  return context_from(view, start_for(view, at), end);
}

const OpRow* row_of(const View& view, std::string_view op) {
  return op.empty() ? nullptr : view.rows.op_name(op).info->row.get();
}

namespace {

/// True if an op around a place has a name that begins so.
bool is_inside(const View& view, SourcePos at, std::initializer_list<std::string_view> names) {
  const Outline& outline = view.outline();
  for (std::uint32_t op = outline.op_at(at); op != kNone; op = outline.ops[op].parent) {
    const std::string_view name = view.text(outline.ops[op].name);
    const auto begins = [&](std::string_view each) { return name.starts_with(each); };
    if (std::ranges::any_of(names, begins)) return true;
  }
  return false;
}

}  // namespace

bool is_in_declaration(const View& view, SourcePos at) {
  return is_inside(view, at, {"pattern.", "dialect."});
}

std::vector<const AttrRow*> common_attributes(const View& view, SourcePos at, std::string_view op) {
  constexpr std::string_view kDeclaration = "dialect.OpOp";
  std::vector<const AttrRow*> rows;
  if (op != kDeclaration && is_inside(view, at, {kDeclaration})) {
    for (const AttrRow& each : patterns::kBodyAttributes) rows.push_back(&each);
  }
  for (const AttrRow& each : annotation_attributes()) rows.push_back(&each);
  return rows;
}

QuotedPlace quoted_place(std::string_view text, std::uint32_t at) {
  const auto line = static_cast<std::uint32_t>(text.rfind('\n', at == 0 ? 0 : at - 1) + 1);
  QuotedPlace place;
  for (std::uint32_t i = line; i < at; ++i) {
    if (place.string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      place.string = place.string ? std::nullopt : std::optional(i + 1);
    } else if (!place.string && i + 1 < at && text.substr(i, 2) == "//") {
      place.comment = text.substr(i + 2, at - i - 2);
      return place;
    }
  }
  return place;
}

}  // namespace mir::lsp
