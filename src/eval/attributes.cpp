#include "eval/attributes.hpp"

#include <charconv>

#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

template <class T>
T read_number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

const Attr* AttributeReader::find(std::string_view key) const {
  const IRContext& context = op_.module().context();
  for (const NamedAttr& each : attributes_) {
    if (context.text(each.key) == key) return each.value;
  }
  return nullptr;
}

std::string_view AttributeReader::default_text(std::string_view key) const {
  for (const AttrRow& row : op_.row()->attributes) {
    if (row.name == key) return row.default_text;
  }
  return {};
}

std::int64_t AttributeReader::integer(std::string_view key) const {
  const Attr* value = find(key);
  return value != nullptr ? value->integer() : read_number<std::int64_t>(default_text(key));
}

std::vector<std::int64_t> AttributeReader::integers(std::string_view key) const {
  const Attr* value = find(key);
  if (value == nullptr) return {};
  if (value->kind() == AttrKind::kInt) return {value->integer()};
  std::vector<std::int64_t> values;
  for (const Attr* entry : value->elements()) values.push_back(entry->integer());
  return values;
}

double AttributeReader::number(std::string_view key) const {
  const Attr* value = find(key);
  return value != nullptr ? value->number() : read_number<double>(default_text(key));
}

bool AttributeReader::boolean(std::string_view key) const {
  const Attr* value = find(key);
  return value != nullptr ? value->boolean() : default_text(key) == "true";
}

std::string_view AttributeReader::string(std::string_view key) const {
  const Attr* value = find(key);
  return value != nullptr ? value->text() : default_text(key);
}

}  // namespace mir
