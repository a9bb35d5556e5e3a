// Malformed files of each format, generated from a correct one by changing one field.
#include "hostile.hpp"

#include <cstdint>
#include <iterator>

#include "fields.hpp"
#include "hostile_parts.hpp"

namespace mir::fuzz {
namespace {

/// Invalid names of tensors.
const std::string kBadNames[] = {std::string("\0\0", 2),
                                 std::string("a\0", 2),
                                 "a\n",
                                 "\x7F"
                                 "b",
                                 "\xFF\xFF",
                                 "\xC0\x80",
                                 "\xED\xA0",
                                 "\xE2\x82",
                                 "\x80"
                                 "a"};

// safetensors

constexpr std::string_view kHeader =
    R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"U8","shape":[4],"data_offsets":[24,28]}})";

std::string with_header(const std::string& header) {
  return little_endian(header.size(), 8) + header + std::string(28, '\1');
}

Files hostile_safetensors() {
  const std::string header(kHeader);
  Files files = shortened(with_header(header));
  FieldFile fields;
  fields.number("length of the header", header.size(), 8);
  fields.text(header + std::string(28, '\1'));
  append(files, fields.with_other_numbers());
  files.push_back({"a byte after the end", with_header(header) + "x"});
  const std::initializer_list<std::string_view> numbers = {
      "-1",
      "-0",
      "1.0",
      "1e0",
      "07",
      "+1",
      "0x1",
      "\"2\"",
      "null",
      "true",
      "[]",
      "[2]",
      "{}",
      "",
      "5",
      "23",
      "2147483648",
      "4294967296",
      "9223372036854775807",
      "9223372036854775808",
      "18446744073709551615",
      "18446744073709551616",
      "1e400",
      "NaN",
      "Infinity",
      "/**/2",
      "99999999999999999999999999999999999999"};
  for (const std::string_view place : {"[2,", "3]", "[4]", "[0,", "24]", "[24,", "28]"}) {
    for (const auto number : numbers) {
      auto changed = header;
      const auto at = changed.find(place);
      const bool opens = place.front() == '[', closes = place.back() == ']';
      changed.replace(at, place.size(),
                      (opens ? "[" : "") + std::string(number) + (closes ? "]" : ","));
      files.push_back(
          {std::string(place) + " became " + std::string(number), with_header(changed)});
    }
  }
  append(files, with_tokens(header, "\"F32\"",
                            {"\"f32\"", "\"F33\"", "\"F4\"", "\"\"", "32", "null", "[]", "{}",
                             "\"F64\"", "\"F16\"", "\"I64\"", "\"BOOL\"", "\"F32\\u0000\""},
                            with_header));
  append(
      files,
      with_tokens(header, "\"shape\":[2,3]",
                  {"\"shape\":[6,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                   "\"shape\":[2,3],\"shape\":[2,3]", "\"extents\":[2,3]",
                   "\"shape\":[2,3],\"x\":1", "\"shape\":[[2,3]]"},
                  with_header));
  append(files, with_tokens(header, "\"b\":",
                            {"\"a\":", "\"\":", "b:", "1:", "\"__metadata__\":", "\"\\u0000\":",
                             "\"\\ud800\":", "\"\\n\":", "\"\xFF\":", "\"\xC0\x80\":"},
                            with_header));
  std::string deep = "{\"a\":";
  deep.append(50'000, '[');
  for (const auto& text :
       {std::string(), std::string("[]"), std::string(" {}"), std::string("{}{}"), std::string("{"),
        std::string("null"), std::string("\xEF\xBB\xBF{}"), std::string("{}\0", 3), deep,
        std::string("{\"__metadata__\":{\"a\":1}}"), std::string("{\"__metadata__\":[]}")})
    files.push_back({"the header is " + text.substr(0, 40), with_header(text)});
  return files;
}

// .mllm

FieldFile mllm_v1() {
  FieldFile file;
  file.number("magic", 20012, 4);
  file.number("table", 2 * (4 + 2 + 20), 8);
  const std::uint64_t data = 12 + 2 * (4 + 2 + 20);
  for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1}}) {
    const std::string which = i == 0 ? "first " : "second ";
    file.number(which + "name length", 2, 4);
    file.text(i == 0 ? "aa" : "bb");
    // The first may be smaller: unused bytes may lie between tensors.
    file.number(which + "size", 8, 8, i == 1);
    file.number(which + "offset", data + 8 * i, 8, true);
    file.number(which + "dtype", 0, 4, false);
  }
  file.text(std::string(16, '\1'));
  return file;
}

