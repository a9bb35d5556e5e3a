// Completions at a place, and the signature of the op that is being typed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "lsp/named.hpp"
#include "lsp/op_facts.hpp"
#include "lsp/op_head.hpp"
#include "mir/dialects.hpp"
#include "mir/pass.hpp"
#include "mir/tensor.hpp"
#include "mir/upgrade.hpp"
#include "passes/names/roles.hpp"
#include "support/characters.hpp"
#include "syntax/lexer.hpp"
#include "syntax/short_names.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr int kFunctionItem = 3, kVariableItem = 6, kPropertyItem = 10, kEnumItem = 20,
              kModuleItem = 9, kClassItem = 7, kConstantItem = 21, kReferenceItem = 18;
/// Syntactic context of a place in the head of an op, from the words before it.
struct Context {
  enum class Inside { kNothing, kOperands, kResults, kAttributes };

  Inside inside = Inside::kNothing;
  std::string_view op;       ///< the name of the op; empty: none before
  std::uint32_t commas = 0;  ///< before the place in its list
  std::string_view key{};    ///< of the attribute whose value is here
  bool in_type = false;
};

/// The words of one op from its start to the place.
Context context_at(const View& view, SourcePos begin, SourcePos at) {
  Context context;
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
        context.inside = after_arrow ? Context::Inside::kResults : Context::Inside::kOperands;
        context.commas = 0;
        open.push_back(kind);
        break;
      case TokenKind::kLBracket:
        context.inside = Context::Inside::kAttributes;
        context.key = {};
        open.push_back(kind);
        break;
      case TokenKind::kRParen:
      case TokenKind::kRBracket:
        if (!open.empty()) open.pop_back();
        if (open.empty()) context.inside = Context::Inside::kNothing;
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

class Items {
 public:
  Items(const View& view, Span replaced)
      : range_(view.document.range(replaced)), prefix_(view.text(replaced)) {}

  /// An item that replaces the word at the place.
  void add(std::string text, int kind, std::string detail, std::string document = "",
           std::string order = "") {
    if (!order.empty()) order += text;
    Json item = {{"label", text},
                 {"kind", kind},
                 {"filterText", text},
                 {"sortText", order.empty() ? text : order},
                 {"textEdit", {{"range", range_}, {"newText", text}}}};
    if (!detail.empty()) item["detail"] = std::move(detail);
    if (!document.empty()) item["documentation"] = std::move(document);
    items_.push_back(std::move(item));
  }
  bool admits(std::string_view text) const { return text.starts_with(prefix_); }
  Json take() { return {{"isIncomplete", false}, {"items", std::move(items_)}}; }

 private:
  Json range_;
  std::string_view prefix_;
  Json items_ = Json::array();
};

/// Finds the values in scope that fit at a place among the operands of an op. Elsewhere all do.
class OperandOrder {
 public:
  OperandOrder(const View& view, SourcePos at, const Context& context) : view_(view) {
    if (context.inside != Context::Inside::kOperands || context.op.empty()) return;
    const SourcePos op = view.now().file().position_of(context.op.data());
    fit_.emplace(view, context.op, head_of(view, op, at), context.commas);
  }

  bool is_exact() const { return fit_ && fit_->is_exact(); }
  /// The type of a value as the text or inference has it; empty if unknown.
  const std::string& type_of(std::uint32_t value) { return entry(value).type; }
  bool fits(std::uint32_t value) { return entry(value).fits; }

 private:
  struct Entry {
    std::string type;
    bool fits = true;
  };

  const Entry& entry(std::uint32_t value) {
    const auto [found, is_new] = entries_.try_emplace(value);
    if (!is_new) return found->second;
    std::string type = type_text(view_, value);
    if (fit_ && !type.empty()) {
      const auto [known, is_new_type] = fits_.try_emplace(type, true);
      if (is_new_type) known->second = fit_->admits(read_type(view_, type));
      found->second.fits = known->second;
    }
    found->second.type = std::move(type);
    return found->second;
  }

  const View& view_;
  std::optional<OperandFit> fit_;
  std::map<std::uint32_t, Entry> entries_;  // by value
  std::map<std::string, bool> fits_;        // by type
};

/// Values in scope: those that fit as an operand first, and those that were defined last before
/// others. Only those that fit if the op takes values of one type.
void add_values(const View& view, SourcePos at, const Context& context, Items& items) {
  const Outline& outline = view.outline();
  const std::uint32_t here = outline.op_at(at);
  std::map<std::string_view, std::uint32_t> latest;  // by name
  for (std::uint32_t i = 0; i < outline.values.size(); ++i) {
    const OutlineValue& value = outline.values[i];
    if (value.definition == kNone || value.scope_op == kNone) continue;
    const Mention& definition = outline.mentions[value.definition];
    if (definition.at.begin >= at || definition.op == here) continue;
    // The op around must be the one in whose region the value is, with nothing isolated between.
    std::uint32_t op = here;
    bool is_hidden = false;
    while (op != kNone && op != value.scope_op) {
      const OpRow* row = outline.ops[op].row;
      const bool has_region_here = op != here || at > outline.ops[op].head.end;
      is_hidden |= has_region_here && row != nullptr && has(row->traits, Trait::kIsolated);
      op = outline.ops[op].parent;
    }
    if (op == kNone || is_hidden) continue;
    latest[value.name] = i;
  }
  OperandOrder order(view, at, context);
  const bool shows_all = !order.is_exact() || std::ranges::none_of(latest, [&](const auto& each) {
    return order.fits(each.second);
  });
  for (const auto& [name, index] : latest) {
    const bool fits = order.fits(index);
    if (!fits && !shows_all) continue;
    constexpr std::uint32_t kLast = 0xffff'ffff;
    items.add("%" + std::string(name), kVariableItem, order.type_of(index), "",
              fmt::format("{}{:010}", fits ? 0 : 1, kLast - outline.values[index].definition));
  }
}

/// The layer that the head of an op names before a place, `q` of `<name="q">` or `<.q>`, or `@q` of
/// a call.
std::string_view path_before(std::string_view head) {
  constexpr std::string_view kBegin = "<name=\"";
  const std::size_t name = head.find(kBegin);
  if (name != head.npos) {
    head.remove_prefix(name + kBegin.size());
    return head.substr(0, head.find('"'));
  }
  if (const std::size_t tag = head.find("<."); tag != head.npos) {
    head.remove_prefix(tag + 2);
    return head.substr(0, head.find('>'));
  }
  const std::size_t symbol = head.find('@');
  if (symbol == head.npos) return "";
  head.remove_prefix(symbol + 1);
  return head.substr(0, head.find_first_of(" (<[{\"\n"));
}

/// Names that no value has yet: after the layer or the op, and the next number.
void add_fresh_names(const View& view, SourcePos at, const Context& context, Items& items) {
  std::set<std::string_view> taken;
  std::uint32_t number = 0;
  for (const OutlineValue& value : view.outline().values) {
    const std::uint32_t definition = value.definition;
    if (definition != kNone) {
      // The word that is typed now names no other value.
      const Span place = view.outline().mentions[definition].at;
      if (place.begin <= at && at <= place.end) continue;
    }
    taken.insert(value.name);
    std::uint32_t stated = 0;
    const char* const end = value.name.data() + value.name.size();
    const auto read = std::from_chars(value.name.data(), end, stated);
    if (read.ec == std::errc() && read.ptr == end) number = std::max(number, stated + 1);
  }
  const SourcePos op = view.now().file().position_of(context.op.data());
  const std::string word = word_for_results(context.op.substr(context.op.rfind('.') + 1),
                                            path_before(view.text({op, at})), "");
  std::string fresh = word;
  for (int i = 1; taken.contains(fresh); ++i) fresh = fmt::format("{}_{}", word, i);
  items.add("%" + fresh, kVariableItem, "new value", "", "0");
  items.add(fmt::format("%{}", number), kVariableItem, "new value", "", "1");
}

/// Symbols; for a call only those of graphs that can be called.
void add_symbols(const View& view, bool of_call, Items& items) {
  const Outline& outline = view.outline();
  for (const SymbolMention& each : outline.symbols) {
    if (!each.declares) continue;
    const std::string_view op = view.text(outline.ops[each.op].name);
    if (of_call && (op != "graph.SubGraphOp" || is_declaration_name(each.name))) continue;
    const std::string at =
        each.is_quoted ? fmt::format("@\"{}\"", each.name) : "@" + std::string(each.name);
    items.add(at, kModuleItem, std::string(op));
  }
}

/// Aliases, and the types or attributes of dialects.
void add_aliases(const View& view, NameKind kind, SourcePos at, Items& items) {
  const bool of_types = kind == NameKind::kTypeAlias;
  const std::string sigil = of_types ? "!" : "#";
  const int item = of_types ? kClassItem : kConstantItem;
  for (const std::string& each : names_at(view, kind, at)) {
    items.add(sigil + each, item, std::string(alias_value(view, sigil + each)), "", "0");
  }
  for (const Dialect* dialect : view.rows.dialects()) {
    for (const TypeRow& row : of_types ? dialect->types : dialect->attribute_kinds) {
      items.add(fmt::format("{}{}.{}", sigil, dialect->name, row.name), item,
                std::string(row.example), std::string(row.summary), "1");
    }
  }
}

/// Blocks of the region, or extents of the module.
void add_names(const View& view, NameKind kind, SourcePos at, Items& items) {
  const bool is_block = kind == NameKind::kBlock;
  for (const std::string& each : names_at(view, kind, at)) {
    items.add((is_block ? "^" : "$") + each, is_block ? kReferenceItem : kVariableItem,
              is_block ? "block" : "extent");
  }
}

/// The comment before a place, without its slashes; no value if the place is in none.
std::optional<std::string_view> comment_before(std::string_view text, std::uint32_t at) {
  const std::size_t line = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;
  bool in_string = false;
  for (std::size_t i = line; i + 1 < at; ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    if (!in_string && text.substr(i, 2) == "//") return text.substr(i + 2, at - i - 2);
  }
  return std::nullopt;
}

/// Passes and pipelines, where a RUN line states a pipeline.
void add_passes(std::string_view comment, Items& items) {
  const std::size_t run = comment.find("RUN:");
  const std::size_t option = std::max(comment.rfind(" -p ") + 1, comment.rfind("--passes=") + 1);
  if (run == comment.npos || option == 0) return;
  // A blank ends the pipeline.
  const std::string_view rest = comment.substr(option - 1);
  if (rest.find(' ', rest.starts_with(" -p ") ? 4 : 0) != rest.npos) return;
  PassRegistry registry;
  register_standard_passes(registry);
  register_conversions(registry);
  for (const auto& [name, pass] : registry.passes()) items.add(name, kFunctionItem, pass.summary);
  for (const auto& [name, each] : registry.pipelines()) {
    items.add(name, kFunctionItem, each.summary);
  }
}

/// Ops by their names; by the short ones where a dot has been typed.
void add_ops(const View& view, bool are_short, Items& items) {
  for (const Dialect* dialect : view.rows.dialects()) {
    for (const OpRow& row : dialect->rows) {
      std::string name =
          fmt::format("{}.{}{}", dialect->name, dialect->device_in_path ? "CPU." : "", row.name);
      if (are_short) name = short_op_name(name, kUsualDevice);
      if (!name.empty())
        items.add(name, kFunctionItem, op_signature(name, &row), std::string(row.summary));
    }
  }
}

const OpRow* row_of(const View& view, std::string_view op) {
  return op.empty() ? nullptr : view.rows.op_name(op).info->row.get();
}

/// Attributes that the op does not state yet.
void add_keys(const View& view, SourcePos at, const Context& context, Items& items) {
  const OpRow* row = row_of(view, context.op);
  const SourcePos op = context.op.empty() ? at : view.now().file().position_of(context.op.data());
  const OpHead head = context.op.empty() ? OpHead{} : head_of(view, op, at);
  const auto is_stated = [&](const AttrRow& each) {
    return std::ranges::find(head.keys, each.name) != head.keys.end();
  };
  if (row != nullptr) {
    for (const AttrRow& each : row->attributes) {
      if (is_stated(each)) continue;
      items.add(std::string(each.name), kPropertyItem, attribute_signature(each),
                std::string(each.summary), "0");
    }
  }
  for (const AttrRow& each : annotation_attributes()) {
    if (is_stated(each)) continue;
    items.add(std::string(each.name), kPropertyItem, attribute_signature(each),
              std::string(each.summary), "1");
  }
}

void add_element_types(Items& items) {
  for (const DTypeInfo& each : dtype_table()) {
    items.add(std::string(each.name), kEnumItem, "element type");
  }
}

void add_choices(const View& view, const Context& context, Items& items) {
  const OpRow* row = row_of(view, context.op);
  if (row == nullptr) return;
  const auto found = std::ranges::find(row->attributes, context.key, &AttrRow::name);
  if (found == row->attributes.end()) return;
  for (const std::string_view choice : found->choices) {
    items.add(std::string(choice), kEnumItem, attribute_signature(*found));
  }
  if (found->type == AttrType::kBool) {
    for (const char* word : {"true", "false"}) items.add(word, kEnumItem, "boolean");
  }
  if (found->type == AttrType::kDType) add_element_types(items);
  if (!found->default_text.empty() && found->choices.empty() && found->type != AttrType::kBool) {
    items.add(std::string(found->default_text), kEnumItem, "default");
  }
}

}  // namespace

