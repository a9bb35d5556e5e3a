// Information about a place: findings, hover texts, inlay hints.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "dialects/op_facts.hpp"
#include "lsp/findings_json.hpp"
#include "lsp/hover_text.hpp"
#include "lsp/named.hpp"
#include "lsp/op_context.hpp"
#include "lsp/symbol_facts.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

std::string defined_by(const View& view, const OutlineValue& value, const HoverText& text) {
  if (value.definition == kNone) {
    return value.is_damaged ? "defined by text that cannot be read" : "defined by no op";
  }
  const Mention& mention = view.outline().mentions[value.definition];
  const std::string place = place_text(view.document, mention.at.begin);
  if (mention.op == kNone) return "defined at " + place;
  const OutlineOp& op = view.outline().ops[mention.op];
  const bool is_result = op.is_module || mention.at.begin > op.head.end;
  return is_result ? fmt::format("argument of {}, {}", text.code(view.text(op.name)), place)
                   : fmt::format("result {} of {}, {}", mention.index,
                                 text.code(view.text(op.name)), place);
}

/// The operands of the op whose result a mention defines, in the order of the text.
std::vector<std::uint32_t> operands_of(const Outline& outline, std::uint32_t definition) {
  const Mention& result = outline.mentions[definition];
  std::vector<std::uint32_t> operands;
  if (result.op == kNone || outline.ops[result.op].is_module) return operands;
  if (result.at.begin > outline.ops[result.op].head.end) return operands;
  for (std::uint32_t at = definition; at-- > 0 && outline.mentions[at].op == result.op;) {
    const Mention& each = outline.mentions[at];
    if (!each.defines && each.value != kNone) operands.push_back(at);
  }
  std::ranges::reverse(operands);
  return operands;
}

/// Adds what the value is computed from, and what the first of that is: how extents came about.
void add_origin(const View& view, const OutlineValue& value, HoverText& text) {
  constexpr int kMostSteps = 3;
  constexpr std::size_t kMostShown = 4;
  const Outline& outline = view.outline();
  const OutlineValue* at = &value;
  for (int step = 0; step < kMostSteps && at->definition != kNone; ++step) {
    const std::vector<std::uint32_t> operands = operands_of(outline, at->definition);
    if (operands.empty()) return;
    const OutlineOp& op = outline.ops[outline.mentions[at->definition].op];
    std::string list;
    for (const std::uint32_t operand :
         std::span(operands).first(std::min(operands.size(), kMostShown))) {
      const std::uint32_t index = outline.mentions[operand].value;
      const std::string type = type_text(view, index);
      const std::string name = fmt::format("%{}", outline.values[index].name);
      list += (list.empty() ? "" : ", ") +
              text.code(type.empty() ? name : fmt::format("{}: {}", name, type));
    }
    if (operands.size() > kMostShown)
      list += fmt::format(" and {} more", operands.size() - kMostShown);
    text.line(fmt::format("{} is {} of {}", text.code(fmt::format("%{}", at->name)),
                          text.code(view.text(op.name)), list));
    at = &outline.values[outline.mentions[operands.front()].value];
  }
}

std::string used_text(std::size_t uses) {
  return uses == 0 ? "not used" : uses == 1 ? "used once" : fmt::format("used {} times", uses);
}

Json hover_value(const View& view, std::uint32_t index, bool markdown) {
  const Outline& outline = view.outline();
  const Mention& mention = outline.mentions[index];
  HoverText text(markdown);
  if (mention.value == kNone) return nullptr;
  const OutlineValue& value = outline.values[mention.value];
  const std::string type = type_text(view, mention.value);
  const std::string name = "%" + std::string(value.name);
  const std::string_view meaning = alias_value(view, type);
  text.line(text.code(type.empty() ? name : name + ": " + type) + bytes_of(view.rows, type));
  if (!meaning.empty()) {
    text.line(text.code(fmt::format("{} = {}", type, meaning)) + bytes_of(view.rows, meaning));
  }
  text.line(defined_by(view, value, text));
  add_origin(view, value, text);
  text.line(used_text(value.mentions.size() - (value.definition == kNone ? 0 : 1)));
  return text.json(view.document, mention.at);
}

/// The definition, and how often the name is used.
void add_places(const View& view, const Named& named, std::string_view definition,
                HoverText& text) {
  std::size_t uses = 0;
  bool is_defined = false;
  for (const NameMention& each : mentions_of(view, named)) {
    uses += each.declares ? 0 : 1;
    if (!each.declares || is_defined) continue;
    is_defined = true;
    text.line(fmt::format("{}, {}", definition, place_text(view.document, each.at.begin)));
  }
  if (!is_defined) text.line("not defined in this document");
  text.line(used_text(uses));
}

