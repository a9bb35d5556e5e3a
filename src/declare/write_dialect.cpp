// A dialect as the module that declares it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "declare/words.hpp"
#include "dialects/parameters.hpp"
#include "dialects/signatures.hpp"
#include "mir/dialects.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "support/characters.hpp"
#include "syntax/text_literal.hpp"

namespace mir {

namespace {

using namespace declare;

std::string word(std::string_view text) {
  return is_bare_word(text) ? std::string(text) : quote(text);
}

/// A key of a list or dictionary, which may be no number and contain no dot.
std::string key_text(std::string_view text) {
  return is_identifier(text) ? std::string(text) : quote(text);
}

/// The entries of a list of attributes or of a dictionary.
class Entries {
 public:
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}{}:{}", text_.empty() ? "" : ", ", key_text(key), value);
  }
  /// Leaves out empty texts.
  void add_text(std::string_view key, std::string_view text) {
    if (!text.empty()) add(key, quote(text));
  }
  void add_list(std::string_view key, std::span<const std::string> elements) {
    if (!elements.empty()) add(key, fmt::format("[{}]", fmt::join(elements, ", ")));
  }
  void add_entries(std::string_view key, const Entries& inner) {
    if (!inner.text_.empty()) add(key, inner.in("{", "}"));
  }
  std::string in(std::string_view open, std::string_view close) const {
    return fmt::format("{}{}{}", open, text_, close);
  }
  std::string list() const { return text_.empty() ? "" : in(" [", "]"); }

 private:
  std::string text_;
};

std::vector<std::string> words_of(std::span<const std::string_view> texts) {
  std::vector<std::string> all;
  for (const std::string_view each : texts) all.push_back(word(each));
  return all;
}

template <class Value>
std::vector<std::string> words_in(std::span<const RowWord<Value>> words, Value set) {
  std::vector<std::string> all;
  for (const RowWord<Value>& each : words) {
    if (has(set, each.value)) all.emplace_back(each.name);
  }
  return all;
}

std::string default_of(const AttrRow& row) {
  switch (row.type) {
    case AttrType::kString:
    case AttrType::kDType:
    case AttrType::kDevice:
      return word(row.default_text);
    default:
      return std::string(row.default_text);
  }
}

/// The description of an attribute or parameter. A parameter without a default is required.
Entries row_entries(const AttrRow& row, bool is_parameter) {
  Entries made;
  const auto type = std::ranges::find(kTypeWords, row.type, &RowWord<AttrType>::value);
  assert(type != std::end(kTypeWords));
  made.add("type", type->name);
  if (row.required && !is_parameter) made.add("required", "true");
  if (!row.default_text.empty()) made.add("default", default_of(row));
  made.add_list("choices", words_of(row.choices));
  if (row.range != AttrRange()) {
    made.add("range", fmt::format("[{}, {}]", row.range.low, row.range.high));
  }
  made.add_text("config", row.config);
  made.add_text("summary", row.summary);
  return made;
}

Entries rows_entries(std::span<const AttrRow> rows, bool are_parameters) {
  Entries all;
  for (const AttrRow& each : rows) all.add_entries(each.name, row_entries(each, are_parameters));
  return all;
}

Entries weight_entries(std::span<const WeightRow> weights) {
  Entries all;
  for (const WeightRow& each : weights) {
    Entries made;
    made.add_text("shape", each.shape);
    if (!each.present_if.empty()) made.add("present_if", word(each.present_if));
    all.add_entries(each.suffix.substr(1), made);
  }
  return all;
}

/// Operands or results: those that are typed first, then others as the arity of the row has them.
std::string parts_text(std::span<const std::string_view> typed, Arity arity, char letter) {
  const std::size_t most =
      arity.max == Arity::kMany ? std::max<std::size_t>({typed.size(), arity.min, 1}) : arity.max;
  std::string text;
  for (std::size_t i = 0; i < most; ++i) {
    text += i == 0 ? "" : ", ";
    text += i < typed.size() ? std::string(typed[i]) : fmt::format("%{}{}", letter, i);
    Entries marks;
    if (arity.max == Arity::kMany && i + 1 == most) marks.add("many", "true");
    if (i >= arity.min) marks.add("optional", "true");
    text += marks.list().empty() ? "" : marks.in("[", "]");
  }
  return fmt::format("({})", text);
}

template <std::size_t N>
std::span<const std::string_view> filled(const std::array<std::string_view, N>& parts) {
  const auto end = std::ranges::find(parts, std::string_view());
  return std::span(parts).first(static_cast<std::size_t>(end - parts.begin()));
}

/// The signatures of the rule of a row that have a number of operands which the row admits, or its
/// only one.
std::vector<RuleSignature> signatures_of_row(const OpRow& row) {
  const auto all = signatures_of(row.infer);
  std::vector<RuleSignature> fitting;
  std::ranges::copy_if(all, std::back_inserter(fitting), [&](const RuleSignature& each) {
    return row.operands.admits(filled(each.operands).size());
  });
  if (fitting.empty()) fitting.assign(all.begin(), all.end());
  if (fitting.empty()) fitting.emplace_back();
  return fitting;
}

