// Builds the outline of a text from its syntax tree, also where ops have errors.
#include "lsp/outline.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "syntax/damage.hpp"
#include "syntax/short_names.hpp"
#include "syntax/text_literal.hpp"

namespace mir::lsp {

namespace {

constexpr std::string_view kEntrySuffix = ".__entry";

class OutlineBuilder {
 public:
  OutlineBuilder(const SyntaxTree& tree, IRContext& rows, const std::function<void()>& check_stop)
      : tree_(tree), rows_(rows), check_stop_(check_stop) {}

  Outline run() {
    for (const Unit& unit : tree_.units()) {
      check_stop_();
      unit_ = &unit;
      for (const Node& each : unit.nodes()) node(each);
    }
    while (!open_.empty()) close(open_.back(), tree_.file().base() + tree_.file().size());
    settle_heads();
    return std::move(outline_);
  }

 private:
  struct Scope {
    std::size_t log = 0;  // size of log_ when it was entered
    bool isolated = false;
    std::uint32_t op = kNone;
  };
  struct Undo {
    std::string_view name;
    std::uint32_t value;
    std::uint32_t depth;
  };
  struct Visible {
    std::uint32_t value = kNone;
    std::uint32_t depth = 0;  // of the scope that defines it
  };
  struct List {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::string_view text(std::uint32_t token) const { return tree_.text(*unit_, token); }
  Span span(std::uint32_t token) const { return unit_->span(token); }
  TokenKind kind(std::uint32_t token) const { return unit_->tokens()[token].kind(); }

  void node(const Node& node) {
    switch (node.kind()) {
      case NodeKind::kAddress:
        address_ = span(node.token).begin;
        return;
      case NodeKind::kOpName:
        return begin_op(node.token);
      case NodeKind::kLabel:
        return label(node.token);
      case NodeKind::kSymbol:
        outline_.ops[head_].symbol = span(node.token);
        return symbol(node.token, head_, has_trait(head_, Trait::kSymbol));
      case NodeKind::kName:
        return layer(node.token);
      case NodeKind::kType:
      case NodeKind::kEncodedType:
        type_ = {span(node.token).begin, span(node.token + node.count() - 1).end};
        return;
      case NodeKind::kTypeValue:
        type_ = {};
        return;
      case NodeKind::kValue:
        return value(node.token);
      case NodeKind::kPort:
        return port(node.token);
      case NodeKind::kValueSymbol:
        return value_symbol(node.token);
      case NodeKind::kLeaf:
        leaf_ = node.token;
        if (kind(node.token) == TokenKind::kSymbol) symbol(node.token, current(), false);
        return;
      case NodeKind::kAttribute:
        if (leaf_ != kNone && names_symbol(text(node.token))) stated_symbol(leaf_);
        if (text(node.token) == "mir_version" && open_.empty()) portable_ = true;
        return;
      case NodeKind::kOperands:
      case NodeKind::kResults:
        return list(node);
      default:
        return nesting(node);
    }
  }

  void nesting(const Node& node) {
    switch (node.kind()) {
      case NodeKind::kSuccessor:
        uses(loose_operands_);
        loose_operands_ = {};
        return;
      case NodeKind::kBodyBegin:
        begin_body(node.token);
        return;
      case NodeKind::kRegionBegin:
        enter(open_.back(), false);
        begin_region(open_.back());
        return;
      case NodeKind::kBlock:
        definitions(loose_operands_, current());
        loose_operands_ = {};
        return;
      case NodeKind::kRegionEnd:
        leave();
        return;
      case NodeKind::kBodyEnd:
        leave();
        outline_.ops[open_.back()].whole.end = span(node.token).end;
        return;
      case NodeKind::kLoc: {
        const std::uint32_t op = head_ != kNone ? head_ : open_.back();
        extend(op, span(node.token).end);
        return;
      }
      case NodeKind::kOpEnd:
        if (head_ != kNone) {
          end_head();
        } else {
          open_.pop_back();
        }
        return;
      case NodeKind::kModuleBegin:
        return begin_module(node.token);
      case NodeKind::kModuleEnd:
        if (!open_.empty()) close(open_.back(), span(node.token).end);
        return;
      default:
        return;
    }
  }

  std::uint32_t current() const {
    return head_ != kNone ? head_ : open_.empty() ? kNone : open_.back();
  }
  bool has_trait(std::uint32_t op, Trait trait) const {
    const OpRow* row = outline_.ops[op].row;
    return row != nullptr && has(row->traits, trait);
  }
  bool is_register(std::uint32_t op) const {
    const OpRow* row = outline_.ops[op].row;
    return row != nullptr && row->name == "register";
  }
  void extend(std::uint32_t op, SourcePos end) {
    OutlineOp& of = outline_.ops[op];
    of.whole.end = std::max(of.whole.end, end);
    if (!of.has_body) of.head.end = std::max(of.head.end, end);
  }

