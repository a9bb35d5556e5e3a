#include "program/program_code.hpp"

#include "../ir/read.hpp"
#include "program/program_counter.hpp"
#include "program/program_emitter.hpp"

namespace mir::test {

namespace {

const std::string kSlot = "tensor<[2], Float32, CPU>";

std::string program_text_of(const std::string& code, const std::string& table = {}) {
  return "@main () -> () {\nprog.fragment @code <CPU> <code> {\n" + code +
         "}\nprog.fragment @table <CPU> <table> {\n" + table + "}\n}\n";
}

/// What the op of a launch, an operand and a result are.
std::string launched(const std::string& operand, const std::string& fields) {
  return "prog.kernel_launch(" + operand + ") -> (%2:" + kSlot + ")[" + fields + "]\n";
}

/// The indices of the instructions in the order in which they run, until the counter stays.
std::vector<std::size_t> order_of(const ProgramCode& code) {
  std::vector<std::size_t> order;
  ProgramCounter counter(code);
  do {
    order.push_back(counter.at());
  } while (counter.advance() == ProgramCounter::Move::kWent && !counter.is_past_end());
  return order;
}

}  // namespace

TEST_CASE("every op of the dialect is decoded, by its row's example") {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const auto id = static_cast<OpId>(i);
    if (dialect_of(name_of(id)) != DialectId::kProg) continue;
    IRContext context;
    register_builtin_dialects(context);
    const OpRow& row = *context.info(id).row;
    // What holds instructions, what says where a program starts, and what only early dumps have.
    if (id == OpId::kProgFragment || id == OpId::kProgEntryPoint ||
        has(row.traits, Trait::kNoMeaning))
      continue;
    Reading reading(program_text_of(std::string(row.example) + "\n"));
    const ProgramCode code(reading.module());
    CAPTURE(name_of(id));
    REQUIRE(code.instructions().size() == 1);
    CHECK(code.instructions()[0].op->is(id));
    CHECK_FALSE(code.instructions()[0].is<prog::Other>());
  }
}

TEST_CASE("jumps lead to their label, else as far as they state, else outside") {
  Reading reading(
      program_text_of("prog.jump a[offset:7]\nprog.jump b[offset:2]\nprog.jump b\n"
                      "prog.exit() -> ()\nprog.label[symbol:a]\nprog.ret\n"));
  const ProgramCode code(reading.module());
  const auto jump = [&](std::size_t at) { return *code.instructions()[at].as<prog::Jump>(); };
  CHECK(jump(0).has_label);
  CHECK(jump(0).target == 4);
  CHECK(jump(0).distance == 7);
  CHECK_FALSE(jump(1).has_label);
  CHECK(jump(1).target == 3);
  CHECK(jump(2).target == prog::kOutside);
}

TEST_CASE("bodies lie between labels and end with their first return or exit") {
  Reading reading(
      program_text_of("prog.mode_config[flag:1]\nprog.exit() -> ()\nprog.ret\n"
                      "prog.label[symbol:a]\nprog.label[symbol:b]\nprog.ret\n"));
  const ProgramCode code(reading.module());
  const auto bodies = code.bodies();
  REQUIRE(bodies.size() == 3);
  CHECK(bodies[0].label == prog::kOutside);
  CHECK(bodies[0].last == 1);
  CHECK(bodies[0].end == 3);
  CHECK(bodies[1].label == 3);
  CHECK(bodies[1].last == bodies[1].end);
  CHECK(bodies[2].begin == 5);
  CHECK(bodies[2].last == 5);
}

TEST_CASE("a counter goes through calls and back") {
  Reading reading(
      program_text_of("prog.jump a\nprog.jump a\nprog.exit() -> ()\n"
                      "prog.label[symbol:a]\nprog.ret\n"));
  const ProgramCode code(reading.module());
  CHECK(order_of(code) == std::vector<std::size_t>{0, 3, 4, 1, 3, 4, 2});
}

TEST_CASE("launches of one name have one kernel, which a table declares or the first of them") {
  Reading reading(
      program_text_of(launched("%1:" + kSlot, "symbol_name:b, op_type:Neg, op_options:null") +
                          launched("%1:" + kSlot, "symbol_name:b, op_type:Abs, op_options:null") +
                          launched("%1:" + kSlot, "symbol_name:a, op_type:Abs, op_options:null") +
                          launched("%1:" + kSlot, "op_type:Abs, op_options:null"),
                      "prog.kernel_symbol[symbol:a, op_type:Abs, op_options:null]\n"));
  const ProgramCode code(reading.module());
  REQUIRE(code.kernels().size() == 2);
  CHECK(code.kernels()[0].is_declared);
  CHECK_FALSE(code.kernels()[1].is_declared);
  CHECK(code.kernels()[1].op == code.instructions()[0].op);
  const auto launch = [&](std::size_t at) { return *code.instructions()[at].as<prog::Launch>(); };
  CHECK(launch(1).kernel == 1);
  CHECK_FALSE(launch(1).spec.fits(code.kernels()[1].spec));
  CHECK(launch(2).kernel == 0);
  CHECK(launch(2).spec.fits(code.kernels()[0].spec));
  CHECK(launch(3).kernel == prog::kOutside);
}