/// The words from `begin` to the first `:` outside of parentheses and brackets.
std::string_view label_of_block(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += c == '(' || c == '[' || c == '<' ? 1 : c == ')' || c == ']' || c == '>' ? -1 : 0;
    if (c == '\n' || (c == ':' && depth <= 0)) return text.substr(0, i);
  }
  return text;
}

/// The words of the row of a type or attribute of a dialect.
void add_type_row(const View& view, const Named& named, HoverText& text) {
  for (const Dialect* dialect : view.rows.dialects()) {
    if (dialect->name != named.dialect) continue;
    const auto rows = named.kind == NameKind::kType ? dialect->types : dialect->attribute_kinds;
    const auto row = std::ranges::find(rows, named.name, &TypeRow::name);
    if (row == rows.end()) continue;
    if (!row->summary.empty()) text.line(std::string(row->summary));
    for (const AttrRow& each : row->parameters) {
      text.line(text.code(attribute_signature(each)) +
                (each.summary.empty() ? "" : ": " + std::string(each.summary)));
    }
    return;
  }
  text.line("no registered dialect has this name");
}

Json hover_named(const View& view, const Named& named, bool markdown) {
  HoverText text(markdown);
  const Span at = named.mention.at;
  switch (named.kind) {
    case NameKind::kTypeAlias:
    case NameKind::kAttributeAlias: {
      const std::string name = (named.kind == NameKind::kTypeAlias ? "!" : "#") + named.name;
      const std::string_view value = alias_value(view, name);
      text.line(text.code(value.empty() ? name : fmt::format("{} = {}", name, value)) +
                bytes_of(view.rows, value));
      add_places(view, named, "alias", text);
      break;
    }
    case NameKind::kPort: {
      const bool has_value = named.value != kNone;
      const std::string_view value =
          has_value ? view.outline().values[named.value].name : std::string_view();
      text.line(fmt::format("port {} of {}", text.code(named.name),
                            text.code(fmt::format("%{}", value))));
      text.line("the name under which runs read the input or output");
      break;
    }
    case NameKind::kBlock: {
      std::string label = "^" + named.name;
      for (const NameMention& each : mentions_of(view, named)) {
        const std::string_view rest = view.document.text().substr(each.at.begin - Document::kBase);
        if (each.declares) label = label_of_block(rest);
      }
      text.line(text.code(label));
      add_places(view, named, "block", text);
      break;
    }
    case NameKind::kExtent:
      text.line(text.code("$" + named.name));
      add_places(view, named, named.is_declared ? "variable of the declaration" : "extent", text);
      break;
    case NameKind::kType:
    case NameKind::kAttribute:
      text.line(text.code(fmt::format("{}{}.{}", named.kind == NameKind::kType ? '!' : '#',
                                      named.dialect, named.name)));
      add_type_row(view, named, text);
      break;
    default:
      return nullptr;
  }
  return text.json(view.document, at);
}

Json hover_word(const View& view, SourcePos at, bool markdown) {
  const auto named = named_at(view, at);
  return named ? hover_named(view, *named, markdown) : Json(nullptr);
}

Json hover_module(const View& view, const OutlineOp& module, bool markdown) {
  HoverText text(markdown);
  std::string_view head = view.text(module.is_damaged ? module.name : module.head);
  if (head.ends_with('{')) head.remove_suffix(1);
  text.line(text.code(head.substr(0, head.find_last_not_of(" \t\r\n") + 1)));
  text.line(module.is_portable ? "portable module" : "module of a dump");
  return text.json(view.document, module.name);
}

Json hover_op(const View& view, const OutlineOp& op, bool markdown) {
  HoverText text(markdown);
  text.line(text.code(op_signature(view.text(op.name), op.row)));
  if (op.row == nullptr) {
    text.line("no registered dialect has this op");
    return text.json(view.document, op.name);
  }
  const OpRow& row = *op.row;
  if (!row.summary.empty()) text.line(std::string(row.summary));
  for (const AttrRow& each : row.attributes) {
    text.line(text.code(attribute_signature(each)) +
              (each.summary.empty() ? "" : ": " + std::string(each.summary)));
  }
  if (const std::string cost = cost_text(view, op.name.begin); !cost.empty()) text.line(cost);
  if (!row.example.empty()) text.line("example: " + text.code(row.example));
  if (!row.page.empty()) text.line(fmt::format("docs/ops/{}.md", row.page));
  return text.json(view.document, op.name);
}

