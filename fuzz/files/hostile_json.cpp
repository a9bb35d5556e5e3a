// Indices of safetensors files and executable programs.
#include <string>

#include "fields.hpp"
#include "hostile_parts.hpp"

namespace mir::fuzz {
namespace {

/// The text with one byte more at each of up to 400 places; no such text may be accepted.
Files with_byte(const std::string& text, char byte) {
  Files files;
  const std::size_t step = text.size() / 400 + 1;
  for (std::size_t at = 0; at <= text.size(); at += step)
    files.push_back(
        {"byte " + std::to_string(static_cast<unsigned char>(byte)) + " at " + std::to_string(at),
         std::string(text).insert(at, 1, byte)});
  return files;
}

constexpr std::string_view kIndex =
    R"({"metadata":{"total_size":28},"weight_map":{"a":"x.safetensors","b":"y.safetensors"}})";

constexpr std::string_view kProgram =
    R"({"little_endian":true,"op_counts":6,"code":{"module":[)"
    R"({"dialect":"program","op":"fragment","symbol":"__MLLM_JIT_PACKAGE_CODE_SEGMENT","instructions":[)"
    R"({"op":"label","program_id":0,"symbol":"__entry"},)"
    R"({"op":"bind","program_id":1,"program_uuid":7,"input_pos":3,"type":"input"},)"
    R"({"op":"kernel_launch","program_id":2,"device":"CPU","inputs":[7,9],"outputs":[8],)"
    R"("op_type":"Add","op_options":{"x":4}},)"
    R"({"op":"free","program_id":5,"inputs":[7],"outputs":[]},)"
    R"({"op":"jump","program_id":6,"target":"__entry","offset":-4},)"
    R"({"op":"mode_config","program_id":11,"flag":1},)"
    R"({"op":"ret","program_id":12},{"op":"exit","program_id":13}]},)"
    R"({"dialect":"program","op":"fragment","symbol":"__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT",)"
    R"("instructions":[{"op":"kernel_symbol","program_id":0,"symbol":"k","op_type":"Add",)"
    R"("op_options":null},{"op":"value_symbol","program_id":1,"symbol":"constant_9","outputs":[9],)"
    R"("constant":[1.5,2.5],"shape":[2]}]}]}})";

}  // namespace

std::string sound_index() {
  return std::string(kIndex);
}

Files hostile_indices() {
  const std::string good(kIndex);
  Files files = shortened(good);
  append(files, with_byte(good, '\xFF'));
  append(files, with_byte(good, '\0'));
  append(files, with_byte(good, '\1'));
  for (const std::string_view shard : {"\"x.safetensors\"", "\"y.safetensors\""}) {
    append(files, with_tokens(good, shard,
                              {"\"../x.safetensors\"",
                               "\"/x.safetensors\"",
                               "\"a/x.safetensors\"",
                               "\"./x.safetensors\"",
                               "\"..\"",
                               "\".\"",
                               "\"\"",
                               "\".x\"",
                               "\"a\\\\x\"",
                               "\"C:x\"",
                               "\"x.safetensors\\u0000\"",
                               "\"\\n\"",
                               "\"\\ud800\"",
                               "\"\xFF\"",
                               "\"z.safetensors\"",
                               "null",
                               "1",
                               "true",
                               "[]",
                               "[\"x.safetensors\"]",
                               "{}",
                               "\"model.safetensors.index.json\""},
                              bare));
  }
  for (const std::string_view key : {"\"a\":", "\"b\":"}) {
    append(files, with_tokens(good, key,
                              {"\"\":", "\"c\":", "\"\\u0000\":", "\"\\n\":", "\"\xFF\":", "1:",
                               "a:", "\"a\":\"x.safetensors\",\"b\":"},
                              bare));
  }
  append(files, with_tokens(good, "\"weight_map\"",
                            {"\"weights\"", "\"\"", "\"weight_map\":{},\"weight_map\"",
                             "\"weight_map\":[],\"x\"", "\"weight_map\":null,\"x\"",
                             "\"weight_map\":\"x.safetensors\",\"x\"", "\"weight_map\":1,\"x\""},
                            bare));
  files.push_back({"the tensors in each other's file",
                   R"({"weight_map":{"b":"x.safetensors","a":"y.safetensors"}})"});
  files.push_back({"a tensor left out", R"({"weight_map":{"a":"x.safetensors"}})", true});
  files.push_back({"a second document", good + good});
  files.push_back(
      {"a tensor twice",
       R"({"weight_map":{"a":"x.safetensors","b":"y.safetensors","a":"x.safetensors"}})"});
  const auto deep = std::string("{\"metadata\":").append(50'000, '[');
  files.push_back({"deep metadata", deep});
  return files;
}

std::string sound_program() {
  return std::string(kProgram);
}

Files hostile_programs() {
  const std::string good(kProgram);
  Files files = shortened(good);
  append(files, with_byte(good, '\xFF'));
  append(files, with_byte(good, '\0'));
  for (const std::string_view number :
       {"\"program_id\":0,\"symbol\":\"__entry\"", "\"program_uuid\":7", "\"input_pos\":3"}) {
    const std::string key(number.substr(0, number.find(':') + 1));
    for (const auto* value : {"-1", "1.5", "1e400", "null", "\"1\"", "[]", "{}", "true",
                              "18446744073709551616", "99999999999999999999"}) {
      auto text = good;
      text.replace(text.find(number), key.size() + 1, key + value);
      files.push_back({key + " became " + value, std::move(text)});
    }
  }
  append(files,
         with_tokens(good, "\"inputs\":[7,9]",
                     {"\"inputs\":7", "\"inputs\":null", "\"inputs\":[-1]", "\"inputs\":[1.5]",
                      "\"inputs\":[\"7\"]", "\"inputs\":[[7]]", "\"inputs\":[4294967296]",
                      "\"inputs\":[7],\"inputs\":[7]", "\"x\":[7]"},
                     bare));
  append(files, with_tokens(good, "\"op\":\"label\"",
                            {"\"op\":\"leap\"", "\"op\":\"\"", "\"op\":1", "\"op\":null",
                             "\"op\":[]", "\"op\":\"label\",\"op\":\"label\"", "\"x\":\"label\""},
                            bare));
  append(files,
         with_tokens(good, "\"target\":\"__entry\"",
                     {"\"target\":\"a b\"", "\"target\":\"\"", "\"target\":1",
                      "\"target\":\"a\\n@b\"", "\"target\":\"\\u0000\"", "\"target\":\")}\""},
                     bare));
  append(files, with_tokens(good, "[1.5,2.5]",
                            {"1.5", "[1.5]", "[1.5,2.5,3.5]", "[\"1.5\",2.5]", "[1e400,1]", "null",
                             "[[1.5,2.5]]"},
                            bare));
  append(files, with_tokens(good, "\"shape\":[2]",
                            {"\"shape\":[-2]", "\"shape\":[2,4294967296,4294967296,4294967296]",
                             "\"shape\":2", "\"shape\":[1.5]", "\"shape\":[\"2\"]",
                             "\"shape\":[9223372036854775808]", "\"shape\":[3]"},
                            bare));
  append(files, with_tokens(good, "{\"module\":[",
                            {"[", "{\"module\":{", "{\"x\":[", "{\"module\":[1,",
                             "{\"module\":[null,", "{\"module\":[[],"},
                            bare));
  files.push_back({"deep options", std::string("{\"code\":").append(50'000, '[')});
  files.push_back({"a second document", good + good});
  files.push_back({"an empty object", "{}"});
  return files;
}

}  // namespace mir::fuzz
