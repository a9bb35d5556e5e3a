// Finds the source ranges of attributes, mentions and names by scanning the text of their op.
#include "ir/op_places.hpp"

#include <string>

#include "ir/ports.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir {

std::optional<OpText> text_of(const Op& op) {
  const Span name = op.span();
  IRContext& context = op.module().context();
  const SourceFile* file = context.sources().file_of(name.begin);
  if (file == nullptr) return std::nullopt;
  const bool is_module = &op == op.module().top();
  const std::string_view found = file->slice(name);
  const bool stands =
      is_module ? found.starts_with('@') : found == context.text(op.op_name().spelling);
  return stands ? std::optional<OpText>(std::in_place, *file, name) : std::nullopt;
}

namespace {

Span entry(const OpText& text, const AttributePlace& place, std::string_view in) {
  const Span found = place.part == AttributePart::kKey ? text.entry_key(in, place.key)
                                                       : text.entry_value(in, place.key);
  return found.known() ? found : text.value(in);
}

Span own(const OpText& text, const AttributePlace& place) {
  const Span at = place.part == AttributePart::kKey ? text.key(place.key) : text.value(place.key);
  return at.known() ? at : entry(text, place, key::kOpOptions);
}

Span known_or_op(Span at, const Op& op) {
  return at.known() ? at : op.span();
}

}  // namespace

std::optional<OpText> OpPlaces::text_for(const Op& op) {
  found_ = &op == op_ ? found_ : 0;
  op_ = &op;
  return ++found_ > kMost ? std::nullopt : text_of(op);
}

Span OpPlaces::find(const Op& op, const AttributePlace& place) {
  if (place.key.empty()) return op.span();
  const std::optional<OpText> text = text_for(op);
  if (!text) return op.span();
  Span at;
  if (place.of != nullptr) {
    const std::string name = name_text(place.of->name(), op.module().context());
    at = place.part == AttributePart::kKey ? text->mention_key(name, place.key)
                                           : text->mention_value(name, place.key);
  } else {
    at = place.in.empty() ? own(*text, place) : entry(*text, place, place.in);
  }
  return known_or_op(at, op);
}

Span OpPlaces::find(const Op& op, const MentionPlace& place) {
  const std::optional<OpText> text = text_for(op);
  if (!text) return op.span();
  const std::uint32_t operands = place.is_result ? op.operand_count() : place.index;
  const std::uint32_t results = place.is_result ? place.index : 0;
  const ValueName name =
      (place.is_result ? op.result(place.index) : op.operand(place.index))->name();
  const auto is_named = [&](const Value* value) { return value->name() == name; };
  std::size_t earlier = 0;
  for (std::uint32_t i = 0; i < operands; ++i) earlier += is_named(op.operand(i));
  for (std::uint32_t i = 0; i < results; ++i) earlier += is_named(op.result(i));
  return known_or_op(text->mention(name_text(name, op.module().context()), earlier), op);
}

Span OpPlaces::find(const Op& op, const NamePlace& place) {
  const std::optional<OpText> text = text_for(op);
  if (!text) return op.span();
  return known_or_op(text->mention(name_text(place.name, op.module().context())), op);
}

Span OpPlaces::find(const Op& op, const ParameterPlace& place) {
  const std::optional<OpText> text = text_for(op);
  if (!text) return op.span();
  return known_or_op(text->mention_symbol(name_text(place.name, op.module().context())), op);
}

Span OpPlaces::find(const Op& op, SymbolPlace) {
  const std::optional<OpText> text = text_for(op);
  return known_or_op(text ? text->first(TokenKind::kSymbol) : Span{}, op);
}

Span OpPlaces::find(const Op& op, const TypeWordPlace& place) {
  const std::optional<OpText> text = text_for(op);
  return known_or_op(text ? text->type_word(place.word) : Span{}, op);
}

Span value_span(const SourceManager& sources, Span op, std::string_view key) {
  const SourceFile* file = sources.file_of(op.begin);
  const Span at = file == nullptr ? Span{} : own(OpText(*file, op), {key});
  return at.known() ? at : op;
}

}  // namespace mir
