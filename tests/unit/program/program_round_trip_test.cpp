#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"
#include "program/program_code.hpp"
#include "program/program_emitter.hpp"
#include "program/program_json.hpp"

namespace mir::test {

namespace {

/// Writes a decoded program again, from what was decoded alone, in place of what a module holds.
class Writing {
 public:
  Writing(const ProgramCode& code, Module& into)
      : code_(code), context_(into.context()), rewriter_(into), emitter_(into) {}

  void run() {
    for (const prog::Fragment& fragment : code_.fragments()) {
      emitter_.start_fragment(context_.text(fragment.op->symbol()), fragment.kind);
      for (const prog::Instruction& each : fragment.instructions) {
        std::visit([&](const auto& action) { write(*each.op, action); }, each.action);
      }
    }
    emitter_.finish();
  }

 private:
  void write(const Op& op, const prog::Label& label) {
    const bool is_numbered = op.dump_facts().address != DumpFacts::kUnnumbered;
    const auto name = context_.text(*label.name);
    is_numbered ? emitter_.label(name) : emitter_.unnumbered_label(name);
  }
  void write(const Op&, const prog::Jump& jump) {
    emitter_.append(*make_jump(rewriter_, context_.text(jump.label)));
  }
  void write(const Op&, const prog::Return&) { emitter_.ret(); }
  void write(const Op&, const prog::Exit&) { emitter_.exit(); }
  void write(const Op& op, const prog::Free&) {
    emitter_.append(*make_free(rewriter_, operand(op.operand_uses()[0])));
  }
  void write(const Op&, const prog::Bind& bind) {
    emitter_.bind(*bind.direction, bind.slot->number(), static_cast<std::size_t>(*bind.position));
  }
  void write(const Op&, const prog::ModeConfig& mode) { emitter_.mode_config(*mode.flag); }
  void write(const Op& op, const prog::Launch& launch) {
    std::vector<Value*> operands;
    for (const Use& use : op.operand_uses()) operands.push_back(operand(use));
    std::vector<const Type*> types;
    for (const Value& result : op.results()) types.push_back(result.type());
    Op& made = *make_launch(rewriter_, launch.name, launch.spec, operands, types);
    emitter_.append(made);
    for (const Use& use : op.operand_uses()) {
      const StatedMention* other = stated_mention(use);
      if (other != nullptr) rewriter_.set_mention(made.operand_uses()[use.index()], *other);
    }
    for (const Value& result : op.results()) state(result, *made.result(result.index()));
  }
  void write(const Op&, const prog::KernelSymbol& kernel) {
    emitter_.kernel_symbol(context_.text(*kernel.name), kernel.spec);
  }
  void write(const Op& op, const prog::ValueSymbol& value) {
    state(*op.result(), *emitter_.value_symbol(context_.text(*value.name), op.result()->type()));
  }
  void write(const Op& op, const prog::Alloc&) { FAIL("lowering writes no ", op.name()); }
  void write(const Op& op, const prog::Other&) { FAIL("no instruction: ", op.name()); }

  Value* operand(const Use& use) {
    const Value& old = *use.value();
    Value*& made = values_[&old];
    if (made == nullptr) {
      made = rewriter_.create_free_value(emitter_.region(), old.type(), old.name());
      state(old, *made);
    }
    return made;
  }

  void state(const Value& old, Value& made) {
    rewriter_.set_name(made, old.name());
    if (old.has_symbol()) rewriter_.set_symbol(made, old.symbol());
    rewriter_.set_attributes(made, old.attributes());
    values_[&old] = &made;
  }

