// Relates the names of layers to the symbols of their parameters.
#include "lsp/layers.hpp"

#include <algorithm>
#include <unordered_set>

#include "dialects/parameters.hpp"
#include "syntax/op_text.hpp"

namespace mir::lsp {

namespace {

NameMention mention_of(const LayerMention& layer) {
  return {.at = layer.at, .is_quoted = !layer.is_relative, .is_relative = layer.is_relative};
}

std::span<const WeightRow> weights_of(const Outline& outline, std::uint32_t op) {
  const OpRow* row = outline.ops[op].row;
  return row == nullptr ? std::span<const WeightRow>() : row->weights;
}

/// The suffixes of all parameters that ops of the layer may own.
std::set<std::string_view> suffixes_of(const View& view, const Named& layer) {
  std::set<std::string_view> suffixes;
  const Outline& outline = view.outline();
  for (const LayerMention& each : outline.layers) {
    if (outline.module_of(each.op) != layer.module || each.name != layer.name) continue;
    for (const WeightRow& weight : weights_of(outline, each.op)) suffixes.insert(weight.suffix);
  }
  return suffixes;
}

/// True if the symbol is `<name><suffix>` with one of the suffixes.
bool is_parameter(const SymbolMention& symbol, const Named& layer,
                  const std::set<std::string_view>& suffixes) {
  return symbol.module == layer.module && symbol.name.starts_with(layer.name) &&
         suffixes.contains(symbol.name.substr(layer.name.size()));
}

Named named_layer(const View& view, const LayerMention& mention) {
  return {.kind = NameKind::kLayer,
          .name = mention.name,
          .mention = mention_of(mention),
          .module = view.outline().module_of(mention.op)};
}

/// True if an op owns the parameter, as its text states the attribute that decides.
bool owns(const View& view, std::uint32_t index, const WeightRow& weight) {
  const OutlineOp& op = view.outline().ops[index];
  std::vector<NamedAttr> stated;
  if (!weight.present_if.empty()) {
    const Span value = OpText(view.now().file(), op.name).value(weight.present_if);
    if (value.known()) {
      const Attr* is_present = view.rows.boolean(view.text(value) == "true");
      stated.push_back({view.rows.intern(weight.present_if), is_present});
    }
  }
  return owns_parameter(*op.row, weight, view.rows, stated);
}

std::uint32_t module_at(const View& view, SourcePos at) {
  const std::uint32_t op = view.outline().op_at(at);
  return op == kNone ? kNone : view.outline().module_of(op);
}

/// Calls `visit` with the name of each layer in a text. `graph` is the last graph that began.
template <class Visit>
void for_each_layer_in(std::string_view text, std::string& graph, const Visit& visit) {
  constexpr std::string_view kName = "name=\"", kGraph = "SubGraphOp @", kRelative = "<.";
  for (auto at = text.find_first_of("nS<"); at != text.npos; at = text.find_first_of("nS<", at)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kName)) {
      at += kName.size();
      visit(text.substr(at, text.find_first_of("\"\n", at) - at));
    } else if (rest.starts_with(kRelative)) {
      visit(graph + std::string(rest.substr(1, rest.find_first_of(">\n") - 1)));
    } else if (rest.starts_with(kGraph)) {
      const std::string_view symbol = rest.substr(kGraph.size());
      graph = symbol.substr(0, symbol.find_first_of(" \n<[("));
    }
    ++at;
  }
}

/// The names of layers that declared parameters of the module can belong to, with their suffixes.
std::set<std::pair<std::string_view, std::string_view>> declared_parameters(const View& view,
                                                                            std::uint32_t module) {
  std::set<std::pair<std::string_view, std::string_view>> all;
  for (const SymbolMention& each : view.outline().symbols) {
    if (!each.declares || each.module != module || !is_register(view.outline(), each)) continue;
    const auto dot = each.name.rfind('.');
    if (dot != each.name.npos && dot != 0) {
      all.emplace(each.name.substr(0, dot), each.name.substr(dot));
    }
  }
  return all;
}

}  // namespace

bool is_register(const Outline& outline, const SymbolMention& symbol) {
  const OpRow* row = outline.ops[symbol.op].row;
  return row != nullptr && row->name == "register";
}

std::vector<NameMention> layer_mentions(const View& view, const Named& layer) {
  const Outline& outline = view.outline();
  const std::set<std::string_view> suffixes = suffixes_of(view, layer);
  std::vector<NameMention> found;
  for (const LayerMention& each : outline.layers) {
    if (outline.module_of(each.op) == layer.module && each.name == layer.name) {
      found.push_back(mention_of(each));
    }
  }
  for (const SymbolMention& each : outline.symbols) {
    if (!is_parameter(each, layer, suffixes)) continue;
    const Span at{each.at.begin, each.at.begin + static_cast<SourcePos>(layer.name.size())};
    found.push_back({.at = at, .declares = each.declares, .is_quoted = each.is_quoted});
  }
  std::ranges::sort(found, {}, [](const NameMention& each) { return each.at.begin; });
  return found;
}