  // -- ops ---------------------------------------------------------------------------------------

  void begin_op(std::uint32_t token) {
    OutlineOp op;
    op.name = span(token);
    op.head = op.whole = {address_.value_or(op.name.begin), op.name.end};
    op.parent = open_.empty() ? kNone : open_.back();
    op.is_portable = module_ != kNone && outline_.ops[module_].is_portable;
    op.is_damaged = kind(token) == TokenKind::kError;
    address_.reset();
    head_ = static_cast<std::uint32_t>(outline_.ops.size());
    has_signature_ = false;
    operands_ = results_ = {};
    if (op.is_damaged) {
      outline_.ops.push_back(op);
      return damaged_head(token);
    }
    op.row = row_of(text(token));
    outline_.ops.push_back(op);
  }

  const OpRow* row_of(std::string_view name) {
    const auto [found, is_new] = row_of_name_.try_emplace(name, nullptr);
    if (is_new) found->second = rows_.op_name(name).info->row.get();
    return found->second;
  }

  /// Records the head of an op with errors. Names in it are mentions, so that one can go to them,
  /// and may define values.
  void damaged_head(std::uint32_t token) {
    const std::string_view words = text(token);
    const auto word_end = std::min(words.find_first_of(" \t\r\n(<[{@"), words.size());
    const std::string_view word = words.substr(0, word_end);
    if (is_op_name(word) && word.find('.') != word.npos) {
      outline_.ops[head_].row = row_of(word);
      outline_.ops[head_].name.end =
          outline_.ops[head_].name.begin + static_cast<SourcePos>(word.size());
    }
    const bool declares = has_trait(head_, Trait::kSymbol);
    const auto place = [&](std::string_view name) {
      const auto at =
          static_cast<SourcePos>(name.data() - tree_.file().text().data()) + tree_.file().base();
      return Span{at, at + static_cast<SourcePos>(name.size())};
    };
    bool is_first = true;
    for_each_name(words, '@', [&](std::string_view name) {
      outline_.symbols.push_back({place(name), name, head_, module_, declares && is_first, false});
      if (is_first) outline_.ops[head_].symbol = {place(name).begin - 1, place(name).end};
      is_first = false;
    });
    const auto arrow = words.find("->");
    for_each_name(words, '%', [&](std::string_view name) {
      const Span at = place(name);
      outline_.mentions.push_back({{at.begin - 1, at.end}, {}, head_});
      const auto index = static_cast<std::uint32_t>(outline_.mentions.size() - 1);
      const bool is_result = arrow != words.npos && name.data() > words.data() + arrow;
      Mention& mention = outline_.mentions[index];
      mention.defines = is_result;
      if (is_result) {
        define(index, outline_.ops[head_].parent);
      } else {
        use(index);
        outline_.values[outline_.mentions[index].value].is_damaged = true;
      }
    });
  }

  /// Records the operands and results of an op, at the begin of its body or at its end.
  void end_head() {
    uses(operands_);
    definitions(results_, outline_.ops[head_].parent);
    head_ = kNone;
    pending_.clear();
  }

  void begin_body(std::uint32_t token) {
    if (head_ != kNone) {
      const std::uint32_t op = head_;
      end_head();
      open_.push_back(op);
    }
    outline_.ops[open_.back()].has_body = true;
    extend(open_.back(), span(token).end);
    enter(open_.back(), has_trait(open_.back(), Trait::kIsolated));
  }

  void begin_region(std::uint32_t op) {
    definitions(loose_operands_, op);
    for (std::size_t i = 0; i < loose_results_.count; ++i) {
      late_.push_back({pending_[loose_results_.first + i], scopes_.size()});
    }
    loose_operands_ = loose_results_ = {};
    pending_.clear();
  }

  void begin_module(std::uint32_t token) {
    OutlineOp op;
    op.name = op.symbol = span(token);
    op.head = op.whole = {unit_->span(0).begin,
                          unit_->span(static_cast<std::uint32_t>(unit_->tokens().size()) - 1).end};
    op.is_module = op.has_body = true;
    op.is_damaged = kind(token) == TokenKind::kError;
    op.is_portable =
        portable_ || (op.is_damaged && text(token).find("mir_version") != std::string_view::npos);
    portable_ = false;
    module_ = static_cast<std::uint32_t>(outline_.ops.size());
    outline_.ops.push_back(op);
    for (Mention& each : outline_.mentions) {
      if (each.op == kNone) each.op = module_;
    }
    open_.push_back(module_);
    enter(module_, true);
    begin_region(module_);
  }

