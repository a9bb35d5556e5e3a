// Finds the definition and all mentions of values, symbols, aliases, extents and declared names.
#include "lsp/named.hpp"

#include <algorithm>
#include <functional>

#include "lsp/layers.hpp"
#include "lsp/words.hpp"
#include "support/characters.hpp"
#include "syntax/damage.hpp"
#include "syntax/numbered_specs.hpp"

namespace mir::lsp {

namespace {

/// `$name` in a text that begins at `begin`.
void for_each_extent(std::string_view text, SourcePos begin,
                     const std::function<void(Span)>& visit) {
  for (std::size_t at = text.find('$'); at != text.npos; at = text.find('$', at)) {
    const std::size_t end = std::min(text.find_first_not_of(kWordCharacters, at + 1), text.size());
    if (end > at + 1) {
      visit({begin + static_cast<SourcePos>(at), begin + static_cast<SourcePos>(end)});
    }
    at = end;
  }
}

/// Words of a text that begins at `begin`.
void for_each_word_of(std::string_view text, SourcePos begin,
                      const std::function<void(Span)>& visit) {
  for (std::size_t at = 0; (at = text.find_first_of(kWordCharacters, at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kWordCharacters, at), text.size());
    visit({begin + static_cast<SourcePos>(at), begin + static_cast<SourcePos>(end)});
    at = end;
  }
}

/// The parts of `dialect.path.name`, without the sigil of types and attributes.
struct DialectName {
  std::string_view dialect;
  std::string_view name;
};

std::optional<DialectName> dialect_name(std::string_view word) {
  word = word.substr(0, word.find_first_of("<"));
  const auto first = word.find('.'), last = word.rfind('.');
  if (first == word.npos || last + 1 == word.size()) return std::nullopt;
  return DialectName{word.substr(0, first), word.substr(last + 1)};
}

std::optional<NameKind> declared_kind(std::string_view op) {
  if (op == "dialect.OpOp") return NameKind::kOp;
  if (op == "dialect.TypeOp") return NameKind::kType;
  if (op == "dialect.AttributeOp") return NameKind::kAttribute;
  return std::nullopt;
}

bool declares_variables(std::string_view op) {
  return op.starts_with("dialect.") || op.starts_with("pattern.");
}

/// The op around a place whose text has variables of its own; kNone if there is none.
std::uint32_t declaration_around(const View& view, SourcePos at) {
  const Outline& outline = view.outline();
  std::uint32_t op = outline.op_at(at);
  while (op != kNone &&
         (outline.ops[op].is_module || !declares_variables(view.text(outline.ops[op].name)))) {
    op = outline.ops[op].parent;
  }
  return op;
}

/// The braces around a place, without them; the whole text if there are none.
Span braces_around(const View& view, SourcePos at) {
  std::vector<SourcePos> open;
  std::optional<Span> found;
  const std::uint32_t op = view.outline().op_at(at);
  const std::uint32_t module = op == kNone ? kNone : view.outline().module_of(op);
  const Span whole = module == kNone ? whole_text(view) : view.outline().ops[module].whole;
  for_each_word(view, whole, [&](TokenKind kind, Span word) {
    if (found) return;
    if (kind == TokenKind::kLBrace) open.push_back(word.end);
    if (kind != TokenKind::kRBrace || open.empty()) return;
    if (word.begin >= at && open.back() <= at) found = Span{open.back(), word.begin};
    open.pop_back();
  });
  return found.value_or(whole);
}

/// The symbols, attributes and variables that a dictionary declares are keys of it.
class DeclaredKeys {
 public:
  /// True if the attribute here names variables by words without a sigil.
  bool in_words() const { return is_words_; }
  /// True if texts of the attribute here are relations between symbols.
  bool in_relations() const { return is_relation_; }

