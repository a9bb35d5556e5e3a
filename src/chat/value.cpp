// Values of chat templates: Python's truth, equality and types.
#include "chat/value.hpp"

#include <algorithm>

namespace mir::chat {
namespace {

/// Adds the depth and the objects of a part.
template <class Whole>
void include_part(Whole& whole, const Value& part) {
  whole.depth = std::max(whole.depth, part.depth() + 1);
  whole.holds_objects = whole.holds_objects || part.is_object() || part.holds_objects();
}

}  // namespace

const Value* Dict::find(const Value& key) const {
  const auto found =
      std::ranges::find_if(members, [&](const auto& each) { return each.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto found = std::ranges::find_if(members, [&](const auto& each) {
    const std::string* own = each.first.string();
    return own != nullptr && *own == key;
  });
  return found == members.end() ? nullptr : &found->second;
}

Value Value::list(std::vector<Value> items, bool is_tuple) {
  List list{.items = std::move(items), .is_tuple = is_tuple};
  for (const Value& item : list.items) include_part(list, item);
  return Value(Storage(std::make_shared<const List>(std::move(list))));
}

Value Value::dict(std::vector<std::pair<Value, Value>> members) {
  Dict dict;
  for (auto& member : members) {
    include_part(dict, member.first);
    include_part(dict, member.second);
    const auto same = std::ranges::find_if(
        dict.members, [&](const auto& each) { return each.first == member.first; });
    if (same == dict.members.end()) {
      dict.members.push_back(std::move(member));
    } else {
      same->second = std::move(member.second);
    }
  }
  return Value(Storage(std::make_shared<const Dict>(std::move(dict))));
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&storage_)) return *value;
  if (const auto* value = std::get_if<bool>(&storage_)) return *value ? 1 : 0;
  return std::nullopt;
}

std::optional<double> Value::number() const {
  if (const auto* value = std::get_if<double>(&storage_)) return *value;
  if (const auto value = integer()) return static_cast<double>(*value);
  return std::nullopt;
}

bool Value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (const auto value = number()) return *value != 0;
  if (const auto* text = string()) return !text->empty();
  if (const auto* items = list()) return !items->items.empty();
  if (const auto* members = dict()) return !members->members.empty();
  return true;
}

std::size_t Value::depth() const {
  if (const auto* items = list()) return items->depth;
  if (const auto* members = dict()) return members->depth;
  return 0;
}

bool Value::holds_objects() const {
  if (const auto* items = list()) return items->holds_objects;
  if (const auto* members = dict()) return members->holds_objects;
  return false;
}

std::string_view Value::type_name() const {
  if (const auto* items = list()) return items->is_tuple ? "tuple" : "list";
  constexpr std::string_view kNames[] = {"Undefined", "NoneType", "bool", "int",
                                         "float",     "str",      "list", "dict",
                                         "namespace", "loop",     "macro"};
  return kNames[storage_.index()];
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_undefined() || b.is_undefined()) return a.is_undefined() && b.is_undefined();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  const auto x = a.integer(), y = b.integer();
  if (x && y) return *x == *y;
  const auto p = a.number(), q = b.number();
  if (p && q) return *p == *q;
  if (a.string() != nullptr && b.string() != nullptr) return *a.string() == *b.string();
  if (a.list() != nullptr || a.dict() != nullptr)
    return a.list() == b.list() && a.dict() == b.dict();
  return a.is_object() && b.is_object() && a.space() == b.space() && a.loop() == b.loop() &&
         a.macro() == b.macro();
}

const Value* Namespace::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(members, [&](const auto& each) { return each.first == name; });
  return found == members.end() ? nullptr : &found->second;
}

void Namespace::set(std::string_view name, Value value) {
  const auto found =
      std::ranges::find_if(members, [&](const auto& each) { return each.first == name; });
  if (found == members.end()) {
    members.emplace_back(std::string(name), std::move(value));
  } else {
    found->second = std::move(value);
  }
}

}  // namespace mir::chat