  void close(std::uint32_t op, SourcePos end) {
    outline_.ops[op].whole.end = std::max(outline_.ops[op].whole.end, end);
    if (outline_.ops[op].is_module) {
      while (!scopes_.empty()) leave();
      module_ = kNone;
    }
    open_.pop_back();
    head_ = kNone;
  }

  // -- values ------------------------------------------------------------------------------------

  void value(std::uint32_t token) {
    Mention mention;
    const Span whole = span(token);
    mention.at = whole;
    if (kind(token) == TokenKind::kTypedValue) {
      const auto colon = static_cast<SourcePos>(text(token).find(':'));
      mention.at.end = whole.begin + colon;
      mention.type = {whole.begin + colon + 1, whole.end};
    } else if (type_.known() && type_.begin >= whole.end) {
      mention.type = type_;
    }
    type_ = {};
    mention.op = current();
    pending_.push_back(static_cast<std::uint32_t>(outline_.mentions.size()));
    outline_.mentions.push_back(mention);
    if (head_ != kNone) extend(head_, std::max(whole.end, mention.type.end));
  }

  void port(std::uint32_t token) {
    Span at = span(token);
    const bool is_quoted = text(token).starts_with('"');
    if (is_quoted) at = {at.begin + 1, at.end - 1};
    outline_.ports.push_back({at, pending_.back(), is_quoted});
  }

  void list(const Node& node) {
    const List list{pending_.size() - std::min<std::size_t>(pending_.size(), node.count()),
                    node.count()};
    for (std::size_t i = 0; i < list.count; ++i) {
      outline_.mentions[pending_[list.first + i]].index = static_cast<std::uint32_t>(i);
    }
    const bool is_operands = node.kind() == NodeKind::kOperands;
    if (head_ != kNone && !has_signature_) {
      (is_operands ? operands_ : results_) = list;
      has_signature_ = !is_operands;
    } else {
      (is_operands ? loose_operands_ : loose_results_) = list;
    }
  }

  void uses(List list) {
    for (std::size_t i = 0; i < list.count; ++i) use(pending_[list.first + i]);
  }
  void definitions(List list, std::uint32_t scope) {
    for (std::size_t i = 0; i < list.count; ++i) define(pending_[list.first + i], scope);
  }

  std::string_view name_of(std::uint32_t mention) const {
    return tree_.file().slice(outline_.mentions[mention].at).substr(1);
  }

  Visible* find(std::string_view name) {
    const auto found = visible_.find(name);
    if (found == visible_.end() || found->second.value == kNone) return nullptr;
    return found->second.depth >= floor_ ? &found->second : nullptr;
  }

  void use(std::uint32_t mention) {
    const std::string_view name = name_of(mention);
    Visible* seen = find(name);
    if (seen == nullptr) {
      const std::uint32_t value = new_value(mention, name);
      bind(name, value);
      return;
    }
    add_mention(mention, seen->value);
  }

  void define(std::uint32_t mention, std::uint32_t scope) {
    const std::string_view name = name_of(mention);
    outline_.mentions[mention].defines = true;
    const bool is_portable = module_ != kNone && outline_.ops[module_].is_portable;
    Visible* seen = find(name);
    const bool is_used_above = is_portable && seen != nullptr && seen->depth == scopes_.size() &&
                               outline_.values[seen->value].definition == kNone;
    if (is_used_above) {
      add_mention(mention, seen->value);
      outline_.values[seen->value].definition = mention;
      return;
    }
    const std::uint32_t value = new_value(mention, name);
    outline_.values[value].definition = mention;
    if (scope != kNone) outline_.values[value].scope_op = scope;
    bind(name, value);
  }

  std::uint32_t new_value(std::uint32_t mention, std::string_view name) {
    OutlineValue value;
    value.name = name;
    value.first_mention = mention;
    value.scope_op = scopes_.empty() ? kNone : scopes_.back().op;
    outline_.values.push_back(std::move(value));
    const auto index = static_cast<std::uint32_t>(outline_.values.size() - 1);
    add_mention(mention, index);
    return index;
  }

  void add_mention(std::uint32_t mention, std::uint32_t value) {
    outline_.mentions[mention].value = value;
    outline_.values[value].mentions.push_back(mention);
  }

  void bind(std::string_view name, std::uint32_t value) {
    Visible& entry = visible_[name];
    log_.push_back({name, entry.value, entry.depth});
    entry = {value, static_cast<std::uint32_t>(scopes_.size())};
  }

