// Translates the JSON document of an executable program to the text of a prog module.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ir/program_fields.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/weights.hpp"
#include "mir/op.hpp"
#include "program/program_json.hpp"
#include "support/characters.hpp"
#include "support/json_offset.hpp"
#include "support/strict_json.hpp"

namespace mir {
namespace {

using Json = nlohmann::json;
constexpr JsonRules kRules = {
    .max_bytes = std::size_t{256} << 20, .max_depth = 64, .malformed = diag::kProgramMalformed};

Error malformed(std::string text) {
  return {diag::kProgramMalformed, std::move(text)};
}

/// Words that a text shows without quotes.
bool is_plain(std::string_view text) {
  const auto is_fine = [](char c) { return is_name_character(c, "_.-"); };
  return !text.empty() && std::ranges::all_of(text, is_fine);
}

using Field = std::pair<std::string_view, std::string>;

/// `[type:0, program_uuid:7]`.
std::string list_of(const std::vector<Field>& fields) {
  std::vector<std::string> all;
  for (const auto& [key, value] : fields) all.push_back(fmt::format("{}:{}", key, value));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

/// The first problem ends the work; fields after it read as empty.
class TextWriter {
 public:
  std::string text = "@main () -> () {\n";
  std::string problem;
  std::string place;  ///< a JSON pointer to what is read, and in the end to the problem

  void fragment(const Json& fragment, std::size_t index) {
    place = fmt::format("/code/module/{}", index);
    if (!is_object(fragment, "a fragment")) return;
    const auto symbol = word(fragment, "symbol");
    expect(word(fragment, "op") == "fragment", "a part of the module is no fragment");
    const bool is_code = symbol.ends_with("CODE_SEGMENT");
    const bool is_table = symbol.ends_with("SYMBOL_TABLE_SEGMENT");
    text += fmt::format("    prog.fragment @{} <DeviceTypes_Start> <{}> {{\n", symbol,
                        is_code    ? program_fragment::kCode
                        : is_table ? program_fragment::kTable
                                   : program_fragment::kData);
    for_each_instruction(fragment, [&](const Json& each) { instruction(each); });
    text += "    }\n";
  }

  /// Constants are declared in the last fragment, and each mention of one shows its type.
  void declare_constants(const Json& fragment, std::size_t index) {
    place = fmt::format("/code/module/{}", index);
    if (!is_object(fragment, "a fragment")) return;
    for_each_instruction(fragment, [&](const Json& each) {
      if (each.is_object() && each.contains("constant")) declare_constant(each);
    });
  }

  const Json::array_t& list(const Json& object, std::string_view key) {
    static const Json::array_t kEmpty;
    const auto at = object.find(key);
    if (at != object.end() && at->is_array()) return at->get_ref<const Json::array_t&>();
    expect(false, fmt::format("'{}' is missing or no list", key));
    return kEmpty;
  }

  bool is_object(const Json& value, std::string_view what) {
    expect(value.is_object(), fmt::format("{} is no object", what));
    return value.is_object();
  }

  void expect(bool holds, std::string_view what) {
    if (!holds && problem.empty()) problem = what;
  }

 private:
  /// Until there is a problem, whose place stays.
  template <class Visit>
  void for_each_instruction(const Json& fragment, const Visit& visit) {
    const std::string outer = place;
    const auto& instructions = list(fragment, "instructions");
    for (std::size_t i = 0; i < instructions.size() && problem.empty(); ++i) {
      place = fmt::format("{}/instructions/{}", outer, i);
      visit(instructions[i]);
    }
    if (problem.empty()) place = outer;
  }

  std::string word(const Json& object, std::string_view key) {
    const auto at = object.find(key);
    const bool fine =
        at != object.end() && at->is_string() && is_plain(at->get_ref<const std::string&>());
    expect(fine, fmt::format("'{}' is missing or holds no plain name", key));
    return fine ? at->get<std::string>() : "";
  }

  std::uint64_t number(const Json& object, std::string_view key, std::uint64_t most) {
    const auto at = object.find(key);
    const bool fine =
        at != object.end() && at->is_number_unsigned() && at->get<std::uint64_t>() <= most;
    expect(fine, fmt::format("'{}' is missing or no number from 0 to {}", key, most));
    return fine ? at->get<std::uint64_t>() : 0;
  }

  std::uint32_t id(const Json& value) {
    const bool fine =
        value.is_number_unsigned() && value.get<std::uint64_t>() <= ValueName::kMaxNumber;
    expect(fine, "a value has no number that a text can hold");
    return fine ? value.get<std::uint32_t>() : 0;
  }

  std::string mention(std::uint32_t value) const {
    const auto constant = constants_.find(value);
    return fmt::format("%{}:{}", value,
                       constant == constants_.end() ? "!prog.slot" : constant->second);
  }

  std::string mentions(const Json& object, std::string_view key) {
    std::vector<std::string> all;
    for (const Json& value : list(object, key)) all.push_back(mention(id(value)));
    return fmt::format("({})", fmt::join(all, ", "));
  }

  /// Renders the stated type and options of a kernel, after its name.
  std::string kernel(const Json& object, std::vector<Field> fields) {
    const auto options = object.find(key::kOpOptions.text);
    const bool fine = options != object.end() && (options->is_null() || options->is_object());
    expect(fine, "'op_options' is missing or neither an object nor null");
    fields.emplace_back(key::kOpType, word(object, key::kOpType));
    fields.emplace_back(key::kOpOptions, fine ? options->dump() : "null");
    return list_of(fields);
  }

  /// Renders the symbol that an instruction declares.
  std::string symbol(const Json& object) { return word(object, key::kSymbol); }

  void declare_constant(const Json& object) {
    const auto& outputs = list(object, "outputs");
    std::vector<std::string> values;
    for (const Json& value : list(object, "constant")) {
      expect(value.is_number(), "a constant is no number");
      values.push_back(value.dump());
    }
    std::vector<std::uint64_t> extents;
    std::uint64_t elements = 1;
    for (const Json& extent : list(object, "shape")) {
      constexpr std::uint64_t kMost = 0x7FFF'FFFF;
      const bool fine = extent.is_number_unsigned() && extent.get<std::uint64_t>() <= kMost;
      expect(fine, "an extent is no number below 2^31");
      if (!fine) break;
      extents.push_back(extent.get<std::uint64_t>());
      // Held to one over the number of values: enough to differ, too small to overflow.
      elements = std::min(elements * extents.back(), std::uint64_t{values.size()} + 1);
    }
    expect(elements == values.size(), "a constant has not the values of its extents");
    expect(outputs.size() == 1, "a constant has not one output");
    if (!problem.empty()) return;
    const auto type = fmt::format("tensor<[{}], Float32, CPU>[constant:[{}]]",
                                  fmt::join(extents, ", "), fmt::join(values, ", "));
    expect(constants_.emplace(id(outputs.front()), type).second, "a constant is declared twice");
  }

  void value_symbol(const Json& object) {
    const auto name = list_of({{key::kSymbol, symbol(object)}});
    const auto& outputs = list(object, "outputs");
    expect(outputs.size() == 1, "a value symbol has not one output");
    if (!problem.empty()) return;
    const std::uint32_t value = id(outputs.front());
    const auto notes =
        object.contains("constant") ? "" : fmt::format("[@{}]{}", symbol(object), name);
    text += fmt::format("prog.value_symbol() -> ({}{}){}\n", mention(value), notes, name);
  }

  void launch(const Json& object) {
    std::vector<Field> name;
    if (object.contains(key::kSymbolName.text)) {
      name.emplace_back(key::kSymbolName, word(object, key::kSymbolName));
    }
    text += fmt::format("prog.kernel_launch{} -> {}{}\n", mentions(object, "inputs"),
                        mentions(object, "outputs"), kernel(object, std::move(name)));
  }

  void bind(const Json& object) {
    const auto type = word(object, key::kType);
    expect(type == "input" || type == "output", "a bind is of neither an input nor an output");
    const auto uuid = number(object, key::kProgramUuid, ValueName::kMaxNumber);
    const auto position = number(object, key::kInputPos, 0xFFFF'FFFF);
    text += fmt::format("prog.bind{}\n", list_of({{key::kType, type == "output" ? "1" : "0"},
                                                  {key::kProgramUuid, fmt::to_string(uuid)},
                                                  {key::kInputPos, fmt::to_string(position)}}));
  }

  void jump(const Json& object) {
    const auto at = object.find(key::kOffset.text);
    const bool fine = at != object.end() && at->is_number_integer();
    expect(fine, "'offset' is missing or no whole number");
    text += fmt::format("prog.jump {}{}\n", word(object, "target"),
                        list_of({{key::kOffset, fine ? at->dump() : "0"}}));
  }

  void mode_config(const Json& object) {
    const auto flag = number(object, key::kFlag, 0xFFFF'FFFF);
    text += fmt::format("prog.mode_config{}\n", list_of({{key::kFlag, fmt::to_string(flag)}}));
  }

  void instruction(const Json& object) {
    if (!is_object(object, "an instruction")) return;
    const auto op = word(object, "op");
    const auto address = number(object, "program_id", ~std::uint64_t{0});
    text += fmt::format("        addr:{:#016x} ", address);
    if (op == "label") {
      text += fmt::format("prog.label{}\n", list_of({{key::kSymbol, symbol(object)}}));
    } else if (op == "jump") {
      jump(object);
    } else if (op == "kernel_launch") {
      launch(object);
    } else if (op == "kernel_symbol") {
      text +=
          fmt::format("prog.kernel_symbol{}\n", kernel(object, {{key::kSymbol, symbol(object)}}));
    } else if (op == "value_symbol") {
      value_symbol(object);
    } else if (op == "free") {
      expect(list(object, "inputs").size() == 1, "a free has not one input");
      text += fmt::format("prog.free{} -> ()\n", mentions(object, "inputs"));
    } else if (op == "bind") {
      bind(object);
    } else if (op == "mode_config") {
      mode_config(object);
    } else if (op == "exit") {
      text += "prog.exit() -> ()\n";
    } else if (op == "ret") {
      text += "prog.ret\n";
    } else {
      expect(false, fmt::format("'{}' is no instruction of a program", op));
    }
  }

  std::map<std::uint32_t, std::string> constants_;  // the type and value that mentions show
};

}  // namespace

namespace {

/// Writes the module; what the writer holds in the end tells whether there was a problem.
TextWriter written(const Json& document) {
  TextWriter writer;
  const bool has_code = writer.is_object(document, "the document") && document.contains("code") &&
                        writer.is_object(document["code"], "'code'");
  writer.expect(has_code, "the document has no 'code'");
  if (!has_code) return writer;
  const auto& fragments = writer.list(document["code"], "module");
  for (std::size_t i = 0; i < fragments.size() && writer.problem.empty(); ++i) {
    writer.declare_constants(fragments[i], i);
  }
  for (std::size_t i = 0; i < fragments.size() && writer.problem.empty(); ++i) {
    writer.fragment(fragments[i], i);
  }
  return writer;
}

}  // namespace

Result<std::string> program_text(std::string_view json) {
  const auto document = parse_strict_json(json, kRules);
  if (!document) return document.error();
  const TextWriter writer = written(*document);
  if (!writer.problem.empty()) return malformed(writer.problem);
  return writer.text + "}\n";
}

std::optional<std::string> program_text(const SourceFile& file, Diagnostics& diagnostics) {
  const auto refuse = [&](const Error& error, std::string_view place) {
    // A value that is not an object has no offset of its own, but the value around it has.
    auto offset = json_offset(file.text(), place);
    for (; !offset && !place.empty(); offset = json_offset(file.text(), place)) {
      const auto slash = place.rfind('/');
      place = place.substr(0, slash == place.npos ? 0 : slash);
    }
    const SourcePos at = file.base() + static_cast<SourcePos>(offset.value_or(0));
    diagnostics.error(error.code, {at, at}, error.message);
    return std::nullopt;
  };
  const auto document = parse_strict_json(file.text(), kRules);
  constexpr std::string_view kFirstError = "none";  // no value has this pointer
  if (!document) return refuse(document.error(), kFirstError);
  TextWriter writer = written(*document);
  if (!writer.problem.empty()) return refuse(malformed(writer.problem), writer.place);
  return writer.text + "}\n";
}

}  // namespace mir
