// Completions at a place.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "dialects/op_facts.hpp"
#include "ir/declaration_graphs.hpp"
#include "lsp/layers.hpp"
#include "lsp/op_context.hpp"
#include "lsp/op_head.hpp"
#include "lsp/snippets.hpp"
#include "mir/dialects.hpp"
#include "mir/pass.hpp"
#include "mir/tensor.hpp"
#include "mir/upgrade.hpp"
#include "passes/names/roles.hpp"
#include "patterns/body_attributes.hpp"
#include "support/characters.hpp"
#include "syntax/short_names.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr int kFunctionItem = 3, kVariableItem = 6, kPropertyItem = 10, kEnumItem = 20,
              kModuleItem = 9, kClassItem = 7, kConstantItem = 21, kReferenceItem = 18;
class Items {
 public:
  Items(const View& view, Span replaced) : range_(view.document.range(replaced)) {}

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
  /// Likewise; the client fills in the places of a snippet.
  void add_snippet(std::string text, const std::string& snippet, int kind, std::string detail,
                   std::string document) {
    add(std::move(text), kind, std::move(detail), std::move(document));
    constexpr int kSnippetFormat = 2;
    items_.back()["insertTextFormat"] = kSnippetFormat;
    items_.back()["textEdit"]["newText"] = snippet;
  }
  Json take() { return {{"isIncomplete", false}, {"items", std::move(items_)}}; }

 private:
  Json range_;
  Json items_ = Json::array();
};