TEST_CASE("tables say what constants and parameters are, unless the code writes their slots") {
  const std::string table = "prog.value_symbol() -> (%7:" + kSlot +
                            "[constant:[1, 2]])[symbol:c]\nprog.value_symbol() -> (%8:" + kSlot +
                            "[@w])[symbol:w]\n";
  const std::string mentions = "%7:" + kSlot + ", %8:" + kSlot + ", %9:" + kSlot;
  const std::string reader = launched(mentions, "op_type:Where, op_options:null");
  Reading reading(program_text_of(reader, table));
  const ProgramCode code(reading.module());
  const auto uses = code.instructions()[0].op->operand_uses();
  CHECK(code.stands_alone(uses[0]));
  REQUIRE(code.constant_of(uses[0]) != nullptr);
  CHECK(code.constant_of(uses[0])->spelling() == "[1, 2]");
  CHECK(code.mention(uses[1]).has_symbol);
  CHECK_FALSE(code.stands_alone(uses[2]));

  Reading written(
      program_text_of("prog.bind[type:0, program_uuid:7, input_pos:0]\n" + reader, table));
  const ProgramCode overwritten(written.module());
  CHECK(overwritten.declared(ValueName::number(7)) == nullptr);
  CHECK(overwritten.table_constants().size() == 1);
}

TEST_CASE("what cannot be read is a defect of its field") {
  Reading reading(program_text_of("prog.bind[type:2, program_uuid:-1]\nprog.jump a[offset:1.5]\n"));
  const ProgramCode code(reading.module());
  std::vector<std::string> defects;
  for (const prog::Defect& each : code.defects()) defects.push_back(prog::describe(each));
  CHECK(defects == std::vector<std::string>{
                       "'prog.bind' needs attribute 'input_pos'",
                       "bind type 2 is neither 0 (input) nor 1 (output)",
                       "'program_uuid' of 'prog.bind' is -1, which is the number of no value",
                       "attribute 'offset' of 'prog.jump' is 1.5, expected an integer"});
  const auto* bind = code.instructions()[0].as<prog::Bind>();
  CHECK_FALSE(bind->is_complete());
  CHECK_FALSE(code.instructions()[1].as<prog::Jump>()->distance);
}

TEST_CASE("what an emitter writes, the decoder reads") {
  Reading reading("@main () -> () {\n}\n");
  Module& module = reading.module();
  IRContext& context = reading.context;
  const prog::KernelSpec spec{context.word("Neg"), context.null()};
  Rewriter rewriter(module);
  ProgramEmitter emitter(module);
  emitter.start_fragment("code", prog::FragmentKind::kCode);
  emitter.mode_config(1);
  emitter.bind(prog::Direction::kInput, 3, 0);
  emitter.append(*make_jump(rewriter, "a"));
  emitter.bind(prog::Direction::kOutput, 3, 1);
  emitter.exit();
  emitter.label("a");
  emitter.append(*make_launch(rewriter, "k", spec, {}, {}));
  emitter.ret();
  emitter.start_fragment("table", prog::FragmentKind::kTable);
  emitter.kernel_symbol("k", spec);
  emitter.finish();

  const ProgramCode code(module);
  CHECK(code.defects().empty());
  REQUIRE(code.fragments().size() == 2);
  CHECK(code.fragments()[1].kind == prog::FragmentKind::kTable);
  const auto at = [&](std::size_t index) { return code.instructions()[index]; };
  CHECK(at(0).as<prog::ModeConfig>()->flag == 1);
  CHECK(at(1).as<prog::Bind>()->slot == ValueName::number(3));
  CHECK(at(2).as<prog::Jump>()->distance == 3);
  CHECK(at(3).as<prog::Bind>()->direction == prog::Direction::kOutput);
  CHECK(at(3).as<prog::Bind>()->position == 1);
  CHECK(at(6).as<prog::Launch>()->kernel == 0);
  CHECK(code.declares_kernels());
  CHECK(order_of(code) == std::vector<std::size_t>{0, 1, 2, 5, 6, 7, 3, 4});
}

}  // namespace mir::test