  /// The place of a key before this word, or of a word that declares; unknown if there is none.
  Span next(TokenKind kind, Span at, std::string_view text, bool in_declaration) {
    using enum TokenKind;
    Span found{};
    if (kind == kKey) {
      const auto has = [&](std::initializer_list<std::string_view> keys) {
        return std::ranges::find(keys, text) != keys.end();
      };
      is_list_ = in_declaration && text == "fresh";
      is_words_ = in_declaration && has({"weights", "resource"});
      is_relation_ = !in_declaration && text == "where";
      is_dict_ = in_declaration ? has({"attributes", "let", "parameters"}) : text == "symbols";
      depth_ = 0;
    } else if (kind == kDictOpen || kind == kArrayOpen) {
      ++depth_;
    } else if (kind == kDictClose || kind == kArrayClose) {
      --depth_;
    } else if (depth_ == 1 && is_dict_ && kind == kColon && before_.known()) {
      found = before_;
    } else if (is_list_ && (kind == kWord || kind == kString)) {
      found = unquoted(kind, at);
    }
    before_ = kind == kWord || kind == kString ? unquoted(kind, at) : Span{};
    return found;
  }

 private:
  static Span unquoted(TokenKind kind, Span at) {
    return kind == TokenKind::kString ? Span{at.begin + 1, at.end - 1} : at;
  }