  const ProgramCode& code_;
  IRContext& context_;
  Rewriter rewriter_;
  ProgramEmitter emitter_;
  std::map<const Value*, Value*> values_;
};

std::string rewritten(const ProgramCode& code) {
  Module into(code.module().context(), code.module().name());
  Rewriter(into).create_block(into.body());
  Writing(code, into).run();
  return print(into);
}

/// The emitter writes programs for the CPU, without comments.
std::string without_what_is_not_decoded(const Module& module) {
  std::istringstream lines(print(module));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, std::regex("<DeviceTypes_Start>"), "<CPU>");
    if (line.find_first_not_of(' ') != line.find("//")) text += line + "\n";
  }
  return text;
}

/// A program without errors that is numbered: the emitter numbers all that it writes.
bool is_lowered(const ProgramCode& code) {
  const auto is_numbered = [](const prog::Instruction& each) {
    const auto* jump = each.as<prog::Jump>();
    return each.op->dump_facts().address && (jump == nullptr || jump->distance);
  };
  const auto is_in_program = [&](const Op* op) {
    return isa<FragmentOp>(op) || op->is_in(DialectId::kDbg);
  };
  Diagnostics unheard;
  const auto ops = code.module().body().only_block().ops();
  return code.code() != nullptr && verify(code.module(), unheard) &&
         std::all_of(ops.begin(), ops.end(), is_in_program) &&
         std::ranges::all_of(code.fragments(), [&](const prog::Fragment& fragment) {
           return std::ranges::all_of(fragment.instructions, is_numbered);
         });
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Writes the lowered programs among the modules of a text again and gives their number.
std::size_t check_rewriting(std::string text) {
  Reading reading(std::move(text));
  std::size_t count = 0;
  for (const Module* module : reading.modules) {
    const ProgramCode code(*module);
    if (!is_lowered(code)) continue;
    CHECK(rewritten(code) == without_what_is_not_decoded(*module));
    ++count;
  }
  return count;
}

std::string generated(std::uint64_t seed) {
  return generate_module({.seed = seed, .form = GeneratorOptions::Form::kProgram});
}

std::string document_of(const std::string& text) {
  Reading reading(text);
  Diagnostics problems;
  const auto json = program_json(reading.module(), problems);
  for (const Diagnostic& each : problems.sorted()) MESSAGE(each.message);
  REQUIRE(json);
  return *json;
}

/// Texts show no devices of instructions.
std::string without_devices(const std::string& document) {
  return std::regex_replace(document, std::regex("\"device\":\"[^\"]*\""), "");
}

}  // namespace

TEST_CASE("what is decoded of a stored program is the program") {
  std::size_t count = 0;
  const std::filesystem::path root(MIR_SOURCE_ROOT);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "testdata")) {
    if (entry.path().extension() != ".mir") continue;
    const std::string text = read_text(entry.path());
    if (text.find("prog.fragment") == text.npos) continue;
    CAPTURE(entry.path().string());
    count += check_rewriting(text);
  }
  CHECK(count >= 6);
}

TEST_CASE("what is decoded of a generated program is the program") {
  for (const std::uint64_t seed : test::seeds_of(200)) {
    CAPTURE(seed);
    CHECK(check_rewriting(generated(seed)) == 1);
  }
}

TEST_CASE("a constant without a list of values, or without a shape, has no document") {
  const auto errors = [](const std::string& type, const std::string& constant) {
    Reading reading(
        "@main () -> () {\nprog.fragment @code <CPU> <code> {\n"
        "addr:0x00000000000000 prog.exit() -> ()\n}\n"
        "prog.fragment @table <CPU> <table> {\n"
        "addr:0x00000000000000 prog.value_symbol() -> (%5:" +
        type + "[constant:" + constant + "])[symbol:c]\n}\n}\n");
    Diagnostics problems;
    const auto json = program_json(reading.module(), problems);
    CHECK(json.has_value() != problems.has_errors());
    return problems.has_errors() ? problems.sorted().front().message : std::string();
  };
  const std::string lost = "a constant has no values or no constant extents";
  CHECK(errors("tensor<[2], Float32, CPU>", "[1, 2]").empty());
  CHECK(errors("tensor<[2], Float32, CPU>", "1") == Part{lost});
  CHECK(errors("tensor<[$S], Float32, CPU>", "[1, 2]") == Part{lost});
  CHECK(errors("!tt.buffer<4>", "[1, 2]") == Part{lost});
}

