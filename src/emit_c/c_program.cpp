// Writes the program of a file of C: ports, files, the call.
#include "emit_c/c_program.hpp"

#include <fmt/format.h>

#include <vector>

#include "emit_c/c_lines.hpp"
#include "emit_c/c_support.hpp"
#include "weights/formats/npy_header.hpp"
#include "weights/formats/safetensors_header.hpp"

namespace mir::c {

namespace {

std::string npy_type(DType dtype) {
  if (const auto name = npy_name(dtype)) return *name;
  return info(dtype).unit_bytes == 2 ? "<u2" : "|u1";
}

/// A name as JSON spells it, inside a literal of C.
std::string json_literal(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += fmt::format("\\\\\\{}", c);
    } else if (code < 0x20) {
      text += fmt::format("\\\\u{:04x}", code);
    } else if (code >= 0x7f || c == '?') {
      text += fmt::format("\\{:03o}", code);
    } else {
      text += c;
    }
  }
  return text;
}

/// Returns the bytes that a weight of so many bytes takes in the memory of all.
std::int64_t stored_bytes(std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 64;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// A function that reads all weights.
std::string weights_text(const CProgram& program) {
  if (program.weights.empty()) return "";
  CLines out;
  out.open(weights_head(program));
  out.line("static const struct mir_weight weights[] = {");
  for (const CPort& each : program.weights) {
    std::string shape;
    for (const char c : each.array.shape) {
      if (c >= '0' && c <= '9') shape += c;
      if (c == ',') shape += c;
    }
    if (shape.ends_with(',')) shape.pop_back();
    out.line(fmt::format("    {{\"{}\", \"{}\", \"[{}]\", {}u}},", json_literal(each.stated),
                         safetensors_name(each.array.dtype).value_or("?"), shape,
                         each.array.bytes));
  }
  out.line("    {NULL, NULL, NULL, 0}};");
  out.line("char* const at = (char*)memory;");
  std::int64_t offset = 0;
  for (const CPort& each : program.weights) {
    out.line(fmt::format("model->{} = (const {}*)(const void*)(at + {});", each.name,
                         each.array.type, offset));
    offset += stored_bytes(each.array.bytes);
  }
  out.line(
      fmt::format("return mir_read_weights(weights, {}, path, memory);", program.weights.size()));
  out.close();
  return fmt::format("{}\n{}\n", weights_functions(), out.text());
}

}  // namespace

std::string weights_head(const CProgram& program) {
  return fmt::format("int {}(struct {}* model, const char* path, void* memory)",
                     program.read_weights, program.weights_struct);
}

std::int64_t weights_bytes(std::span<const CPort> weights) {
  std::int64_t bytes = 0;
  for (const CPort& each : weights) bytes += stored_bytes(each.array.bytes);
  return bytes;
}

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

std::string call_text(const CProgram& program) {
  CLines out;
  out.open("int mir_call(void* const* arrays, void* caches, void* workspace)");
  std::vector<std::string> arguments;
  const auto array = [](const CPort& port, std::size_t at) {
    return fmt::format("({}*)arrays[{}]", port.array.type, at);
  };
  if (!program.weights.empty()) {
    out.line(fmt::format("struct {} model;", program.weights_struct));
    arguments.emplace_back("&model");
  }
  std::size_t at = program.inputs.size();
  for (const CPort& each : program.weights) {
    out.line(fmt::format("model.{} = {};", each.name, array(each, at++)));
  }
  if (program.caches_struct.empty()) {
    out.line("(void)caches;");
  } else {
    arguments.push_back(fmt::format("(struct {}*)caches", program.caches_struct));
  }
  if (at + program.outputs.size() == 0) out.line("(void)arrays;");
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    arguments.push_back(array(program.inputs[i], i));
  }
  for (const CPort& each : program.outputs) arguments.push_back(array(each, at++));
  arguments.emplace_back("workspace");
  out.line(list_text(fmt::format("return {}(", program.run), arguments, "      ") + ");");
  out.close();
  std::string checks;
  for (const CCache& each : program.caches) {
    for (const auto& [member, offset] :
         {std::pair("tokens", each.offset), std::pair("keys", each.parts[0].offset),
          std::pair("values", each.parts[1].offset)}) {
      checks +=
          fmt::format("_Static_assert(offsetof(struct {}, {}_{}) == {}, \"another layout\");\n",
                      program.caches_struct, each.name, member, offset);
    }
  }
  return fmt::format(
      "\n#ifdef MIR_CALL\n/* The arrays are the inputs, the weights, the outputs. */\n{}{}#endif\n",
      checks, out.text());
}