  bool is_list_ = false, is_dict_ = false, is_words_ = false, is_relation_ = false;
  int depth_ = 0;
  Span before_;
};

/// Calls `visit(mention)` for each mention of an extent in a range.
void visit_extents(const View& view, Span in, bool in_declaration,
                   const std::function<void(const NameMention&)>& visit) {
  using enum TokenKind;
  DeclaredKeys keys;
  for_each_word(view, in, [&](TokenKind kind, Span at) {
    const std::string_view text = view.text(at);
    if (const Span key = keys.next(kind, at, text, in_declaration); key.known()) {
      visit({.at = key, .declares = true});
    }
    if (keys.in_words() && kind == kString) {
      for_each_word_of(text, at.begin, [&](Span place) { visit({.at = place}); });
      return;
    }
    std::size_t begin = 0;
    if (kind == kTypedValue) {
      begin = text.find(':');
    } else if (in_declaration && (kind == kString || kind == kNameAngle || kind == kNameSquare)) {
      begin = 0;
    } else if (keys.in_relations() && kind == kString) {
      begin = 0;
    } else if (kind != kType && kind != kDim && kind != kOpaqueType && kind != kHash) {
      return;
    }
    for_each_extent(text.substr(begin), at.begin + static_cast<SourcePos>(begin),
                    [&](Span place) { visit({.at = place, .sigil = 1}); });
  });
}

/// Sets the span in which the extents of a place have their meaning. An alias may be used in every
/// module.
void set_extent_scope(const View& view, Named& named) {
  const Outline& outline = view.outline();
  const SourcePos at = named.mention.at.begin;
  named.scope = whole_text(view);
  if (const std::uint32_t op = declaration_around(view, at); op != kNone) {
    named.scope = outline.ops[op].whole;
    named.is_declared = true;
    return;
  }
  const std::uint32_t op = outline.op_at(at);
  if (op == kNone) return;
  for (const Alias& each : aliases_of(view)) {
    bool has_name = false;
    for_each_extent(view.text(each.value), 0, [&](Span place) {
      has_name |=
          view.text(each.value).substr(place.begin + 1, place.end - place.begin - 1) == named.name;
    });
    if (has_name) return;
  }
  named.scope = outline.ops[outline.module_of(op)].whole;
}

/// The op that the declaration `symbol` declares, with the dialect that its module names.
Named declared_op(const View& view, const SymbolMention& symbol) {
  const std::string_view module = view.text(view.outline().ops[symbol.module].name);
  return {.kind = NameKind::kOp,
          .name = std::string(symbol.name),
          .mention = {},
          .dialect = std::string(module.substr(std::min<std::size_t>(1, module.size())))};
}

bool is_op_named(const View& view, const OutlineOp& op, const Named& named) {
  const auto parts = op.is_module ? std::nullopt : dialect_name(view.text(op.name));
  return parts && parts->name == named.name && parts->dialect == named.dialect;
}

/// The keys of attributes of a declared op where it is used.
void add_used_keys(const View& view, const Named& named, std::vector<NameMention>& found) {
  const auto op = op_of_variable(view, named);
  if (!op) return;
  const std::vector<NameMention> used = used_keys(view, *op, named.name);
  found.insert(found.end(), used.begin(), used.end());
  std::ranges::sort(found, {}, [](const NameMention& each) { return each.at.begin; });
}

std::vector<NameMention> extents_of(const View& view, const Named& named) {
  std::vector<NameMention> found;
  std::vector<Span> excluded;
  if (!named.is_declared) {
    for (const OutlineOp& op : view.outline().ops) {
      if (!op.is_module && declares_variables(view.text(op.name))) excluded.push_back(op.whole);
    }
  }
  visit_extents(view, named.scope, named.is_declared, [&](const NameMention& mention) {
    if (view.text(mention.name()) != named.name) return;
    const auto around = std::ranges::upper_bound(excluded, mention.at.begin, {}, &Span::begin);
    if (around != excluded.begin() && mention.at.begin < std::prev(around)->end) return;
    found.push_back(mention);
  });
  // Without a declaration, the first mention is where the name comes from.
  if (std::ranges::none_of(found, &NameMention::declares) && !found.empty()) {
    found.front().declares = true;
  }
  if (named.is_declared) add_used_keys(view, named, found);
  return found;
}

std::vector<NameMention> aliases_named(const View& view, const Named& named) {
  const TokenKind wanted =
      named.kind == NameKind::kTypeAlias ? TokenKind::kOpaqueType : TokenKind::kHash;
  std::vector<NameMention> found;
  bool is_last = false;  // the word before is a mention
  for_each_word(view, whole_text(view), [&](TokenKind kind, Span at) {
    if (kind == TokenKind::kEqual && is_last) found.back().declares = true;
    const std::string_view text = view.text(at);
    const std::string_view alias = is_numbered(text) ? unnumbered(text) : text;
    is_last = kind == wanted && alias.substr(1) == named.name;
    if (is_last) at.end = at.begin + static_cast<SourcePos>(alias.size());
    if (is_last) found.push_back({.at = at, .sigil = 1});
  });
  return found;
}

/// Blocks of the region itself, not of regions inside it.
void visit_blocks(const View& view, Span region,
                  const std::function<void(const NameMention&)>& visit) {
  int depth = 0;
  TokenKind before = TokenKind::kEnd;
  for_each_word(view, region, [&](TokenKind kind, Span at) {
    if (at.begin < region.begin || at.end > region.end) return;
    if (kind == TokenKind::kLBrace) ++depth;
    if (kind == TokenKind::kRBrace) --depth;
    if (kind == TokenKind::kBlockName && depth == 0) {
      const bool is_successor = before == TokenKind::kLBracketBlock || before == TokenKind::kComma;
      visit({.at = at, .sigil = 1, .declares = !is_successor});
    }
    before = kind;
  });
}

/// The terms of patterns, which are strings, mention ops.
void add_ops_in_terms(const View& view, Span string, const Named& named,
                      std::vector<NameMention>& found) {
  const std::string_view text = view.text(string);
  const std::uint32_t op =
      text.find(named.name) == text.npos ? kNone : view.outline().op_at(string.begin);
  if (op == kNone || !view.text(view.outline().ops[op].name).starts_with("pattern.")) return;
  for (std::size_t at = 0; (at = text.find_first_of(kNameCharacters, at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kNameCharacters, at), text.size());
    const auto parts = dialect_name(text.substr(at, end - at));
    if (parts && parts->name == named.name && parts->dialect == named.dialect) {
      const auto last = string.begin + static_cast<SourcePos>(end);
      found.push_back({.at = {last - static_cast<SourcePos>(named.name.size()), last}});
    }
    at = end;
  }
}

std::vector<NameMention> dialect_names(const View& view, const Named& named) {
  using enum TokenKind;
  std::vector<NameMention> found;
  if (named.symbol != kNone) {
    const SymbolMention& symbol = view.outline().symbols[named.symbol];
    found.push_back({.at = symbol.at, .declares = true, .is_quoted = symbol.is_quoted});
  }
  const TokenKind wanted = named.kind == NameKind::kOp     ? kOpName
                           : named.kind == NameKind::kType ? kOpaqueType
                                                           : kHash;
  for_each_word(view, whole_text(view), [&](TokenKind kind, Span at) {
    if (kind == kString && wanted == kOpName) return add_ops_in_terms(view, at, named, found);
    if (kind != wanted) return;
    const std::string_view text = view.text(at).substr(kind == kOpName ? 0 : 1);
    const auto parts = dialect_name(text);
    if (!parts || parts->name != named.name || parts->dialect != named.dialect) return;
    const auto begin =
        static_cast<SourcePos>(parts->name.data() - view.now().text().data()) + Document::kBase;
    found.push_back({.at = {begin, begin + static_cast<SourcePos>(parts->name.size())}});
  });
  std::ranges::sort(found, {}, [](const NameMention& each) { return each.at.begin; });
  return found;
}

/// The key of an attribute that a declaration in this document lists.
std::optional<Named> used_key(const View& view, Span at) {
  const Outline& outline = view.outline();
  const std::uint32_t op = outline.op_at(at.begin);
  if (op == kNone) return std::nullopt;
  for (const SymbolMention& each : outline.symbols) {
    if (!each.declares || each.module == kNone ||
        declared_kind(view.text(outline.ops[each.op].name)) != NameKind::kOp ||
        !is_op_named(view, outline.ops[op], declared_op(view, each))) {
      continue;
    }
    return Named{.kind = NameKind::kExtent,
                 .name = std::string(view.text(at)),
                 .mention = {.at = at},
                 .scope = outline.ops[each.op].whole,
                 .is_declared = true};
  }
  return std::nullopt;
}

/// Conditions of patterns mention values in strings.
void add_condition_mentions(const View& view, const Named& named, std::vector<NameMention>& found) {
  const Outline& outline = view.outline();
  const std::uint32_t scope = outline.values[named.value].scope_op;
  if (scope == kNone || outline.ops[scope].is_module ||
      !declares_variables(view.text(outline.ops[scope].name))) {
    return;
  }
  for_each_word(view, outline.ops[scope].head, [&](TokenKind kind, Span at) {
    if (kind != TokenKind::kString) return;
    for_each_name(view.text(at), '%', [&](std::string_view name) {
      if (name != named.name) return;
      const auto begin =
          static_cast<SourcePos>(name.data() - view.now().text().data()) + Document::kBase;
      found.push_back({.at = {begin - 1, begin + static_cast<SourcePos>(name.size())}, .sigil = 1});
    });
  });
  std::ranges::sort(found, {}, [](const NameMention& each) { return each.at.begin; });
}

/// The name that one word is; no value if it is none.
std::optional<Named> named_by(const View& view, TokenKind kind, Span at) {
  using enum TokenKind;
  std::string_view text = view.text(at);
  if (kind == kHash && is_numbered(text)) {
    text = unnumbered(text);
    at.end = at.begin + static_cast<SourcePos>(text.size());
  }
  if (kind == kKey) return used_key(view, at);
  if (kind == kBlockName) {
    return Named{.kind = NameKind::kBlock,
                 .name = std::string(text.substr(1)),
                 .mention = {.at = at, .sigil = 1},
                 .scope = braces_around(view, at.begin)};
  }
  const bool is_op = kind == kOpName;
  if (kind != kOpaqueType && kind != kHash && !is_op) return std::nullopt;
  if (!is_op && is_alias_name(text)) {
    return Named{.kind = kind == kHash ? NameKind::kAttributeAlias : NameKind::kTypeAlias,
                 .name = std::string(text.substr(1)),
                 .mention = {.at = at, .sigil = 1}};
  }
  const auto parts = dialect_name(text.substr(is_op ? 0 : 1));
  if (!parts) return std::nullopt;
  const auto begin =
      static_cast<SourcePos>(parts->name.data() - view.now().text().data()) + Document::kBase;
  Named named{.kind = is_op           ? NameKind::kOp
                      : kind == kHash ? NameKind::kAttribute
                                      : NameKind::kType,
              .name = std::string(parts->name),
              .mention = {.at = {begin, begin + static_cast<SourcePos>(parts->name.size())}},
              .dialect = std::string(parts->dialect)};
  named.symbol = declaring_symbol(view, named);
  return named;
}

std::optional<Named> named_symbol(const View& view, std::uint32_t index) {
  const Outline& outline = view.outline();
  const SymbolMention& symbol = outline.symbols[index];
  Named named{
      .kind = NameKind::kSymbol,
      .name = std::string(symbol.name),
      .mention = {.at = symbol.at, .declares = symbol.declares, .is_quoted = symbol.is_quoted},
      .symbol = index};
  const auto declared = declared_kind(view.text(outline.ops[symbol.op].name));
  if (!declared || !symbol.declares || symbol.module == kNone) return named;
  named.kind = *declared;
  const std::string_view module = view.text(outline.ops[symbol.module].name);
  named.dialect = module.substr(std::min<std::size_t>(1, module.size()));
  return named;
}

std::optional<Named> extent_at(const View& view, SourcePos at) {
  const std::uint32_t declaration = declaration_around(view, at);
  const std::uint32_t op = view.outline().op_at(at);
  // Keys of dictionaries are known only from the begin of the list on.
  Span in{at, at};
  if (op != kNone) in = view.outline().ops[op].head;
  in = {std::min(in.begin, at), std::max(in.end, at)};
  std::optional<NameMention> found;
  visit_extents(view, in, declaration != kNone, [&](const NameMention& mention) {
    if (mention.at.begin <= at && at <= mention.at.end) found = mention;
  });
  if (!found) return std::nullopt;
  Named named{
      .kind = NameKind::kExtent, .name = std::string(view.text(found->name())), .mention = *found};
  set_extent_scope(view, named);
  return named;
}

}  // namespace

std::optional<Named> op_of_variable(const View& view, const Named& variable) {
  const Outline& outline = view.outline();
  const std::uint32_t declaration = declaration_around(view, variable.scope.begin);
  const auto symbol = std::ranges::find_if(outline.symbols, [&](const SymbolMention& each) {
    return each.op == declaration && each.declares && each.module != kNone;
  });
  if (declaration == kNone || symbol == outline.symbols.end()) return std::nullopt;
  if (declared_kind(view.text(outline.ops[declaration].name)) != NameKind::kOp) return std::nullopt;
  return declared_op(view, *symbol);
}

std::vector<NameMention> used_keys(const View& view, const Named& op, std::string_view key) {
  std::vector<NameMention> found;
  for (const OutlineOp& each : view.outline().ops) {
    if (!is_op_named(view, each, op)) continue;
    for_each_word(view, each.head, [&](TokenKind kind, Span at) {
      if (kind == TokenKind::kKey && view.text(at) == key) found.push_back({.at = at});
    });
  }
  return found;
}

std::optional<Named> declared_variable(const View& view, const Named& op, std::string_view key) {
  const Outline& outline = view.outline();
  const std::uint32_t symbol = declaring_symbol(view, op);
  if (symbol == kNone) return std::nullopt;
  const Span whole = outline.ops[outline.symbols[symbol].op].whole;
  std::optional<Named> found;
  visit_extents(view, whole, true, [&](const NameMention& mention) {
    if (found || !mention.declares || view.text(mention.name()) != key) return;
    found = Named{.kind = NameKind::kExtent,
                  .name = std::string(key),
                  .mention = mention,
                  .scope = whole,
                  .is_declared = true};
  });
  return found;
}

std::uint32_t declaring_symbol(const View& view, const Named& named) {
  const Outline& outline = view.outline();
  for (std::uint32_t i = 0; i < outline.symbols.size(); ++i) {
    const SymbolMention& each = outline.symbols[i];
    if (each.name != named.name || !each.declares || each.module == kNone) continue;
    const std::string_view module = view.text(outline.ops[each.module].name);
    if (module.substr(std::min<std::size_t>(1, module.size())) == named.dialect &&
        declared_kind(view.text(outline.ops[each.op].name)) == named.kind) {
      return i;
    }
  }
  return kNone;
}

std::optional<Named> named_at(const View& view, SourcePos at) {
  const Outline& outline = view.outline();
  if (const std::uint32_t index = outline.mention_at(at); index != kNone) {
    const Mention& mention = outline.mentions[index];
    if (mention.value == kNone) return std::nullopt;
    return Named{.kind = NameKind::kValue,
                 .name = std::string(view.text(mention.at).substr(1)),
                 .mention = {.at = mention.at, .sigil = 1, .declares = mention.defines},
                 .value = mention.value};
  }
  if (const std::uint32_t symbol = outline.symbol_at(at); symbol != kNone) {
    return named_symbol(view, symbol);
  }
  if (const std::uint32_t index = outline.port_at(at); index != kNone) {
    const PortMention& port = outline.ports[index];
    return Named{.kind = NameKind::kPort,
                 .name = std::string(view.text(port.at)),
                 .mention = {.at = port.at, .declares = true, .is_quoted = port.is_quoted},
                 .value = outline.mentions[port.mention].value};
  }
  if (auto extent = extent_at(view, at)) return extent;
  if (auto layer = layer_at(view, at)) return layer;
  std::optional<Named> found;
  for_each_word(view, {at, at}, [&](TokenKind kind, Span word) {
    if (!found && word.begin <= at && at <= word.end) found = named_by(view, kind, word);
  });
  return found;
}

std::vector<NameMention> mentions_of(const View& view, const Named& named) {
  const Outline& outline = view.outline();
  std::vector<NameMention> found;
  switch (named.kind) {
    case NameKind::kValue: {
      const OutlineValue& value = outline.values[named.value];
      for (const std::uint32_t each : value.mentions) {
        found.push_back(
            {.at = outline.mentions[each].at, .sigil = 1, .declares = each == value.definition});
      }
      add_condition_mentions(view, named, found);
      return found;
    }
    case NameKind::kSymbol: {
      const SymbolMention& symbol = outline.symbols[named.symbol];
      for (const SymbolMention& each : outline.symbols) {
        if (each.name != named.name || each.module != symbol.module) continue;
        found.push_back({.at = each.at, .declares = each.declares, .is_quoted = each.is_quoted});
      }
      add_owners(view, symbol, found);
      return found;
    }
    case NameKind::kPort:
      return {named.mention};
    case NameKind::kTypeAlias:
    case NameKind::kAttributeAlias:
      return aliases_named(view, named);
    case NameKind::kBlock:
      visit_blocks(view, named.scope, [&](const NameMention& mention) {
        if (view.text(mention.name()) == named.name) found.push_back(mention);
      });
      return found;
    case NameKind::kExtent:
      return extents_of(view, named);
    case NameKind::kLayer:
      return layer_mentions(view, named);
    case NameKind::kOp:
    case NameKind::kType:
    case NameKind::kAttribute:
      return dialect_names(view, named);
  }
  return found;
}

std::vector<std::string> names_at(const View& view, NameKind kind, SourcePos at) {
  std::vector<std::string> names;
  const auto add = [&](const NameMention& mention) {
    const bool is_here = mention.at.begin <= at && at <= mention.at.end;
    const bool is_word = mention.sigil == 0 && !mention.declares;
    if (!is_here && !is_word) names.emplace_back(view.text(mention.name()));
  };
  if (kind == NameKind::kBlock) {
    visit_blocks(view, braces_around(view, at), [&](const NameMention& mention) {
      if (mention.declares) add(mention);
    });
  } else if (kind == NameKind::kExtent) {
    const std::uint32_t declaration = declaration_around(view, at);
    const std::uint32_t op = view.outline().op_at(at);
    const std::uint32_t scope =
        declaration != kNone || op == kNone ? declaration : view.outline().module_of(op);
    visit_extents(view, scope == kNone ? whole_text(view) : view.outline().ops[scope].whole,
                  declaration != kNone, add);
  } else {
    const char sigil = kind == NameKind::kTypeAlias ? '!' : '#';
    for (const Alias& each : aliases_of(view)) {
      const std::string_view name = view.text(each.name);
      if (name.starts_with(sigil)) names.emplace_back(name.substr(1));
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace mir::lsp