std::optional<Named> layer_at(const View& view, SourcePos at) {
  const std::uint32_t index = view.outline().layer_at(at);
  if (index == kNone) return std::nullopt;
  return named_layer(view, view.outline().layers[index]);
}

std::optional<Owner> owner_of(const View& view, const SymbolMention& symbol) {
  const Outline& outline = view.outline();
  for (const LayerMention& each : outline.layers) {
    const std::string& name = each.name;
    if (!symbol.name.starts_with(name) || outline.module_of(each.op) != symbol.module) continue;
    const std::string_view suffix = symbol.name.substr(name.size());
    const auto weights = weights_of(outline, each.op);
    if (std::ranges::find(weights, suffix, &WeightRow::suffix) == weights.end()) continue;
    return Owner{named_layer(view, each), std::string(suffix)};
  }
  return std::nullopt;
}

void add_owners(const View& view, const SymbolMention& symbol, std::vector<NameMention>& mentions) {
  const auto owner = owner_of(view, symbol);
  if (!owner) return;
  for (const LayerMention& each : view.outline().layers) {
    if (each.name != owner->layer.name) continue;
    if (view.outline().module_of(each.op) != symbol.module) continue;
    mentions.push_back(mention_of(each));
  }
  std::ranges::sort(mentions, {}, [](const NameMention& each) { return each.at.begin; });
}

std::vector<std::uint32_t> parameters_of(const View& view, const Named& layer) {
  const std::set<std::string_view> suffixes = suffixes_of(view, layer);
  std::vector<std::uint32_t> found;
  const auto& symbols = view.outline().symbols;
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].declares && is_parameter(symbols[i], layer, suffixes)) found.push_back(i);
  }
  return found;
}

std::vector<std::string> owned_parameters(const View& view, const Named& layer) {
  const Outline& outline = view.outline();
  std::vector<std::string> found;
  for (const LayerMention& each : outline.layers) {
    if (outline.module_of(each.op) != layer.module || each.name != layer.name) continue;
    for (const WeightRow& weight : weights_of(outline, each.op)) {
      std::string name = layer.name + std::string(weight.suffix);
      const bool is_new = std::ranges::find(found, name) == found.end();
      if (is_new && owns(view, each.op, weight)) found.push_back(std::move(name));
    }
  }
  return found;
}

UnusedLayers::UnusedLayers(const View& view, SourcePos at) {
  const std::uint32_t module = module_at(view, at);
  if (module == kNone) return;
  declared_ = declared_parameters(view, module);
  std::set<std::string_view> names;
  for (const auto& [name, suffix] : declared_) names.insert(name);
  if (names.empty()) return;
  const Span whole = view.outline().ops[module].whole;
  const std::string_view text = view.now().text();
  const std::size_t begin = whole.begin - Document::kBase, end = whole.end - Document::kBase;
  const std::size_t place = at - Document::kBase;
  const std::size_t line = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;
  const auto forget = [&](std::string_view used) { names.erase(used); };
  std::string graph;
  // The name that is typed now does not count.
  for_each_layer_in(text.substr(begin, std::max(line, begin) - begin), graph, forget);
  const std::size_t next = std::min(text.find('\n', place), text.size());
  if (next < end) for_each_layer_in(text.substr(next, end - next), graph, forget);
  names_.assign(names.begin(), names.end());
}

std::vector<std::string> UnusedLayers::fitting(const OpRow& row, std::size_t most) const {
  std::vector<std::string> found;
  if (row.weights.empty()) return found;
  for (const std::string& each : names_) {
    if (found.size() == most) break;
    const bool has_all = std::ranges::all_of(row.weights, [&](const WeightRow& weight) {
      return !weight.present_if.empty() || declared_.contains({each, weight.suffix});
    });
    if (has_all) found.push_back(each);
  }
  return found;
}

std::vector<std::string> missing_parameters(const View& whole, SourcePos at) {
  const Outline& outline = whole.outline();
  const std::uint32_t module = module_at(whole, at);
  std::unordered_set<std::string_view> declared;
  for (const SymbolMention& each : outline.symbols) {
    const bool is_here = each.at.begin <= at && at <= each.at.end;
    if (each.declares && each.module == module && !is_here) declared.insert(each.name);
  }
  std::set<std::string> missing;
  for (const LayerMention& each : outline.layers) {
    if (outline.module_of(each.op) != module) continue;
    for (const WeightRow& weight : weights_of(outline, each.op)) {
      if (!owns(whole, each.op, weight)) continue;
      std::string name = each.name + std::string(weight.suffix);
      if (!declared.contains(name)) missing.insert(std::move(name));
    }
  }
  return {missing.begin(), missing.end()};
}

}  // namespace mir::lsp
