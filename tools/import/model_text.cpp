// Writes modules of models and finds the keys that their mistakes come from.
#include "tools/import/model_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "mir/codes/import.hpp"
#include "support/characters.hpp"

namespace mir::tools {
namespace {

using nlohmann::json;

/// The path of a key that a config does not have.
constexpr std::string_view kNoKey = "-";

/// Keys whose null is not their default: no window, no cap, as many heads as there are of queries,
/// a factor that other keys give.
constexpr std::string_view kZeroIfNull[] = {
    "sliding_window", "attn_logit_softcapping", "final_logit_softcapping", "num_key_value_heads",
    "head_dim",       "rope_scaling.factor"};

std::string_view config_path(const AttrRow& row) {
  return row.config.empty() ? row.name : row.config;
}

std::string json_text(std::string_view text) {
  // A text of the language is written as one of JSON.
  return json(text).dump();
}

/// A whole number, also one that the config writes as 1e4.
std::optional<std::int64_t> integer_of(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(number);
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::floor(number) != number || std::fabs(number) > 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::string> text_of(const json& value);

std::optional<std::string> list_text(const json& value) {
  std::vector<std::string> items;
  for (const json& each : value) {
    auto item = text_of(each);
    if (!item) return std::nullopt;
    items.push_back(*std::move(item));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// The value as an attribute of any kind; no value for an object.
std::optional<std::string> text_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return json_text(value.get_ref<const std::string&>());
  if (const auto integer = value.is_number_float() ? std::nullopt : integer_of(value))
    return fmt::format("{}", *integer);
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (value.is_array()) return list_text(value);
  return std::nullopt;
}

struct Expected {
  std::optional<std::string> text;
  std::string_view kind;
};

Expected attribute_text(const AttrRow& row, const json& value) {
  switch (row.type) {
    case AttrType::kInt:
      if (const auto number = integer_of(value)) return {fmt::format("{}", *number), {}};
      return {std::nullopt, "an integer"};
    case AttrType::kFloat:
      if (!value.is_number()) return {std::nullopt, "a number"};
      return {fmt::format("{}", value.get<double>()), {}};
    case AttrType::kBool:
      if (!value.is_boolean()) return {std::nullopt, "true or false"};
      return {text_of(value), {}};
    case AttrType::kString:
      if (!value.is_string()) return {std::nullopt, "a string"};
      return {text_of(value), {}};
    case AttrType::kInts:
      if (!value.is_array() ||
          !std::ranges::all_of(value, [](const json& each) { return each.is_number_integer(); }))
        return {std::nullopt, "a list of integers"};
      return {list_text(value), {}};
    default:
      return {text_of(value), "a number, a string or a list of them"};
  }
}

/// Attributes of a model and their values, as the language writes them.
using Values = std::map<std::string_view, std::string, std::less<>>;

/// Replaces attributes in the extents of types by their values: `$patch_size` by 14.
std::string with_values(std::string_view types, const Values& values) {
  std::string text;
  while (!types.empty()) {
    const std::size_t begin = std::min(types.find('$'), types.size());
    text += types.substr(0, begin);
    types.remove_prefix(begin);
    if (types.empty()) break;
    const auto is_part = [](char c) { return is_name_character(c); };
    const auto end = std::find_if_not(types.begin() + 1, types.end(), is_part);
    const std::string_view variable(types.begin(), end);
    const auto value = values.find(variable.substr(1));
    text += value == values.end() ? variable : std::string_view(value->second);
    types.remove_prefix(variable.size());
  }
  return text;
}

/// The last value of the config that a message names: as 'key', or else as $variable. Null if it
/// names none.
const ModelText::Part* named_part(const ModelText& text, std::string_view message) {
  const ModelText::Part* last = nullptr;
  for (const bool is_quoted : {true, false}) {
    std::size_t best = 0;
    for (const ModelText::Part& each : text.parts) {
      if (each.key.empty()) continue;
      const std::string word =
          is_quoted ? fmt::format("'{}'", each.name) : fmt::format("${} ", each.name);
      const std::size_t at = message.rfind(word);
      if (at == message.npos || at < best) continue;
      best = at;
      last = &each;
    }
    if (last != nullptr) break;
  }
  return last;
}

}  // namespace

std::optional<std::int64_t> stated_integer(const Family& family, ModelConfig& config,
                                           std::string_view key) {
  const auto row = std::ranges::find_if(
      family.model->attributes, [&](const AttrRow& each) { return config_path(each) == key; });
  if (const ConfigEntry* entry = config.find(key); entry != nullptr && !entry->value.is_null())
    return integer_of(entry->value);
  if (row == family.model->attributes.end()) return std::nullopt;
  std::int64_t number = 0;
  const std::string_view text = row->default_text;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

ModelText write_model(const Family& family, const ModelPorts& ports, ModelConfig& config,
                      std::span<const ChosenValue> chosen, Diagnostics& diagnostics) {
  ModelText result;
  std::string attributes;
  Values values;
  std::set<std::string_view> parts;  // of the model, such as a tower
  for (const AttrRow& row : family.model->attributes) {
    values[row.name] = row.default_text;
    parts.insert(part_of(row.config));
  }
  for (ConfigEntry& each : config.entries()) {
    const std::string_view part = part_of(each.path);
    if (!part.empty() && parts.contains(part)) each.is_read = false;
  }
  const auto state = [&](std::string_view name, std::string_view value, const ConfigEntry* entry) {
    if (!attributes.empty()) attributes += ", ";
    const std::size_t begin = attributes.size();
    attributes += fmt::format("{}:{}", name, value);
    result.parts.push_back({.begin = begin,
                            .end = attributes.size(),
                            .name = std::string(name),
                            .key = std::string(entry == nullptr ? "" : entry->name()),
                            .of = entry == nullptr ? Span{} : entry->at});
    values[name] = value;
  };
  for (const AttrRow& row : family.model->attributes) {
    const std::string_view path = config_path(row);
    if (path == kNoKey) {
      const auto value = std::ranges::find(chosen, row.name, &ChosenValue::name);
      if (value != chosen.end()) state(row.name, value->value, nullptr);
      continue;
    }
    ConfigEntry* entry = config.find(path);
    if (ConfigEntry* member = entry == nullptr ? config.find_member(path) : nullptr) {
      member->is_read = true;
      diagnostics.error(diag::kConfigMalformed, member->at,
                        fmt::format("'{}' is an object, expected {}", path,
                                    attribute_text(row, json::object()).kind));
    }
    if (entry == nullptr) continue;
    entry->is_read = true;
    if (entry->value.is_null()) {
      if (std::ranges::find(kZeroIfNull, path) != std::end(kZeroIfNull))
        state(row.name, "0", entry);
      continue;
    }
    const auto [value, kind] = attribute_text(row, entry->value);
    if (value) {
      state(row.name, *value, entry);
    } else {
      diagnostics.error(diag::kConfigMalformed, entry->at,
                        config.about(fmt::format("'{}' is {}, expected {}", entry->name(),
                                                 entry->value.dump().substr(0, 60), kind)));
    }
  }
  for (const ChosenValue& each : chosen) {
    const bool has_attribute = std::ranges::any_of(
        family.model->attributes, [&](const AttrRow& row) { return row.name == each.name; });
    if (!has_attribute)
      diagnostics.error(diag::kConfigUnsupported, {},
                        fmt::format("family '{}' has no attribute '{}'", family.name, each.name));
  }
  result.text = fmt::format("@main [mir_version:2] ({}) -> ({}) {{\n    {}.ModelOp [",
                            with_values(ports.inputs, values), ports.outputs, family.name);
  for (ModelText::Part& each : result.parts) {
    each.begin += result.text.size();
    each.end += result.text.size();
  }
  result.text += fmt::format("{}] ({}) -> ({})\n    cf.ReturnOp ({}) -> ()\n}}\n", attributes,
                             ports.operands, ports.outputs, ports.outputs);
  return result;
}

void point_at_config(Diagnostics& diagnostics, const SourceFile& file, const ModelText& text,
                     const ModelConfig& config) {
  Diagnostics moved(0);
  for (Diagnostic each : std::move(diagnostics).sorted()) {
    const bool is_here = each.at.begin >= file.base() && each.at.begin <= file.base() + file.size();
    if (is_here) {
      const std::size_t at = each.at.begin - file.base();
      const auto part = std::ranges::find_if(text.parts, [&](const ModelText::Part& candidate) {
        return candidate.begin <= at && at < candidate.end && !candidate.key.empty();
      });
      const ModelText::Part* const cause =
          part == text.parts.end() ? named_part(text, each.message) : &*part;
      each.at = cause == nullptr || !cause->of.known() ? config.place() : cause->of;
      const bool is_named = cause == nullptr || config.place().known();
      each.message =
          config.about(is_named ? each.message : fmt::format("'{}': {}", cause->key, each.message));
      each.fixes.clear();
      each.proposals.clear();
      std::erase_if(each.notes, [&](const Note& note) {
        return note.at.begin >= file.base() && note.at.begin <= file.base() + file.size();
      });
    }
    Diagnostic& added =
        each.severity == Severity::kError     ? moved.error(each.code, each.at, each.message)
        : each.severity == Severity::kWarning ? moved.warning(each.code, each.at, each.message)
                                              : moved.remark(each.code, each.at, each.message);
    added = std::move(each);
  }
  diagnostics = std::move(moved);
}

}  // namespace mir::tools
