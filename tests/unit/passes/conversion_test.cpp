// Conversion of dialects and types.
#include "mir/conversion.hpp"

#include <fmt/format.h>

#include "../ir/flow_dialect.hpp"
#include "known_passes.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::FlowReading;
using mir::test::Lines;

namespace conversion_test {

namespace {

PatternMatch match_any(Op& root) {
  return PatternMatch::of({&root});
}

/// Replaces unary ops of one name by ops of another.
RewritePattern rename(std::string_view from, std::string_view to, unsigned benefit = 1) {
  return {.name = fmt::format("{}-to-{}", from, to),
          .benefit = benefit,
          .roots = {.names = {std::string(from)}},
          .makes = {std::string(to)},
          .match = match_any,
          .rewrite = [name = std::string(to)](Rewriter& rewriter, const PatternMatch& match) {
            Op& root = match.root();
            Value* operand = root.operand(0);
            const Type* type = root.result()->type();
            const auto kind = rewriter.context().find_kind(name);
            REQUIRE(kind);
            Op* made =
                rewriter.create_detached({.name = rewriter.context().op_name(*kind, root.device()),
                                          .operands = {&operand, 1},
                                          .result_types = {&type, 1}});
            rewriter.replace(root, *made);
          }};
}

/// Op names of the module's body.
Lines names(FlowReading& reading) {
  Lines list;
  for (const Op* op : test::ops_of(reading.module().body())) list.emplace_back(op->name());
  return list;
}

/// What a conversion reports, notes and hints included.
Lines problems(FlowReading& reading, const ConversionTarget& target, PatternSet set,
               const ConversionOptions& options = {}) {
  Diagnostics diagnostics;
  const bool good =
      convert(reading.module(), target, FrozenPatterns(std::move(set)), options, diagnostics);
  CHECK(good != diagnostics.has_errors());
  Lines lines = test::lines_of(diagnostics, reading.context);
  for (const Diagnostic& each : diagnostics.sorted()) {
    for (const Note& note : each.notes) lines.push_back(note.message);
    if (!each.hint.empty()) lines.push_back(each.hint);
  }
  return lines;
}

constexpr std::string_view kChain =
    "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
    "    graph.SubGraphOp @f <CPU> { (%a:$) -> (%b:$) {\n"
    "        linalg.CPU.ExpOp(%a) -> (%b:$)\n"
    "        cf.ReturnOp (%b) -> () } }\n"
    "    linalg.CPU.ExpOp(%x) -> (%y:$)\n"
    "    linalg.CPU.SinOp(%y) -> (%z:$)\n"
    "    cf.ReturnOp (%z) -> ()\n}\n";

}  // namespace

TEST_SUITE("conversion") {
  TEST_CASE("illegal ops are rewritten, in graphs too, until only legal ones are left") {
    FlowReading reading{std::string(kChain)};
    ConversionTarget target;
    target.set_dialect("linalg", Legality::kIllegal);
    target.set("linalg.CosOp", Legality::kLegal);
    PatternSet set;
    set.add(rename("linalg.ExpOp", "linalg.SinOp"));
    set.add(rename("linalg.SinOp", "linalg.CosOp"));
    CHECK(problems(reading, target, set) == Lines{});
    CHECK(names(reading) ==
          Lines{"graph.SubGraphOp", "linalg.CosOp", "linalg.CosOp", "cf.ReturnOp"});
    CHECK(print(reading.module()).find("ExpOp") == std::string::npos);
    Diagnostics found;
    CHECK(verify(reading.module(), found));
  }

  TEST_CASE("a conversion that fails says why, and leaves the module as it was") {
    FlowReading reading{std::string(kChain)};
    const std::string before = print(reading.module());
    ConversionTarget target;
    target.set("linalg.ExpOp", Legality::kIllegal);
    target.set("linalg.SinOp", Legality::kIllegal);
    PatternSet set;
    set.add(rename("linalg.ExpOp", "linalg.CosOp"));
    RewritePattern picky = rename("linalg.SinOp", "linalg.CosOp");
    picky.match = [](Op& root) { return PatternMatch::failed("its operand is no input", root); };
    set.add(picky);
    CHECK(problems(reading, target, set) ==
          Lines{"6:5 MIR0923 operation 'linalg.SinOp' stays illegal",
                "pattern 'linalg.SinOp-to-linalg.CosOp' does not match because its operand is no "
                "input"});
    CHECK(print(reading.module()) == before);
    CHECK(reading.context.modules().size() == 1);
    CHECK(problems(reading, target, PatternSet()).back() ==
          "no pattern has this operation as its root");
  }

  TEST_CASE("a pattern that does not match leaves the op to the next one") {
    FlowReading reading{std::string(kChain)};
    ConversionTarget target;
    target.set("linalg.ExpOp", Legality::kIllegal);
    RewritePattern picky = rename("linalg.ExpOp", "linalg.CosOp", 2);
    picky.name = "picky";
    picky.match = [](Op& root) { return PatternMatch::failed("never", root); };
    PatternSet set;
    set.add(picky);
    set.add(rename("linalg.ExpOp", "linalg.SinOp"));
    CHECK(problems(reading, target, set) == Lines{});
    CHECK(names(reading) ==
          Lines{"graph.SubGraphOp", "linalg.SinOp", "linalg.SinOp", "cf.ReturnOp"});
  }

  TEST_CASE("legality may depend on the op, and a full conversion leaves nothing unknown") {
    FlowReading reading{std::string(kChain)};
    ConversionTarget target;
    target.set_legal_if("linalg.ExpOp",
                        [](const Op& op) { return op.parent_op()->is(OpId::kGraphSubGraph); });
    PatternSet set;
    set.add(rename("linalg.ExpOp", "linalg.SinOp"));
    CHECK(problems(reading, target, set) == Lines{});
    CHECK(names(reading)[1] == "linalg.SinOp");
    CHECK(print(reading.module()).find("ExpOp") != std::string::npos);
    CHECK(problems(reading, target, PatternSet(), {.is_full = true}).front() ==
          "2:5 MIR0923 operation 'graph.SubGraphOp' stays illegal");
  }

  TEST_CASE("patterns without end and undeclared ops are refused") {
    FlowReading reading{std::string(kChain)};
    const std::string before = print(reading.module());
    ConversionTarget target;
    target.set("linalg.ExpOp", Legality::kIllegal);
    target.set("linalg.SinOp", Legality::kIllegal);
    PatternSet round;
    round.add(rename("linalg.ExpOp", "linalg.SinOp"));
    round.add(rename("linalg.SinOp", "linalg.ExpOp"));
    CHECK(problems(reading, target, round).front().find("MIR0922 no end after") !=
          std::string::npos);
    CHECK(print(reading.module()) == before);
    ConversionTarget no_exp;
    no_exp.set("linalg.ExpOp", Legality::kIllegal);
    RewritePattern hidden = rename("linalg.ExpOp", "linalg.CosOp");
    hidden.makes = {};
    PatternSet undeclared;
    undeclared.add(hidden);
    CHECK(problems(reading, no_exp, undeclared)
              .front()
              .find("MIR0921 pattern 'linalg.ExpOp-to-linalg.CosOp' creates 'linalg.CosOp'") !=
          std::string::npos);
  }

  TEST_CASE("in one step, all ops are matched before the first edit") {
    FlowReading reading{std::string(kChain)};
    const std::string before = print(reading.module());
    ConversionTarget target;
    target.set_dialect("linalg", Legality::kIllegal);
    target.set("linalg.CosOp", Legality::kLegal);
    PatternSet set;
    std::size_t rewritten = 0;
    RewritePattern counted = rename("linalg.ExpOp", "linalg.CosOp");
    const auto rewrite = counted.rewrite;
    counted.rewrite = [&](Rewriter& rewriter, const PatternMatch& match) {
      ++rewritten;
      rewrite(rewriter, match);
    };
    set.add(counted);
    CHECK(problems(reading, target, set, {.is_one_step = true}).front() ==
          "6:5 MIR0923 operation 'linalg.SinOp' stays illegal");
    CHECK(rewritten == 0);
    set.add(rename("linalg.SinOp", "linalg.CosOp"));
    CHECK(problems(reading, target, set, {.is_one_step = true, .only_checks = true}) == Lines{});
    CHECK(print(reading.module()) == before);
    CHECK(problems(reading, target, set, {.is_one_step = true}) == Lines{});
    CHECK(rewritten == 2);
  }

  TEST_CASE("a rewrite may let another pattern match, unless the conversion is in one step") {
    const auto problems_of = [](bool is_one_step) {
      FlowReading reading{std::string(kChain)};
      ConversionTarget target;
      target.set("linalg.ExpOp", Legality::kIllegal);
      target.set("linalg.SinOp", Legality::kIllegal);
      RewritePattern after = rename("linalg.SinOp", "linalg.CosOp");
      after.match = [](Op& root) {
        const Op* before = root.operand(0)->defining_op();
        return before != nullptr && before->name() == "linalg.CosOp"
                   ? PatternMatch::of({&root})
                   : PatternMatch::failed("its operand is no cosine", root);
      };
      PatternSet set;
      set.add(rename("linalg.ExpOp", "linalg.CosOp"));
      set.add(after);
      return problems(reading, target, set, {.is_one_step = is_one_step});
    };
    CHECK(problems_of(false) == Lines{});
    CHECK(problems_of(true).size() == 2);
  }

  TEST_CASE("a pattern may declare a dialect of which it makes any op") {
    FlowReading reading{std::string(kChain)};
    ConversionTarget target;
    target.set("linalg.ExpOp", Legality::kIllegal);
    RewritePattern any = rename("linalg.ExpOp", "linalg.CosOp");
    any.makes = {"linalg"};
    PatternSet set;
    set.add(any);
    CHECK(problems(reading, target, set) == Lines{});
  }

  TEST_CASE("ops that a target does not name are judged one by one, and closed ops stay whole") {
    FlowReading reading{std::string(kChain)};
    ConversionTarget target;
    target.set_others_legal_if([](const Op& op) { return op.name() != "linalg.ExpOp"; });
    target.set_closed_if([](const Op& op) { return op.is(OpId::kGraphSubGraph); });
    PatternSet set;
    set.add(rename("linalg.ExpOp", "linalg.CosOp"));
    CHECK(problems(reading, target, set) == Lines{});
    CHECK(names(reading) ==
          Lines{"graph.SubGraphOp", "linalg.CosOp", "linalg.SinOp", "cf.ReturnOp"});
    CHECK(print(reading.module()).find("ExpOp(%a") != std::string::npos);
  }

  TEST_CASE("a conversion explains each decision once, with the patterns that do not match") {
    FlowReading reading{std::string(kChain)};
    ConversionTarget target;
    target.set_dialect("linalg", Legality::kIllegal);
    target.set("linalg.CosOp", Legality::kLegal);
    RewritePattern picky = rename("linalg.ExpOp", "linalg.CosOp", 2);
    picky.name = "picky";
    picky.match = [](Op& root) { return PatternMatch::failed("never", root); };
    Lines steps;
    const auto explain = [&](const ConversionStep& step) {
      steps.push_back(
          fmt::format("{}: {}", step.op.name(), step.pattern == nullptr ? "" : step.pattern->name));
      for (const PatternMismatch& each : step.mismatches) {
        steps.push_back(fmt::format("{}: {}", each.pattern->name, each.condition));
      }
    };
    PatternSet set;
    set.add(picky);
    set.add(rename("linalg.ExpOp", "linalg.SinOp"));
    CHECK(problems(reading, target, set, {.explain = explain}).size() == 6);
    const Lines of_exp{"linalg.ExpOp: linalg.ExpOp-to-linalg.SinOp", "picky: never"};
    Lines wanted = of_exp;
    wanted.insert(wanted.end(), of_exp.begin(), of_exp.end());
    for (int i = 0; i < 3; ++i) wanted.emplace_back("linalg.SinOp: ");
    CHECK(steps == wanted);
    steps.clear();
    set.add(rename("linalg.SinOp", "linalg.CosOp"));
    CHECK(problems(reading, target, set, {.explain = explain}) == Lines{});
    CHECK(steps.size() == 7);  // two ops with a mismatch each, three of the other kind
  }
}

TEST_SUITE("type conversion") {
  static bool is_half(const Type* type) {
    const auto* tensor = dyn_cast<TensorType>(type);
    return tensor != nullptr && tensor->dtype() == DType::kFloat16;
  }
  static TypeConverter to_half() {
    TypeConverter types("my.cast");
    types.add([](IRContext& context, const Type& type) -> const Type* {
      const auto* tensor = dyn_cast<TensorType>(&type);
      if (tensor == nullptr || tensor->dtype() != DType::kFloat32) return nullptr;
      return context.tensor(tensor->dims(), DType::kFloat16);
    });
    return types;
  }
  /// Computes unary ops of a name on converted values.
  static RewritePattern on_half(const TypeConverter& types, std::string name) {
    return {.name = "half-" + name,
            .roots = {.names = {name}},
            .makes = {name},
            .match = match_any,
            .rewrite = [&types](Rewriter& rewriter, const PatternMatch& match) {
              Op& root = match.root();
              rewriter.set_insertion_point(root);
              Value* operand = types.converted(rewriter, *root.operand(0));
              const Type* type = types.convert(rewriter.context(), root.result()->type());
              Value* const made[] = {rewriter
                                         .create({.name = root.op_name(),
                                                  .operands = {&operand, 1},
                                                  .result_types = {&type, 1}})
                                         ->result()};
              types.replace(rewriter, root, made);
            }};
  }
  static ConversionTarget half_target() {
    ConversionTarget target;
    for (const std::string name : {"linalg.ExpOp", "linalg.SinOp"}) {
      target.set_legal_if(name, [](const Op& op) { return is_half(op.result()->type()); });
    }
    return target;
  }
  constexpr std::string_view kCalls =
      "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
      "    graph.SubGraphOp @f <CPU> { (%a:$) -> (%b:$) {\n"
      "        linalg.CPU.ExpOp(%a) -> (%b:$)\n"
      "        cf.ReturnOp (%b) -> () } }\n"
      "    linalg.CPU.SinOp(%x) -> (%y:$)\n"
      "    graph.CallGraphOp @f (%y) -> (%z:$)\n"
      "    cf.ReturnOp (%z) -> ()\n}\n";

  TEST_CASE("types of inputs, outputs, calls and ops are converted, and no cast is left") {
    FlowReading reading{std::string(kCalls)};
    const TypeConverter types = to_half();
    PatternSet set;
    set.add(on_half(types, "linalg.ExpOp"));
    set.add(on_half(types, "linalg.SinOp"));
    CHECK(problems(reading, half_target(), set, {.types = &types}) == Lines{});
    const std::string text = print(reading.module());
    CHECK(text.find("Float32") == std::string::npos);
    CHECK(text.find("my.cast") == std::string::npos);
    Diagnostics found;
    CHECK(verify(reading.module(), found));
    CHECK(test::lines_of(found, reading.context) == Lines{});
  }

  TEST_CASE("casts stay between converted and other ops, if the target allows them") {
    FlowReading reading{std::string(kCalls)};
    const std::string before = print(reading.module());
    const TypeConverter types = to_half();
    ConversionTarget target;
    target.set_legal_if("linalg.ExpOp", [](const Op& op) { return is_half(op.result()->type()); });
    PatternSet set;
    set.add(on_half(types, "linalg.ExpOp"));
    CHECK(problems(reading, target, set, {.types = &types})
              .front()
              .find("operation 'my.cast' stays illegal") != std::string::npos);
    CHECK(print(reading.module()) == before);
    target.set("my.cast", Legality::kLegal);
    CHECK(problems(reading, target, set, {.types = &types}) == Lines{});
    CHECK(names(reading) == Lines{"my.cast", "graph.SubGraphOp", "linalg.SinOp", "my.cast",
                                  "graph.CallGraphOp", "cf.ReturnOp"});
  }
}

}  // namespace conversion_test
