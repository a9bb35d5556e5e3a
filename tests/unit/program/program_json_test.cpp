#include "program/program_json.hpp"

#include <cctype>
#include <initializer_list>
#include <string>

#include "../ir/read.hpp"
#include "mir/codes/weights.hpp"

using namespace mir;

namespace {

std::string document(const std::string& instructions, const std::string& symbol = "x") {
  return R"({"code":{"module":[{"op":"fragment","symbol":")" + symbol + R"(","instructions":[)" +
         instructions + "]}]}}";
}

/// The one line that an instruction becomes.
std::string line(const std::string& instruction) {
  const auto text = program_text(document(instruction));
  if (!text) return text.error().message;
  const auto begin = text->find("addr:");
  return text->substr(begin, text->find('\n', begin) - begin);
}

/// A constant of a table.
std::string constant(const std::string& fields) {
  return document(R"({"op":"value_symbol","program_id":0,"symbol":"a",)" + fields + "}");
}

/// A document that is refused, and the message.
struct Refused {
  std::string text;
  std::string message;
};

}  // namespace

TEST_CASE("instructions of a program become ops of the prog dialect") {
  CHECK(line(R"({"op":"ret","program_id":10})") == "addr:0x0000000000000a prog.ret");
  CHECK(line(R"({"op":"exit","program_id":18446744073709551615})") ==
        "addr:0xffffffffffffffff prog.exit() -> ()");
  CHECK(line(R"({"op":"jump","program_id":0,"target":"a.__entry","offset":-3})") ==
        "addr:0x00000000000000 prog.jump a.__entry[offset:-3]");
  CHECK(line(R"({"op":"bind","program_id":0,"type":"output","program_uuid":7,"input_pos":1})") ==
        "addr:0x00000000000000 prog.bind[type:1, program_uuid:7, input_pos:1]");
  CHECK(line(R"({"op":"kernel_launch","program_id":0,"inputs":[1,2],"outputs":[],"op_type":"Add",)"
             R"("op_options":{"b":[1.5,null],"a":"x y"}})") ==
        "addr:0x00000000000000 prog.kernel_launch(%1:!prog.slot, %2:!prog.slot) -> ()"
        R"([op_type:Add, op_options:{"a":"x y","b":[1.5,null]}])");
}

TEST_CASE("fragments have the kind that their symbol states") {
  const auto has = [](const char* symbol, const char* kind) {
    const auto text = program_text(document("", symbol));
    return text && text->find("<" + std::string(kind) + ">") != std::string::npos;
  };
  CHECK(has("__MLLM_JIT_PACKAGE_CODE_SEGMENT", "code"));
  CHECK(has("__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT", "table"));
  CHECK(has("deinit", "data"));
}

TEST_CASE("extents of constants are numbers below 2^31") {
  const auto read = [](const std::string& shape) {
    return program_text(document(
        R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1],"constant":[],"shape":)" +
        shape + "}"));
  };
  const auto largest = read("[2147483647,0]");
  REQUIRE(largest);
  CHECK(largest->find("tensor<[2147483647, 0], Float32, CPU>") != std::string::npos);
  CHECK_FALSE(read("[2147483648,0]"));
}

