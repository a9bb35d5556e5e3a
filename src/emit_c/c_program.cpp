// Writes the program of a file of C: ports, files, the call.
#include "emit_c/c_program.hpp"

#include <fmt/format.h>

#include <vector>

#include "emit_c/c_lines.hpp"
#include "emit_c/c_support.hpp"
#include "weights/formats/npy_header.hpp"

namespace mir::c {

namespace {

std::string npy_type(DType dtype) {
  if (const auto name = npy_name(dtype)) return *name;
  return info(dtype).unit_bytes == 2 ? "<u2" : "|u1";
}

}  // namespace

std::string list_text(std::string text, std::span<const std::string> items,
                      std::string_view indent) {
  constexpr std::size_t kWidth = 100;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) text += ',';
    if (i != 0 && text.size() - begin + items[i].size() + 2 > kWidth) {
      text += '\n';
      begin = text.size();
      text += indent;
    } else if (i != 0) {
      text += ' ';
    }
    text += items[i];
  }
  return text;
}

std::string program_text(const CProgram& program) {
  CLines out;
  std::string text = "\n#ifdef MIR_MAIN\n#include <stdio.h>\n#include <stdlib.h>\n\n";
  text += npy_functions();
  text += '\n';
  out.open("int main(int count, char** words)");
  out.line("static struct mir_port ports[] = {");
  std::size_t at = 0;
  std::vector<std::string> call;
  std::string weights;
  enum class Role : std::uint8_t { kInput, kWeight, kOutput };
  const auto add = [&](std::span<const CPort> list, Role role) {
    for (const CPort& each : list) {
      out.line(fmt::format("    {{\"{}\", \"{}\", \"{}\", {}u, {}, NULL}},", each.name,
                           npy_type(each.array.dtype), each.array.shape, each.array.bytes,
                           role == Role::kOutput ? 1 : 0));
      const std::string array = fmt::format("({}*)ports[{}].data", each.array.type, at++);
      if (role == Role::kWeight) {
        weights += fmt::format("  model.{} = {};\n", each.name, array);
      } else {
        call.push_back(array);
      }
    }
  };
  add(program.inputs, Role::kInput);
  add(program.weights, Role::kWeight);
  add(program.outputs, Role::kOutput);
  out.line("    {NULL, NULL, NULL, 0, 0, NULL}};");
  if (!program.weights.empty()) {
    out.line(fmt::format("struct {} model;", program.weights_struct));
    call.insert(call.begin(), "&model");
  }
  call.push_back("workspace");
  out.line(fmt::format("void* const workspace = malloc({}u);", program.workspace_bytes + 1));
  out.line(
      fmt::format("int failed = workspace == NULL ? mir_fail(\"workspace\", \"needs more memory "
                  "than there is\")"
                  " : mir_read_all(ports, {}, count, words);",
                  at));
  std::string body = out.text() + weights;
  CLines end(1);
  end.open("if (!failed)");
  end.line(list_text(fmt::format("failed = {}(", program.run), call, "        ") + ");");
  end.line("if (failed) mir_report_status(failed);");
  end.close();
  end.line(fmt::format("if (!failed) failed = mir_write_all(ports, {}, count, words);", at));
  end.line("free(workspace);");
  end.line(fmt::format("mir_free_all(ports, {});", at));
  end.line("return failed ? 1 : 0;");
  end.close();
  return text + body + end.text() + "#endif\n";
}

}  // namespace mir::c
