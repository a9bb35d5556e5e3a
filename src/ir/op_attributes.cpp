#include "mir/op_attributes.hpp"

#include <fmt/format.h>

#include "mir/module.hpp"
#include "support/number_text.hpp"
#include "weights/elements.hpp"

namespace mir {

double NumberText::value() const {
  return read_number(text).value_or(0);
}

Result<Tensor> NumberText::element(DType dtype) const {
  return element_of(dtype, text);
}

const Attr* OpAttributes::attribute(KeyRef key) const {
  const IRContext& context = op_.module().context();
  for (const NamedAttr& each : attributes_) {
    const bool is_it = key.symbol ? each.key == key.symbol : context.text(each.key) == key.text;
    if (is_it) return each.value;
  }
  return nullptr;
}

std::string_view OpAttributes::default_text(KeyRef key) const {
  for (const AttrRow& row : op_.row()->attributes) {
    if (row.name == key.text) return row.default_text;
  }
  return {};
}

std::int64_t OpAttributes::integer(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->integer() : read_integer(default_text(key)).value_or(0);
}

std::vector<std::int64_t> OpAttributes::integers(KeyRef key) const {
  const Attr* value = attribute(key);
  if (value == nullptr) return {};
  if (value->kind() == AttrKind::kInt) return {value->integer()};
  std::vector<std::int64_t> values;
  for (const Attr* entry : value->elements()) values.push_back(entry->integer());
  return values;
}

NumberText OpAttributes::number_text(KeyRef key) const {
  const Attr* value = attribute(key);
  return {value != nullptr ? value->spelling() : default_text(key)};
}

double OpAttributes::number(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->number() : NumberText{default_text(key)}.value();
}

bool OpAttributes::boolean(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->boolean() : default_text(key) == "true";
}

std::string_view OpAttributes::string(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->text() : default_text(key);
}

Op* build_op(Builder& builder, OpId op, std::span<Value* const> operands,
             std::initializer_list<NamedAttr> attributes, const OpPlace& place) {
  IRContext& context = builder.context();
  const OpName name = context.op_name(op, context.intern(place.device));
  Builder::Attributes stated;
  for (const NamedAttr& each : attributes) {
    if (each.value != nullptr) stated.emplace_back(context.text(each.key), each.value);
  }
  return builder.create(context.text(name.spelling), operands, stated, place.path);
}

}  // namespace mir