TEST_CASE("each broken part of a program is refused with its reason") {
  const std::string no_object = "an instruction is no object";
  const std::string not_plain = "is missing or holds no plain name";
  const std::string no_address =
      "'program_id' is missing or no number from 0 to 18446744073709551615";
  const std::string no_value = "a value has no number that a text can hold";
  const std::string no_options = "'op_options' is missing or neither an object nor null";
  const std::string wrong_count = "a constant has not the values of its extents";
  const std::string no_extent = "an extent is no number below 2^31";
  const std::string twice = "a key occurs twice in an object";
  for (
      const Refused& each : std::initializer_list<Refused>{
          {"", "it is not JSON"},
          {"{}", "the document has no 'code'"},
          {"[]", "the document is no object"},
          {R"({"code":[]})", "'code' is no object"},
          {R"({"code":{}})", "'module' is missing or no list"},
          {R"({"code":{"module":{}}})", "'module' is missing or no list"},
          {R"({"code":{"module":[1]}})", "a fragment is no object"},
          {R"({"code":{"module":[{}]}})", "'instructions' is missing or no list"},
          {R"({"code":{"module":[{"instructions":[]}]}})", "'symbol' " + not_plain},
          {R"({"code":{"module":[{"instructions":[],"symbol":"x","op":"part"}]}})",
           "a part of the module is no fragment"},
          {R"({"code":{"module":[]},"code":{"module":[]}})", twice},
          {document("1"), no_object},
          {document("{}"), "'op' " + not_plain},
          {document("", ""), "'symbol' " + not_plain},
          {document("", "a b"), "'symbol' " + not_plain},
          {document("", "a\\u0000"), "'symbol' " + not_plain},
          {document("", "a>"), "'symbol' " + not_plain},
          {document(R"({"op":"leap","program_id":0})"), "'leap' is no instruction of a program"},
          {document(R"({"op":"ret"})"), no_address},
          {document(R"({"op":"ret","program_id":-1})"), no_address},
          {document(R"({"op":"ret","program_id":1.5})"), no_address},
          {document(R"({"op":"ret","program_id":18446744073709551616})"), no_address},
          {document(R"({"op":"ret","op":"ret","program_id":0})"), twice},
          {document(R"({"op":"label","program_id":0})"), "'symbol' " + not_plain},
          {document(R"({"op":"label","program_id":0,"symbol":"a]b"})"), "'symbol' " + not_plain},
          {document(R"({"op":"jump","program_id":0,"target":"a","offset":"1"})"),
           "'offset' is missing or no whole number"},
          {document(R"({"op":"jump","program_id":0,"target":"a"})"),
           "'offset' is missing or no whole number"},
          {document(R"({"op":"jump","program_id":0,"offset":1})"), "'target' " + not_plain},
          {document(R"({"op":"free","program_id":0,"inputs":[],"outputs":[]})"),
           "a free has not one input"},
          {document(R"({"op":"free","program_id":0,"inputs":[1,2],"outputs":[]})"),
           "a free has not one input"},
          {document(R"({"op":"free","program_id":0,"inputs":[2147483647]})"), no_value},
          {document(R"({"op":"free","program_id":0,"inputs":[-1]})"), no_value},
          {document(R"({"op":"free","program_id":0,"inputs":["1"]})"), no_value},
          {document(R"({"op":"bind","program_id":0,"type":"both","program_uuid":7,"input_pos":1})"),
           "a bind is of neither an input nor an output"},
          {document(
               R"({"op":"kernel_launch","program_id":0,"inputs":[],"outputs":[],"op_type":"A"})"),
           no_options},
          {document(
               R"({"op":"kernel_symbol","program_id":0,"symbol":"a","op_type":"A","op_options":3})"),
           no_options},
          {document(R"({"op":"kernel_symbol","program_id":0,"symbol":"a","op_options":null})"),
           "'op_type' " + not_plain},
          {document(
               R"({"op":"kernel_launch","program_id":0,"outputs":[],"op_type":"A","op_options":null})"),
           "'inputs' is missing or no list"},
          {document(
               R"({"op":"kernel_launch","program_id":0,"inputs":[],"op_type":"A","op_options":null})"),
           "'outputs' is missing or no list"},
          {document(
               R"({"op":"kernel_launch","program_id":0,"inputs":[],"outputs":[],"op_type":"A",)"
               R"("op_options":null,"symbol_name":""})"),
           "'symbol_name' " + not_plain},
          {document(R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[]})"),
           "a value symbol has not one output"},
          {document(R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1,2]})"),
           "a value symbol has not one output"},
          {constant(R"("outputs":[1,2],"constant":[1],"shape":[1])"),
           "a constant has not one output"},
          {constant(R"("outputs":[1],"constant":["x"],"shape":[1])"), "a constant is no number"},
          {constant(R"("outputs":[1],"constant":[1],"shape":[-1])"), no_extent},
          {constant(R"("outputs":[1],"constant":[1],"shape":[1.5])"), no_extent},
          {constant(R"("outputs":[1],"constant":[1],"shape":[2147483648])"), no_extent},
          {constant(R"("outputs":[1],"constant":[1])"), "'shape' is missing or no list"},
          {constant(R"("outputs":[1],"constant":1,"shape":[1])"),
           "'constant' is missing or no list"},
          {constant(R"("outputs":[1],"constant":[1],"shape":[2])"), wrong_count},
          {constant(R"("outputs":[1],"constant":[1,2],"shape":[1])"), wrong_count},
          {constant(R"("outputs":[1],"constant":[1,2,3],"shape":[2,2])"), wrong_count},
          {constant(R"("outputs":[1],"constant":[],"shape":[])"), wrong_count},
          {constant(R"("outputs":[1],"constant":[1],"shape":[2,0])"), wrong_count},
          // Extents whose product is 2^64 and would be 0.
          {constant(R"("outputs":[1],"constant":[],"shape":[65536,65536,65536,65536])"),
           wrong_count},
          {document(
               R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1],"constant":[1],)"
               R"("shape":[1]},{"op":"value_symbol","program_id":1,"symbol":"b","outputs":[1],)"
               R"("constant":[1],"shape":[1]})"),
           "a constant is declared twice"},
          {R"({"code":{"module":[{"x":)" + std::string(100'000, '['), "nested over 64 deep"}}) {
    CAPTURE(each.text.substr(0, 200));
    const auto result = program_text(each.text);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == diag::kProgramMalformed);
    CHECK(result.error().message == each.message);
  }
}

