// Describes the options of a tool as JSON.
#include <nlohmann/json.hpp>

#include "option_pages.hpp"

namespace mir::tools {

namespace {

using Json = nlohmann::ordered_json;

Json words_of(std::string_view text) {
  Json words = Json::array();
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Json row_json(const OptionRow& row) {
  Json refers = Json::array();
  for (const ReferenceKind kind : row.reference_kinds()) refers.push_back(name_of(kind));
  return {{"name", row.name()},
          {"letter", row.letter() == '\0' ? Json() : Json(std::string(1, row.letter()))},
          {"argument", row.takes_argument() ? Json(row.argument()) : Json()},
          {"group", row.group()},
          {"help", row.help()},
          {"commands", words_of(row.commands())},
          {"repeatable", row.is_repeatable()},
          {"needed", row.is_needed()},
          {"needs", words_of(row.needs())},
          {"excludes", words_of(row.excludes())},
          {"refers_to", refers}};
}

}  // namespace

std::string options_json(const ToolInfo& tool, const OptionSet& options) {
  Json commands = Json::array(), rows = Json::array();
  if (const CommandOperand* operand = options.command_operand()) {
    for (const CommandText& command : operand->commands()) commands.push_back(command.name);
  }
  for (const OptionRow* row : options.rows()) rows.push_back(row_json(*row));
  const Json document = {{"schema", 1},
                         {"tool", tool.name},
                         {"operands", tool.operands},
                         {"commands", commands},
                         {"options", rows}};
  return document.dump(2, ' ', true) + '\n';
}

}  // namespace mir::tools
