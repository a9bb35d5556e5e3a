// Reads and writes sidecar files: facts that users grant, as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mir/codes/usage.hpp"
#include "mir/upgrade.hpp"
#include "support/strict_json.hpp"
#include "upgrade/granted.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

namespace {

using Json = nlohmann::json;

Error bad_sidecar(std::string_view what) {
  return {diag::kUsage, fmt::format("a sidecar {}", what)};
}

/// The entries of a member that is an object or missing; null after an error.
const Json* object_in(const Json& parent, const char* key) {
  static const Json kEmpty = Json::object();
  const auto found = parent.find(key);
  if (found == parent.end()) return &kEmpty;
  return found->is_object() ? &*found : nullptr;
}

Result<void> grant_op(UpgradeOptions& options, const std::string& op, const Json& facts) {
  for (const auto& [key, value] : facts.items()) {
    if (key == "name" && value.is_string()) {
      options.grants.push_back({Grant::Kind::kName, op, "name", value.get<std::string>()});
    } else if ((key == "attributes" || key == "operands") && value.is_object()) {
      for (const auto& [name, fact] : value.items()) {
        const bool operand = key == "operands";
        if (operand && !fact.is_string()) return bad_sidecar("mentions an operand as a string");
        options.grants.push_back({operand ? Grant::Kind::kOperand : Grant::Kind::kAttribute, op,
                                  name, operand ? fact.get<std::string>() : fact.dump()});
      }
    } else {
      return bad_sidecar(fmt::format(
          "says of an op its name (a string), attributes and operands (objects), found '{}'", key));
    }
  }
  return {};
}

/// Grants the facts of an object by name, or of an array of `NAME=VALUE`. Null is not known yet.
Result<void> grant_facts(UpgradeOptions& options, const Json& facts) {
  if (!facts.is_object() && !facts.is_array()) {
    return bad_sidecar("has 'assume' as an object of values, or an array of strings");
  }
  for (const auto& [name, value] : facts.items()) {
    if (facts.is_array() && !value.is_string()) {
      return bad_sidecar("has only strings in an array 'assume'");
    }
    if (value.is_null()) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    auto granted = grant(options, facts.is_array() ? text : fmt::format("{}={}", name, text));
    if (!granted) return granted;
  }
  return {};
}

Result<void> grant_document(UpgradeOptions& options, std::string_view json) {
  constexpr JsonRules kJsonRules{
      .max_bytes = std::size_t{1} << 28, .max_depth = 64, .malformed = diag::kUsage};
  const auto document = parse_strict_json(json, kJsonRules);
  if (!document)
    return bad_sidecar(fmt::format("is one JSON object: {}", document.error().message));
  const Json& sidecar = *document;
  if (!sidecar.is_object()) return bad_sidecar("is one JSON object");
  if (!sidecar.contains("schema") || sidecar["schema"] != 1) {
    return bad_sidecar("has \"schema\": 1");
  }
  for (const auto& [key, value] : sidecar.items()) {
    const bool known = key == "schema" || key == "assume" || key == "ops" || key == "constants";
    if (!known) {
      return bad_sidecar(fmt::format("has schema, assume, ops and constants, found '{}'", key));
    }
  }
  if (const auto facts = sidecar.find("assume"); facts != sidecar.end()) {
    if (auto granted = grant_facts(options, *facts); !granted) return granted;
  }
  const Json *ops = object_in(sidecar, "ops"), *constants = object_in(sidecar, "constants");
  if (ops == nullptr || constants == nullptr) {
    return bad_sidecar("has 'ops' and 'constants' as objects");
  }
  for (const auto& [op, facts] : ops->items()) {
    if (!facts.is_object()) return bad_sidecar(fmt::format("describes op '{}' by an object", op));
    if (const auto granted = grant_op(options, op, facts); !granted) return granted;
  }
  for (const auto& [storage, numbers] : constants->items()) {
    if (!numbers.is_array()) return bad_sidecar("gives constants as arrays of numbers");
    options.grants.push_back({Grant::Kind::kConstant, storage, "constant", numbers.dump()});
  }
  return {};
}

}  // namespace

Result<void> grant_sidecar(UpgradeOptions& options, std::string_view json,
                           std::string_view source) {
  const std::size_t grants = options.grants.size(), texts = options.texts.size();
  auto granted = grant_document(options, json);
  for (std::size_t i = grants; i < options.grants.size(); ++i) options.grants[i].option = source;
  for (std::size_t i = texts; i < options.texts.size(); ++i) options.texts[i].option = source;
  return granted;
}

std::string sidecar_name(std::string_view text) {
  constexpr std::string_view kEnding = ".mir";
  if (text.ends_with(kEnding)) text.remove_suffix(kEnding.size());
  return fmt::format("{}.facts.json", text);
}

namespace {

using OrderedJson = nlohmann::ordered_json;

/// Returns a value that grant_facts reads as this text.
OrderedJson json_of(const std::string& text) {
  auto value = OrderedJson::parse(text, nullptr, false);
  const bool is_same =
      !value.is_discarded() && !value.is_string() && !value.is_null() && value.dump() == text;
  return is_same ? value : OrderedJson(text);
}

/// Adds the facts of `granted` that are not of one op.
void add_common_facts(OrderedJson& facts, const UpgradeOptions& granted) {
  if (granted.rms_epsilon) facts[std::string(kRmsEpsilonFact)] = *granted.rms_epsilon;
  if (granted.layer_norm_epsilon) {
    facts[std::string(kLayerNormEpsilonFact)] = *granted.layer_norm_epsilon;
  }
  if (granted.packed_weights != DType::kFloat32) {
    facts[std::string(kPackedWeightsFact)] = name_of(granted.packed_weights);
  }
  // A text in quotes has escapes, so that each text reads back.
  for (const TextGrant& each : granted.texts) {
    facts[spelling_of(each)] = OrderedJson(each.text).dump();
  }
}

}  // namespace

std::string sidecar_text(const UpgradeOptions& granted, const LossReport& report) {
  OrderedJson facts = OrderedJson::object();
  OrderedJson ops = OrderedJson::object();
  OrderedJson constants = OrderedJson::object();
  add_common_facts(facts, granted);
  for (const Grant& each : granted.grants) {
    switch (each.kind) {
      case Grant::Kind::kOperand:
        ops[each.op]["operands"][each.key] = each.text;
        break;
      case Grant::Kind::kName:
        ops[each.op]["name"] = each.text;
        break;
      case Grant::Kind::kConstant:
        constants[each.op] = OrderedJson::parse(each.text, nullptr, false);
        break;
      default:
        facts[spelling_of(each)] = json_of(each.text);
    }
  }
  for (const LossEntry& entry : report.entries) {
    for (const std::string& fact : entry.grants) facts.emplace(fact, nullptr);
  }
  OrderedJson sidecar = {{"schema", 1}};
  if (!facts.empty()) sidecar["assume"] = std::move(facts);
  if (!ops.empty()) sidecar["ops"] = std::move(ops);
  if (!constants.empty()) sidecar["constants"] = std::move(constants);
  return sidecar.dump(2, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace mir
