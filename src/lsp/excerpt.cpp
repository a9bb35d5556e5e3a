// Cuts the bodies of graphs out of a syntax tree, and resolves what is left.
#include "lsp/excerpt.hpp"

#include <algorithm>

#include "ir/declaration_graphs.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/walk.hpp"

namespace mir::lsp {

namespace {

bool is(const Unit& unit, NodeKind kind) {
  return unit.nodes().back().kind() == kind;
}

/// A unit with the nodes up to the begin of its body, the ops that parts name, and the braces at
/// its end.
Unit without_body(const Unit& unit, std::size_t body, std::span<const NodeRange> parts) {
  const std::uint32_t last = unit.nodes()[body].token;
  std::vector<Token> tokens(unit.tokens().begin(), unit.tokens().begin() + last + 1);
  std::vector<Node> nodes(unit.nodes().begin(),
                          unit.nodes().begin() + static_cast<std::ptrdiff_t>(body) + 1);
  for (const NodeRange& part : parts) {
    const auto shift = static_cast<std::uint32_t>(tokens.size()) - part.first_token;
    for (std::size_t i = part.first_node; i < part.end_node; ++i) {
      Node node = unit.nodes()[i];
      if (node.token != 0) node.token += shift;
      nodes.push_back(node);
    }
    tokens.insert(tokens.end(), unit.tokens().begin() + part.first_token,
                  unit.tokens().begin() + part.end_token);
  }
  const auto end = static_cast<std::uint32_t>(tokens.size());
  tokens.insert(tokens.end(), unit.tokens().end() - 2, unit.tokens().end());
  nodes.emplace_back(NodeKind::kRegionEnd, end, 0);
  nodes.emplace_back(NodeKind::kBodyEnd, end + 1, 0);
  nodes.push_back(unit.nodes().back());
  return {unit.base(), tokens, nodes};
}

bool is_portable(const SyntaxTree& tree, const Unit& head) {
  return std::ranges::any_of(head.nodes(), [&](const Node& node) {
    return node.kind() == NodeKind::kAttribute && tree.text(head, node.token) == key::kMirVersion;
  });
}

}  // namespace

std::optional<std::size_t> body_of_graph(const SyntaxTree& tree, const Unit& unit) {
  const auto nodes = unit.nodes();
  const std::size_t count = unit.tokens().size();
  const auto ends_with = [&](std::size_t back, NodeKind kind) {
    const Node& node = nodes[nodes.size() - back - 1];
    return node.kind() == kind && node.token + back == count;  // a brace each
  };
  const bool is_closed = nodes.size() > 3 && is(unit, NodeKind::kOpEnd) &&
                         ends_with(1, NodeKind::kBodyEnd) && ends_with(2, NodeKind::kRegionEnd);
  if (!is_closed) return std::nullopt;
  bool has_type = false;  // the node before, which belongs to the value after it
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t token = nodes[i].token;
    const TokenKind kind = unit.tokens()[token].kind();
    switch (nodes[i].kind()) {
      case NodeKind::kOpName:
        if (tree.text(unit, token) != "graph.SubGraphOp") return std::nullopt;
        break;
      case NodeKind::kSymbol:
        if (is_declaration_name(tree.text(unit, token).substr(1))) return std::nullopt;
        break;
      case NodeKind::kValue:
        if (!has_type && kind != TokenKind::kTypedValue) return std::nullopt;
        break;
      case NodeKind::kRegionBegin:
        return i;
      default:
        break;
    }
    has_type = nodes[i].kind() == NodeKind::kType || nodes[i].kind() == NodeKind::kEncodedType;
  }
  return std::nullopt;
}