Json completion(const View& whole, SourcePos at) {
  const View view = whole.near({at, at});
  const std::string_view text = view.now().text();
  std::uint32_t begin = at - Document::kBase;
  while (begin != 0 && kNameCharacters.find(text[begin - 1]) != kNameCharacters.npos) --begin;
  const char sigil = begin == 0 ? '\0' : text[begin - 1];
  if (sigil != '\0' && std::string_view("%@!#^").find(sigil) != std::string_view::npos) --begin;
  // A name of an extent may follow others in an expression.
  const std::string_view word = text.substr(begin, at - Document::kBase - begin);
  const bool is_extent = word.find('$') != word.npos &&
                         std::string_view("%@^").find(word[0]) == std::string_view::npos;
  if (is_extent) begin += static_cast<std::uint32_t>(word.rfind('$'));
  Items items(view, {Document::kBase + begin, at});
  if (const auto comment = comment_before(text, at - Document::kBase)) {
    add_passes(comment->substr(0, comment->size() - std::min(comment->size(), word.size())), items);
    return items.take();
  }
  if (is_extent) {
    add_names(view, NameKind::kExtent, at, items);
    return items.take();
  }
  if (sigil == '^') {
    add_names(view, NameKind::kBlock, at, items);
    return items.take();
  }
  if (sigil == '!' || sigil == '#') {
    add_aliases(view, sigil == '!' ? NameKind::kTypeAlias : NameKind::kAttributeAlias, at, items);
    return items.take();
  }
  const Context context = context_at(view, start_for(view, at), Document::kBase + begin);
  const OpRow* const row = row_of(view, context.op);
  const bool has_results = !context.op.empty() && (row == nullptr || row->results.max != 0);
  const bool defines = context.inside == Context::Inside::kResults && has_results;
  if (sigil == '%') {
    defines ? add_fresh_names(view, at, context, items) : add_values(view, at, context, items);
    return items.take();
  }
  if (sigil == '@') {
    add_symbols(whole, context.op == "graph.CallGraphOp", items);
    return items.take();
  }
  const bool in_type = context.in_type || text.substr(0, begin).ends_with("], ");
  if (in_type) {
    add_element_types(items);
  } else if (context.inside == Context::Inside::kAttributes) {
    context.key.empty() ? add_keys(view, at, context, items) : add_choices(view, context, items);
  } else if (context.inside == Context::Inside::kNothing) {
    add_ops(view, word.starts_with('.'), items);
  } else if (sigil == ':') {
    add_aliases(view, NameKind::kTypeAlias, at, items);
  } else if (defines) {
    add_fresh_names(view, at, context, items);
  } else {
    add_values(view, at, context, items);
  }
  return items.take();
}

