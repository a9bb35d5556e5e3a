// Texts that grow by instructions of programs, and by comments, blanks and locations.
#include <fmt/format.h>

#include <iterator>

#include "growing_parts.hpp"

namespace mir::test {

namespace {

std::string program(std::string_view code, std::string_view table) {
  return dump(
      fmt::format("prog.fragment @__MLLM_JIT_PACKAGE_CODE_SEGMENT <CPU> <code> {{\n{}}}\n"
                  "prog.fragment @__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT <CPU> <table> {{\n{}}}\n",
                  code, table));
}

// -- programs -------------------------------------------------------------------------------------

std::string launches(std::size_t n) {
  return program(
      "prog.label[symbol:m.__entry]\nprog.bind[type:0, program_uuid:0, input_pos:0]\n" +
          each(n, "prog.kernel_launch(%{i}:{T}) -> (%{j}:{T})[op_type:SiLU, op_options:null]\n") +
          "prog.bind[type:1, program_uuid:" + last(n) + ", input_pos:0]\nprog.exit() -> ()\n",
      "");
}
std::string binds(std::size_t n) {
  return program(
      each(n, "prog.bind[type:0, program_uuid:{i}, input_pos:{i}]\n") +
          each(n, "prog.kernel_launch(%{i}:{T}) -> (%a{i}:{T})[op_type:SiLU, op_options:null]\n") +
          "prog.exit() -> ()\n",
      "");
}
std::string addressed(const std::string& lines) {
  std::string text;
  std::size_t address = 0;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    fmt::format_to(std::back_inserter(text), "addr:0x{:014x} {}\n", address++,
                   std::string_view(lines).substr(at, end - at));
    at = end + 1;
  }
  return text;
}
std::string labels(std::size_t n) {
  std::string code = "prog.bind[type:0, program_uuid:0, input_pos:0]\n";
  for (std::size_t i = 0; i < n; ++i) {
    // From its own place over the other jumps, the bind and the exit to body i, which has three
    // instructions.
    fmt::format_to(std::back_inserter(code), "prog.jump f{}.__entry[offset:{}]\n", i,
                   n - i + 2 + 3 * i);
  }
  code +=
      "prog.bind[type:1, program_uuid:" + last(n) + ", input_pos:0]\nprog.exit() -> ()\n" +
      each(n,
           "prog.label[symbol:f{i}.__entry]\n"
           "prog.kernel_launch(%{i}:{T}) -> (%{j}:{T})[op_type:SiLU, op_options:null]\nprog.ret\n");
  return program(addressed(code), "");
}
std::string fragments(std::size_t n) {
  return dump(
      each(n, "prog.fragment @f{i} <CPU> <data> {{\nprog.label[symbol:f{i}.__entry]\n}}\n"));
}
std::string table(std::size_t n) {
  return program("prog.exit() -> ()\n",
                 each(n,
                      "prog.value_symbol() -> (%{i}:{T}[@w{i}])[symbol:w{i}]\n"
                      "prog.kernel_symbol[symbol:k{i}, op_type:SiLU, op_options:null]\n"));
}
std::string frees(std::size_t n) {
  return program(each(n, "prog.alloc() -> (%{i}:{T})\n") + each(n, "prog.free(%{i}:{T}) -> ()\n") +
                     "prog.exit() -> ()\n",
                 "");
}

// -- layout ---------------------------------------------------------------------------------------

std::string comments(std::size_t n) {
  return dump(each(n, "// number {i}\n") + "a.b () -> ()\n");
}
std::string comments_after(std::size_t n) {
  return dump(each(n, "a.b () -> () // number {i}\n"));
}
std::string comments_inside(std::size_t n) {
  return dump("a.b (\n" + each(n, "// number {i}\n") + ") -> ()\n");
}
std::string long_comment(std::size_t n) {
  return dump("// " + repeated(n, "long ") + "\na.b () -> ()\n");
}
std::string blank_lines(std::size_t n) {
  return dump(repeated(n, "\n") + "a.b () -> ()" + repeated(n, " ") + "\n");
}
std::string locations(std::size_t n) {
  return dump(each(n, "a.b () -> () loc(\"f{i}.py\":{j}:1)\n"));
}
std::string fused_locations(std::size_t n) {
  return dump("a.b () -> () loc(fused[" + each(n, "\"f{i}.py\":{j}", ", ") + "])\n");
}

constexpr GrowingText kProgramTexts[] = {
    {"launches", launches},
    {"binds", binds},
    {"labels", labels},
    {"fragments", fragments},
    {"rows of a symbol table", table},
    {"frees", frees},
    {"comments", comments},
    {"comments after ops", comments_after},
    {"comments inside an op", comments_inside},
    {"length of a comment", long_comment},
    {"blank lines", blank_lines},
    {"locations", locations},
    {"fused locations", fused_locations},
};

}  // namespace

std::span<const GrowingText> growing_programs() {
  return kProgramTexts;
}

}  // namespace mir::test