std::string program_text(const CProgram& program) {
  CLines out;
  const bool has_weights = !program.weights.empty();
  std::string text = fmt::format(
      "\n#if defined(MIR_MAIN){}\n#include <limits.h>\n#include <stdio.h>\n#include "
      "<stdlib.h>\n\n{}\n{}#endif\n\n#ifdef MIR_MAIN\n",
      has_weights ? " || defined(MIR_WEIGHTS)" : "", error_function(), weights_text(program));
  text += npy_functions();
  text += '\n';
  out.open("int main(int count, char** words)");
  out.line("static struct mir_port ports[] = {");
  std::size_t at = 0;
  std::vector<std::string> call;
  constexpr std::string_view kWeight = "MIR_WEIGHT";
  std::string weights;
  const auto add = [&](std::span<const CPort> list, std::string_view role) {
    for (const CPort& each : list) {
      out.line(fmt::format("    {{\"{}\", \"{}\", \"{}\", {}u, {}, NULL}},", each.name,
                           npy_type(each.array.dtype), each.array.shape, each.array.bytes, role));
      const std::string array = fmt::format("({}*)ports[{}].data", each.array.type, at++);
      if (role == kWeight) {
        weights +=
            fmt::format("  if (ports[{}].data != NULL) model.{} = {};\n", at - 1, each.name, array);
      } else {
        call.push_back(array);
      }
    }
  };
  const std::size_t file = at;
  if (has_weights) {
    out.line(fmt::format("    {{\"{}\", NULL, NULL, 0, MIR_WEIGHTS_FILE, NULL}},",
                         program.weights_word));
    ++at;
  }
  add(program.inputs, "MIR_INPUT");
  add(program.weights, kWeight);
  add(program.outputs, "MIR_OUTPUT");
  out.line("    {NULL, NULL, NULL, 0, MIR_INPUT, NULL}};");
  if (has_weights) {
    out.line(fmt::format("struct {} model;", program.weights_struct));
    out.line(fmt::format("const char* const path = mir_file(&ports[{}], count, words);", file));
    out.line(fmt::format("void* const memory = path == NULL ? NULL : malloc({}u);",
                         weights_bytes(program.weights) + 1));
    call.insert(call.begin(), "&model");
  }
  if (!program.caches_struct.empty()) {
    out.line(fmt::format("static struct {} caches;", program.caches_struct));
    call.insert(call.begin() + (program.weights.empty() ? 0 : 1), "&caches");
  }
  call.push_back("workspace");
  out.line(fmt::format("void* const workspace = malloc({}u);", program.workspace_bytes + 1));
  out.line(
      fmt::format("int failed = workspace == NULL ? mir_fail(\"workspace\", \"needs more memory "
                  "than there is\")"
                  " : mir_read_all(ports, {}, count, words);",
                  at));
  if (has_weights) {
    out.line(
        "if (!failed && path != NULL && memory == NULL) failed = mir_fail(path, \"needs more "
        "memory than there is\");");
    out.line(fmt::format("if (!failed && path != NULL) failed = {}(&model, path, memory);",
                         program.read_weights));
  }
  std::string body = out.text() + weights;
  CLines end(1);
  end.open("if (!failed)");
  end.line(list_text(fmt::format("failed = {}(", program.run), call, "        ") + ");");
  end.line("if (failed) mir_report_status(failed);");
  end.close();
  end.line(fmt::format("if (!failed) failed = mir_write_all(ports, {}, count, words);", at));
  if (has_weights) end.line("free(memory);");
  end.line("free(workspace);");
  end.line(fmt::format("mir_free_all(ports, {});", at));
  end.line("return failed ? 1 : 0;");
  end.close();
  return text + body + end.text() + "#endif\n" + call_text(program);
}

}  // namespace mir::c
