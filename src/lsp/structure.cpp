// The structure of a text: symbols, folding, ranges to select.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "lsp/named.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr int kModuleKind = 2, kFunctionKind = 12, kConstantKind = 14, kObjectKind = 19,
              kTypeParameterKind = 26;  // of the protocol

bool is_symbol(const OutlineOp& op) {
  const bool declares = op.row != nullptr && has(op.row->traits, Trait::kSymbol);
  return op.is_module || declares || (op.has_body && op.symbol.known());
}

Span named_span(const OutlineOp& op) {
  return op.symbol.known() && !(op.is_module && op.is_damaged) ? op.symbol : op.name;
}

std::string symbol_name(const View& view, const OutlineOp& op) {
  const std::string_view text = view.text(named_span(op));
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

int kind_of(const OutlineOp& op) {
  return op.is_module ? kModuleKind : op.has_body ? kFunctionKind : kObjectKind;
}

Json symbol_json(const View& view, const OutlineOp& op) {
  return {{"name", symbol_name(view, op)},
          {"kind", kind_of(op)},
          {"detail", op.is_module ? "module" : std::string(view.text(op.name))},
          {"range", view.document.range(op.whole)},
          {"selectionRange", view.document.range(named_span(op))}};
}

Json symbol_information(const View& view, const OutlineOp& op) {
  return {{"name", symbol_name(view, op)},
          {"kind", kind_of(op)},
          {"location", {{"uri", view.document.uri()}, {"range", view.document.range(op.whole)}}}};
}

int kind_of(const View& view, const Alias& alias) {
  return view.text(alias.name).starts_with('!') ? kTypeParameterKind : kConstantKind;
}

Json symbol_json(const View& view, const Alias& alias) {
  return {{"name", std::string(view.text(alias.name))},
          {"kind", kind_of(view, alias)},
          {"detail", "alias"},
          {"range", view.document.range(alias.whole)},
          {"selectionRange", view.document.range(alias.name)}};
}

Json symbol_information(const View& view, const Alias& alias) {
  return {
      {"name", std::string(view.text(alias.name))},
      {"kind", kind_of(view, alias)},
      {"location", {{"uri", view.document.uri()}, {"range", view.document.range(alias.whole)}}}};
}

}  // namespace

Json document_symbols(const View& view, bool hierarchical) {
  const Outline& outline = view.outline();
  Json list = Json::array();
  // Aliases are written between modules: the list has both in the order of the text.
  std::vector<std::pair<SourcePos, Json>> tops;
  for (const Alias& alias : aliases_of(view)) {
    tops.emplace_back(alias.whole.begin,
                      hierarchical ? symbol_json(view, alias) : symbol_information(view, alias));
  }
  if (!hierarchical) {
    for (auto& [at, symbol] : tops) list.push_back(std::move(symbol));
    for (const OutlineOp& op : outline.ops) {
      if (is_symbol(op)) list.push_back(symbol_information(view, op));
    }
    return list;
  }
  // Children come after their parents, so lists are filled from the end.
  std::vector<Json> children(outline.ops.size(), Json::array());
  for (std::size_t i = outline.ops.size(); i != 0; --i) {
    view.check_stop();
    const OutlineOp& op = outline.ops[i - 1];
    if (!is_symbol(op)) {
      // Ops outside of all modules have no parent.
      Json& to = op.parent == kNone ? list : children[op.parent];
      for (auto each = children[i - 1].rbegin(); each != children[i - 1].rend(); ++each) {
        to.push_back(std::move(*each));
      }
      continue;
    }
    Json symbol = symbol_json(view, op);
    std::reverse(children[i - 1].begin(), children[i - 1].end());
    if (!children[i - 1].empty()) symbol["children"] = std::move(children[i - 1]);
    if (op.parent == kNone) {
      tops.emplace_back(op.whole.begin, std::move(symbol));
    } else {
      children[op.parent].push_back(std::move(symbol));
    }
  }
  for (auto symbol = list.rbegin(); symbol != list.rend(); ++symbol) {
    tops.emplace_back(0, std::move(*symbol));
  }
  std::ranges::stable_sort(tops, {}, [](const auto& each) { return each.first; });
  list = Json::array();
  for (auto& [at, symbol] : tops) list.push_back(std::move(symbol));
  return list;
}

bool contains(std::string_view text, std::string_view query) {
  const auto are_equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return query.empty() ||
         std::search(text.begin(), text.end(), query.begin(), query.end(), are_equal) != text.end();
}