TEST_CASE("a module that is no complete program has no document, and the error is at its op") {
  const auto check = [](const std::string& instruction, const std::string& message) {
    CAPTURE(instruction);
    const std::string column = instruction.starts_with("addr:") ? "23" : "1";
    Reading reading(
        "@main () -> () {\nprog.fragment @code <CPU> <code> {\n"
        "addr:0x00000000000000 prog.ret\n" +
        instruction + "\n}\n}\n");
    Diagnostics problems;
    CHECK_FALSE(program_json(reading.module(), problems));
    CHECK(lines_of(problems, reading.context) ==
          std::vector{"4:" + column + " MIR0614 " + message});
  };
  const std::string at = "addr:0x00000000000001 ";
  const std::string launch = "prog.kernel_launch(%a:tensor<[2], Float32, CPU>) -> ()";
  check("prog.ret", "prog.ret has no address");
  check(at + "prog.jump a", "prog.jump has no attribute 'offset'");
  check(at + "prog.alloc() -> (%1:tensor<[2], Float32, CPU>)",
        "prog.alloc is no instruction of a program");
  check(at + "linalg.CPU.NegOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)",
        "linalg.NegOp is no instruction of a program");
  check(at + launch + "[op_type:Neg, op_options:null]",
        "a value has a name where a program has a number");
  check(at + "prog.kernel_launch() -> ()[op_type:Neg, op_options:{a:b}]",
        "'op_options' of prog.kernel_launch are no JSON");
  check(at + "prog.mode_config", "'prog.mode_config' needs attribute 'flag'");
}

TEST_CASE("a document counts the instructions of the code and names the devices of kernels") {
  const auto document = document_of(
      "@main () -> () {\nprog.fragment @t <CPU> <table> {\n"
      "addr:0x00000000000000 prog.kernel_symbol[symbol:k, op_type:Neg, op_options:null]\n}\n"
      "prog.fragment @code <CPU> <code> {\n"
      "addr:0x00000000000000 prog.kernel_launch(%1:tensor<[2], Float32, NPU>) -> "
      "(%2:tensor<[2], Float32, NPU>)[op_type:Neg, op_options:null]\n"
      "addr:0x00000000000001 prog.kernel_launch(%1:tensor<[2], Float32, NPU>) -> "
      "()[op_type:Neg, op_options:null]\n"
      "addr:0x00000000000002 prog.exit() -> ()\n}\n}\n");
  CHECK(document == Part{"\"little_endian\":true,\"op_counts\":3}"});
  CHECK(document == Part{R"({"device":"NPU","dialect":"program","inputs":[1],"op":"kernel_launch",)"
                         R"("op_options":null,"op_type":"Neg","outputs":[2],"program_id":0})"});
  CHECK(document == Part{R"({"device":"CPU","dialect":"program","inputs":[1],"op":"kernel_launch",)"
                         R"("op_options":null,"op_type":"Neg","outputs":[],"program_id":1})"});
  CHECK(document == Part{R"({"device":"CPU","dialect":"program","op":"kernel_symbol",)"});
  CHECK(document ==
        Part{R"({"device":"DeviceTypes_Start","dialect":"program","op":"exit","program_id":2})"});
}

TEST_CASE("a document of a program has the text whose document it is") {
  for (const std::uint64_t seed : test::seeds_of(400)) {
    CAPTURE(seed);
    const auto document = document_of(generated(seed));
    const auto text = program_text(document);
    REQUIRE_MESSAGE(text, text.error().message);
    CHECK(without_devices(document_of(*text)) == without_devices(document));
  }
}

}  // namespace mir::test