  void enter(std::uint32_t op, bool isolated) {
    scopes_.push_back({log_.size(), isolated, op});
    floors_.push_back(floor_);
    if (isolated) floor_ = static_cast<std::uint32_t>(scopes_.size());
  }

  void leave() {
    if (scopes_.empty()) return;
    while (!late_.empty() && late_.back().depth == scopes_.size()) {
      use(late_.back().mention);  // results of a signature are values of the region's end
      late_.pop_back();
    }
    while (log_.size() > scopes_.back().log) {
      visible_[log_.back().name] = {log_.back().value, log_.back().depth};
      log_.pop_back();
    }
    floor_ = floors_.back();
    floors_.pop_back();
    scopes_.pop_back();
  }

  // -- symbols -----------------------------------------------------------------------------------

  void add_symbol(Span at, std::uint32_t op, bool declares, bool is_quoted) {
    outline_.symbols.push_back({at, tree_.file().slice(at), op, module_, declares, is_quoted});
  }

  void symbol(std::uint32_t token, std::uint32_t op, bool declares) {
    Span at = span(token);
    ++at.begin;
    const bool is_quoted = text(token).size() > 2 && text(token)[1] == '"';
    if (is_quoted) at = {at.begin + 1, at.end - 1};
    if (op != kNone) add_symbol(at, op, declares, is_quoted);
    if (head_ != kNone) extend(head_, span(token).end);
  }

  /// The symbol of the nearest graph around an op; empty if there is none.
  std::string graph_around(std::uint32_t op) const {
    for (std::uint32_t at = outline_.ops[op].parent; at != kNone; at = outline_.ops[at].parent) {
      const OutlineOp& graph = outline_.ops[at];
      if (graph.row == nullptr || !has(graph.row->traits, Trait::kCallable)) continue;
      if (!graph.symbol.known()) return "";
      const std::string_view symbol = tree_.file().slice(graph.symbol).substr(1);
      return unquote(symbol).value_or(std::string(symbol));
    }
    return "";
  }

  void layer(std::uint32_t token) {
    const std::string_view words = text(token);
    if (current() != kNone && is_relative_tag(words)) {
      const std::string_view relative = relative_name(words);
      const SourcePos first = span(token).begin + 1;
      outline_.layers.push_back({.at = {first, first + static_cast<SourcePos>(relative.size())},
                                 .op = current(),
                                 .name = graph_around(current()).append(relative),
                                 .is_relative = true});
      return;
    }
    const auto begin = words.find('"'), end = words.rfind('"');
    if (current() == kNone || begin == words.npos || begin == end) return;
    const SourcePos at = span(token).begin;
    outline_.layers.push_back(
        {.at = {at + static_cast<SourcePos>(begin) + 1, at + static_cast<SourcePos>(end)},
         .op = current(),
         .name = std::string(words.substr(begin + 1, end - begin - 1))});
  }

  /// True for the keys of `[symbol:name]` and of `[name:parameter]` on an op that gives a
  /// parameter.
  bool names_symbol(std::string_view key) const {
    if (key == "symbol") return true;
    const OpRow* row = current() == kNone ? nullptr : outline_.ops[current()].row;
    return key == "name" && row != nullptr && row->name == "ParamOp";
  }

  /// `[@symbol]` of a value, which declares a parameter on the result of a register.
  void value_symbol(std::uint32_t token) {
    const bool declares = head_ != kNone && is_register(head_);
    if (declares && !outline_.ops[head_].symbol.known()) outline_.ops[head_].symbol = span(token);
    symbol(token, current(), declares);
  }

  /// `[symbol:name]`
  void stated_symbol(std::uint32_t token) {
    Span at = span(token);
    const bool is_quoted = kind(token) == TokenKind::kString;
    if (is_quoted) at = {at.begin + 1, at.end - 1};
    if (current() == kNone || kind(token) == TokenKind::kSymbol || at.begin >= at.end) return;
    add_symbol(at, current(), false, is_quoted);
  }

  /// The target of a jump: `name.__entry`.
  void label(std::uint32_t token) {
    Span at = span(token);
    const bool is_quoted = text(token).front() == '"';
    if (is_quoted) at = {at.begin + 1, at.end - 1};
    const std::string_view name = tree_.file().slice(at);
    if (!name.ends_with(kEntrySuffix)) return;
    at.end -= static_cast<SourcePos>(kEntrySuffix.size());
    add_symbol(at, head_, false, is_quoted);
    extend(head_, span(token).end);
  }