/// `(operands) -> (results)`. Only the last of several signatures has operands that are not listed.
std::string signature_text(const OpRow& row, const RuleSignature& signature, bool is_only,
                           bool is_last) {
  const auto operands = filled(signature.operands), results = filled(signature.results);
  const auto count = static_cast<std::uint16_t>(operands.size());
  Arity arity = row.operands;
  if (!is_only) arity = is_last ? Arity{count, row.operands.max} : exactly(count);
  const std::size_t known = std::min<std::size_t>(results.size(), row.results.max);
  return fmt::format(
      "{} -> {}", parts_text(operands.first(std::min<std::size_t>(count, arity.max)), arity, 'x'),
      parts_text(results.first(known), row.results, 'y'));
}

/// Lists the facts about an op that a declaration has no words for.
std::string document_of(const OpRow& row) {
  std::vector<std::string_view> all;
  if (row.infer && signatures_of(row.infer).empty()) all.push_back("the types of its results");
  if (row.resource && row.resource != ResourceFn(cache_of)) all.push_back("the state it touches");
  if (row.region_flow) all.push_back("the flow between its regions");
  if (row.callee) all.push_back("the graph that it calls");
  if (row.fold) all.push_back("its folding");
  if (row.verify) all.push_back("further constraints");
  if (row.body) all.push_back("its body");
  if (row.work) all.push_back("its work");
  return all.empty() ? "" : fmt::format("Only code has {}.", fmt::join(all, ", "));
}

void add_arity(Entries& made, std::string_view key, Arity arity) {
  if (arity.max == 0) return;
  made.add(key, fmt::format("[{}, {}]", arity.min,
                            arity.max == Arity::kMany ? "inf" : fmt::to_string(arity.max)));
}

std::string op_text(const OpRow& row) {
  const auto signatures = signatures_of_row(row);
  Entries made;
  made.add_entries("attributes", rows_entries(row.attributes, false));
  made.add_list("traits", words_in<Trait>(kTraitWords, row.traits));
  made.add_list("effects", words_in<Effect>(kEffectWords, row.effects));
  if (row.resource && row.resource == ResourceFn(cache_of)) made.add("resource", "cache");
  made.add_entries("weights", weight_entries(row.weights));
  add_arity(made, "regions", row.regions);
  add_arity(made, "successors", row.successors);
  Entries lets, conditions;
  for (const RuleSignature& each : signatures) {
    for (const SignatureEntry& let : each.let) lets.add_text(let.key, let.text);
    conditions.add_text(each.where.key, each.where.text);
  }
  made.add_entries("let", lets);
  made.add_entries("where", conditions);
  made.add_list("aliases", words_of(row.aliases));
  if (!row.type_name.empty()) made.add("type_name", word(row.type_name));
  made.add_text("summary", row.summary);
  made.add_text("document", document_of(row));
  made.add_text("example", row.example);
  std::string text = fmt::format("dialect.OpOp @{}{} {{\n", word(row.name), made.list());
  for (const RuleSignature& each : signatures) {
    text += fmt::format("{} {{\n}}\n", signature_text(row, each, signatures.size() == 1,
                                                      &each == &signatures.back()));
  }
  return text + "}\n";
}

std::string type_text(std::string_view declaration, const TypeRow& row) {
  Entries made;
  made.add_entries("parameters", rows_entries(row.parameters, true));
  made.add_text("summary", row.summary);
  if (row.verify) made.add_text("document", "Only code has further constraints.");
  made.add_text("example", row.example);
  return fmt::format("{} @{}{} () -> ()\n", declaration, word(row.name), made.list());
}

/// The text in any form.
std::string plain_text(const Dialect& dialect) {
  Entries head;
  head.add("mir_version", "2");
  head.add_text("summary", dialect.summary);
  if (dialect.device_in_path) head.add("device_in_path", "true");
  if (dialect.attributes == AttrPosition::kAfterResults) head.add("attributes_last", "true");
  std::string text = fmt::format("@{}{} () -> () {{\n", dialect.name, head.list());
  for (const TypeRow& row : dialect.types) text += type_text("dialect.TypeOp", row);
  for (const TypeRow& row : dialect.attribute_kinds) text += type_text("dialect.AttributeOp", row);
  for (const OpRow& row : dialect.rows) text += op_text(row);
  return text + "}\n";
}

}  // namespace

std::string dialect_text(const Dialect& dialect) {
  if (!dialect.text.empty()) return std::string(dialect.text);
  // Without a reader of declarations, the module is only a module.
  IRContext context;
  for (const Dialect* each : builtin_dialects()) {
    [[maybe_unused]] const auto registered = context.register_dialect(*each);
    assert(registered.ok());
  }
  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add(std::string(dialect.name), plain_text(dialect));
  const auto modules = read_modules(*file, context, diagnostics);
  assert(!diagnostics.has_errors() && modules.size() == 1);
  return print(*modules.front());
}

}  // namespace mir
