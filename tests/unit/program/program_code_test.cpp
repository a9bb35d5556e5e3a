#include "program/program_code.hpp"

#include "../ir/read.hpp"
#include "program/launch_places.hpp"
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

TEST_CASE("a distance leads to the first and the last instruction, and no further") {
  const auto target_of = [](const std::string& distance) {
    Reading reading(program_text_of("prog.ret\nprog.jump a[offset:" + distance + "]\nprog.ret\n"));
    return ProgramCode(reading.module()).instructions()[1].as<prog::Jump>()->target;
  };
  CHECK(target_of("-2") == prog::kOutside);
  CHECK(target_of("-1") == 0);
  CHECK(target_of("0") == 1);
  CHECK(target_of("1") == 2);
  CHECK(target_of("2") == prog::kOutside);
  CHECK(target_of("9223372036854775807") == prog::kOutside);
}

TEST_CASE("the first fragment of code is the program, a further one is reported") {
  Reading reading(
      "@main () -> () {\nprog.fragment @t <CPU> <table> {\n}\n"
      "prog.fragment @a <CPU> <code> {\nprog.ret\n}\n"
      "prog.fragment @d <CPU> <data> {\n}\n"
      "prog.fragment @b <CPU> <code> {\n}\nprog.fragment @x <CPU> <odd> {\n}\n}\n");
  const ProgramCode code(reading.module());
  std::vector<prog::FragmentKind> kinds;
  for (const prog::Fragment& each : code.fragments()) kinds.push_back(each.kind);
  using enum prog::FragmentKind;
  CHECK(kinds == std::vector{kTable, kCode, kData, kCode, kUnknown});
  CHECK(code.code() == &code.fragments()[1]);
  CHECK(code.second_code() == &code.fragments()[3]);
  CHECK(code.instructions().size() == 1);

  Reading one(program_text_of("prog.ret\n"));
  CHECK(ProgramCode(one.module()).second_code() == nullptr);
  Reading none("@main () -> () {\n}\n");
  const ProgramCode empty(none.module());
  CHECK(empty.code() == nullptr);
  CHECK(empty.second_code() == nullptr);
  CHECK(empty.instructions().empty());
  CHECK(empty.bodies().empty());
  CHECK_FALSE(empty.declares_kernels());
}

