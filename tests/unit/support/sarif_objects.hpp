// What the schema of SARIF 2.1.0 (errata 01) says of the object types that the toolkit writes, and
// a walk that holds a document to it. The table was derived from the definitions of the published
// schema: which properties an object must have, what kinds theirs are, and that no others occur.
#pragma once

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mir::test::sarif {

using Json = nlohmann::json;

/// A property. `kind` is "string", "line" (an integer from 1), "uri", "one of a|b", "bag" (any
/// object), the name of an object type, or "list of KIND", "set of KIND" (no item twice), followed
/// by "+" where there must be an item.
struct Property {
  std::string_view name;
  std::string_view kind;
};

struct ObjectType {
  std::string_view name;
  std::vector<std::string_view> required;  ///< each, where an item `a|b` asks for one of several
  std::vector<Property> properties;
};

/// Sections of the specification are given after the names.
inline std::span<const ObjectType> object_types() {
  static const std::vector<ObjectType> kTypes = {
      {"sarifLog",  // 3.13
       {"version", "runs"},
       {{"$schema", "string"}, {"version", "one of 2.1.0"}, {"runs", "list of run"}}},
      {"run",  // 3.14
       {"tool"},
       {{"tool", "tool"},
        {"results", "list of result"},
        {"columnKind", "one of utf16CodeUnits|unicodeCodePoints"}}},
      {"tool", {"driver"}, {{"driver", "toolComponent"}}},  // 3.18
      {"toolComponent",                                     // 3.19
       {"name"},
       {{"name", "string"}, {"version", "string"}, {"rules", "set of reportingDescriptor"}}},
      {"reportingDescriptor",  // 3.49
       {"id"},
       {{"id", "string"},
        {"shortDescription", "multiformatMessageString"},
        {"fullDescription", "multiformatMessageString"},
        {"help", "multiformatMessageString"}}},
      {"multiformatMessageString", {"text"}, {{"text", "string"}}},  // 3.12
      {"result",                                                     // 3.27
       {"message"},
       {{"ruleId", "string"},
        {"level", "one of none|note|warning|error"},
        {"message", "message"},
        {"locations", "list of location"},
        {"relatedLocations", "set of location"},
        {"fixes", "set of fix"},
        {"properties", "bag"}}},
      {"message", {"text|id"}, {{"text", "string"}}},  // 3.11
      {"location",                                     // 3.28
       {},
       {{"physicalLocation", "physicalLocation"}, {"message", "message"}}},
      {"physicalLocation",  // 3.29
       {"address|artifactLocation"},
       {{"artifactLocation", "artifactLocation"}, {"region", "region"}}},
      {"artifactLocation", {}, {{"uri", "uri"}}},  // 3.4
      {"region",                                   // 3.30
       {"startLine|charOffset|byteOffset"},
       {{"startLine", "line"},
        {"startColumn", "line"},
        {"endLine", "line"},
        {"endColumn", "line"}}},
      {"fix",  // 3.55
       {"artifactChanges"},
       {{"description", "message"}, {"artifactChanges", "set of artifactChange+"}}},
      {"artifactChange",  // 3.56
       {"artifactLocation", "replacements"},
       {{"artifactLocation", "artifactLocation"}, {"replacements", "list of replacement+"}}},
      {"replacement",  // 3.57
       {"deletedRegion"},
       {{"deletedRegion", "region"}, {"insertedContent", "artifactContent"}}},
      {"artifactContent", {}, {{"text", "string"}}},  // 3.3
  };
  return kTypes;
}

/// Collects what is wrong in a document: one line for each problem, with its place.
class Walk {
 public:
  static std::vector<std::string> problems(const Json& document) {
    Walk walk;
    walk.value(document, "sarifLog", "$");
    return std::move(walk.problems_);
  }

 private:
  void problem(const std::string& place, std::string_view what) {
    problems_.push_back(place + ": " + std::string(what));
  }

  static std::optional<std::string_view> after(std::string_view kind, std::string_view prefix) {
    if (!kind.starts_with(prefix)) return std::nullopt;
    return kind.substr(prefix.size());
  }

  template <class Found>
  static bool any_of_words(std::string_view words, const Found& found) {
    while (true) {
      const auto bar = words.find('|');
      if (found(words.substr(0, bar))) return true;
      if (bar == words.npos) return false;
      words.remove_prefix(bar + 1);
    }
  }

  void value(const Json& json, std::string_view kind, const std::string& place) {
    if (kind == "string") {
      if (!json.is_string()) problem(place, "is no string");
    } else if (kind == "line") {
      if (!json.is_number_integer() || json < 1) problem(place, "is no integer from 1");
    } else if (kind == "uri") {
      if (!is_uri_reference(json)) problem(place, "is no URI reference");
    } else if (kind == "bag") {
      if (!json.is_object()) problem(place, "is no object");
    } else if (const auto words = after(kind, "one of ")) {
      if (!any_of_words(*words, [&](std::string_view word) { return json == word; })) {
        problem(place, "is none of " + std::string(*words));
      }
    } else if (const auto item = after(kind, "list of ")) {
      list(json, *item, false, place);
    } else if (const auto unique = after(kind, "set of ")) {
      list(json, *unique, true, place);
    } else {
      object(json, kind, place);
    }
  }

  void list(const Json& json, std::string_view kind, bool unique, const std::string& place) {
    if (!json.is_array()) return problem(place, "is no array");
    if (kind.ends_with('+')) {
      kind.remove_suffix(1);
      if (json.empty()) problem(place, "is empty");
    }
    for (std::size_t i = 0; i < json.size(); ++i) {
      value(json[i], kind, place + '[' + std::to_string(i) + ']');
      if (unique && std::find(json.begin(), json.begin() + static_cast<std::ptrdiff_t>(i),
                              json[i]) != json.begin() + static_cast<std::ptrdiff_t>(i)) {
        problem(place, "has an item twice");
      }
    }
  }

  void object(const Json& json, std::string_view kind, const std::string& place) {
    const auto types = object_types();
    const auto type = std::ranges::find(types, kind, &ObjectType::name);
    if (type == types.end()) return problem(place, "is of unknown type " + std::string(kind));
    if (!json.is_object()) return problem(place, "is no object");
    for (const std::string_view names : type->required) {
      const auto has = [&](std::string_view name) { return json.contains(std::string(name)); };
      if (!any_of_words(names, has)) problem(place, "lacks " + std::string(names));
    }
    for (const auto& [name, member] : json.items()) {
      const auto property = std::ranges::find(type->properties, name, &Property::name);
      if (property == type->properties.end()) {
        problem(place, "has no property " + name);
      } else {
        value(member, property->kind, place + '.' + name);
      }
    }
    if (kind == "region") order(json, place);
  }

  /// A region that states all four does not end before it begins.
  void order(const Json& region, const std::string& place) {
    if (region.size() != 4) return;
    const auto at = [&](const char* line, const char* column) {
      return std::pair(region.at(line), region.at(column));
    };
    if (at("endLine", "endColumn") < at("startLine", "startColumn")) {
      problem(place, "ends before it begins");
    }
  }

  /// RFC 3986: unreserved and reserved characters, and percent signs before two digits.
  static bool is_uri_reference(const Json& json) {
    if (!json.is_string() || json.get_ref<const std::string&>().empty()) return false;
    const auto& uri = json.get_ref<const std::string&>();
    for (std::size_t i = 0; i < uri.size(); ++i) {
      const auto byte = static_cast<unsigned char>(uri[i]);
      const auto is_digit = [&](std::size_t at) {
        return at < uri.size() && std::isxdigit(static_cast<unsigned char>(uri[at])) != 0;
      };
      if (byte == '%' ? !is_digit(i + 1) || !is_digit(i + 2)
                      : std::isalnum(byte) == 0 &&
                            std::string_view("-._~:/?#[]@!$&'()*+,;=").find(uri[i]) ==
                                std::string_view::npos) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::string> problems_;
};

}  // namespace mir::test::sarif
