// Nodes for ops that cannot be read, and for braces that the text lacks at its end.
#include <algorithm>

#include "syntax/damage.hpp"
#include "syntax/tree_builder.hpp"

namespace mir {

namespace {

using N = NodeKind;

bool opens(NodeKind kind) {
  return kind == N::kBodyBegin || kind == N::kRegionBegin;
}

bool closes(NodeKind kind) {
  return kind == N::kBodyEnd || kind == N::kRegionEnd;
}

/// An item can follow these, unless something between has closed.
bool ends_item(NodeKind kind) {
  return opens(kind) || kind == N::kBlock || kind == N::kOpEnd;
}

}  // namespace

std::size_t TreeBuilder::complete_nodes() const {
  int depth = 0;  // of bodies of the op that is damaged
  for (std::size_t at = nodes_.size(); at != 0; --at) {
    const NodeKind kind = nodes_[at - 1].kind();
    if (depth == 0 && (ends_item(kind) || kind == N::kRegionEnd)) return at;
    if (closes(kind)) ++depth;
    if (opens(kind)) --depth;
  }
  return 0;
}

std::optional<std::size_t> TreeBuilder::open_head(std::size_t from) const {
  for (std::size_t at = from; at < nodes_.size(); ++at) {
    const NodeKind kind = nodes_[at].kind();
    if (kind == N::kOpName || kind == N::kAddress) return at;
    if (opens(kind)) return std::nullopt;
  }
  return std::nullopt;
}

void TreeBuilder::note_error(bool op_is_whole) {
  latest_error_ = lexer_.begin();
  error_token_ = token_end() - (current_ == TokenKind::kEnd ? 0 : 1);
  op_is_whole_ = op_is_whole;
  error_is_on_new_line_ = current_ == TokenKind::kEnd || lexer_.is_first_on_line();
}

/// True if the op before the error is complete, judged by its last node.
bool TreeBuilder::is_whole_op() const {
  if (nodes_.back().kind() == N::kAddress) return false;  // whose op does not follow
  if (op_is_whole_) return true;
  constexpr NodeKind kLast[] = {N::kResults, N::kAttributes, N::kSuccessors, N::kBodyEnd};
  return error_is_on_new_line_ && std::ranges::find(kLast, nodes_.back().kind()) != std::end(kLast);
}

std::uint32_t TreeBuilder::first_damaged_token(std::size_t complete) {
  if (complete != 0 && nodes_[complete - 1].kind() != N::kBlock &&
      nodes_[complete - 1].kind() != N::kOpEnd) {  // a brace
    return first_token_ + nodes_[complete - 1].token + 1;
  }
  // The arguments of a block may be a list without a token.
  const bool has_token = complete < nodes_.size() && nodes_[complete].kind() != N::kOperands;
  return has_token ? first_token_ + nodes_[complete].token : error_token_;
}

std::optional<std::uint32_t> TreeBuilder::damaged_token(std::uint32_t first) {
  const char* const text = file_.text().data();
  const std::size_t index = std::min<std::size_t>(first - first_token_, tokens_.size());
  const char* end = lexer_.begin();
  const char* begin = index == tokens_.size() ? end : std::min(text + tokens_[index].offset, end);
  while (end != begin && std::string_view(" \t\r\n").find(end[-1]) != std::string_view::npos) --end;
  tokens_.resize(index);
  if (begin == end) return std::nullopt;
  const auto length =
      std::min(static_cast<std::size_t>(end - begin), std::size_t{Token::kMaxLength});
  tokens_.emplace_back(TokenKind::kError, static_cast<std::uint32_t>(begin - text),
                       static_cast<std::uint32_t>(length));
  return token_end() - 1;
}

std::optional<std::uint32_t> TreeBuilder::drop_damaged_item() {
  std::size_t complete = complete_nodes();
  std::uint32_t first = first_damaged_token(complete);
  const auto head = open_head(complete);
  if (head && is_whole_op()) {
    node(N::kOpEnd, first_token_ + nodes_[*head].token);
    first = error_token_;
  } else {
    nodes_.resize(complete);
  }
  return damaged_token(first);
}

void TreeBuilder::skip_item() {
  const auto token = drop_damaged_item();
  if (!token) return;
  node(N::kOpName, *token);
  node(N::kOpEnd, *token);
}

void TreeBuilder::skip_text() {
  tokens_.clear();
  nodes_.clear();
}

void TreeBuilder::begin_damaged_body() {
  std::uint32_t token = drop_damaged_item().value_or(token_end());
  if (token == token_end()) {
    tokens_.emplace_back(TokenKind::kError,
                         static_cast<std::uint32_t>(lexer_.begin() - file_.text().data()), 0);
  }
  node(N::kOpName, token);
  node(N::kBodyBegin, token);
}

void TreeBuilder::end_damaged_body(std::uint32_t brace) {
  // The token of the head is that of the brace that the end of the body matches.
  int depth = 0;
  std::size_t at = nodes_.size();
  while (at != 0) {
    const NodeKind kind = nodes_[--at].kind();
    depth += closes(kind) ? 1 : 0;
    if (opens(kind) && depth-- == 0) break;
  }
  const std::uint32_t head = first_token_ + nodes_[at].token;
  node(N::kBodyEnd, brace);
  node(N::kOpEnd, head);
}

void TreeBuilder::begin_damaged_module() {
  nodes_.clear();
  const std::uint32_t token = damaged_token(first_token_).value_or(token_end());
  if (token == token_end()) {
    tokens_.emplace_back(TokenKind::kError,
                         static_cast<std::uint32_t>(lexer_.begin() - file_.text().data()), 0);
  }
  node(N::kOperands, token, 0);
  node(N::kResults, token, 0);
  node(N::kModuleBegin, token);
  finish_unit(token + 1);
}

void TreeBuilder::finish() {
  if (!in_module_) return;
  if (!nodes_.empty() || !tokens_.empty()) skip_item();
  const auto end = static_cast<std::uint32_t>(file_.size());
  struct Open {
    NodeKind kind;
    std::uint32_t head;
  };
  std::vector<Open> open;
  std::vector<std::uint32_t> heads;
  for (const Node& each : nodes_) {
    if (each.kind() == N::kOpName) heads.push_back(each.token);
    if (each.kind() == N::kOpEnd) heads.pop_back();
    if (opens(each.kind())) open.push_back({each.kind(), heads.back()});
    if (closes(each.kind())) open.pop_back();
  }
  const auto brace = [&] {
    tokens_.emplace_back(TokenKind::kRBrace, end, 0);
    return token_end() - 1;
  };
  for (; !open.empty(); open.pop_back()) {
    const bool is_body = open.back().kind == N::kBodyBegin;
    node(is_body ? N::kBodyEnd : N::kRegionEnd, brace());
    if (is_body) node(N::kOpEnd, first_token_ + open.back().head);
  }
  finish_unit(token_end());
  node(N::kModuleEnd, brace());
  finish_unit(token_end());
}

}  // namespace mir