FieldFile mllm_v2() {
  FieldFile file;
  file.number("magic", 0x519A, 4);
  file.number("version", 2, 4);
  file.text(std::string(512, '\0'));
  file.number("count", 2, 4);
  file.number("table", 532, 8);
  for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1}}) {
    const std::string which = i == 0 ? "first " : "second ";
    file.number(which + "number", i, 4, false);
    file.number(which + "dtype", 0, 4, false);
    file.number(which + "size", 8, 8);
    file.number(which + "offset", 532 + 2 * 352 + 8 * i, 8);
    file.number(which + "rank", 2, 8,
                false);  // 1 is the same tensor with its second extent left out
    file.number(which + "extent 0", 2, 4);
    file.number(which + "extent 1", 1, 4);
    file.text(std::string(14 * 4, '\0'));
    file.text((i == 0 ? "aa" : "bb") + std::string(254, '\0'));
  }
  file.text(std::string(16, '\1'));
  return file;
}

Files hostile_mllm() {
  Files files;
  for (const FieldFile& file : {mllm_v1(), mllm_v2()}) {
    append(files, file.with_other_numbers());
    append(files, file.with_other_length());
    for (const auto& name : kBadNames) {
      auto bytes = file.bytes();
      bytes.replace(bytes.find("bb"), 2, name);
      const bool cut =
          name == std::string("a\0", 2) && file.size() > 532;  // version 2: the name "a"
      files.push_back({"a bad name", std::move(bytes), cut});
    }
    auto same = file.bytes();
    same.replace(same.find("bb"), 2, "aa");
    files.push_back({"a name twice", std::move(same)});
  }
  return files;
}

// GGUF

void gguf_text(FieldFile& file, const std::string& name, std::string_view text) {
  file.number(name, text.size(), 8);
  file.text(text);
}

FieldFile gguf() {
  FieldFile file;
  file.text("GGUF");
  file.number("version", 3, 4, false);  // 2 is laid out alike
  file.number("tensors", 2, 8);
  file.number("pairs", 3, 8);
  gguf_text(file, "first key's length", "general.alignment");
  file.number("first value's type", 4, 4);
  file.number("alignment", 32, 4, false);
  gguf_text(file, "second key's length", "list");
  file.number("second value's type", 9, 4);
  file.number("type of the elements", 8, 4);
  file.number("number of elements", 1, 8);
  gguf_text(file, "length of the element", "text");
  gguf_text(file, "third key's length", "flag");
  file.number("third value's type", 7, 4, false);
  file.number("bool", 1, 1, false);
  for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1}}) {
    const std::string which = i == 0 ? "first " : "second ";
    gguf_text(file, which + "name's length", i == 0 ? "aa" : "bb");
    file.number(which + "rank", 2, 4);
    file.number(which + "extent 0", 4, 8, false);  // smaller ones leave bytes that may be padding
    file.number(which + "extent 1", 2, 8, false);
    file.number(which + "type", 0, 4, false);
    file.number(which + "offset", 32 * i, 8);
  }
  file.pad_to(32);
  file.text(std::string(64, '\1'));
  return file;
}

/// True if a field that may have other values has a number too large for any file of this size.
bool too_large(const HostileFile& file, std::string_view field) {
  if (file.what.find(field) == std::string::npos) return false;
  constexpr std::uint64_t kLarge = 1000;
  return std::stoull(file.what.substr(file.what.rfind(' ') + 1)) > kLarge;
}

Files hostile_gguf() {
  const FieldFile file = gguf();
  Files files = file.with_other_numbers();
  append(files, file.with_other_length(true));
  for (auto& each : files) {
    for (const auto* field : {"version", "extent", "alignment", "type", "bool"})
      if (each.legal && too_large(each, field)) each.legal = false;
  }
  // The last tensor may be filled up, but no further than that.
  files.push_back({"a whole block after the end", file.bytes() + std::string(32, '\0')});
  for (const auto& name : kBadNames) {
    auto bytes = file.bytes();
    bytes.replace(bytes.find("bb"), 2, name);
    files.push_back({"a bad name", std::move(bytes)});
  }
  for (const auto& [from, to] :
       {std::pair("bb", "aa"), std::pair("flag", "list"), std::pair("flag", "fl g"),
        std::pair("flag", "fl\xC3\xA4"), std::pair("GGUF", "GGUf")}) {
    auto bytes = file.bytes();
    bytes.replace(bytes.find(from), std::string_view(from).size(), to);
    files.push_back({std::string(from) + " became " + to, std::move(bytes)});
  }
  return files;
}

// NPY

