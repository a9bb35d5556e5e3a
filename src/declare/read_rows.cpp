// Reads attribute rows, traits and effects of declared ops.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "declare/reader.hpp"
#include "ir/context/attribute_type.hpp"
#include "ir/context/row_checks.hpp"
#include "mir/codes/names.hpp"
#include "mir/equivalence.hpp"
#include "mir/module.hpp"
#include "support/characters.hpp"
#include "support/suggest.hpp"

namespace mir::declare {

namespace {

template <class Rows>
std::string choices_of(std::string_view word, const Rows& rows) {
  NearestName nearest(word);
  std::string all;
  for (const auto& each : rows) {
    nearest.offer(each.name);
    all += fmt::format("{}'{}'", all.empty() ? "" : ", ", each.name);
  }
  return nearest.best().empty() ? fmt::format(", expected one of {}", all)
                                : fmt::format(" (did you mean '{}'?)", nearest.best());
}

bool has_default(AttrType type) {
  switch (type) {
    case AttrType::kInt:
    case AttrType::kFloat:
    case AttrType::kBool:
    case AttrType::kDim:
    case AttrType::kDims:
    case AttrType::kInts:
    case AttrType::kString:
    case AttrType::kDType:
    case AttrType::kDevice:
      return true;
    default:
      return false;
  }
}

/// True if a default says that an absent attribute stands for nothing: `?` of an extent, `null` of
/// anything.
bool says_none(AttrType type, const Attr& value) {
  return (type == AttrType::kDim && value.kind() == AttrKind::kDim && value.dim().is_unknown()) ||
         (type == AttrType::kAny && value.kind() == AttrKind::kNull);
}

std::optional<double> bound_of(const Attr& value) {
  if (value.kind() == AttrKind::kInt || value.kind() == AttrKind::kFloat) return value.number();
  if (value.kind() == AttrKind::kString && value.text() == "inf") return AttrRange().high;
  return std::nullopt;
}

std::optional<std::uint16_t> count_of(const Attr& value) {
  const auto number = bound_of(value);
  if (!number || *number < 0) return std::nullopt;
  if (*number == AttrRange().high) return Arity::kMany;
  if (*number >= Arity::kMany || value.kind() != AttrKind::kInt) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

}  // namespace

std::vector<std::string_view> words_of_shape(std::string_view shape) {
  std::vector<std::string_view> words;
  if (!shape.starts_with('[') || !shape.ends_with(']')) return words;
  std::string_view rest = shape.substr(1, shape.size() - 2);
  while (!rest.empty()) {
    int depth = 0;
    std::size_t end = 0;
    for (; end < rest.size() && (depth != 0 || rest[end] != ','); ++end) {
      depth += rest[end] == '(' || rest[end] == '[' ? 1 : 0;
      depth -= rest[end] == ')' || rest[end] == ']' ? 1 : 0;
    }
    std::string_view word = rest.substr(0, end);
    while (word.starts_with(' ')) word.remove_prefix(1);
    words.push_back(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

bool is_expression(std::string_view extent) {
  return extent.find('$') != extent.npos || (!extent.empty() && is_digit(extent.front()));
}

bool RowReader::refuse(std::string message, const AttributePlace& place) {
  has_failed_ = true;
  diagnostics_.error(diag::kBadDeclaration, places_.find(op_, place),
                     fmt::format("{}: {}", subject_, message));
  return false;
}

AttrType RowReader::type_named(const Attr& word, std::string_view name) {
  const auto found = std::ranges::find(kTypeWords, word.text(), &RowWord<AttrType>::name);
  if (word.kind() == AttrKind::kString && found != std::end(kTypeWords)) return found->value;
  refuse(fmt::format("'{}' of '{}' is no type of attributes{}", word.spelling(), name,
                     choices_of(word.text(), kTypeWords)),
         entry(name));
  return AttrType::kAny;
}

bool RowReader::set_default(AttrRow& row, const Attr& value) {
  IRContext& context = op_.module().context();
  if (says_none(row.type, value)) {
    row.default_text = value.spelling();
    return true;
  }
  if (!has_default(row.type)) {
    return refuse(
        fmt::format("'{}' cannot have a default: no text of its type can be one", row.name),
        entry(row.name));
  }
  if (!admits(row, value)) {
    return refuse(fmt::format("the default of '{}' is {}, expected {}", row.name, value.spelling(),
                              expected_value(row)),
                  entry(row.name));
  }
  if (row.type == AttrType::kFloat) {
    row.default_text = context.number(value.number())->spelling();
  } else {
    row.default_text = value.kind() == AttrKind::kString ? value.text() : value.spelling();
  }
  const Attr* read = default_value(context, row);
  // A text for a list keeps its numbers, not symbols of extents.
  const bool is_whole = row.type != AttrType::kDims || read == &value;
  if (read != nullptr && admits(row, *read) && is_whole) return true;
  return refuse(fmt::format("the default of '{}' cannot be {}", row.name, value.spelling()),
                entry(row.name));
}

bool RowReader::read_part(AttrRow& row, std::string_view key, const Attr& value) {
  if (key == "type" || key == "default") return true;  // read first, and last
  if (key == "required") {
    row.required = value.boolean();
    return value.kind() == AttrKind::kBool ||
           refuse(fmt::format("'required' of '{}' is neither true nor false", row.name),
                  entry(row.name));
  }
  if (key == "summary") {
    row.summary = value.text();
    return value.kind() == AttrKind::kString ||
           refuse(fmt::format("'summary' of '{}' is no text", row.name), entry(row.name));
  }
  if (key == "config") {
    row.config = value.text();
    return (value.kind() == AttrKind::kString && !row.config.empty()) ||
           refuse(fmt::format("'config' of '{}' is {}, expected the key of a configuration such as "
                              "\"rope_scaling.factor\"",
                              row.name, value.spelling()),
                  entry(row.name));
  }
  if (key == "choices") {
    std::vector<std::string_view>& list = store_.lists.emplace_back();
    for (const Attr* each : value.elements()) {
      if (each->kind() == AttrKind::kString) list.push_back(each->text());
    }
    row.choices = list;
    return (!list.empty() && list.size() == value.elements().size()) ||
           refuse(fmt::format("'choices' of '{}' is no list of words", row.name), entry(row.name));
  }
  if (key == "range") {
    const auto bounds = value.elements();
    const auto low = bounds.size() == 2 ? bound_of(*bounds[0]) : std::nullopt;
    const auto high = bounds.size() == 2 ? bound_of(*bounds[1]) : std::nullopt;
    if (!low || !high) {
      return refuse(fmt::format("'range' of '{}' is {}, expected the least and the greatest number",
                                row.name, value.spelling()),
                    entry(row.name));
    }
    row.range = {*low, *high};
    return true;
  }
  struct Key {
    std::string_view name;
  };
  constexpr Key kKeys[] = {{"type"},  {"required"}, {"default"}, {"choices"},
                           {"range"}, {"summary"},  {"config"}};
  return refuse(fmt::format("'{}' of '{}' means nothing{}", key, row.name, choices_of(key, kKeys)),
                entry(row.name));
}

AttrRow RowReader::row(std::string_view name, const Attr& stated) {
  const IRContext& context = op_.module().context();
  AttrRow made{.name = name};
  if (stated.kind() != AttrKind::kDict) {
    made.type = type_named(stated, name);
    return made;
  }
  const Attr* otherwise = nullptr;
  bool is_good = true;
  for (const NamedAttr& part : stated.entries()) {
    const std::string_view key = context.text(part.key);
    if (key == "type") made.type = type_named(*part.value, name);
    if (key == "default") otherwise = part.value;
    is_good = read_part(made, key, *part.value) && is_good;
  }
  if (!made.choices.empty() && made.type == AttrType::kAny) made.type = AttrType::kString;
  const std::size_t errors = diagnostics_.error_count();
  if (is_good && otherwise != nullptr && !set_default(made, *otherwise)) made.default_text = {};
  const std::string_view fault = row_checks::fault_of(made);
  if (is_good && diagnostics_.error_count() == errors && !fault.empty()) {
    refuse(fmt::format("'{}' {}", name, fault), entry(name));
    is_good = false;
  }
  return is_good ? made : AttrRow{.name = name, .required = made.required};
}

std::vector<AttrRow> RowReader::rows(std::string_view key, bool are_of_type) {
  std::vector<AttrRow> all;
  const Attr* stated = op_.attribute(key);
  if (stated == nullptr) return all;
  list_ = key;
  for (const NamedAttr& each : stated->entries()) {
    AttrRow& made = all.emplace_back(row(op_.module().context().text(each.key), *each.value));
    if (are_of_type && made.default_text.empty()) made.required = true;
  }
  return all;
}

template <class Value>
Value RowReader::set_of(std::string_view key, std::span<const RowWord<Value>> known) {
  Value set{};
  for (const std::string_view word : words(key)) {
    const auto found = std::ranges::find(known, word, &RowWord<Value>::name);
    if (found == known.end()) {
      refuse(fmt::format("'{}' has no '{}'{}", key, word, choices_of(word, known)), {key});
    } else {
      set = set | found->value;
    }
  }
  return set;
}

Trait RowReader::traits() {
  return set_of<Trait>("traits", kTraitWords);
}

Effect RowReader::effects() {
  return set_of<Effect>("effects", kEffectWords);
}

std::vector<std::string_view> RowReader::words(std::string_view key) {
  std::vector<std::string_view> all;
  const Attr* stated = op_.attribute(key);
  if (stated == nullptr) return all;
  const auto add = [&](const Attr& word) {
    if (word.kind() == AttrKind::kString) {
      all.push_back(word.text());
    } else if (word.kind() == AttrKind::kDim) {
      all.push_back(word.spelling());
    }
    return word.kind() == AttrKind::kString || word.kind() == AttrKind::kDim;
  };
  const bool is_good =
      stated->kind() == AttrKind::kArray
          ? std::ranges::all_of(stated->elements(), [&](const Attr* each) { return add(*each); })
          : add(*stated);
  if (is_good) return all;
  refuse(fmt::format("'{}' is {}, expected a list of words", key, stated->spelling()), {key});
  return {};
}

Arity RowReader::arity(std::string_view key) {
  const Attr* stated = op_.attribute(key);
  if (stated == nullptr) return Arity();
  const auto bounds = stated->elements();
  const auto least = bounds.size() == 2 ? count_of(*bounds[0]) : std::nullopt;
  const auto most = bounds.size() == 2 ? count_of(*bounds[1]) : std::nullopt;
  if (least && most && *least <= *most && *least != Arity::kMany) return Arity{*least, *most};
  refuse(fmt::format("'{}' is {}, expected the least and the greatest number", key,
                     stated->spelling()),
         {key});
  return Arity();
}

std::string_view RowReader::text(std::string_view key) {
  const Attr* stated = op_.attribute(key);
  return stated == nullptr ? std::string_view() : stated->text();
}

std::vector<WeightRow> RowReader::weights(std::span<const AttrRow> attributes) {
  std::vector<WeightRow> all;
  const Attr* stated = op_.attribute("weights");
  if (stated == nullptr) return all;
  list_ = "weights";
  for (const NamedAttr& each : stated->entries()) {
    const auto made = weight(op_.module().context().text(each.key), *each.value, attributes);
    if (made) all.push_back(*made);
  }
  return all;
}

/// Reports an extent that is neither an expression nor a word that has a meaning; false.
bool RowReader::check_shape(std::string_view name, std::string_view shape,
                            std::span<const AttrRow> attributes) {
  for (const std::string_view extent : words_of_shape(shape)) {
    if (is_expression(extent)) continue;
    std::string_view word = extent.substr(0, extent.find(" / "));
    constexpr std::string_view kStated = "stated ", kMany = "...";
    if (word.starts_with(kStated)) word.remove_prefix(kStated.size());
    if (word.ends_with(kMany)) word.remove_suffix(kMany.size());
    const bool is_known = word == "D" || word == "in_channels" || word == "out_channels" ||
                          word == "hidden_size" ||
                          std::ranges::find(attributes, word, &AttrRow::name) != attributes.end();
    if (is_known) continue;
    return refuse(fmt::format("weight '{}' has the extent '{}', expected a number, an expression "
                              "such as $n, or the name of an attribute with integers",
                              name, extent),
                  entry(name));
  }
  return true;
}

std::optional<WeightRow> RowReader::weight(std::string_view name, const Attr& stated,
                                           std::span<const AttrRow> attributes) {
  WeightRow made{.suffix =
                     store_.keep(fmt::format("{}{}", name.starts_with('.') ? "" : ".", name))};
  const auto shape_of = [&](const Attr& value) {
    made.shape = value.kind() == AttrKind::kString ? value.text() : value.spelling();
  };
  if (stated.kind() != AttrKind::kDict) shape_of(stated);
  for (const NamedAttr& part : stated.entries()) {
    const std::string_view key = op_.module().context().text(part.key);
    if (key == "shape") {
      shape_of(*part.value);
    } else if (key == "present_if") {
      made.present_if = part.value->text();
      const auto flag = std::ranges::find(attributes, made.present_if, &AttrRow::name);
      if (flag == attributes.end() || flag->type != AttrType::kBool) {
        refuse(fmt::format("'present_if' of weight '{}' is {}, expected the name of a boolean "
                           "attribute",
                           name, part.value->spelling()),
               entry(name));
        return std::nullopt;
      }
    } else {
      refuse(fmt::format("'{}' of weight '{}' means nothing, expected 'shape' or 'present_if'", key,
                         name),
             entry(name));
      return std::nullopt;
    }
  }
  const bool is_list = made.shape.starts_with('[') && made.shape.ends_with(']');
  const auto named = std::ranges::find(attributes, made.shape, &AttrRow::name);
  if (is_list && !check_shape(name, made.shape, attributes)) return std::nullopt;
  if (is_list || (named != attributes.end() && named->type == AttrType::kInts)) return made;
  refuse(fmt::format("weight '{}' needs a shape such as \"[out_channels, in_channels]\", or an "
                     "attribute with integers",
                     name),
         entry(name));
  return std::nullopt;
}

}  // namespace mir::declare