Json signature_help(const View& whole, SourcePos at) {
  const View view = whole.near({at, at});
  const Context context = context_at(view, start_for(view, at), at);
  const OpRow* row = row_of(view, context.op);
  if (row == nullptr || context.inside == Context::Inside::kNothing) return nullptr;
  std::string label(context.op);
  Json parameters = Json::array();
  const auto parameter = [&](const std::string& word, std::string_view summary) {
    const auto begin = label.size();
    label += word;
    Json json = {{"label", {begin, label.size()}}};
    if (!summary.empty()) json["documentation"] = std::string(summary);
    parameters.push_back(std::move(json));
  };
  std::uint32_t active = context.commas;
  if (context.inside == Context::Inside::kAttributes) {
    label += " [";
    for (std::size_t i = 0; i < row->attributes.size(); ++i) {
      if (i != 0) label += ", ";
      if (row->attributes[i].name == context.key) active = static_cast<std::uint32_t>(i);
      parameter(attribute_signature(row->attributes[i]), row->attributes[i].summary);
    }
    label += "]";
  } else {
    const bool of_results = context.inside == Context::Inside::kResults;
    const Arity arity = of_results ? row->results : row->operands;
    label += of_results ? " (...) -> (" : " (";
    const std::uint32_t shown = arity.max == Arity::kMany ? arity.min + 1u : arity.max;
    for (std::uint32_t i = 0; i < shown; ++i) {
      if (i != 0) label += ", ";
      const bool is_rest = arity.max == Arity::kMany && i + 1 == shown;
      parameter(is_rest ? "..." : fmt::format("{} {}", of_results ? "result" : "operand", i), "");
    }
    label += ")";
    if (arity.max == Arity::kMany && shown != 0) active = std::min(active, shown - 1);
  }
  return {{"signatures", Json::array({{{"label", label},
                                       {"documentation", std::string(row->summary)},
                                       {"parameters", std::move(parameters)}}})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

}  // namespace mir::lsp
