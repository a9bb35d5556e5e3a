#include "defects.hpp"

#include <algorithm>
#include <vector>

#include "mir/codes/attributes.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/verification.hpp"
#include "mir/dialects.hpp"
#include "text_lines.hpp"

namespace mir::test {

namespace {

using Form = GeneratorOptions::Form;
using Place = std::optional<std::size_t>;  // the line, from 0

/// The op of a path that owns parameters; others may have its name.
Place owner_of(const TextLines& lines, const std::string& path) {
  const std::string name = "<name=\"" + path + "\">";
  for (Place at = lines.find(name); at; at = lines.find(name, *at + 1)) {
    const std::string op = lines.between(*at, "linalg.CPU.", " ");
    for (const Dialect* dialect : builtin_dialects()) {
      const auto row = std::ranges::find(dialect->rows, op, &OpRow::name);
      if (row != dialect->rows.end() && !row->weights.empty()) return at;
    }
  }
  return std::nullopt;
}

// -- lines put in
// -----------------------------------------------------------------------------------

/// An op on constants that is wrong by itself; it goes in among the top-level ops.
struct WrongOp {
  std::string_view name;
  DiagCode code;
  std::string_view op;
};

#define MIR_C "[constant:[1]]"
constexpr WrongOp kWrongOps[] = {
    {"unknown op", diag::kUnknownOp, "linalg.CPU.NoSuchOp() -> ()"},
    {"op of dumps", diag::kDumpOnlyOp, "prog.inst () -> ()"},
    {"return in the middle", diag::kMisplacedTerminator, "cf.ReturnOp () -> ()"},
    {"one operand too few", diag::kWrongArity,
     "linalg.CPU.AddOp(%c1:tensor<[2], Float32, CPU>" MIR_C ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"one result too many", diag::kWrongArity,
     "linalg.CPU.NegOp(%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>, %r2:tensor<[2], Float32, CPU>)"},
    {"an unknown attribute", diag::kUnknownAttribute,
     "linalg.CPU.NegOp [colour:red] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"a required attribute left out", diag::kMissingAttribute,
     "linalg.CPU.MatMulOp(%c1:tensor<[2, 2], Float32, CPU>" MIR_C
     ", %c2:tensor<[2, 2], Float32, CPU>" MIR_C ") -> (%r1:tensor<[2, 2], Float32, CPU>)"},
    {"an attribute of another kind", diag::kAttributeKind,
     "linalg.CPU.SoftmaxOp [axis:last] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"a key twice", diag::kDuplicateAttribute,
     "linalg.CPU.SoftmaxOp [axis:0, axis:0] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"text that needs quotes", diag::kQuotesNeeded,
     "linalg.CPU.X2XOp [device:two words] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"an alias nobody defined", diag::kUnknownAlias,
     "linalg.CPU.SoftmaxOp [axis:#nowhere] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"an undefined value", diag::kUndefinedValue,
     "linalg.CPU.NegOp(%nowhere:tensor<[2], Float32, CPU>) -> (%r1:tensor<[2], Float32, CPU>)"},
    {"more elements than can be counted", diag::kExtentOverflow,
     "linalg.CPU.NegOp(%c1:tensor<[4294967296, 4294967296], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[4294967296, 4294967296], Float32, CPU>)"},
    {"a number too large for an extent", diag::kBadDimension,
     "linalg.CPU.NegOp(%c1:tensor<[99999999999999999999], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[99999999999999999999], Float32, CPU>)"},
    {"a call of nobody", diag::kUnknownCallee, "graph.CallGraphOp @nobody () -> ()"},
    {"parameters without a name", diag::kMissingPath,
     "linalg.CPU.RMSNormOp [epsilon:0.001] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"parameters nobody registered", diag::kUnknownParameter,
     "linalg.CPU.RMSNormOp <name=\"nobody\"> [epsilon:0.001] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"extents that do not broadcast", diag::kShapeMismatch,
     "linalg.CPU.AddOp(%c1:tensor<[2, 3], Float32, CPU>" MIR_C
     ", %c2:tensor<[2, 4], Float32, CPU>" MIR_C ") -> (%r1:tensor<[2, 3], Float32, CPU>)"},
    {"inner extents of a product that differ", diag::kShapeMismatch,
     "linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] "
     "(%c1:tensor<[2, 3], Float32, CPU>" MIR_C ", %c2:tensor<[4, 5], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2, 5], Float32, CPU>)"},
    {"symbols that are not one", diag::kShapeMismatch,
     "linalg.CPU.AddOp(%c1:tensor<[$p], Float32, CPU>" MIR_C
     ", %c2:tensor<[$q], Float32, CPU>" MIR_C ") -> (%r1:tensor<[$p], Float32, CPU>)"},
    {"a rank that is too low", diag::kRankMismatch,
     "linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] "
     "(%c1:tensor<[2], Float32, CPU>" MIR_C ", %c2:tensor<[2, 5], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[5], Float32, CPU>)"},
    {"mixed element types", diag::kDTypeMismatch,
     "linalg.CPU.AddOp(%c1:tensor<[2], Float32, CPU>" MIR_C ", %c2:tensor<[2], Int32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"a softmax of integers", diag::kDTypeMismatch,
     "linalg.CPU.SoftmaxOp [axis:0] (%c1:tensor<[2], Int32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Int32, CPU>)"},
    {"an axis beyond the rank", diag::kAxisOutOfRange,
     "linalg.CPU.SoftmaxOp [axis:3] (%c1:tensor<[2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"an axis below the rank", diag::kAxisOutOfRange,
     "linalg.CPU.ConcatOp [dim:-3] (%c1:tensor<[2, 2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2, 2], Float32, CPU>)"},
    {"a view with other elements", diag::kElementCountMismatch,
     "linalg.CPU.ViewOp [to_shape:[5]] (%c1:tensor<[2, 3], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[5], Float32, CPU>)"},
    {"a permutation that is none", diag::kAttributeOutOfRange,
     "linalg.CPU.PermuteOp [axis:[0, 0]] (%c1:tensor<[2, 3], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[2, 2], Float32, CPU>)"},
    {"sections that do not fill the extent", diag::kShapeMismatch,
     "linalg.CPU.SplitOp [dim:0, split_size_or_sections:[2, 3]] (%c1:tensor<[4], Float32, "
     "CPU>" MIR_C ") -> (%r1:tensor<[2], Float32, CPU>, %r2:tensor<[3], Float32, CPU>)"},
    {"a slice out of bounds", diag::kAttributeOutOfRange,
     "linalg.CPU.SliceOp [indices:[{\"start\":0,\"end\":9,\"step\":1}]] "
     "(%c1:tensor<[4], Float32, CPU>" MIR_C ") -> (%r1:tensor<[9], Float32, CPU>)"},
    {"a slice of too few dimensions", diag::kAttributeOutOfRange,
     "linalg.CPU.SliceOp [indices:[{}]] (%c1:tensor<[4, 2], Float32, CPU>" MIR_C
     ") -> (%r1:tensor<[4, 2], Float32, CPU>)"},
    {"another result type than the rule's", diag::kResultTypeMismatch,
     "linalg.CPU.NegOp(%c1:tensor<[2], Float32, CPU>" MIR_C ") -> (%r1:tensor<[3], Float32, CPU>)"},
    {"another result element type than the rule's", diag::kResultTypeMismatch,
     "linalg.CPU.EqualOp(%c1:tensor<[2], Float32, CPU>" MIR_C
     ", %c2:tensor<[2], Float32, CPU>" MIR_C ") -> (%r1:tensor<[2], Float32, CPU>)"},
    {"a missing comma", diag::kUnexpectedToken,
     "linalg.CPU.AddOp(%c1:tensor<[2], Float32, CPU> %c2:tensor<[2], Float32, CPU>) -> ()"},
    {"a missing arrow", diag::kUnexpectedToken, "linalg.CPU.NegOp() ()"},
    {"a missing parenthesis", diag::kUnexpectedToken,
     "linalg.CPU.NegOp(%c1:tensor<[2], Float32, CPU>) -> (%r1:tensor<[2], Float32, CPU>"},
    {"a type that is not closed", diag::kStrayCharacter,
     "linalg.CPU.NegOp(%c1:tensor<[2], Float32, CPU) -> ()"},
    {"a name that is not closed", diag::kUnterminatedString,
     "linalg.CPU.NegOp <name=\"model.neg (%c1:tensor<[2], Float32, CPU>) -> ()"},
    {"a comment without slashes", diag::kTextInOpPosition, "and here the second layer begins"},
    {"a byte that is not text", diag::kInvalidUtf8, "linalg.CPU.NegOp [k:\"\xff\"] () -> ()"},
    {"a log line", diag::kLogLineInText, "linalg.CPU.NegOp(\x1b[33m[WARN]\x1b[0m x) -> ()"},
};
#undef MIR_C

Place insert_op(TextLines& lines, std::string_view op) {
  const Place at = lines.pick("    linalg.");
  if (!at) return std::nullopt;
  // Among the ops of the module's own body.
  std::size_t line = *at;
  while (line > 0 && !lines[line].starts_with("    linalg.") &&
         !lines[line].starts_with("    graph.")) {
    --line;
  }
  if (line == 0) return std::nullopt;
  lines.insert(line, "    " + std::string(op));
  return line;
}

// -- changes --------------------------------------------------------------------------------------

struct Change {
  std::string_view name;
  Form form;
  DiagCode code;
  Place (*make)(TextLines& lines);
};

/// The name `%8` that a line defines first; empty when it defines nothing.
std::string defined(const TextLines& lines, std::size_t at) {
  return lines.between(at, "-> (", ":");
}

constexpr Change kChanges[] = {
    {"an empty text", Form::kPortable, diag::kEmptyFile,
     [](TextLines& lines) -> Place {
       while (lines.size() > 1) lines.erase(0);
       lines[0].clear();
       return 0;
     }},
    {"text after the last module", Form::kPortable, diag::kTrailingText,
     [](TextLines& lines) -> Place {
       lines.insert(lines.size(), "}");
       return lines.size() - 1;
     }},
    {"a NUL byte", Form::kPortable, diag::kNulByte,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("linalg.");
       if (at) lines[*at].insert(lines[*at].find("linalg."), 1, '\0');
       return at;
     }},
    {"a version of the future", Form::kPortable, diag::kUnsupportedVersion,
     [](TextLines& lines) -> Place {
       lines.replace(0, "mir_version:1", "mir_version:3");
       return 0;
     }},
    {"a value defined twice", Form::kPortable, diag::kRedefinedValue,
     [](TextLines& lines) -> Place {
       const Place first = lines.pick({"            linalg.", "-> (%"});
       if (!first) return std::nullopt;
       const std::string name = defined(lines, *first);
       lines.insert(*first + 1, lines[*first]);
       return *first + 1;
     }},
    {"an operand of another type", Form::kPortable, diag::kTypeConflict,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"            linalg.", "(%", ", Float32, CPU>)"});
       if (!at || lines[*at].find("Float32") > lines[*at].find(" -> ")) return std::nullopt;
       lines.replace(*at, ", Float32, ", ", Float16, ");
       return at;
     }},
    {"two lines exchanged", Form::kPortable, diag::kUseBeforeDefinition,
     [](TextLines& lines) -> Place {
       for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
         const std::string name = defined(lines, i);
         const bool ops = lines[i].starts_with("            linalg.") &&
                          lines[i + 1].starts_with("            linalg.");
         const std::string uses = lines.between(i + 1, "(", "->");
         if (!ops || name.empty() || uses.find(name + ":") == uses.npos) continue;
         std::swap(lines[i], lines[i + 1]);
         return i;
       }
       return std::nullopt;
     }},
    {"a graph that returns nothing", Form::kPortable, diag::kMissingTerminator,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("            cf.ReturnOp (%");
       if (!at) return std::nullopt;
       std::size_t head = *at;
       while (!lines[head].starts_with("    graph.SubGraphOp")) --head;
       lines.erase(*at);
       return head;
     }},
    {"a return of another value", Form::kPortable, diag::kSignatureMismatch,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("            cf.ReturnOp (%");
       if (!at) return std::nullopt;
       lines[*at] = "            cf.ReturnOp () -> ()";
       return at;
     }},
    {"a graph declared twice", Form::kPortable, diag::kDuplicateSymbol,
     [](TextLines& lines) -> Place {
       const Place at = lines.find("    cf.ReturnOp", lines.size() - 2);
       if (!at) return std::nullopt;
       lines.insert(*at,
                    "    graph.SubGraphOp @model.0 <CPU> { () -> () { cf.ReturnOp () -> () } }");
       return at;
     }},
    {"a value of another graph", Form::kPortable, diag::kUndefinedValue,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"            linalg.", "(%"});
       if (!at) return std::nullopt;
       const std::string name = lines.between(*at, "(%", ":");
       lines.replace(*at, "(%" + name + ":", "(%900000:");
       return at;
     }},
    {"a call with an operand too few", Form::kPortable, diag::kCallMismatch,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"graph.CallGraphOp", "(%", "->"});
       if (!at) return std::nullopt;
       const std::string list = lines.between(*at, "(", ") ->");
       const std::size_t last = list.rfind(", %");
       lines.replace(*at, "(" + list + ")",
                     "(" + (last == list.npos ? std::string() : list.substr(0, last)) + ")");
       return at;
     }},
    {"a graph that calls itself", Form::kPortable, diag::kCallCycle,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("            graph.CallGraphOp @");
       if (!at) return std::nullopt;
       std::size_t head = *at;
       while (!lines[head].starts_with("    graph.SubGraphOp")) --head;
       lines.replace(*at, "@" + lines.between(*at, "@", " "), "@" + lines.between(head, "@", " "));
       return at;
     }},
    {"a parameter of another size", Form::kPortable, diag::kParameterSize,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"tensor.CPU.register", ".weight]"});
       if (!at) return std::nullopt;
       const std::string path = lines.between(*at, "[symbol:", ".weight]");
       lines.replace(*at, lines.between(*at, "tensor<[", "]"), "77777");
       return owner_of(lines, path);
     }},
    {"a parameter left out", Form::kPortable, diag::kUnknownParameter,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"tensor.CPU.register", ".weight]"});
       if (!at) return std::nullopt;
       const std::string path = lines.between(*at, "[symbol:", ".weight]");
       lines.erase(*at);
       return owner_of(lines, path);
     }},
    // Programs.
    {"a jump to nowhere", Form::kProgram, diag::kUnknownLabel,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("prog.jump ");
       if (at) lines.replace(*at, "prog.jump model", "prog.jump nowhere");
       return at;
     }},
    {"an offset to elsewhere", Form::kProgram, diag::kJumpOffset,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("prog.jump ");
       if (at) lines.replace(*at, "[offset:", "[offset:1");
       return at;
     }},
    {"a jump to itself", Form::kProgram, diag::kJumpCycle,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("prog.label[symbol:model");
       if (!at) return std::nullopt;
       const std::string label = lines.between(*at, "[symbol:", "]");
       lines.insert(*at + 1, "prog.jump " + label + "[offset:0]");
       lines.renumber_program();
       return *at + 1;
     }},
    {"code that nothing reaches", Form::kProgram, diag::kUnreachableCode,
     [](TextLines& lines) -> Place {
       const Place at = lines.find("prog.exit");
       if (!at) return std::nullopt;
       lines.insert(*at + 1, "prog.mode_config[flag:1]");
       lines.renumber_program();
       return *at + 1;
     }},
    {"an input bound to another position", Form::kProgram, diag::kBindPosition,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("prog.bind[type:0");
       if (at) lines.replace(*at, "input_pos:", "input_pos:9");
       return at;
     }},
    {"an address left out", Form::kProgram, diag::kAddressOrder,
     [](TextLines& lines) -> Place {
       const Place at = lines.find("prog.mode_config");
       if (at) lines.erase(*at);
       return at;
     }},
    {"a fragment of an unknown kind", Form::kProgram, diag::kFragmentKind,
     [](TextLines& lines) -> Place {
       const Place at = lines.find("<data> {");
       if (at) lines.replace(*at, "<data>", "<stack>");
       return at;
     }},
    {"a kernel of another type", Form::kProgram, diag::kKernelMismatch,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("[symbol_name:");
       if (at) lines.replace(*at, "op_type:", "op_type:Not");
       return at;
     }},
    {"a kernel that the table lacks", Form::kProgram, diag::kKernelMismatch,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("[symbol_name:");
       if (at) lines.replace(*at, "[symbol_name:", "[symbol_name:no.");
       return at;
     }},
    {"a slot used after it was freed", Form::kProgram, diag::kUseAfterFree,
     [](TextLines& lines) -> Place {
       const Place freed = lines.pick({"prog.free(%"});
       if (!freed || *freed == 0) return std::nullopt;
       const std::string slot = lines.between(*freed, "prog.free(%", ":");
       std::size_t user = *freed - 1;
       while (lines[user].find("prog.free") != std::string::npos) --user;
       const std::string uses = lines.between(user, "prog.kernel_launch(", "->");
       if (uses.find("%" + slot + ":") == uses.npos) return std::nullopt;
       lines.insert(user, lines[*freed]);
       lines.erase(*freed + 1);
       lines.renumber_program();
       return user + 1;
     }},
    {"a slot freed twice", Form::kProgram, diag::kDoubleFree,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("prog.free(%");
       if (!at) return std::nullopt;
       lines.insert(*at + 1, lines[*at]);
       lines.renumber_program();
       return *at + 1;
     }},
    {"a slot that is never filled", Form::kProgram, diag::kUndefinedSlot,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"prog.kernel_launch(%"});
       if (!at) return std::nullopt;
       const std::string slot = lines.between(*at, "prog.kernel_launch(%", ":");
       lines.replace(*at, "(%" + slot + ":", "(%900000:");
       return at;
     }},
    {"a constant that is freed", Form::kProgram, diag::kConstantFreed,
     [](TextLines& lines) -> Place {
       const Place symbol = lines.pick({"prog.value_symbol", "[constant:"});
       const Place exit = lines.find("prog.exit");
       if (!symbol || !exit) return std::nullopt;
       lines.insert(*exit, "prog.free(%" + lines.between(*symbol, "(%", ")") + ") -> ()");
       lines.renumber_program();
       return exit;
     }},
    {"a program that runs past its end", Form::kProgram, diag::kUnbalancedReturn,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick("prog.exit");
       if (!at) return std::nullopt;
       lines.insert(*at, "prog.ret");
       lines.renumber_program();
       return at;
     }},
    // Dumps.
    {"a storage id used again", Form::kDump, diag::kStorageReused,
     [](TextLines& lines) -> Place {
       const Place at = lines.pick({"            linalg.", "(%", ":", " -> (%"});
       if (!at) return std::nullopt;
       const std::string name = lines.between(*at, "(%", ":");
       lines.replace(*at, "-> (%" + lines.between(*at, "-> (%", ":") + ":", "-> (%" + name + ":");
       return at;
     }},
};

// -- all of them ----------------------------------------------------------------------------------

std::vector<Defect> list() {
  std::vector<Defect> all;
  for (const WrongOp& wrong : kWrongOps) {
    all.push_back({std::string(wrong.name), Form::kPortable, wrong.code});
  }
  for (const Change& change : kChanges) {
    all.push_back({std::string(change.name), change.form, change.code});
  }
  return all;
}

Place plant_into(TextLines& lines, std::string_view name) {
  for (const WrongOp& wrong : kWrongOps) {
    if (wrong.name == name) return insert_op(lines, wrong.op);
  }
  for (const Change& change : kChanges) {
    if (change.name == name) return change.make(lines);
  }
  return std::nullopt;
}

}  // namespace

std::span<const Defect> defects() {
  static const std::vector<Defect> all = list();
  return all;
}

std::optional<PlantedDefect> plant(const Defect& defect, std::uint64_t seed) {
  Random random(seed);
  TextLines lines(generate_module({.seed = seed, .form = defect.form, .graphs = 2, .ops = 6}),
                  random);
  const Place at = plant_into(lines, defect.name);
  if (!at) return std::nullopt;
  return PlantedDefect{lines.text(), static_cast<std::uint32_t>(*at) + 1};
}

}  // namespace mir::test
