#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dialects/rules.hpp"
#include "mir/context.hpp"
#include "mir/dialects.hpp"
#include "mir/parse.hpp"

using namespace mir;

namespace {

const Dialect& dialect(std::string_view name) {
  for (const Dialect* candidate : builtin_dialects()) {
    if (candidate->name == name) return *candidate;
  }
  FAIL("no dialect ", std::string(name));
  return *builtin_dialects().front();
}

const OpRow* find_row(const Dialect& dialect, std::string_view name) {
  const auto found = std::ranges::find(dialect.rows, name, &OpRow::name);
  return found == dialect.rows.end() ? nullptr : &*found;
}

const OpRow& linalg(std::string_view name) {
  const OpRow* row = find_row(dialect("linalg"), name);
  REQUIRE_MESSAGE(row != nullptr, std::string(name));
  return *row;
}

/// Every row with the text in front of its name.
template <class F>
void for_each_row(F&& visit) {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      CAPTURE(dialect->name);
      CAPTURE(row.name);
      visit(*dialect, row);
    }
  }
}

const std::vector<std::string_view> kLinalgOps = {"FillOp",
                                                  "AddOp",
                                                  "SubOp",
                                                  "MulOp",
                                                  "DivOp",
                                                  "AbsOp",
                                                  "LogOp",
                                                  "ExpOp",
                                                  "SinOp",
                                                  "CosOp",
                                                  "NegOp",
                                                  "ClipOp",
                                                  "MatMulOp",
                                                  "EmbeddingOp",
                                                  "LinearOp",
                                                  "RoPEOp",
                                                  "MultimodalRoPEOp",
                                                  "VisionRoPEOp",
                                                  "KVCacheOp",
                                                  "CausalMaskOp",
                                                  "SoftmaxOp",
                                                  "RMSNormOp",
                                                  "LayerNormOp",
                                                  "LayerNorm2DOp",
                                                  "SiLUOp",
                                                  "SigmoidOp",
                                                  "GELUOp",
                                                  "QuickGELUOp",
                                                  "ReLUOp",
                                                  "CastTypeOp",
                                                  "X2XOp",
                                                  "ViewOp",
                                                  "ReshapeOp",
                                                  "SplitOp",
                                                  "SliceOp",
                                                  "IndexOp",
                                                  "TransposeOp",
                                                  "PermuteOp",
                                                  "ContiguousOp",
                                                  "CloneOp",
                                                  "CopyOp",
                                                  "RepeatOp",
                                                  "ConcatOp",
                                                  "StackOp",
                                                  "PadOp",
                                                  "ReduceMaxOp",
                                                  "ReduceMinOp",
                                                  "ReduceSumOp",
                                                  "MeanOp",
                                                  "TopKOp",
                                                  "ArgsortOp",
                                                  "GatherOp",
                                                  "ScatterOp",
                                                  "MaskedScatterOp",
                                                  "EqualOp",
                                                  "WhereOp",
                                                  "Conv1DOp",
                                                  "Conv2DOp",
                                                  "Conv3DOp",
                                                  "InterpolateOp",
                                                  "STFTOp",
                                                  "ISTFTOp",
                                                  "FlashAttention2Op",
                                                  "FlashAttention2SwaSinkOp",
                                                  "PagedAttnOp",
                                                  "RadixAttnRelaxOp",
                                                  "RadixAttnSwaSinkOp",
                                                  "EinsumOp",
                                                  "ParamOp",
                                                  "CustomizedOp"};

}  // namespace

TEST_CASE(
    "linalg has the 70 ops of upstream and register, and says of others that no dump has them") {
  REQUIRE(kLinalgOps.size() == 70);
  for (const std::string_view name : kLinalgOps) {
    CAPTURE(name);
    CHECK(find_row(dialect("linalg"), name) != nullptr);
  }
  CHECK(find_row(dialect("linalg"), "register") != nullptr);
  for (const OpRow& row : dialect("linalg").rows) {
    CAPTURE(row.name);
    const bool of_upstream =
        row.name == "register" || std::ranges::find(kLinalgOps, row.name) != kLinalgOps.end();
    CHECK(of_upstream != has(row.traits, Trait::kPortableOnly));
  }
  CHECK(std::ranges::is_sorted(dialect("linalg").rows, {}, &OpRow::name));
}

