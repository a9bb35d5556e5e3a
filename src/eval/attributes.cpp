#include "eval/attributes.hpp"

#include <charconv>

#include "mir/context.hpp"
#include "mir/module.hpp"
#include "support/number_text.hpp"
#include "weights/elements.hpp"

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

std::string_view AttributeReader::number_text(std::string_view key) const {
  const Attr* value = find(key);
  return value != nullptr ? value->spelling() : default_text(key);
}

Result<Tensor> AttributeReader::element(std::string_view key, DType dtype) const {
  return element_of(dtype, number_text(key));
}

ref::Sequence AttributeReader::sequence() const {
  const auto whole = [&](std::string_view key) -> std::optional<std::uint64_t> {
    const auto number = Decimal::read(number_text(key));
    const auto magnitude = number && number->is_whole() ? number->whole_part() : std::nullopt;
    if (!magnitude) return std::nullopt;
    return number->is_negative() ? 0 - *magnitude : *magnitude;
  };
  ref::Sequence sequence{.start = number("start"), .step = number("step")};
  const auto start = whole("start"), step = whole("step");
  if (start && step) sequence.whole = {.start = *start, .step = *step};
  return sequence;
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