Files hostile_npy() {
  const std::string good(kDictionary);
  const std::string bytes = npy_file(good);
  Files files = shortened(bytes);
  files.push_back({"a byte after the end", bytes + "x"});
  FieldFile fields;
  fields.text(bytes.substr(0, 6));
  fields.number("major version", 1, 1);
  fields.number("minor version", 0, 1);
  fields.number("length of the header", bytes.size() - 24 - 10, 2);
  fields.text(bytes.substr(10));
  append(files, fields.with_other_numbers());
  for (const std::uint64_t version : {2, 3}) {
    FieldFile wide;
    wide.text(bytes.substr(0, 6));
    // Both have a length of four bytes; they differ in the encoding of texts alone.
    wide.number("major version", version, 1, false);
    wide.number("minor version", 0, 1);
    wide.number("length of the header", bytes.size() - 24 - 10, 4);
    wide.text(bytes.substr(10));
    append(files, wide.with_other_numbers());
    append(files, wide.with_other_length());
  }
  append(files, with_tokens(good, "'<f4'",
                            {"'|O'",
                             "'O'",
                             "'<f8'",
                             "'<f3'",
                             "'<f'",
                             "'f4'",
                             "'<f4",
                             "<f4",
                             "4",
                             "None",
                             "'|V4'",
                             "'<U4'",
                             "'<M8[s]'",
                             "[('a', '<f4')]",
                             "('<f4',)",
                             "''",
                             "'<f4' 'x'",
                             "b'<f4'",
                             "'<f4444444444444444444'",
                             "'=f4 '",
                             "'<c8'",
                             "'<i8'",
                             "'|b1'",
                             "'\\x3cf4'"},
                            npy_file));
  append(files, with_tokens(good, "False",
                            {"false", "0", "1", "None", "'False'", "Falsee", "",
                             "True, 'fortran_order': False", "exit()", "not True", "[False]"},
                            npy_file));
  append(files, with_tokens(good, "(2, 3)",
                            {"(2, 3",
                             "2, 3)",
                             "[2, 3]",
                             "(2, -3)",
                             "(2, 3.0)",
                             "(2, '3')",
                             "(2, None)",
                             "(6)",
                             "6",
                             "()",
                             "(2,, 3)",
                             "(, 2, 3)",
                             "(2 3)",
                             "(2, (3))",
                             "(0x2, 3)",
                             "(2, 1e0)",
                             "(2, 4)",
                             "(3, 3)",
                             "(2, 2147483648)",
                             "(4294967296, 4294967296)",
                             "(9223372036854775807, 2)",
                             "(9223372036854775808,)",
                             "(18446744073709551616,)",
                             "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,3)",
                             "(99999999999999999999999999999999999999999,)",
                             "(2, 3), 'shape': (2, 3)"},
                            npy_file));
  append(files, with_tokens(good, "'shape'",
                            {"'Shape'", "shape", "''", "'shape\\0'", "1", "'descr'",
                             "'shape': (2, 3), 'x'"},
                            npy_file));
  append(files, with_tokens(good, "'descr': '<f4', ",
                            {"", "'descr': '<f4' ", "'descr' '<f4', ", "'descr': '<f4', 'y': 1, "},
                            npy_file));
  append(files,
         with_tokens(good, "{", {"", "[", "{{", "{#", "dict(", "x{", "\xEF\xBB\xBF{"}, npy_file));
  append(files, with_tokens(good, "}", {"", "]", "}}", "}x", "} #", "};", "}{}"}, npy_file));
  std::string deep(50'000, '(');
  files.push_back(
      {"nested tuples", npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': " + deep)});
  return files;
}

}  // namespace

void append(Files& into, Files files) {
  into.insert(into.end(), std::make_move_iterator(files.begin()),
              std::make_move_iterator(files.end()));
}

Files with_tokens(const std::string& text, std::string_view from,
                  std::initializer_list<std::string_view> values,
                  std::string (*wrap)(const std::string&)) {
  Files files;
  for (const auto value : values) {
    auto changed = text;
    changed.replace(changed.find(from), from.size(), value);
    files.push_back(
        {std::string(from) + " became " + std::string(value.substr(0, 40)), wrap(changed)});
  }
  return files;
}

std::string bare(const std::string& text) {
  return text;
}

std::string npy_file(const std::string& dictionary) {
  std::string text = dictionary;
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  return "\x93NUMPY\1" + std::string(1, '\0') + little_endian(text.size(), 2) + text +
         std::string(24, '\1');
}

std::string sound_file(std::string_view format) {
  if (format == "safetensors") return with_header(std::string(kHeader));
  if (format == "npz") return sound_npz();
  if (format == "pack") return sound_pack();
  if (format == "index") return sound_index();
  if (format == "program") return sound_program();
  if (format == "npy") return npy_file(std::string(kDictionary));
  if (format == "mllm") return mllm_v2().bytes();
  return gguf().bytes();
}

std::vector<HostileFile> hostile_files(std::string_view format) {
  if (format == "safetensors") return hostile_safetensors();
  if (format == "npz") return hostile_npz();
  if (format == "pack") return hostile_packs();
  if (format == "index") return hostile_indices();
  if (format == "program") return hostile_programs();
  if (format == "npy") return hostile_npy();
  if (format == "mllm") return hostile_mllm();
  return hostile_gguf();
}

}  // namespace mir::fuzz
