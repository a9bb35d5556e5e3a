#include "program/program_json.hpp"

#include <doctest/doctest.h>

#include <string>

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

TEST_CASE("programs that break their form are refused") {
  std::string deep = R"({"code":{"module":[{"x":)" + std::string(100'000, '[');
  for (
      const std::string& text :
      {std::string(),
       std::string("{}"),
       std::string("[]"),
       std::string("{\"code\":[]}"),
       std::string(R"({"code":{}})"),
       std::string(R"({"code":{"module":{}}})"),
       std::string(R"({"code":{"module":[1]}})"),
       std::string(R"({"code":{"module":[{}]}})"),
       std::string(R"({"code":{"module":[]},"code":{"module":[]}})"),
       document("1"),
       document("{}"),
       document("", ""),
       document("", "a b"),
       document("", "a\\u0000"),
       document("", "a>"),
       document(R"({"op":"leap","program_id":0})"),
       document(R"({"op":"ret"})"),
       document(R"({"op":"ret","program_id":-1})"),
       document(R"({"op":"ret","program_id":1.5})"),
       document(R"({"op":"ret","program_id":18446744073709551616})"),
       document(R"({"op":"ret","op":"ret","program_id":0})"),
       document(R"({"op":"label","program_id":0})"),
       document(R"({"op":"label","program_id":0,"symbol":"a]b"})"),
       document(R"({"op":"jump","program_id":0,"target":"a","offset":"1"})"),
       document(R"({"op":"free","program_id":0,"inputs":[],"outputs":[]})"),
       document(R"({"op":"free","program_id":0,"inputs":[2147483647]})"),
       document(R"({"op":"free","program_id":0,"inputs":[-1]})"),
       document(R"({"op":"bind","program_id":0,"type":"both","program_uuid":7,"input_pos":1})"),
       document(
           R"({"op":"kernel_launch","program_id":0,"inputs":[],"outputs":[],"op_type":"Add"})"),
       document(
           R"({"op":"kernel_symbol","program_id":0,"symbol":"a","op_type":"A","op_options":3})"),
       document(R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1,2]})"),
       document(
           R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1],"constant":["x"],"shape":[1]})"),
       document(
           R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1],"constant":[1],"shape":[-1]})"),
       document(
           R"({"op":"value_symbol","program_id":0,"symbol":"a","outputs":[1],"constant":[1]})"),
       deep}) {
    CAPTURE(text.substr(0, 100));
    const auto result = program_text(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == DiagCode::kProgramMalformed);
  }
}
