// Renders chat templates for templates.py: reads lines with an object each from standard input and
// writes a line for each.
//
//   {"template": TEXT, "variables": {...}, "now": SECONDS}  ->  {"text": TEXT} or {"error": TEXT}
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "chat/chat_template.hpp"

namespace {

using mir::chat::Value;
using nlohmann::ordered_json;

Value value_of(const ordered_json& json) {
  if (json.is_null()) return mir::chat::None{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    std::vector<Value> items;
    for (const ordered_json& each : json) items.push_back(value_of(each));
    return Value::list(std::move(items));
  }
  std::vector<std::pair<Value, Value>> members;
  for (const auto& [key, value] : json.items()) members.emplace_back(Value(key), value_of(value));
  return Value::dict(std::move(members));
}

std::string rendered(const ordered_json& request) {
  mir::SourceManager sources;
  mir::Diagnostics diagnostics;
  const mir::SourceFile* file = sources.add(
      "template", mir::chat::with_line_feeds(request.at("template").get_ref<const std::string&>()));
  std::vector<std::pair<std::string, Value>> variables;
  for (const auto& [name, value] : request.at("variables").items())
    variables.emplace_back(name, value_of(value));
  const auto parsed = mir::chat::ChatTemplate::parse(*file, diagnostics);
  const auto text = parsed
                        ? parsed->render(std::move(variables), request.value("now", 0), diagnostics)
                        : std::nullopt;
  if (text) return ordered_json{{"text", *text}}.dump();
  const auto found = diagnostics.sorted();
  return ordered_json{
      {"error", mir::render(diagnostics, sources, {.format = mir::DiagnosticFormat::kLine})},
      {"code", static_cast<int>(found.front().code)}}
      .dump();
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    std::printf("%s\n", rendered(ordered_json::parse(line)).c_str());
  return 0;
}
