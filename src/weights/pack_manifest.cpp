// Parses, checks and writes the JSON manifest of a pack.
#include "weights/pack_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "mir/codes/weights.hpp"
#include "support/strict_json.hpp"
#include "support/utf8.hpp"
#include "weights/checks.hpp"

namespace mir {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSchema = 1;
constexpr JsonRules kRules = {
    .max_bytes = std::size_t{1} << 20, .max_depth = 4, .malformed = diag::kPackMalformed};

Error malformed(std::string_view text) {
  return {diag::kPackMalformed, fmt::format("the manifest: {}", text)};
}

/// Fields of a document; after the first problem all are empty.
class Fields {
 public:
  std::string problem;

  /// An object with exactly these keys.
  bool is_object(const Json& value, std::initializer_list<const char*> keys,
                 std::string_view what) {
    const auto has = [&](const char* key) { return value.contains(key); };
    return expect(
        value.is_object() && value.size() == keys.size() && std::ranges::all_of(keys, has),
        fmt::format("{} has not the fields that it must have", what));
  }
  std::string text(const Json& value, std::string_view what) {
    const bool fine = expect(value.is_string(), fmt::format("{} is no text", what));
    return fine ? value.get<std::string>() : std::string();
  }
  std::uint64_t number(const Json& value, std::string_view what) {
    const bool fine = expect(value.is_number_unsigned(), fmt::format("{} is no number", what));
    return fine ? value.get<std::uint64_t>() : 0;
  }
  /// 16 hexadecimal digits, lower case.
  std::uint64_t hash(const Json& value, std::string_view what) {
    const auto digits = text(value, what);
    std::uint64_t hash = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
    expect(fmt::format("{:016x}", hash) == digits,
           fmt::format("{} is not 16 hexadecimal digits", what));
    return hash;
  }

 private:
  bool expect(bool holds, std::string text) {
    if (!holds && problem.empty()) problem = std::move(text);
    return problem.empty();
  }
};

PackArguments arguments_of(const Json& object, Fields& fields) {
  PackArguments arguments;
  if (!object.is_object()) {
    fields.problem = "'arguments' is no object";
    return arguments;
  }
  for (const auto& [option, values] : object.items()) {
    if (!values.is_array()) fields.problem = "the values of an option are no list";
    if (!fields.problem.empty()) return arguments;
    for (const Json& value : values)
      arguments[option].push_back(fields.text(value, "the value of an option"));
    if (values.empty()) arguments[option] = {};
  }
  return arguments;
}

std::vector<PackManifest::Member> members_of(const Json& list, Fields& fields) {
  std::vector<PackManifest::Member> members;
  if (!list.is_array() || list.size() > kMaxPackMembers) {
    fields.problem = fmt::format("'members' is no list of at most {}", kMaxPackMembers);
    return members;
  }
  for (const Json& each : list) {
    if (!fields.is_object(each, {"bytes", "name", "xxh64"}, "a member")) return members;
    members.push_back({fields.text(each["name"], "the name of a member"),
                       fields.number(each["bytes"], "the size of a member"),
                       fields.hash(each["xxh64"], "the hash of a member")});
  }
  return members;
}

/// Returns the error of an option's values; empty if there is none.
std::string problem_with(std::string_view option, const std::vector<std::string>& values) {
  const auto* const row = std::ranges::find(kPackOptions, option, &PackOption::name);
  if (row == std::end(kPackOptions)) return fmt::format("no run takes the option '{}'", option);
  if (values.empty() || (!row->repeatable && values.size() != 1))
    return fmt::format("option '{}' has {} values", option, values.size());
  const auto is_odd = [](const std::string& value) { return !is_utf8(value); };
  if (std::ranges::any_of(values, is_odd))
    return fmt::format("a value of option '{}' is not UTF-8", option);
  return {};
}

}  // namespace

Result<PackManifest> parse_pack_manifest(std::string_view json) {
  const auto document = parse_strict_json(json, kRules);
  if (!document) return malformed(document.error().message);
  if (!document->is_object() || !document->contains("schema") ||
      !(*document)["schema"].is_number_unsigned())
    return malformed("it is no object with a number 'schema'");
  if ((*document)["schema"] != kSchema)
    return malformed(fmt::format("schema {}, this toolkit reads {}",
                                 (*document)["schema"].get<std::uint64_t>(), kSchema));
  Fields fields;
  PackManifest manifest;
  if (!fields.is_object(*document, {"arguments", "members", "module", "schema"}, "it"))
    return malformed(fields.problem);
  manifest.module = fields.text((*document)["module"], "'module'");
  manifest.arguments = arguments_of((*document)["arguments"], fields);
  if (fields.problem.empty()) manifest.members = members_of((*document)["members"], fields);
  if (!fields.problem.empty()) return malformed(fields.problem);
  if (auto checked = check_pack_manifest(manifest); !checked) return std::move(checked).error();
  return manifest;
}

Result<void> check_pack_manifest(const PackManifest& manifest) {
  std::set<std::string_view> names;
  if (manifest.members.size() > kMaxPackMembers)
    return malformed(
        fmt::format("{} members, at most {}", manifest.members.size(), kMaxPackMembers));
  for (const auto& member : manifest.members) {
    if (!is_plain_file_name(member.name) || member.name == kManifestName)
      return malformed(fmt::format("{} can be the name of no member", quoted_text(member.name)));
    if (!names.insert(member.name).second)
      return malformed(fmt::format("two members are named '{}'", member.name));
  }
  if (!names.contains(manifest.module))
    return malformed(fmt::format("the module {} is no member", quoted_text(manifest.module)));
  for (const auto& [option, values] : manifest.arguments) {
    if (const auto problem = problem_with(option, values); !problem.empty())
      return malformed(problem);
  }
  return {};
}

std::string to_json(const PackManifest& manifest) {
  Json members = Json::array();
  for (const auto& member : manifest.members)
    members.push_back({{"name", member.name},
                       {"bytes", member.bytes},
                       {"xxh64", fmt::format("{:016x}", member.xxh64)}});
  const Json document = {{"schema", kSchema},
                         {"module", manifest.module},
                         {"arguments", manifest.arguments},
                         {"members", std::move(members)}};
  return document.dump(1) + "\n";
}

}  // namespace mir