TEST_CASE("numbers of a program are read up to the largest one of each field") {
  const auto value_of = [](const std::string& key, const std::string& text) {
    std::string fields;
    for (const std::string each : {"program_uuid", "input_pos", "flag"})
      fields += ",\"" + each + "\":" + (each == key ? text : "5");
    const std::string op = key == "flag" ? "mode_config" : "bind";
    return line("{\"op\":\"" + op + R"(","program_id":0,"type":"input")" + fields + "}");
  };
  const auto check = [&](const std::string& key, std::uint64_t largest, const std::string& before,
                         const std::string& after) {
    CAPTURE(key);
    for (const std::uint64_t value : {std::uint64_t{0}, largest}) {
      CHECK(value_of(key, std::to_string(value)) == before + std::to_string(value) + after);
    }
    const std::string refused =
        "'" + key + "' is missing or no number from 0 to " + std::to_string(largest);
    CHECK(value_of(key, std::to_string(largest + 1)) == refused);
    CHECK(value_of(key, "-1") == refused);
    CHECK(value_of(key, "0.5") == refused);
  };
  const std::string bind = "addr:0x00000000000000 prog.bind[type:0, program_uuid:";
  check("program_uuid", 0x7fff'fffe, bind, ", input_pos:5]");
  check("input_pos", 0xffff'ffff, bind + "5, input_pos:", "]");
  check("flag", 0xffff'ffff, "addr:0x00000000000000 prog.mode_config[flag:", "]");
  CHECK(line(R"({"op":"free","program_id":0,"inputs":[2147483646]})") ==
        "addr:0x00000000000000 prog.free(%2147483646:!prog.slot) -> ()");
}

TEST_CASE("names of a program are made of letters, digits and three signs") {
  for (int c = 0x20; c < 0x7f; ++c) {
    if (c == '"' || c == '\\') continue;
    CAPTURE(c);
    const bool is_plain = std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    const std::string name = std::string("a") + static_cast<char>(c);
    CHECK(static_cast<bool>(program_text(document("", name))) == is_plain);
  }
}

TEST_CASE("documents are read up to 64 levels of nesting") {
  // The options are in an instruction, a list, a fragment, a list and two objects.
  const auto nested = [](std::size_t levels) {
    return line(
        R"({"op":"kernel_symbol","program_id":0,"symbol":"a","op_type":"A","op_options":{"x":)" +
        std::string(levels, '[') + std::string(levels, ']') + "}}");
  };
  CHECK(nested(57) ==
        "addr:0x00000000000000 prog.kernel_symbol[symbol:a, op_type:A, op_options:{\"x\":" +
            std::string(57, '[') + std::string(57, ']') + "}]");
  CHECK(nested(58) == "nested over 64 deep");
}

TEST_CASE("mentions of a constant show its type and values") {
  const auto text = program_text(document(
      R"({"op":"free","program_id":0,"inputs":[1]},{"op":"value_symbol","program_id":1,"symbol":"a",)"
      R"("outputs":[1],"constant":[1,2.5,3,4],"shape":[2,2]},)"
      R"({"op":"value_symbol","program_id":2,"symbol":"b","outputs":[2]})"));
  REQUIRE(text);
  const std::string type = "tensor<[2, 2], Float32, CPU>[constant:[1, 2.5, 3, 4]]";
  CHECK(*text == mir::test::Part{"prog.free(%1:" + type + ") -> ()"});
  CHECK(*text == mir::test::Part{"prog.value_symbol() -> (%1:" + type + ")[symbol:a]"});
  CHECK(*text == mir::test::Part{"prog.value_symbol() -> (%2:!prog.slot[@b][symbol:b])[symbol:b]"});
}

TEST_CASE("a document is refused at the place of its problem") {
  const auto place_of = [](const std::string& text) {
    mir::IRContext context;
    const mir::SourceFile* file = context.sources().add("p.json", text);
    mir::Diagnostics diagnostics;
    CHECK_FALSE(program_text(*file, diagnostics));
    const auto lines = mir::test::lines_of(diagnostics, context);
    REQUIRE(lines.size() == 1);
    return lines.front().substr(0, lines.front().find(' '));
  };
  const std::string begin =
      "{\"code\":{\"module\":[\n{\"op\":\"fragment\",\"symbol\":\"x\",\"instructions\":[\n";
  const std::string ret = "{\"op\":\"ret\",\"program_id\":0}";
  CHECK(place_of(begin + ret + ",\n   {\"op\":\"leap\",\"program_id\":1}]}]}}") == "4:4");
  CHECK(place_of(begin + ret + ",\n " + ret +
                 ",\n  {\"op\":\"free\",\"program_id\":0,\"inputs\":[]}]}]}}") == "5:3");
  CHECK(place_of(begin + ret + ",\n {\"op\":\"value_symbol\",\"constant\":0}]}]}}") == "4:2");
  CHECK(place_of(begin + ret + "]},\n  {}]}}") == "4:3");
  CHECK(place_of("{\"code\":\n {}}") == "1:1");
  CHECK(place_of("{\"code\":\n {\"module\": [{}], }}") == "2:19");
}