TEST_CASE("the other dialects have the ops that dumps print, and cf those of control flow") {
  const auto has_all = [](std::string_view name, std::vector<std::string_view> ops) {
    for (const std::string_view op : ops) {
      CAPTURE(op);
      CHECK(find_row(dialect(name), op) != nullptr);
    }
    CHECK(dialect(name).rows.size() == ops.size());
  };
  has_all("builtin", {"ModuleOp"});
  has_all("graph", {"SubGraphOp", "CallGraphOp", "FusedOp"});
  has_all("cf", {"ReturnOp", "IfOp", "ForOp", "WhileOp", "YieldOp", "ConditionOp", "BranchOp",
                 "CondBranchOp", "SwitchOp"});
  has_all("tensor", {"register", "alloc", "free"});
  has_all("dbg", {"CommentOp", "HintsOp"});
  has_all("prog",
          {"fragment", "label", "jump", "kernel_launch", "kernel_symbol", "value_symbol",
           "mode_config", "bind", "alloc", "free", "exit", "ret", "entry_point", "InstructionOp"});
}

TEST_CASE("a type name is the class name without Op, but for three ops and two names used twice") {
  for (const OpRow& row : dialect("linalg").rows) {
    CAPTURE(row.name);
    if (row.name == "register") {
      CHECK(row.type_name.empty());
    } else if (row.name == "VisionRoPEOp") {
      CHECK(row.type_name == "SiLU");
    } else if (row.name == "FlashAttention2SwaSinkOp") {
      CHECK(row.type_name == "FlashAttention2");
    } else if (row.name == "RadixAttnSwaSinkOp") {
      CHECK(row.type_name == "RadixAttnWithSinkAndSwaDiffDim");
    } else {
      CHECK(std::string(row.type_name) + "Op" == row.name);
    }
  }
}

TEST_CASE("a context knows every op by its name, its alias and its type name") {
  IRContext context;
  register_builtin_dialects(context);
  CHECK(context.dialects().size() == builtin_dialects().size());
  for_each_row([&](const Dialect& dialect, const OpRow& row) {
    const auto kind = context.find_kind(std::string(dialect.name) + "." + std::string(row.name));
    REQUIRE(kind);
    CHECK(context.info(*kind).row == &row);
    for (const std::string_view alias : row.aliases) {
      CHECK(context.find_kind(std::string(dialect.name) + "." + std::string(alias)) == kind);
    }
  });
  CHECK(context.info(context.op_name("linalg.kCPU.LLMEmbeddingTokenOp").kind).row ==
        &linalg("EmbeddingOp"));
  const auto kernel = [&](std::string_view type_name, std::size_t operands) {
    return context.find_kernel(type_name, operands).value_or(OpId::kNone).op();
  };
  CHECK(kernel("SiLU", 1) == OpId::kLinalgSiLU);
  CHECK(kernel("SiLU", 2) == OpId::kLinalgSiLU);
  CHECK(kernel("SiLU", 3) == OpId::kLinalgVisionRoPE);
  CHECK(kernel("FlashAttention2", 3) == OpId::kLinalgFlashAttention2);
  CHECK(kernel("FlashAttention2", 4) == OpId::kLinalgFlashAttention2SwaSink);
  CHECK(kernel("RadixAttnRelax", 3) == OpId::kLinalgRadixAttnRelax);
  CHECK(kernel("LinearOp", 1) == OpId::kNone);
}

TEST_CASE("a kind of the build has the number of its constant in every context") {
  IRContext known, bare;
  register_builtin_dialects(known);
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const auto op = static_cast<OpId>(i);
    CAPTURE(name_of(op));
    CHECK(known.find_kind(name_of(op)) == OpKind(op));
    CHECK(bare.find_kind(name_of(op)) == OpKind(op));
    CHECK(known.info(op).row != nullptr);
    CHECK(bare.info(op).row == nullptr);
    CHECK(known.info(op).dialect_id == dialect_of(name_of(op)));
  }
  CHECK(known.op_name("linalg.CPU.RMSNormOp").kind == OpId::kLinalgRMSNorm);
  CHECK(known.op_name(OpId::kProgKernelLaunch).spelling == known.intern("prog.kernel_launch"));
}

TEST_CASE("a kind that the build does not know has no constant") {
  IRContext context;
  register_builtin_dialects(context);
  for (const std::string_view name : {"my.AddOp", "linalg.CPU.NoSuchOp"}) {
    const OpKind kind = context.op_name(name).kind;
    CHECK(kind.op() == OpId::kNone);
    CHECK(kind != OpKind(OpId::kNone));
  }
  CHECK(context.info(context.op_name("linalg.CPU.NoSuchOp").kind).dialect_id == DialectId::kLinalg);
  CHECK(context.info(context.op_name("my.AddOp").kind).dialect_id == DialectId::kOther);
}

TEST_CASE("the rule of a row has a name in the library, and every rule has a row") {
  std::vector<InferFn> used;
  for_each_row([&](const Dialect&, const OpRow& row) {
    CAPTURE(row.name);
    if (row.infer == nullptr) return;
    CHECK(std::ranges::count(rules::all(), row.infer, &rules::NamedRule::function) == 1);
    used.push_back(row.infer);
  });
  for (const rules::NamedRule& rule : rules::all()) {
    CAPTURE(rule.name);
    CHECK(std::ranges::count(used, rule.function) != 0);
  }
}