/// Returns the row of the attribute whose key in the op's own list is at the place; null if none
/// is.
const AttrRow* attribute_at(const View& view, const OutlineOp& op, SourcePos at, Span& key) {
  std::vector<const AttrRow*> rows;
  if (op.row != nullptr) {
    for (const AttrRow& each : op.row->attributes) rows.push_back(&each);
  }
  const auto common = common_attributes(view, at, view.text(op.name));
  rows.insert(rows.end(), common.begin(), common.end());
  const std::string_view head = view.text(op.head);
  for (const AttrRow* row : rows) {
    const AttrRow& each = *row;
    for (std::size_t found = head.find(each.name); found != head.npos;
         found = head.find(each.name, found + 1)) {
      const auto begin = op.head.begin + static_cast<SourcePos>(found);
      const auto end = begin + static_cast<SourcePos>(each.name.size());
      const bool is_key = found != 0 &&
                          std::string_view("[, ").find(head[found - 1]) != head.npos &&
                          head.substr(found + each.name.size(), 1) == ":";
      if (!is_key || at < begin || at > end) continue;
      key = {begin, end};
      return &each;
    }
  }
  return nullptr;
}

}  // namespace

std::string type_text(const View& view, std::uint32_t index) {
  const Outline& outline = view.outline();
  const OutlineValue& value = outline.values[index];
  const auto stated = [&](std::uint32_t mention) {
    const Span type = outline.mentions[mention].type;
    return type.known() ? std::string(view.text(type)) : std::string();
  };
  if (value.definition != kNone) {
    const Mention& definition = outline.mentions[value.definition];
    if (definition.type.known()) return stated(value.definition);
    if (definition.op != kNone && !outline.ops[definition.op].is_module) {
      const Op* op = view.op_named_at(outline.ops[definition.op].name.begin);
      const bool is_result = definition.at.begin < outline.ops[definition.op].head.end;
      if (op != nullptr && is_result && definition.index < op->result_count()) {
        const Type* type = op->result(definition.index)->type();
        if (type != nullptr) return std::string(type->spelling());
      }
    }
  }
  for (const std::uint32_t mention : value.mentions) {
    if (outline.mentions[mention].type.known()) return stated(mention);
  }
  return "";
}

Json hover(const View& whole, SourcePos at, bool markdown, const WeightFiles& weights) {
  const View view = whole.near({at, at});
  const Outline& outline = view.outline();
  if (const std::uint32_t mention = outline.mention_at(at); mention != kNone) {
    return hover_value(view, mention, markdown);
  }
  if (outline.symbol_at(at) != kNone) {
    return hover_symbol(whole, whole.outline().symbol_at(at), markdown, weights);
  }
  if (outline.layer_at(at) != kNone) {
    const auto named = named_at(whole, at);
    if (named && named->kind == NameKind::kLayer) {
      return hover_layer(whole, *named, markdown, weights);
    }
  }
  const std::uint32_t index = outline.op_at(at);
  if (index == kNone) return hover_word(whole, at, markdown);
  const OutlineOp& op = outline.ops[index];
  if (at >= op.name.begin && at <= op.name.end) {
    return op.is_module ? hover_module(view, op, markdown) : hover_op(view, op, markdown);
  }
  Span key;
  if (const AttrRow* row = attribute_at(view, op, at, key)) {
    HoverText text(markdown);
    text.line(text.code(attribute_signature(*row)));
    if (!row->summary.empty()) text.line(std::string(row->summary));
    return text.json(view.document, key);
  }
  return hover_word(whole, at, markdown);
}

Json inlay_hints(const View& whole, Span in) {
  const View view = whole.near(in);
  Json hints = Json::array();
  const Outline& outline = view.outline();
  for (const Mention& each : outline.mentions) {
    view.check_stop();
    if (each.at.begin < in.begin || each.at.end > in.end) continue;
    if (!each.defines || each.type.known() || each.value == kNone) continue;
    const std::string type = type_text(view, each.value);
    if (type.empty()) continue;
    hints.push_back({{"position", view.document.range({each.at.end, each.at.end})["start"]},
                     {"label", ":" + type},
                     {"kind", 1}});
  }
  return hints;
}

Json diagnostic_json(const Document& document, const Diagnostic& diagnostic,
                     bool related_information) {
  std::string text;
  append_finding(text, document, diagnostic, related_information);
  return Json::parse(text);
}

}  // namespace mir::lsp