Json TextSymbol::information(const std::string& uri) const {
  const auto position = [](Position at) {
    return Json{{"line", at.line}, {"character", at.column}};
  };
  return {{"name", name},
          {"kind", kind},
          {"location",
           {{"uri", uri},
            {"range", {{"start", position(range.begin)}, {"end", position(range.end)}}}}}};
}

std::vector<TextSymbol> text_symbols(const View& view, std::string_view query) {
  std::vector<TextSymbol> found;
  const auto add = [&](std::string name, int kind, Span at) {
    if (!contains(name, query)) return;
    found.push_back({std::move(name),
                     kind,
                     {view.document.position_of(at.begin), view.document.position_of(at.end)}});
  };
  for (const Alias& alias : aliases_of(view)) {
    add(std::string(view.text(alias.name)), kind_of(view, alias), alias.whole);
  }
  for (const OutlineOp& op : view.outline().ops) {
    view.check_stop();
    if (is_symbol(op)) add(symbol_name(view, op), kind_of(op), op.whole);
  }
  return found;
}

Json folding_ranges(const View& view) {
  Json list = Json::array();
  const LineIndex& lines = view.document.lines();
  const auto add = [&](SourcePos begin, SourcePos end, const char* kind) {
    const std::uint32_t first = lines.line_of(begin - Document::kBase);
    const std::uint32_t last = lines.line_of(end - Document::kBase);
    if (last <= first) return;
    Json fold = {{"startLine", first}, {"endLine", last}};
    if (kind != nullptr) fold["kind"] = kind;
    list.push_back(std::move(fold));
  };
  for (const OutlineOp& op : view.outline().ops) {
    view.check_stop();
    // The line of the closing brace stays in view.
    if (!op.has_body) continue;
    const std::uint32_t last = lines.line_of(op.whole.end - Document::kBase);
    const std::uint32_t first = lines.line_of(op.whole.begin - Document::kBase);
    if (last <= first + 1) continue;
    list.push_back({{"startLine", first}, {"endLine", last - 1}});
  }
  std::uint32_t comment = 0, count = 0;
  for (std::uint32_t line = 0; line <= lines.line_count(); ++line) {
    bool is_comment = false;
    if (line < lines.line_count()) {
      const std::string_view text = view.document.text();
      const std::uint32_t begin = lines.line_start(line);
      const std::string_view words = text.substr(begin, lines.line_end(text, line) - begin);
      const auto at = words.find_first_not_of(" \t");
      is_comment = at != words.npos && words.substr(at, 2) == "//";
    }
    if (is_comment && count++ == 0) comment = line;
    if (is_comment) continue;
    if (count > 1) {
      add(Document::kBase + lines.line_start(comment),
          Document::kBase + lines.line_start(comment + count - 1), "comment");
    }
    count = 0;
  }
  return list;
}

Json selection_range(const View& view, SourcePos at) {
  const Outline& outline = view.outline();
  const std::string_view text = view.document.text();
  std::vector<Span> around = {
      {Document::kBase, Document::kBase + static_cast<SourcePos>(text.size())}};
  std::vector<std::uint32_t> ops;
  for (std::uint32_t op = outline.op_at(at); op != kNone; op = outline.ops[op].parent) {
    ops.push_back(op);
  }
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    around.push_back(outline.ops[*op].whole);
    const Span head = outline.ops[*op].head;
    if (at >= head.begin && at <= head.end) around.push_back(head);
  }
  if (const std::uint32_t mention = outline.mention_at(at); mention != kNone) {
    const Mention& named = outline.mentions[mention];
    if (named.type.known()) around.push_back({named.at.begin, named.type.end});
    around.push_back(named.at);
  } else if (const std::uint32_t symbol = outline.symbol_at(at); symbol != kNone) {
    around.push_back(outline.symbols[symbol].at);
  } else if (!ops.empty()) {
    const Span name = outline.ops[ops.front()].name;
    if (at >= name.begin && at <= name.end) around.push_back(name);
  }
  if (const auto named = named_at(view, at)) around.push_back(named->mention.at);
  Json range = nullptr;
  Span outer{};
  for (const Span each : around) {
    // A range is inside the one around it, and differs from it.
    if (each == outer || at < each.begin || at > each.end) continue;
    if (outer.known() && (each.begin < outer.begin || each.end > outer.end)) continue;
    Json inner = {{"range", view.document.range(each)}};
    if (!range.is_null()) inner["parent"] = std::move(range);
    range = std::move(inner);
    outer = each;
  }
  return range;
}

}  // namespace mir::lsp