TEST_CASE("every linalg op has a rule, but for those typed by name or without a meaning") {
  for (const OpRow& row : dialect("linalg").rows) {
    CAPTURE(row.name);
    const bool exempt = has(row.traits, Trait::kNoMeaning) ||
                        has(row.traits, Trait::kTypedByName) || has(row.traits, Trait::kSymbol) ||
                        row.name == "CustomizedOp";
    CHECK((row.infer == nullptr) == exempt);
  }
}

TEST_CASE(
    "an op whose types nothing infers has no result, has those of what it names or of its "
    "regions, states them, or has no meaning") {
  constexpr std::array<std::string_view, 9> kState = {"alloc",        "register", "value_symbol",
                                                      "CustomizedOp", "CastOp",   "RunOp",
                                                      "KernelOp",     "BufferOp", "ReadOp"};
  for_each_row([&](const Dialect& dialect, const OpRow& row) {
    CAPTURE(dialect.name);
    CAPTURE(row.name);
    if (row.infer != nullptr || row.results.max == 0) return;
    CHECK((has(row.traits, Trait::kTypedByName) || has(row.traits, Trait::kNoMeaning) ||
           row.name == "InstructionOp" || row.name == "entry_point" || row.region_flow != nullptr ||
           std::ranges::find(kState, row.name) != kState.end()));
  });
}

TEST_CASE("summaries are sentences and attribute summaries are phrases") {
  for_each_row([](const Dialect&, const OpRow& row) {
    CHECK(row.summary.ends_with('.'));
    for (const AttrRow& attribute : row.attributes) {
      CAPTURE(attribute.name);
      CHECK_FALSE(attribute.summary.ends_with('.'));
    }
  });
}

TEST_CASE("a weight exists always or by a boolean attribute of its op") {
  for_each_row([](const Dialect&, const OpRow& row) {
    for (const WeightRow& weight : row.weights) {
      if (weight.present_if.empty()) continue;
      const auto found = std::ranges::find(row.attributes, weight.present_if, &AttrRow::name);
      REQUIRE(found != row.attributes.end());
      CHECK(found->type == AttrType::kBool);
    }
  });
}

TEST_CASE(
    "state is touched by the cache, by address-based attention and by launched kernels only") {
  for_each_row([](const Dialect&, const OpRow& row) {
    const bool stateful = row.name == "KVCacheOp" || row.name == "kernel_launch";
    CHECK(has(row.effects, Effect::kWritesState) == stateful);
    if (has(row.effects, Effect::kReadsState)) CHECK_FALSE(has(row.traits, Trait::kPure));
  });
  CHECK(has(linalg("CopyOp").effects, Effect::kWritesOperand1));
  CHECK(has(linalg("FillOp").effects, Effect::kWritesOperand0));
  CHECK(has(linalg("MaskedScatterOp").effects, Effect::kWritesOperand0));
}

TEST_CASE("what has the bytes of its operand only moves elements") {
  for_each_row([](const Dialect&, const OpRow& row) {
    if (!has(row.traits, Trait::kSameBytes)) return;
    CAPTURE(row.name);
    CHECK(has(row.traits, Trait::kMoves));
    CHECK(row.operands.min >= 1);
    CHECK((row.results.min == 1 && row.results.max == 1));
  });
}

TEST_CASE("only views alias their operand") {
  for (const OpRow& row : dialect("linalg").rows) {
    CAPTURE(row.name);
    const bool view = row.name == "ViewOp" || row.name == "SliceOp" || row.name == "SplitOp";
    CHECK(has(row.traits, Trait::kView) == view);
  }
}

TEST_CASE("every example is one line that parses as one op of its name") {
  for_each_row([](const Dialect& dialect, const OpRow& row) {
    CAPTURE(row.example);
    CHECK(row.example != test::Part{"\n"});
    SourceManager sources;
    Diagnostics diagnostics;
    const SourceFile* file = sources.add(
        "example", "@main [mir_version:1] () -> () {\n" + std::string(row.example) + "\n}\n");
    REQUIRE(file != nullptr);
    const auto tree = parse(*file, diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.sorted()) {
      MESSAGE(diagnostic.message);
    }
    REQUIRE(tree);
    REQUIRE(tree->units().size() == 3);
    const Unit& unit = tree->units()[1];
    REQUIRE(unit.nodes().back().kind() == NodeKind::kOpEnd);
    const std::string_view name = tree->text(unit, unit.nodes().back().token);
    CHECK(name.starts_with(std::string(dialect.name) + "."));
    const auto last_word = name.substr(name.rfind('.') + 1);
    const bool is_alias = std::ranges::find(row.aliases, last_word) != row.aliases.end();
    CHECK((last_word == row.name || is_alias));
  });
}
