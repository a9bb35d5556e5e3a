// Going from one mention to others.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "lsp/dialect_texts.hpp"
#include "lsp/shared_names.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

Json location(const View& view, Span at) {
  return {{"uri", view.document.uri()}, {"range", view.document.range(at)}};
}

constexpr int kTextKind = 1, kReadKind = 2, kWriteKind = 3;  // of highlights
constexpr int kFunctionSymbol = 12;                          // of symbols

Json call_item(const View& view, const SymbolMention& graph) {
  const OutlineOp& op = view.outline().ops[graph.op];
  return {{"name", "@" + std::string(graph.name)},
          {"kind", kFunctionSymbol},
          {"detail", std::string(view.text(op.name))},
          {"uri", view.document.uri()},
          {"range", view.document.range(op.whole)},
          {"selectionRange", view.document.range(graph.at)},
          {"data", {{"graph", std::string(graph.name)}}}};
}

const SymbolMention* declaration_of(const Outline& outline, std::string_view name) {
  const auto found = std::ranges::find_if(outline.symbols, [&](const SymbolMention& each) {
    return each.declares && each.name == name;
  });
  return found == outline.symbols.end() ? nullptr : &*found;
}

bool is_call(const Outline& outline, const SymbolMention& symbol) {
  const OpRow* row = outline.ops[symbol.op].row;
  return !symbol.declares && row != nullptr && row->callee != nullptr;
}

/// The graph around an op: the nearest op that declares a symbol.
const SymbolMention* graph_around(const Outline& outline, std::uint32_t op) {
  for (op = outline.ops[op].parent; op != kNone; op = outline.ops[op].parent) {
    for (const SymbolMention& each : outline.symbols) {
      if (each.op == op && each.declares) return &each;
    }
  }
  return nullptr;
}

/// Returns the places in other files that declare an op, a type, an attribute of a dialect, or an
/// attribute of an op.
Json definition_elsewhere(const View& view, const SharedName& shared) {
  Json found = Json::array();
  for (const DialectText& each : view.document.dialects().all()) {
    if (each.text.find('@' + shared.named.dialect) == each.text.npos) continue;
    Document document(uri_of_path(each.path), 0, each.text, view.document.encoding(),
                      view.document.dialects());
    const View there{document, view.rows};
    const SharedMentions mentions = mentions_of(there, shared);
    for (const NameMention& mention : mentions.places) {
      if (mentions.is_declared && mention.declares) found.push_back(location(there, mention.at));
    }
  }
  return found;
}

}  // namespace

Json definition(const View& view, SourcePos at) {
  Json found = Json::array();
  if (const auto named = named_at(view, at)) {
    for (const NameMention& each : mentions_of(view, *named)) {
      view.check_stop();
      if (each.declares) found.push_back(location(view, each.at));
    }
  }
  if (found.empty()) {
    const auto shared = shared_name_at(view, at);
    if (shared) found = definition_elsewhere(view, *shared);
  }
  return found.empty() ? Json(nullptr) : found;
}

Json references(const View& view, SourcePos at, bool with_declaration) {
  Json found = Json::array();
  const auto named = named_at(view, at);
  if (!named) return found;
  for (const NameMention& each : mentions_of(view, *named)) {
    view.check_stop();
    if (!each.declares || with_declaration) found.push_back(location(view, each.at));
  }
  return found;
}

Json highlights(const View& view, SourcePos at) {
  Json found = Json::array();
  const auto named = named_at(view, at);
  if (!named) return found;
  const bool is_value = named->kind == NameKind::kValue;
  for (const NameMention& each : mentions_of(view, *named)) {
    view.check_stop();
    found.push_back({{"range", view.document.range(each.at)},
                     {"kind", !is_value       ? kTextKind
                              : each.declares ? kWriteKind
                                              : kReadKind}});
  }
  return found;
}

Json prepare_call_hierarchy(const View& view, SourcePos at) {
  const Outline& outline = view.outline();
  const std::uint32_t symbol = outline.symbol_at(at);
  if (symbol == kNone) return nullptr;
  const SymbolMention* graph = declaration_of(outline, outline.symbols[symbol].name);
  if (graph == nullptr) return nullptr;
  return Json::array({call_item(view, *graph)});
}

namespace {

/// Calls of one graph, or from one graph: `key` is "from" or "to".
class GroupedCalls {
 public:
  explicit GroupedCalls(const char* key) : key_(key) {}

  /// `item()` describes the other graph, which is the op `op`.
  template <class Item>
  void add(std::uint32_t op, const Item& item, Json range) {
    const auto [found, is_new] = places_.emplace(op, calls_.size());
    if (is_new) calls_.push_back({{key_, item()}, {"fromRanges", Json::array()}});
    calls_[found->second]["fromRanges"].push_back(std::move(range));
  }
  Json take() { return std::move(calls_); }

 private:
  const char* key_;
  std::unordered_map<std::uint32_t, std::size_t> places_;
  Json calls_ = Json::array();
};

/// The body of a module as the place of a call.
Json module_item(const View& view, const OutlineOp& module) {
  return {{"name", std::string(view.text(module.name))},
          {"kind", kFunctionSymbol},
          {"uri", view.document.uri()},
          {"range", view.document.range(module.whole)},
          {"selectionRange", view.document.range(module.name)}};
}

}  // namespace

Json incoming_calls(const View& view, std::string_view graph) {
  const Outline& outline = view.outline();
  GroupedCalls calls("from");
  for (const SymbolMention& each : outline.symbols) {
    if (each.name != graph || !is_call(outline, each)) continue;
    const SymbolMention* from = graph_around(outline, each.op);
    const std::uint32_t module = outline.module_of(each.op);
    calls.add(
        from != nullptr ? from->op : module,
        [&] {
          return from != nullptr ? call_item(view, *from) : module_item(view, outline.ops[module]);
        },
        view.document.range(each.at));
  }
  return calls.take();
}

Json outgoing_calls(const View& view, std::string_view graph) {
  const Outline& outline = view.outline();
  const SymbolMention* from = declaration_of(outline, graph);
  GroupedCalls calls("to");
  for (const SymbolMention& each : outline.symbols) {
    if (from == nullptr || !is_call(outline, each) || !outline.is_inside(each.op, from->op))
      continue;
    const SymbolMention* to = declaration_of(outline, each.name);
    if (to == nullptr) continue;
    calls.add(
        to->op, [&] { return call_item(view, *to); }, view.document.range(each.at));
  }
  return calls.take();
}

}  // namespace mir::lsp