namespace {

/// Calls `visit` with each op of a body that has no body of its own, until that returns false.
template <class Visit>
void for_each_simple_op(const Unit& unit, std::size_t body, const Visit& visit) {
  const auto nodes = unit.nodes();
  std::size_t first = 0;  // node of the op, 0: none
  for (std::size_t i = body + 1; i < nodes.size(); ++i) {
    const NodeKind kind = nodes[i].kind();
    if (kind == NodeKind::kOpName) {
      first = nodes[i - 1].kind() == NodeKind::kAddress ? i - 1 : i;
    } else if (kind == NodeKind::kBodyBegin) {
      first = 0;
    } else if (kind == NodeKind::kOpEnd && first != 0) {
      const auto next = std::find_if(nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     nodes.end(), [](const Node& node) { return node.token != 0; });
      if (next == nodes.end() || !visit(NodeRange{first, i + 1, nodes[i].token, next->token})) {
        return;
      }
      first = 0;
    }
  }
}

bool repeats_a_name(const SyntaxTree& tree, const Unit& unit, const NodeRange& op) {
  std::vector<std::string_view> names;
  for (const Node& node : unit.nodes().subspan(op.first_node, op.end_node - op.first_node)) {
    if (node.kind() == NodeKind::kOpName) {
      const std::string_view name = tree.text(unit, node.token);
      if (!name.ends_with("SliceOp") && !name.ends_with("SplitOp")) return false;
    } else if (node.kind() == NodeKind::kValue) {
      const std::string_view text = tree.text(unit, node.token);
      names.push_back(text.substr(0, text.find(':')));
    }
  }
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

/// An op of a body with a quantisation; no value if there is none.
std::optional<NodeRange> op_with_spec(const Unit& unit, std::size_t body) {
  const auto is_spec = [](const Token& each) {
    return each.kind() == TokenKind::kQuantSpec || each.kind() == TokenKind::kQuantSpecOpen;
  };
  std::optional<NodeRange> found;
  for_each_simple_op(unit, body, [&](const NodeRange& op) {
    const auto tokens = unit.tokens().subspan(op.first_token, op.end_token - op.first_token);
    if (std::ranges::any_of(tokens, is_spec)) found = op;
    return !found;
  });
  return found;
}

}  // namespace

std::vector<NodeRange> repeated_parts(const SyntaxTree& tree, const Unit& unit, std::size_t body) {
  std::vector<NodeRange> parts;
  for_each_simple_op(unit, body, [&](const NodeRange& op) {
    if (repeats_a_name(tree, unit, op)) parts.push_back(op);
    return true;
  });
  return parts;
}

OpPlaces::OpPlaces(std::span<Module* const> modules) {
  for (const Module* module : modules) {
    for_each_op(*module, [&](const Op& op) { ops_.emplace_back(op.span().begin, &op); });
  }
  std::ranges::sort(ops_);
}

const Op* OpPlaces::named_at(SourcePos name) const {
  const auto found =
      std::ranges::lower_bound(ops_, name, {}, [](const auto& each) { return each.first; });
  return found == ops_.end() || found->first != name ? nullptr : found->second;
}

std::optional<Excerpt> Excerpt::of(const SyntaxTree& whole, Span range) {
  const std::span<const Unit> units = whole.units();
  const auto unit_at = [&](SourcePos at) {
    const auto next = std::ranges::upper_bound(units, at, {}, &Unit::base);
    return static_cast<std::size_t>(next - units.begin()) - (next == units.begin() ? 0 : 1);
  };
  if (units.empty()) return std::nullopt;
  const std::size_t first = unit_at(range.begin), last = unit_at(range.end);
  std::size_t begin = first, end = last;  // of modules; `end` is in it
  while (begin != 0 && !is(units[begin], NodeKind::kModuleBegin)) --begin;
  while (end + 1 != units.size() && !is(units[end], NodeKind::kModuleEnd)) ++end;
  const auto visit = [&](const auto& keep) {
    for (std::size_t i = 0; i < units.size(); ++i) {
      const bool is_in_module = begin <= i && i <= end;
      if (!is_in_module && !is(units[i], NodeKind::kAlias)) continue;
      const bool is_near = first <= i && i <= last;
      keep(units[i], is_near ? std::nullopt : body_of_graph(whole, units[i]));
    }
  };
  std::size_t size = 0, kept_size = 0;
  for (const Unit& unit : units) size += unit.tokens().size();
  visit([&](const Unit& unit, std::optional<std::size_t> body) {
    kept_size += body ? unit.nodes()[*body].token : unit.tokens().size();
  });
  if (kept_size > size / 2) return std::nullopt;
  SyntaxTree tree(whole.file());
  bool is_dump = false, needs_spec = false;
  visit([&](const Unit& unit, std::optional<std::size_t> body) {
    if (is(unit, NodeKind::kModuleBegin)) is_dump = needs_spec = !is_portable(whole, unit);
    if (!body) {
      tree.add(Unit(unit.base(), unit.tokens(), unit.nodes()));
      return;
    }
    std::vector<NodeRange> parts;
    if (is_dump) parts = repeated_parts(whole, unit, *body);
    if (const auto op = needs_spec ? op_with_spec(unit, *body) : std::nullopt) {
      needs_spec = false;
      parts.push_back(*op);
    }
    tree.add(without_body(unit, *body, parts));
  });
  const SourcePos text_end = whole.file().base() + whole.file().size() + 1;
  return Excerpt(std::move(tree), {first == 0 ? whole.file().base() : units[first].base(),
                                   last + 1 == units.size() ? text_end : units[last + 1].base()});
}

const Outline& Excerpt::outline(IRContext& rows, const std::function<void()>& check_stop) {
  if (!outline_) outline_ = make_outline(tree_, rows, check_stop);
  return *outline_;
}

const Op* Excerpt::op_named_at(SourcePos name, const DialectTexts& dialects) {
  if (!ops_) {
    context_ = std::make_unique<IRContext>();
    dialects.register_in(*context_);
    Diagnostics ignored;
    ops_.emplace(resolve(tree_, *context_, ignored));
  }
  return ops_->named_at(name);
}

}  // namespace mir::lsp
