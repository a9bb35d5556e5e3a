// Reads attributes of an op, or the defaults of its row.
#include "mir/op_attributes.hpp"

#include "mir/module.hpp"
#include "support/number_text.hpp"

namespace mir {

const Attr* OpAttributes::attribute(KeyRef key) const {
  return find_attribute(op_->module().context(), attributes_, key);
}

std::string_view OpAttributes::default_text(KeyRef key) const {
  for (const AttrRow& row : op_->row()->attributes) {
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

double OpAttributes::number(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->number() : read_number(default_text(key)).value_or(0);
}

std::string_view OpAttributes::number_text(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->spelling() : default_text(key);
}

bool OpAttributes::boolean(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->boolean() : default_text(key) == "true";
}

std::string_view OpAttributes::string(KeyRef key) const {
  const Attr* value = attribute(key);
  return value != nullptr ? value->text() : default_text(key);
}

}  // namespace mir