  /// A head ends with its last token before the next op, brace or block.
  void settle_heads() {
    std::size_t next = 0;
    std::uint32_t head = kNone;
    TokenKind before = TokenKind::kEnd;
    for (const Unit& unit : tree_.units()) {
      for (std::uint32_t i = 0; i < unit.tokens().size(); ++i) {
        const Span at = unit.span(i);
        const TokenKind is = unit.tokens()[i].kind();
        const bool is_successor =
            before == TokenKind::kLBracketBlock || before == TokenKind::kComma;
        before = is;
        if (next < outline_.ops.size() && outline_.ops[next].whole.begin == at.begin) {
          head = static_cast<std::uint32_t>(next++);
        } else if (is == TokenKind::kLBrace || is == TokenKind::kRBrace ||
                   (is == TokenKind::kBlockName && !is_successor)) {
          head = kNone;
        }
        if (head == kNone) continue;
        OutlineOp& op = outline_.ops[head];
        op.head.end = std::max(op.head.end, at.end);
        op.whole.end = std::max(op.whole.end, at.end);
      }
    }
    std::ranges::sort(outline_.symbols, {},
                      [](const SymbolMention& each) { return each.at.begin; });
  }

  const SyntaxTree& tree_;
  IRContext& rows_;
  const std::function<void()>& check_stop_;
  Outline outline_;
  const Unit* unit_ = nullptr;

  std::optional<SourcePos> address_;
  std::uint32_t head_ = kNone;    // the op whose head is being read
  std::uint32_t module_ = kNone;  // the module that is open
  bool has_signature_ = false;
  bool portable_ = false;
  List operands_, results_, loose_operands_, loose_results_;
  std::vector<std::uint32_t> pending_;  // mentions of the head
  Span type_;                           // that no mention has taken
  std::uint32_t leaf_ = kNone;
  std::vector<std::uint32_t> open_;  // ops whose bodies are being read
  struct Late {
    std::uint32_t mention;
    std::size_t depth;
  };
  std::vector<Late> late_;
  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> floors_;
  std::uint32_t floor_ = 0;
  std::unordered_map<std::string_view, Visible> visible_;
  std::vector<Undo> log_;
  std::unordered_map<std::string_view, const OpRow*> row_of_name_;
};

}  // namespace

std::uint32_t Outline::op_at(SourcePos at) const {
  const auto next =
      std::ranges::upper_bound(ops, at, {}, [](const OutlineOp& op) { return op.whole.begin; });
  auto op = static_cast<std::uint32_t>(next - ops.begin()) - 1;  // kNone for the first
  while (op != kNone && at > ops[op].whole.end) op = ops[op].parent;
  return op;
}

std::uint32_t Outline::mention_at(SourcePos at) const {
  const auto next =
      std::ranges::upper_bound(mentions, at, {}, [](const Mention& each) { return each.at.begin; });
  if (next == mentions.begin() || at > std::prev(next)->at.end) return kNone;
  return static_cast<std::uint32_t>(next - mentions.begin()) - 1;
}

std::uint32_t Outline::symbol_at(SourcePos at) const {
  // The `@` before a name is part of it.
  const auto next = std::ranges::upper_bound(
      symbols, at, {}, [](const SymbolMention& each) { return each.at.begin - 1; });
  if (next == symbols.begin() || at > std::prev(next)->at.end) return kNone;
  return static_cast<std::uint32_t>(next - symbols.begin()) - 1;
}

std::uint32_t Outline::port_at(SourcePos at) const {
  const auto next = std::ranges::upper_bound(ports, at, {},
                                             [](const PortMention& each) { return each.at.begin; });
  if (next == ports.begin() || at > std::prev(next)->at.end) return kNone;
  return static_cast<std::uint32_t>(next - ports.begin()) - 1;
}

std::uint32_t Outline::layer_at(SourcePos at) const {
  const auto next = std::ranges::upper_bound(
      layers, at, {}, [](const LayerMention& each) { return each.at.begin; });
  if (next == layers.begin() || at > std::prev(next)->at.end) return kNone;
  return static_cast<std::uint32_t>(next - layers.begin()) - 1;
}

std::uint32_t Outline::module_of(std::uint32_t op) const {
  while (op != kNone && ops[op].parent != kNone) op = ops[op].parent;
  return op;
}

bool Outline::is_inside(std::uint32_t op, std::uint32_t outer) const {
  while (op != kNone && op != outer) op = ops[op].parent;
  return op == outer;
}

Outline make_outline(const SyntaxTree& tree, IRContext& rows,
                     const std::function<void()>& check_stop) {
  return OutlineBuilder(tree, rows, check_stop).run();
}

}  // namespace mir::lsp
