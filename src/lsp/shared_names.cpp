// Finds mentions of ops, types and attributes of declared dialects, and of the ops' attributes.
#include "lsp/shared_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lsp/words.hpp"

namespace mir::lsp {

namespace {

bool is_dialect_name(NameKind kind) {
  return kind == NameKind::kOp || kind == NameKind::kType || kind == NameKind::kAttribute;
}

/// True if a text declares the dialect: it is in the document, or another text.
bool is_declared_dialect(const View& view, std::string_view name) {
  const Dialect* dialect = view.rows.find_dialect(name);
  return dialect != nullptr && !dialect->text.empty();
}

bool has_attribute(const View& view, const Named& op, std::string_view key) {
  const auto kind = view.rows.find_kind(fmt::format("{}.{}", op.dialect, op.name));
  const OpRow* row = kind ? view.rows.info(*kind).row.get() : nullptr;
  return row != nullptr &&
         std::ranges::find(row->attributes, key, &AttrRow::name) != row->attributes.end();
}

/// The op with the key of an attribute at a place.
std::optional<SharedName> used_key_at(const View& view, SourcePos at) {
  const std::uint32_t index = view.outline().op_at(at);
  if (index == kNone || view.outline().ops[index].is_module) return std::nullopt;
  std::optional<Span> key;
  for_each_word(view, {at, at}, [&](TokenKind kind, Span word) {
    if (kind == TokenKind::kKey && word.begin <= at && at <= word.end) key = word;
  });
  if (!key) return std::nullopt;
  auto op = named_at(view, view.outline().ops[index].name.end);
  if (!op || op->kind != NameKind::kOp || !is_declared_dialect(view, op->dialect)) {
    return std::nullopt;
  }
  if (!has_attribute(view, *op, view.text(*key))) return std::nullopt;
  return SharedName{*std::move(op), std::string(view.text(*key)), {.at = *key}};
}

}  // namespace

std::optional<SharedName> shared_name_at(const View& view, SourcePos at) {
  auto named = named_at(view, at);
  if (!named) return used_key_at(view, at);
  if (is_dialect_name(named->kind)) {
    const bool is_shared = named->symbol != kNone || is_declared_dialect(view, named->dialect);
    if (!is_shared) return std::nullopt;
    const NameMention mention = named->mention;
    return SharedName{*std::move(named), "", mention};
  }
  if (named->kind != NameKind::kExtent || !named->is_declared) return std::nullopt;
  auto op = op_of_variable(view, *named);
  if (!op || !has_attribute(view, *op, named->name)) return std::nullopt;
  return SharedName{*std::move(op), named->name, named->mention};
}

SharedMentions mentions_of(const View& view, const SharedName& shared) {
  Named named = shared.named;
  named.symbol = declaring_symbol(view, named);
  if (shared.key.empty()) return {mentions_of(view, named), named.symbol != kNone};
  if (const auto variable = declared_variable(view, named, shared.key)) {
    return {mentions_of(view, *variable), true};
  }
  return {used_keys(view, named, shared.key), false};
}

}  // namespace mir::lsp