/// Finds the values in scope that fit at a place among the operands of an op. Elsewhere all do.
class OperandOrder {
 public:
  OperandOrder(const View& view, SourcePos at, const OpContext& context) : view_(view) {
    if (context.inside != OpContext::Inside::kOperands || context.op.empty()) return;
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
void add_values(const View& view, SourcePos at, const OpContext& context, Items& items) {
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

/// Names of values in the text but the one that is typed at a place.
class TakenNames {
 public:
  TakenNames(const View& view, SourcePos at) {
    for (const OutlineValue& value : view.outline().values) {
      const std::uint32_t definition = value.definition;
      if (definition != kNone) {
        const Span place = view.outline().mentions[definition].at;
        if (place.begin <= at && at <= place.end) continue;
      }
      taken_.insert(value.name);
      std::uint32_t stated = 0;
      const char* const end = value.name.data() + value.name.size();
      const auto read = std::from_chars(value.name.data(), end, stated);
      if (read.ec == std::errc() && read.ptr == end) number_ = std::max(number_, stated + 1);
    }
  }

  /// Returns the word, with a number added if the word is taken.
  std::string fresh(std::string_view word) const {
    std::string name(word);
    for (int i = 1; taken_.contains(name); ++i) name = fmt::format("{}_{}", word, i);
    return name;
  }
  std::uint32_t next_number() const { return number_; }

 private:
  std::unordered_set<std::string_view> taken_;
  std::uint32_t number_ = 0;
};

/// Returns names that no value has yet, without `%`: after the layer or the op, and the next
/// number.
std::vector<std::string> fresh_names(const View& view, SourcePos at, const OpContext& context) {
  const TakenNames taken(view, at);
  const SourcePos op = view.now().file().position_of(context.op.data());
  const std::string word = word_for_results(context.op.substr(context.op.rfind('.') + 1),
                                            path_before(view.text({op, at})), "");
  return {taken.fresh(word), fmt::format("{}", taken.next_number())};
}

void add_fresh_names(const View& view, SourcePos at, const OpContext& context, Items& items) {
  const std::vector<std::string> names = fresh_names(view, at, context);
  items.add("%" + names[0], kVariableItem, "new value", "", "0");
  items.add("%" + names[1], kVariableItem, "new value", "", "1");
}

/// Lists of a new value, behind an arrow.
void add_result_lists(const View& view, SourcePos at, const OpContext& context, Items& items) {
  const std::vector<std::string> names = fresh_names(view, at, context);
  items.add(fmt::format("(%{})", names[0]), kVariableItem, "new value", "", "0");
  items.add(fmt::format("(%{})", names[1]), kVariableItem, "new value", "", "1");
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

/// True if the rest of a line has no words, so that whole ops can be written there.
bool ends_line(std::string_view rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  return line.find_first_not_of(" \t\r") == line.npos;
}

/// Ops by their names; by the short ones where a dot has been typed.
void add_ops(const View& view, SourcePos at, bool snippets, bool are_short, Items& items) {
  const Outline& outline = view.outline();
  const std::uint32_t op = outline.op_at(at);
  const std::uint32_t module = op == kNone ? kNone : outline.module_of(op);
  const TakenNames taken(view, at);
  // The work for a letter must not grow with the text.
  constexpr std::size_t kMostText = std::size_t{4} << 20;
  std::optional<UnusedLayers> unused;
  if (snippets && view.now().text().size() <= kMostText) unused.emplace(view, at);
  SnippetForm form{.has_types = module != kNone && !outline.ops[module].is_portable,
                   .fresh = [&](std::string_view word) { return taken.fresh(word); }};
  for (const Dialect* dialect : view.rows.dialects()) {
    for (const OpRow& row : dialect->rows) {
      std::string name =
          fmt::format("{}.{}{}", dialect->name, dialect->device_in_path ? "CPU." : "", row.name);
      if (are_short) name = short_op_name(name, kUsualDevice);
      if (name.empty()) continue;
      const std::string detail = op_signature(name, &row);
      if (!snippets) {
        items.add(name, kFunctionItem, detail, std::string(row.summary));
        continue;
      }
      constexpr std::size_t kMostLayers = 16;
      const std::vector<std::string> layers =
          unused ? unused->fitting(row, kMostLayers) : std::vector<std::string>();
      form.layers = layers;
      items.add_snippet(name, op_snippet(view.rows, row, name, form), kFunctionItem, detail,
                        std::string(row.summary));
    }
  }
}

/// Attributes that the op does not state yet.
void add_keys(const View& view, SourcePos at, const OpContext& context, Items& items) {
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
  for (const AttrRow* each : common_attributes(view, at, context.op)) {
    if (is_stated(*each)) continue;
    items.add(std::string(each->name), kPropertyItem, attribute_signature(*each),
              std::string(each->summary), "1");
  }
}

void add_element_types(Items& items) {
  for (const DTypeInfo& each : dtype_table()) {
    items.add(std::string(each.name), kEnumItem, "element type");
  }
}

/// Returns the row of the attribute whose value is at a place; null if the op has no such one.
const AttrRow* attribute_of(const View& view, SourcePos at, const OpContext& context) {
  if (const OpRow* row = row_of(view, context.op)) {
    const auto found = std::ranges::find(row->attributes, context.key, &AttrRow::name);
    if (found != row->attributes.end()) return &*found;
  }
  const auto common = common_attributes(view, at, context.op);
  const auto found = std::ranges::find(common, context.key, &AttrRow::name);
  return found == common.end() ? nullptr : *found;
}

/// Variables of a declared op, as the condition or the count of an op in its body.
void add_variables(const View& view, SourcePos at, std::string_view key, Items& items) {
  for (const std::string& each : names_at(view, NameKind::kExtent, at)) {
    const std::string count = fmt::format("{{i:${}}}", each);
    items.add(key == patterns::kRepeatKey ? count : "$" + each, kVariableItem, "variable");
  }
}

void add_choices(const View& view, SourcePos at, const OpContext& context, Items& items) {
  const AttrRow* const found = attribute_of(view, at, context);
  if (found == nullptr) return;
  const bool is_of_body = std::ranges::any_of(patterns::kBodyAttributes,
                                              [&](const AttrRow& each) { return &each == found; });
  if (is_of_body) return add_variables(view, at, found->name, items);
  for (const std::string& word : words_of(*found)) {
    items.add(word, kEnumItem, attribute_signature(*found));
  }
  if (found->type == AttrType::kDType) add_element_types(items);
  if (!found->default_text.empty() && found->choices.empty() && found->type != AttrType::kBool) {
    items.add(std::string(found->default_text), kEnumItem, "default");
  }
}

/// Parameters, behind `[@`: those that are declared; of a register, those that ops own and that are
/// not declared yet.
void add_parameters(const View& whole, SourcePos at, const OpRow* row, Items& items) {
  if (row != nullptr && row->name == "register") {
    for (const std::string& each : missing_parameters(whole, at)) {
      items.add("@" + each, kModuleItem, "parameter that is not registered");
    }
    return;
  }
  for (const SymbolMention& each : whole.outline().symbols) {
    if (!each.declares || !is_register(whole.outline(), each)) continue;
    items.add((each.is_quoted ? fmt::format("@\"{}\"", each.name) : "@" + std::string(each.name)),
              kModuleItem, "parameter");
  }
}

/// Layers without an op whose parameters are declared, and the names that layers are in.
void add_layers(const View& view, SourcePos at, const OpRow* row, Items& items) {
  const UnusedLayers unused(view, at);
  const std::vector<std::string> fitting =
      row == nullptr ? std::vector<std::string>() : unused.fitting(*row, unused.names().size());
  std::set<std::string> groups;
  for (const std::string& each : unused.names()) {
    const bool fits = std::ranges::binary_search(fitting, each);
    items.add(each, kModuleItem, "layer with parameters and without an op", "", fits ? "0" : "1");
    for (auto dot = each.find('.'); dot != each.npos; dot = each.find('.', dot + 1)) {
      groups.insert(each.substr(0, dot + 1));
    }
  }
  for (const LayerMention& layer : view.outline().layers) {
    if (layer.at.begin <= at && at <= layer.at.end) continue;
    const std::string_view name = layer.name;
    for (auto dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
      groups.emplace(name.substr(0, dot + 1));
    }
  }
  for (const std::string& each : groups) items.add(each, kModuleItem, "group of layers", "", "2");
}

/// Contents of a string that begins at an offset: names of layers or symbols, or choices.
Json complete_string(const View& whole, const View& view, SourcePos at, std::uint32_t begin) {
  Items items(view, {Document::kBase + begin, at});
  const std::string_view before = view.now().text().substr(0, begin - 1);
  const OpContext context = op_context(view, at, Document::kBase + begin - 1);
  const OpRow* const row = row_of(view, context.op);
  if (before.ends_with("<name=") || before.ends_with("[name=")) {
    add_layers(view, at, row, items);
  } else if (before.ends_with('@')) {
    for (const SymbolMention& each : whole.outline().symbols) {
      if (each.declares) items.add(std::string(each.name), kModuleItem, "symbol");
    }
  } else if (row != nullptr && context.inside == OpContext::Inside::kAttributes) {
    const auto found = std::ranges::find(row->attributes, context.key, &AttrRow::name);
    if (found == row->attributes.end()) return items.take();
    for (const std::string_view each : found->choices) {
      items.add(std::string(each), kEnumItem, attribute_signature(*found));
    }
  }
  return items.take();
}

}  // namespace

Json completion(const View& whole, SourcePos at, bool snippets) {
  const View view = whole.near({at, at});
  const std::string_view text = view.now().text();
  const std::uint32_t place = at - Document::kBase;
  const QuotedPlace quoted = quoted_place(text, place);
  std::uint32_t begin = place;
  while (begin != 0 && kNameCharacters.find(text[begin - 1]) != kNameCharacters.npos) --begin;
  const char sigil = begin == 0 ? '\0' : text[begin - 1];
  if (sigil != '\0' && std::string_view("%@!#^").find(sigil) != std::string_view::npos) --begin;
  // A name of an extent may follow others in an expression.
  const std::string_view word = text.substr(begin, place - begin);
  const bool is_extent = word.find('$') != word.npos &&
                         std::string_view("%@^").find(word[0]) == std::string_view::npos;
  if (is_extent) begin += static_cast<std::uint32_t>(word.rfind('$'));
  Items items(view, {Document::kBase + begin, at});
  if (quoted.comment) {
    const std::string_view comment = *quoted.comment;
    add_passes(comment.substr(0, comment.size() - std::min(comment.size(), word.size())), items);
    return items.take();
  }
  if (quoted.string && !(is_extent || sigil == '%')) {
    return complete_string(whole, view, at, *quoted.string);
  }
  if (is_extent) {
    add_names(view, NameKind::kExtent, at, items);
    return items.take();
  }
  if (quoted.string) {
    if (is_in_declaration(view, at)) add_values(view, at, {}, items);
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
  using Inside = OpContext::Inside;
  const OpContext context = op_context(view, at, Document::kBase + begin);
  const OpRow* const row = row_of(view, context.op);
  const bool has_results = !context.op.empty() && (row == nullptr || row->results.max != 0);
  const bool defines = context.inside == Inside::kResults && has_results;
  if (sigil == '%') {
    defines ? add_fresh_names(view, at, context, items) : add_values(view, at, context, items);
    return items.take();
  }
  const bool in_list = context.inside == Inside::kOperands || context.inside == Inside::kResults;
  if (sigil == '@') {
    if (in_list && text.substr(0, begin).ends_with('[')) {
      add_parameters(whole, at, row, items);
    } else {
      add_symbols(whole, context.op == "graph.CallGraphOp", items);
    }
    return items.take();
  }
  const bool in_type = context.in_type || text.substr(0, begin).ends_with("], ");
  if (in_type) {
    add_element_types(items);
  } else if (context.inside == Inside::kAttributes) {
    context.key.empty() ? add_keys(view, at, context, items)
                        : add_choices(view, at, context, items);
  } else if (context.after_arrow) {
    const std::size_t next = text.find_first_not_of(" \t", place);
    const bool has_list = next != text.npos && text[next] == '(';
    if (has_results && !has_list) add_result_lists(view, at, context, items);
  } else if (context.inside == Inside::kNothing) {
    const bool is_whole_line = ends_line(text.substr(place));
    add_ops(view, at, snippets && is_whole_line, word.starts_with('.'), items);
  } else if (sigil == ':') {
    add_aliases(view, NameKind::kTypeAlias, at, items);
  } else if (defines) {
    add_fresh_names(view, at, context, items);
  } else {
    add_values(view, at, context, items);
  }
  return items.take();
}

}  // namespace mir::lsp
