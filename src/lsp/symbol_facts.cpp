// Hovers over symbols and over the names of layers.
#include "lsp/symbol_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lsp/hover_text.hpp"
#include "lsp/layers.hpp"
#include "lsp/words.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

/// The part of a text between the head of an op and the body of its first region, which is a
/// signature; unknown if there is none.
Span signature_span(const View& view, const OutlineOp& op) {
  std::vector<SourcePos> braces;
  bool is_signature = false;
  for_each_word(view, {op.head.end, op.whole.end}, [&](TokenKind kind, Span at) {
    if (braces.size() == 2 || at.begin < op.head.end) return;
    if (kind == TokenKind::kLBrace) braces.push_back(at.begin);
    if (kind == TokenKind::kArrow && braces.size() == 1) is_signature = true;
  });
  return braces.size() == 2 && is_signature ? Span{braces[0] + 1, braces[1]} : Span{};
}

/// The type of the value that a register defines; empty if unknown.
std::string registered_type(const View& view, const SymbolMention& symbol) {
  const Outline& outline = view.outline();
  for (const Mention& each : outline.mentions) {
    if (each.op == symbol.op && each.defines && each.value != kNone) {
      return type_text(view, each.value);
    }
  }
  return "";
}

/// The parameter with its type and its statistics in the weight files.
void add_parameter(const View& view, std::string_view name, const std::string& type,
                   const WeightFiles& weights, HoverText& text) {
  text.line(text.code(fmt::format("@{}{}{}", name, type.empty() ? "" : ": ", type)) +
            bytes_of(view.rows, type));
  for (const std::string& each : weights.facts(view.document.uri(), name)) {
    view.check_stop();
    text.line(each);
  }
}

}  // namespace

std::string graph_signature(const View& view, std::uint32_t op) {
  const Outline& outline = view.outline();
  const Span span = signature_span(view, outline.ops[op]);
  if (!span.known()) return "";
  const std::string_view text = view.text(span);
  const SourcePos arrow = span.begin + static_cast<SourcePos>(text.find("->"));
  std::string inputs, outputs;
  for (std::uint32_t i = 0; i < outline.mentions.size(); ++i) {
    const Mention& each = outline.mentions[i];
    if (each.at.begin < span.begin || each.at.end > span.end) continue;
    std::string part(view.text(each.at));
    const std::string type = each.value == kNone ? "" : type_text(view, each.value);
    if (!type.empty()) part += ": " + type;
    const auto port = std::ranges::find(outline.ports, i, &PortMention::mention);
    if (port != outline.ports.end()) part += fmt::format(" [{}]", view.text(port->at));
    std::string& list = each.at.begin < arrow ? inputs : outputs;
    list += (list.empty() ? "" : ", ") + part;
  }
  return fmt::format("({}) -> ({})", inputs, outputs);
}

Json hover_symbol(const View& view, std::uint32_t index, bool markdown,
                  const WeightFiles& weights) {
  const Outline& outline = view.outline();
  const SymbolMention& symbol = outline.symbols[index];
  HoverText text(markdown);
  std::size_t uses = 0;
  const SymbolMention* declaration = nullptr;
  for (const SymbolMention& each : outline.symbols) {
    if (each.name != symbol.name || each.module != symbol.module) continue;
    if (each.declares && declaration == nullptr) declaration = &each;
    uses += each.declares ? 0 : 1;
  }
  const bool is_parameter = declaration != nullptr && is_register(outline, *declaration);
  if (is_parameter) {
    add_parameter(view, symbol.name, registered_type(view, *declaration), weights, text);
  } else {
    const std::string signature =
        declaration == nullptr ? "" : graph_signature(view, declaration->op);
    text.line(
        text.code(fmt::format("@{}{}{}", symbol.name, signature.empty() ? "" : " ", signature)));
  }
  if (declaration != nullptr) {
    text.line(fmt::format("declared by {}, {}",
                          text.code(view.text(outline.ops[declaration->op].name)),
                          place_text(view.document, declaration->at.begin)));
  }
  if (const auto owner = owner_of(view, symbol)) {
    text.line(fmt::format("parameter of layer {}", text.code(owner->layer.name)));
  }
  text.line(fmt::format("named {} {} elsewhere", uses, uses == 1 ? "time" : "times"));
  return text.json(view.document, symbol.at);
}

Json hover_layer(const View& view, const Named& layer, bool markdown, const WeightFiles& weights) {
  const Outline& outline = view.outline();
  HoverText text(markdown);
  text.line("layer " + text.code(layer.name));
  const std::vector<std::string> owned = owned_parameters(view, layer);
  for (const std::string& name : owned) {
    const auto symbol = std::ranges::find_if(outline.symbols, [&](const SymbolMention& each) {
      return each.declares && each.module == layer.module && each.name == name;
    });
    const bool is_declared = symbol != outline.symbols.end();
    const std::string type = is_declared ? registered_type(view, *symbol) : "";
    add_parameter(view, name, type, weights, text);
    text.line(is_declared ? "registered at " + place_text(view.document, symbol->at.begin)
                          : "not registered");
  }
  if (owned.empty()) text.line("no op of this layer owns parameters");
  return text.json(view.document, layer.mention.at);
}

}  // namespace mir::lsp