TEST_CASE("a fragment with control flow between blocks is a defect") {
  Reading reading(
      "@main () -> () {\nprog.fragment @code <CPU> <code> {\nprog.ret\n^next:\nprog.ret\n}\n}\n");
  const ProgramCode code(reading.module());
  REQUIRE(code.defects().size() == 1);
  CHECK(code.defects()[0].kind == prog::Defect::Kind::kSeveralBlocks);
  CHECK(code.defects()[0].op == code.fragments()[0].op);
  CHECK(prog::describe(code.defects()[0]) == Part{"; programs jump to labels"});
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

TEST_CASE("a counter stays where nothing follows") {
  using Move = ProgramCounter::Move;
  const auto check = [](const std::string& text, Move expected) {
    Reading reading(program_text_of(text));
    const ProgramCode code(reading.module());
    ProgramCounter counter(code);
    CHECK_FALSE(counter.is_past_end());
    CHECK(counter.advance() == expected);
    CHECK(counter.at() == 0);
    CHECK(counter.open_jumps().empty());
    counter.skip();
    CHECK(counter.at() == 1);
    CHECK(counter.is_past_end());
  };
  check("prog.exit() -> ()\n", Move::kExited);
  check("prog.ret\n", Move::kUnbalanced);
  check("prog.jump nowhere\n", Move::kNowhere);
}

TEST_CASE("a counter keeps 1000 jumps open") {
  Reading reading(program_text_of("prog.label[symbol:a]\nprog.jump a\n"));
  const ProgramCode code(reading.module());
  ProgramCounter counter(code);
  while (counter.advance() == ProgramCounter::Move::kWent) {
  }
  CHECK(counter.advance() == ProgramCounter::Move::kTooDeep);
  CHECK(counter.at() == 1);
  CHECK(counter.open_jumps().size() == 1000);
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

TEST_CASE("kernels fit if nothing that both state differs") {
  IRContext context;
  const Attr *add = context.word("Add"), *neg = context.word("Neg"), *one = context.integer(1);
  const auto fit = [](const prog::KernelSpec& a, const prog::KernelSpec& b) {
    CHECK(a.fits(b) == b.fits(a));
    return a.fits(b);
  };
  CHECK(fit({add, one}, {add, one}));
  CHECK(fit({add, one}, {}));
  CHECK(fit({add, nullptr}, {nullptr, one}));
  CHECK_FALSE(fit({add, one}, {neg, one}));
  CHECK_FALSE(fit({add, one}, {add, context.null()}));
  CHECK(prog::KernelSpec{add, one}.type_name() == "Add");
  CHECK(prog::KernelSpec{one, one}.type_name().empty());
  CHECK(prog::KernelSpec{}.type_name().empty());
  CHECK(prog::KernelSpec{add, one}.entries().empty());
}

TEST_CASE("launches without a name have the place of their op in its body") {
  const auto launch = [](const std::string& fields) { return launched("%1:" + kSlot, fields); };
  const std::string neg = launch("op_type:Neg, op_options:null");
  const std::string named = launch("symbol_name:n, op_type:Neg, op_options:null");
  const std::string odd = launch("op_type:Odd, op_options:null");
  Reading reading(program_text_of(neg + named + "prog.mode_config [flag:1]\n" + odd + neg +
                                  "prog.exit() -> ()\n" + "prog.label[symbol:\"a.__entry\"]\n" +
                                  named + neg + "prog.ret\n" + "prog.label[symbol:b]\n" + odd +
                                  odd + "prog.ret\n"));
  const ProgramCode code(reading.module());
  const auto places = launch_places(code);
  std::vector<std::string> all;
  for (const prog::Instruction& each : code.instructions()) {
    const auto found = places.find(each.op);
    if (found != places.end()) all.push_back(found->second);
    CHECK((found != places.end()) ==
          (each.is<prog::Launch>() && each.as<prog::Launch>()->name.empty()));
  }
  CHECK(all ==
        std::vector<std::string>{"Neg.0", "Odd.0", "Neg.2", "a.Neg.1", "b.Odd.0", "b.Odd.1"});
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

TEST_CASE("only instructions that write a slot end what its table declares") {
  const std::string table =
      "prog.value_symbol() -> (%7:" + kSlot + "[constant:[1, 2]])[symbol:c]\n";
  const auto is_declared = [&](const std::string& code) {
    Reading reading(program_text_of(code, table));
    return ProgramCode(reading.module()).declared(ValueName::number(7)) != nullptr;
  };
  CHECK(is_declared(""));
  CHECK(is_declared("prog.bind[type:1, program_uuid:7, input_pos:0]\n"));
  CHECK_FALSE(is_declared("prog.bind[type:0, program_uuid:7, input_pos:0]\n"));
  CHECK(is_declared("prog.bind[type:0, program_uuid:6, input_pos:0]\n"));
  CHECK(is_declared(launched("%7:" + kSlot, "op_type:Neg, op_options:null")));
  CHECK(is_declared("prog.free(%7:" + kSlot + ") -> ()\n"));
  CHECK_FALSE(is_declared("prog.kernel_launch(%1:" + kSlot + ") -> (%7:" + kSlot +
                          ")[op_type:Neg, op_options:null]\n"));
  CHECK_FALSE(is_declared("prog.alloc() -> (%7:" + kSlot + ")\n"));
}

TEST_CASE("a table says more of a value than its mention, except of what the code writes") {
  const std::string table = "prog.value_symbol() -> (%7:" + kSlot +
                            "[constant:[1, 2]])[symbol:c]\n" +
                            "prog.value_symbol() -> (%8:" + kSlot + "[@w])[symbol:w]\n";
  const std::string reader =
      launched("%7:" + kSlot + "[constant:[3, 4]], %8:" + kSlot + "[@v], %9:" + kSlot +
                   "[constant:[5, 6]], %10:" + kSlot + "[@u]",
               "op_type:Where, op_options:null");
  const auto mentions = [&](const std::string& code) {
    Reading reading(program_text_of(code + reader, table));
    const ProgramCode program(reading.module());
    std::vector<std::string> all;
    for (const Use& use : program.instructions().back().op->operand_uses()) {
      const StatedMention mention = program.mention(use);
      const Attr* constant = program.constant_of(use);
      CHECK(program.stands_alone(use) == (mention.has_symbol || constant != nullptr));
      all.push_back(constant != nullptr ? std::string(constant->spelling()) : "-");
      if (mention.has_symbol) all.back() += "@" + std::string(reading.context.text(mention.symbol));
    }
    return all;
  };
  CHECK(mentions("") == std::vector<std::string>{"[1, 2]", "-@v", "[5, 6]", "-@u"});
  const std::string bind = "prog.bind[type:0, program_uuid:";
  CHECK(mentions(bind + "7, input_pos:0]\n" + bind + "8, input_pos:1]\n") ==
        std::vector<std::string>{"[3, 4]", "-@v", "[5, 6]", "-@u"});
}

TEST_CASE("binds name any value that a text can name") {
  const auto slot_of = [](const std::string& number) {
    Reading reading(
        program_text_of("prog.bind[type:0, program_uuid:" + number + ", input_pos:0]\n"));
    const ProgramCode code(reading.module());
    const auto slot = code.instructions()[0].as<prog::Bind>()->slot;
    CHECK(code.defects().empty() == slot.has_value());
    return slot;
  };
  CHECK(slot_of("0") == ValueName::number(0));
  CHECK(slot_of("2147483646") == ValueName::number(2147483646));
  CHECK(slot_of("2147483647") == std::nullopt);
  CHECK(slot_of("-1") == std::nullopt);
}

TEST_CASE("a bind is complete with a direction, a slot and a position") {
  const prog::Direction input = prog::Direction::kInput;
  const ValueName slot = ValueName::number(1);
  CHECK(prog::Bind{.direction = input, .slot = slot, .position = 0}.is_complete());
  CHECK_FALSE(prog::Bind{.direction = {}, .slot = slot, .position = 0}.is_complete());
  CHECK_FALSE(prog::Bind{.direction = input, .slot = {}, .position = 0}.is_complete());
  CHECK_FALSE(prog::Bind{.direction = input, .slot = slot, .position = {}}.is_complete());
}

TEST_CASE("fields may be absent where an op's row or its form permits it") {
  const auto defects = [](const std::string& code, const std::string& table) {
    Reading reading(program_text_of(code, table));
    std::vector<std::string> all;
    const ProgramCode program(reading.module());
    for (const prog::Defect& each : program.defects()) all.push_back(prog::describe(each));
    return all;
  };
  const std::string kernel = ", op_type:\"\", op_options:null]\n";
  CHECK(defects("prog.label @a\n", "prog.kernel_symbol[symbol:\"\"" + kernel).empty());
  CHECK(defects("prog.label\n", "").size() == 1);
  CHECK(defects("prog.kernel_launch() -> ()[op_type:3, op_options:null]\n", "").size() == 1);
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
  for (const prog::Instruction& each : code.instructions()) {
    CHECK(each.op->dump_facts().address ==
          static_cast<std::uint64_t>(&each - code.instructions().data()));
  }
  CHECK(code.fragments()[1].instructions[0].op->dump_facts().address == 0);
}

TEST_CASE("jumps go back too, and labels without an address move nothing") {
  Reading reading("@main () -> () {\n}\n");
  Module& module = reading.module();
  Rewriter rewriter(module);
  ProgramEmitter emitter(module);
  emitter.start_fragment("code", prog::FragmentKind::kCode);
  emitter.label("a");
  emitter.unnumbered_label("b");
  emitter.ret();
  Op& jump = *make_jump(rewriter, "a");
  emitter.append(jump);
  emitter.finish();
  const ProgramCode code(module);
  std::vector<std::optional<std::uint64_t>> addresses;
  for (const auto& each : code.instructions()) addresses.push_back(each.op->dump_facts().address);
  CHECK(addresses == std::vector<std::optional<std::uint64_t>>{0, DumpFacts::kUnnumbered, 1, 2});
  CHECK(code.instructions()[3].as<prog::Jump>()->distance == -2);
}

}  // namespace mir::test
