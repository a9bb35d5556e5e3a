// Finds the source range of an attribute by scanning the text of its op.
#include "ir/attribute_place.hpp"

#include <string>

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

std::string spelling_of(const Op& op, ValueName name) {
  return name.is_number() ? std::to_string(name.number())
                          : std::string(op.module().context().text(name.symbol()));
}

Span entry(const OpText& text, const AttributePlace& place, std::string_view in) {
  const Span found = place.part == AttributePart::kKey ? text.entry_key(in, place.key)
                                                       : text.entry_value(in, place.key);
  return found.known() ? found : text.value(in);
}

Span own(const OpText& text, const AttributePlace& place) {
  const Span at = place.part == AttributePart::kKey ? text.key(place.key) : text.value(place.key);
  return at.known() ? at : entry(text, place, key::kOpOptions);
}

}  // namespace

Span AttributePlaces::find(const Op& op, const AttributePlace& place) {
  found_ = &op == op_ ? found_ : 0;
  op_ = &op;
  if (place.key.empty() || ++found_ > kMost) return op.span();
  const std::optional<OpText> text = text_of(op);
  if (!text) return op.span();
  Span at;
  if (place.of != nullptr) {
    const std::string name = spelling_of(op, place.of->name());
    at = place.part == AttributePart::kKey ? text->mention_key(name, place.key)
                                           : text->mention_value(name, place.key);
  } else {
    at = place.in.empty() ? own(*text, place) : entry(*text, place, place.in);
  }
  return at.known() ? at : op.span();
}

Span value_span(const SourceManager& sources, Span op, std::string_view key) {
  const SourceFile* file = sources.file_of(op.begin);
  const Span at = file == nullptr ? Span{} : own(OpText(*file, op), {key});
  return at.known() ? at : op;
}

}  // namespace mir
