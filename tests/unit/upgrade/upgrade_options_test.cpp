// Options that a dump lost, recovered from types and parameters.
#include <fmt/format.h>

#include <algorithm>

#include "mir/walk.hpp"
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

TEST_SUITE("upgrade") {
  TEST_CASE("linear and embedding follow from types and parameters") {
    CHECK(recovered({parameter("a.weight", "3, 4"), parameter("a.bias", "3"),
                     op("LinearOp", "2, 4", "2, 3")}) == "in_channels:4 out_channels:3 bias:true");
    CHECK(recovered({parameter("a.weight", "12"), op("LinearOp", "2, 4", "2, 3")}) ==
          "in_channels:4 out_channels:3 +bias:false");
    CHECK(recovered({parameter("a.weight", "3, 4"), op("LinearOp", "4", "3")}) ==
          "in_channels:4 out_channels:3 +bias:false");
    for (const auto& [in, out] : {std::pair("", "3"), std::pair("4", "")}) {
      CHECK(recovered({parameter("a.weight", "3, 4"), op("LinearOp", in, out)}) ==
            test::Part{"in_channels is lost: rank 0"});
    }
    const std::string ids =
        "linalg.CPU.EmbeddingOp(%0:" + t("2", "Int64") + ") -> (%1:" + t("2, 4") + ")";
    CHECK(recovered({parameter("e.weight", "10, 4"), ids}) == "vocab_size:10 hidden_size:4");
    CHECK(recovered({parameter("e.weight", "$V, 4"), ids}) ==
          "linalg.EmbeddingOp 'e': vocab_size is lost: its table is not registered; grant it with "
          "--assume='e.vocab_size=...'");
  }

  TEST_CASE("weights that upstream packed become a matrix, in blocks where that is granted") {
    // 8 x 64 numbers as qsi4c32p8x8 has them, and as qai4c32p4x8 has them.
    const auto upgraded = [](const std::string& bytes, std::string_view type) {
      UpgradeOptions options = kGranted;
      if (!type.empty()) REQUIRE(grant(options, fmt::format("packed_weights={}", type)));
      Upgraded made(dump({"tensor.CPU.register () -> (%5:" + t(bytes, "UInt8") +
                              "[@a.weight])[symbol:a.weight]",
                          op("LinearOp", "2, 64", "2, 8")}),
                    options);
      CHECK(made.problems() == Lines{});
      const auto weight = made.module().lookup_value(made.reading.context.intern("a.weight"));
      REQUIRE(weight != nullptr);
      const Lines assumed = made.entries(Source::kAssumed);
      const bool is_assumed = std::ranges::any_of(
          assumed, [](const std::string& each) { return each.find(" weight=") != each.npos; });
      return (is_assumed ? "+" : "") + std::string(weight->type()->spelling());
    };
    CHECK(upgraded("352", "") == t("8, 64"));
    CHECK(upgraded("352", "Float32") == t("8, 64"));
    CHECK(upgraded("352", "GGUF_Q4_0") == "+" + t("8, 64", "GGUF_Q4_0"));
    CHECK(upgraded("416", "GGUF_Q4_0") == t("8, 64"));
    CHECK(upgraded("352", "MIR_Q4_A32") == "+" + t("8, 64", "MIR_Q4_A32"));
    CHECK(upgraded("416", "MIR_Q4_A32") == "+" + t("8, 64", "MIR_Q4_A32"));
    UpgradeOptions options;
    CHECK(grant(options, "packed_weights=GGUF_Q4_1").error().message ==
          "packed_weights is Float32, GGUF_Q4_0 or MIR_Q4_A32, found 'GGUF_Q4_1'");
  }

  TEST_CASE(
      "a product tells from its types which operand was transposed, or is assumed to be a score") {
    const auto product = [](const std::string& a, const std::string& b, const std::string& c,
                            const Lines& more = {}) {
      Lines ops{"linalg.CPU.MatMulOp(%0:" + t(a) + ", %1:" + t(b) + ") -> (%2:" + t(c) + ")"};
      ops.insert(ops.end(), more.begin(), more.end());
      Upgraded upgraded(dump(ops));
      if (!upgraded.good) return upgraded.errors().front();
      CHECK(upgraded.problems() == Lines{});
      const Op* matmul = find_op(upgraded.module().body(), "linalg.CPU.MatMulOp");
      std::string chosen;
      for (const std::string& entry : upgraded.entries(Source::kAssumed)) {
        if (entry.starts_with("linalg.MatMulOp transpose_b=")) chosen = "+";
      }
      return chosen + std::string(matmul->attribute("transpose_b")->spelling());
    };
    CHECK(product("2, 3", "3, 5", "2, 5") == "false");
    CHECK(product("2, 3", "5, 3", "2, 5") == "true");
    CHECK(product("4, 4", "4, 4", "4, 4") == "+false");
    CHECK(product("4, 4", "4, 4", "4, 4", {"linalg.CPU.SoftmaxOp(%2) -> (%3:" + t("4, 4") + ")"}) ==
          "+true");
    CHECK(
        product("4, 4", "4, 4", "4, 4",
                {"linalg.CPU.MulOp(%2, %8:" + t("1") + "[constant:[2]]) -> (%2:" + t("4, 4") + ")",
                 "linalg.CPU.CausalMaskOp(%2) -> (%3:" + t("4, 4") + ")"}) == "+true");
    CHECK(product("2, 3", "4, 5", "2, 5")
              .find("transpose_b is lost: the printed types fit no reading") != std::string::npos);
    CHECK(product("3", "3", "3") == test::Part{"transpose_b is lost: rank below 2"});
  }

  TEST_CASE("a product has one reading, or names the others, or is lost") {
    const auto reading = [](const std::string& a, const std::string& b, const std::string& c) {
      Upgraded upgraded(
          dump({"linalg.CPU.MatMulOp(%0:" + t(a) + ", %1:" + t(b) + ") -> (%2:" + t(c) + ")"}));
      if (!upgraded.good) return upgraded.errors().front();
      CHECK(upgraded.problems() == Lines{});
      std::string text;
      for (const LossEntry& entry : upgraded.report.entries) {
        if (!entry.fact.starts_with("transpose_")) continue;
        text += entry.fact.substr(10) + (entry.source == Source::kAssumed ? "+" : "=") +
                entry.used.substr(0, 1) + (entry.others.empty() ? "" : " | " + entry.others) + ";";
      }
      return text;
    };
    CHECK(reading("2, 3", "3, 5", "2, 5") == "b=f;");
    CHECK(reading("3, 2", "3, 5", "2, 5") == "a=t;b=f;");
    CHECK(reading("3, 2", "5, 3", "2, 5") == "a=t;b=t;");
    CHECK(reading("3, 3", "3, 5", "3, 5") == "b+f | transpose_a=true, transpose_b=false;");
    CHECK(reading("4, 4", "4, 4", "4, 4") ==
          "b+f | transpose_a=false, transpose_b=true or transpose_a=true, transpose_b=false or "
          "transpose_a=true, transpose_b=true;");
  }

  TEST_CASE("square keys are transposed once: before the product or by it") {
    const std::string square = t("1, 2, 4, 4");
    const auto scores = [&](const Lines& before, const std::string& keys) {
      Lines ops = before;
      ops.push_back("linalg.CPU.MatMulOp(%0:" + square + ", %" + keys + ":" + square +
                    ") -> (%3:" + square + ")");
      ops.push_back("linalg.CPU.SoftmaxOp(%3:" + square + ") -> (%4:" + square + ")");
      Upgraded upgraded(dump(ops));
      REQUIRE(upgraded.errors() == Lines{});
      return print(upgraded.module());
    };
    const std::string lists = "(%1:" + square + ") -> (%2:" + square + ")";
    CHECK(has(scores({}, "1"), "MatMulOp [transpose_b:true]"));
    CHECK(has(scores({"linalg.CPU.SiLUOp" + lists}, "2"), "MatMulOp [transpose_b:true]"));
    CHECK(has(scores({"linalg.CPU.TransposeOp" + lists}, "2"), "MatMulOp [transpose_b:false]"));
    // Scaled by one number, or converted, after that.
    const std::string number = "%7:" + t("1") + "[constant:[0.5]]";
    const auto scaled = [&](const std::string& op, const std::string& operands) {
      return scores({"linalg.CPU.TransposeOp" + lists,
                     "linalg.CPU." + op + "(" + operands + ") -> (%5:" + square + ")"},
                    "5");
    };
    const std::string keys = "%2:" + square;
    CHECK(has(scaled("MulOp", keys + ", " + number), "MatMulOp [transpose_b:false]"));
    CHECK(has(scaled("MulOp", number + ", " + keys), "MatMulOp [transpose_b:false]"));
    CHECK(has(scaled("DivOp", keys + ", " + number), "MatMulOp [transpose_b:false]"));
    CHECK(has(scaled("CloneOp", keys), "MatMulOp [transpose_b:false]"));
    CHECK(has(scaled("MulOp", keys + ", " + keys), "MatMulOp [transpose_b:true]"));
  }

  TEST_CASE("square scores are recognised through a division before their softmax") {
    const std::string square = t("1, 2, 4, 4");
    const std::string number = "%7:" + t("1") + "[constant:[2.0]]";
    Upgraded upgraded(
        dump({"linalg.CPU.MatMulOp(%0:" + square + ", %1:" + square + ") -> (%2:" + square + ")",
              "linalg.CPU.DivOp(%2:" + square + ", " + number + ") -> (%3:" + square + ")",
              "linalg.CPU.SoftmaxOp(%3:" + square + ") -> (%4:" + square + ")"}));
    REQUIRE(upgraded.errors() == Lines{});
    CHECK(has(print(upgraded.module()), "MatMulOp [transpose_b:true]"));
  }

  TEST_CASE("a long chain of scalings after a product is searched once") {
    Lines ops{"linalg.CPU.MatMulOp(%0:" + t("4, 4") + ", %1:" + t("4, 4") +
              ") -> (%2:" + t("4, 4") + ")"};
    for (int i = 0; i < 20000; ++i)
      ops.push_back("linalg.CPU.MulOp(%2, %2) -> (%2:" + t("4, 4") + ")");
    CHECK(recovered(ops) == "");
  }

  TEST_CASE(
      "the dimensions of a transpose follow where they differ and are assumed where upstream's "
      "habit tells") {
    CHECK(recovered({op("TransposeOp", "2, 3", "3, 2")}) == "dim0:0 dim1:1");
    CHECK(recovered({op("TransposeOp", "1, 2, 3, 4", "1, 4, 3, 2")}) == "dim0:1 dim1:3");
    CHECK(recovered({op("TransposeOp", "1, 5, 5, 4", "1, 5, 5, 4")}) == "+dim0:1 +dim1:2");
    CHECK(recovered({op("TransposeOp", "5, 5", "5, 5")}) == "+dim0:0 +dim1:1");
    CHECK(recovered({op("TransposeOp", "1, 5, 5", "1, 5, 5")}) == "+dim0:1 +dim1:2");
    const std::string lost =
        "linalg.TransposeOp: dim0, dim1 is lost: the printed types differ in other than two "
        "dimensions; grant it with --assume='Transpose.0.dim0=...' "
        "--assume='Transpose.0.dim1=...'";
    CHECK(recovered({op("TransposeOp", "5, 5, 5", "5, 5, 5")}) == lost);
    CHECK(recovered({op("TransposeOp", "2, 3, 4", "3, 4, 2")}) == lost);
    CHECK(recovered({op("TransposeOp", "2, 3", "2, 3, 1")}) ==
          "linalg.TransposeOp: dim0, dim1 is lost: the printed types differ in rank");
  }

  TEST_CASE("a permutation follows from extents that differ; equal ones keep their order") {
    CHECK(recovered({op("PermuteOp", "2, 3, 4", "4, 2, 3")}) == "axis:[2, 0, 1]");
    CHECK(recovered({op("PermuteOp", "2, 2, 4", "4, 2, 2")}) == "+axis:[2, 0, 1]");
    CHECK(recovered({op("PermuteOp", "2, 3, 4", "4, 2, 5")}) ==
          "linalg.PermuteOp: axis is lost: the extents are no permutation");
  }

  TEST_CASE("views, casts and copies between devices are what their types say") {
    CHECK(recovered({op("ViewOp", "2, 6", "2, 3, 2")}) == "enable_ssa:true to_shape:[2, 3, 2]");
    CHECK(recovered({"linalg.CPU.ViewOp(%0:" + t("2, 6") + ") -> (%0:" + t("12") + ")"}) ==
          "to_shape:[12]");
    CHECK(recovered({op("ReshapeOp", "2, 6", "12")}) == "shape:[12]");
    CHECK(recovered({"linalg.CPU.CastTypeOp(%0:" + t("2") + ") -> (%1:" + t("2", "Float16") +
                     ")"}) == "dtype:Float16");
    CHECK(recovered({"linalg.CPU.X2XOp(%0:" + t("2") + ") -> (%1:" + t("2", "Float32", "QNN") +
                     ")"}) == "device:QNN");
  }

  TEST_CASE("concatenations and repetitions show in one extent") {
    CHECK(recovered({op("ConcatOp", "2, 3", "2, 5", ", %2:" + t("2, 2"))}) == "dim:1");
    CHECK(recovered({op("ConcatOp", "2, 3", "4, 5", ", %2:" + t("2, 2"))}) ==
          "linalg.ConcatOp: dim is lost: operand and result do not differ in one dimension");
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 12")}) == "dim:1 repeat_times:4");
    CHECK(
        recovered({op("RepeatOp", "2, 3", "2, 3")}) ==
        "linalg.RepeatOp: dim is lost: operand and result do not differ in one dimension; grant it "
        "with --assume='Repeat.0.dim=...'");
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 10")}) ==
          "linalg.RepeatOp: repeat_times is lost: the extents are no multiple");
  }

  TEST_CASE("softmax and masks have one documented reading") {
    CHECK(recovered({op("SoftmaxOp", "2, 3", "2, 3")}) == "+axis:-1");
    CHECK(recovered({op("CausalMaskOp", "3, 3", "3, 3")}) == "+sliding_window:false");
    const std::string heads = t("1, 5, 2, 4");
    CHECK(recovered({"linalg.CPU.FlashAttention2Op(%0:" + heads + ", %1:" + heads +
                     ", %2:" + heads + ") -> (%3:" + heads + ")"}) == "+causal_mask:true");
  }

  TEST_CASE("keys of rank 2 that an op transposed are read as they are") {
    const std::string square = t("4, 4");
    const auto scores = [&](const std::string& dims) {
      Upgraded upgraded(
          dump({"linalg.CPU.TransposeOp [" + dims + "] (%1:" + square + ") -> (%2:" + square + ")",
                "linalg.CPU.MatMulOp(%0:" + square + ", %2:" + square + ") -> (%3:" + square + ")",
                "linalg.CPU.SoftmaxOp(%3:" + square + ") -> (%4:" + square + ")"}));
      REQUIRE(upgraded.errors() == Lines{});
      return print(upgraded.module());
    };
    for (const char* dims : {"dim0:0, dim1:1", "dim0:1, dim1:0", "dim0:-1, dim1:-2"})
      CHECK(has(scores(dims), "MatMulOp [transpose_b:false]"));
    CHECK(has(scores("dim0:0, dim1:0"), "MatMulOp [transpose_b:true]"));
  }

  TEST_CASE("an epsilon is granted or lost") {
    UpgradeOptions zero;
    CHECK(grant(zero, "rms_eps=0"));
    CHECK(zero.rms_epsilon == 0.0);
    CHECK_FALSE(grant(zero, "rms_eps=-1e-6"));
    CHECK_FALSE(grant(zero, "rms_eps=nan"));
    const Lines rms{parameter("n.weight", "4"), op("RMSNormOp", "2, 4", "2, 4")};
    CHECK(recovered(rms) == "+epsilon:1e-06 +add_unit_offset:false");
    CHECK(recovered(rms, {}) ==
          "linalg.RMSNormOp 'n': epsilon is lost: grant it with --assume=rms_eps=1e-6 or the "
          "model's value");
    const Lines layer{parameter("n.weight", "4"), parameter("n.bias", "4"),
                      op("LayerNormOp", "2, 4", "2, 4")};
    CHECK(recovered(layer) == "normalized_shape:[4] elementwise_affine:true bias:true +eps:1e-05");
    CHECK(recovered({op("LayerNormOp", "2, 4", "2, 4")}) ==
          "linalg.LayerNormOp: parameters is lost: every registered parameter belongs to an op "
          "before it");
    CHECK(recovered({"linalg.CPU.LayerNormOp <name=\"n\"> (%0:" + t("2, 4") +
                     ") -> (%1:" + t("2, 4") + ")"}) ==
          "+normalized_shape:[4] +elementwise_affine:false +bias:false +eps:1e-05");
    // Where other parameters are registered, this norm has no weight; it may have a bias.
    CHECK(recovered({parameter("a.weight", "4, 4"),
                     "linalg.CPU.LayerNormOp <name=\"n\"> (%0:" + t("2, 4") +
                         ") -> (%1:" + t("2, 4") + ")"}) ==
          "+normalized_shape:[4] elementwise_affine:false +bias:false +eps:1e-05");
    const Lines images{"tensor.CPU.register () -> (%5:" + t("3") + "[@n.weight])[symbol:n.weight]",
                       "tensor.CPU.register () -> (%6:" + t("3") + "[@n.bias])[symbol:n.bias]",
                       op("LayerNorm2DOp", "1, 3, 2, 2", "1, 3, 2, 2")};
    CHECK(recovered(images) == "num_channels:3 +eps:1e-05");
    CHECK(has(recovered(images, {}), "eps is lost: grant it with --assume=layer_norm_eps"));
    CHECK(recovered(layer, {}) ==
          "linalg.LayerNormOp 'n': eps is lost: grant it with --assume=layer_norm_eps=1e-6 or the "
          "model's value");
  }

  TEST_CASE("the layout of a rotation follows from its table") {
    const auto rope = [](const std::string& x, const std::string& table) {
      return recovered({"linalg.CPU.RoPEOp(%0:" + t(x) + ", %1:" + t(table) + ", %2:" + t(table) +
                        ") -> (%3:" + t(x) + ")"});
    };
    CHECK(rope("1, 8, 5, 4", "1, 5, 4") == "input_type:BHSD +partial_dim:-1");
    CHECK(rope("1, 8, 5, 4", "1, 5, 2") == "input_type:BHSD +partial_dim:2");
    CHECK(rope("1, 5, 8, 4", "1, 5, 4") == "input_type:BSHD +partial_dim:-1");
    CHECK(rope("1, 5, 5, 4", "1, 5, 4") == "+input_type:BHSD +partial_dim:-1");
    CHECK(rope("1, 8, 5, 4", "1, 7, 4") ==
          "linalg.RoPEOp: input_type is lost: the table fits no layout");
    CHECK(rope("8, 5, 4", "1, 5, 4") == "linalg.RoPEOp: input_type is lost: x is not of rank 4");
  }

  TEST_CASE("the layout of as many heads as positions follows from readers and other rotations") {
    const std::string x = t("1, 5, 5, 4"), table = t("1, 5, 4");
    const auto rotate = [&](const std::string& from, const std::string& to,
                            const std::string& type) {
      return "linalg.CPU.RoPEOp(%" + from + ":" + type + ", %8:" + table + ", %9:" + table +
             ") -> (%" + to + ":" + type + ")\n";
    };
    const auto layout = [&](const std::string& text) {
      const std::string portable = upgraded(text);
      CHECK(has(portable, "input_type:"));
      return portable.substr(portable.find("input_type:") + 11, 4);
    };
    CHECK(layout(rotate("0", "1", x)) == "BHSD");
    CHECK(layout(rotate("0", "1", x) + "linalg.CPU.FlashAttention2Op(%1:" + x + ", %2:" + x +
                 ", %3:" + x + ") -> (%4:" + x + ")\n") == "BSHD");
    CHECK(layout(rotate("0", "1", x) + rotate("2", "3", t("1, 5, 2, 4"))) == "BSHD");
    CHECK(layout(rotate("0", "1", x) + rotate("2", "3", t("1, 2, 5, 4"))) == "BHSD");
  }

  TEST_CASE("what a dump states is kept") {
    CHECK(recovered({"linalg.CPU.TransposeOp [dim0:0, dim1:2] (%0:" + t("5, 5, 5") +
                     ") -> (%1:" + t("5, 5, 5") + ")"}) == "dim0:0 dim1:2");
    CHECK(recovered({parameter("n.weight", "4"), "linalg.CPU.RMSNormOp [epsilon:0.1] (%0:" +
                                                     t("2, 4") + ") -> (%1:" + t("2, 4") + ")"},
                    {}) == "epsilon:0.1");
    CHECK(recovered({"linalg.CPU.SoftmaxOp [axis:0] (%0:" + t("2, 4") + ") -> (%1:" + t("2, 4") +
                     ")"}) == "axis:0");
  }

  TEST_CASE("an op that nothing recovers is refused by name and place") {
    CHECK(Upgraded(dump({"  " + op("PadOp", "4", "6")})).errors() ==
          Lines{"2:3 MIR0700 linalg.PadOp: pad is lost: upstream does not print it; grant "
                "it with --assume='Pad.0.pad=...'"});
    CHECK(recovered({op("NoSuchOp", "4", "2")}) ==
          "linalg.NoSuchOp: meaning is lost: no dialect declares it; "
          "--assume=NoSuchOp.0.meaning=plugin leaves it to a plug-in");
    CHECK(recovered({op("SiLUOp", "4", "4", ", %2:" + t("4"))}) ==
          "linalg.SiLUOp: signature is lost: operands or results do not fit the op");
    CHECK(recovered({"linalg.CPU.SiLUOp(%0:!a.b) -> (%1:" + t("2") + ")"})
              .starts_with("linalg.SiLUOp: signature is lost"));
    CHECK(recovered({op("FillOp", "4", "4")}) ==
          "linalg.FillOp: type is lost: upstream does not print it; grant it with "
          "--assume='Fill.0.type=...'");
    CHECK(recovered({"prog.fragment @code <CPU> <code> { prog.ret }"}) ==
          "prog.ret: graph form is lost: a program ends with prog.exit, a body after a label with "
          "prog.ret");
  }

  // -- mentions, names, attributes
  // ------------------------------------------------------------------

  TEST_CASE("a mention that says something else than its value is refused") {
    const std::string one = op("SiLUOp", "2", "2");
    CHECK(recovered({one, "linalg.CPU.SiLUOp(%1:" + t("3") + ") -> (%2:" + t("3") + ")"}) ==
          "linalg.SiLUOp: operand 0 is lost: it is printed as " + t("3") + ", its value is " +
              t("2"));
    CHECK(recovered(
              {one, "linalg.CPU.SiLUOp(%1:" + t("2") + "[constant:[1]]) -> (%2:" + t("2") + ")"}) ==
          "linalg.SiLUOp: operand 0 is lost: it is printed as constant [1], its value is not");
    CHECK(recovered({one, "linalg.CPU.SiLUOp(%1:" + t("2") + "[@w]) -> (%2:" + t("2") + ")"}) ==
          "linalg.SiLUOp: operand 0 is lost: it is printed as '@w', its value is not");
    CHECK(recovered({"graph.CallGraphOp @g (%7) -> ()",
                     "linalg.CPU.SiLUOp(%7:" + t("2") + ") -> (%8:" + t("2") + ")"})
              .starts_with("linalg.SiLUOp: operand 0 is lost: its first mention states no type"));
    // Notes on quantisation that a mention leaves out are its value's all the same.
    CHECK(recovered({"linalg.CPU.SiLUOp(%0:" + t("2") + ") -> (%1:" + t("2") +
                         "[quant_recipe:QuantSpec(None, uuid=1)])",
                     "linalg.CPU.SiLUOp(%1:" + t("2") + ") -> (%2:" + t("2") + ")"}) == "");
  }

  TEST_CASE("a packed weight is the matrix in it, with the bias that always lies in it") {
    // nr (18 ceil(K / 32) + 8) bytes for 8 rows of 64.
    const std::string packed =
        "tensor.CPU.register () -> (%5:" + t("352", "UInt8") + "[@l.weight])[symbol:l.weight]";
    const std::string text =
        upgraded(packed + "\nlinalg.CPU.LinearOp <name=\"l\"> (%0:" + t("2, 64") +
                 ") -> (%1:" + t("2, 8") + ")\n");
    CHECK(has(text, "bias:true]"));
    CHECK(has(text, t("8, 64") + "[@l.weight])"));
    CHECK(has(text, t("8") + "[@l.bias])"));
    Upgraded module(dump({packed, "linalg.CPU.LinearOp <name=\"l\"> (%0:" + t("2, 64") +
                                      ") -> (%1:" + t("2, 8") + ")"}));
    const auto tell_bias = [&](Source source) {
      const Lines entries = module.entries(source);
      return std::ranges::count_if(entries, [](const std::string& each) {
        return each.find("parameter .bias=") != each.npos;
      });
    };
    CHECK(tell_bias(Source::kDerived) == 1);
    CHECK(tell_bias(Source::kAssumed) == 0);
    const std::string other =
        "tensor.CPU.register () -> (%5:" + t("353", "UInt8") + "[@l.weight])[symbol:l.weight]";
    CHECK(has(upgraded(other + "\nlinalg.CPU.LinearOp <name=\"l\"> (%0:" + t("2, 64") +
                       ") -> (%1:" + t("2, 8") + ")\n"),
              t("353", "UInt8") + "[@l.weight])"));
  }

  TEST_CASE("a convolution's window follows from its weight, its steps from the printed extents") {
    const auto conv = [](const std::string& type, const std::string& weight, const std::string& in,
                         const std::string& out) {
      return recovered({parameter("c.weight", weight), op(type + " <name=\"c\"> ", in, out)});
    };
    CHECK(conv("Conv3DOp", "8, 3, 2, 4, 4", "5, 3, 2, 4, 4", "5, 8, 1, 1, 1") ==
          "bias:false in_channels:3 out_channels:8 kernel_size:[2, 4, 4] stride:[2, 4, 4]");
    // Version 1 of the parameter files made weights flat.
    CHECK(conv("Conv3DOp", "768", "5, 3, 2, 4, 4", "5, 8, 1, 1, 1") ==
          "bias:false in_channels:3 out_channels:8 kernel_size:[2, 4, 4] stride:[2, 4, 4]");
    CHECK(conv("Conv2DOp", "8, 3, 4, 4", "1, 3, 8, 8", "1, 8, 2, 2") ==
          "bias:false in_channels:3 out_channels:8 kernel_size:[4, 4] +stride:[4, 4] "
          "+padding:[0, 0] +dilation:[1, 1]");
    CHECK(conv("Conv1DOp", "8, 1, 3", "1, 8, 9", "1, 8, 9") ==
          "bias:false in_channels:8 out_channels:8 kernel_size:3 groups:8 +stride:1 +padding:1 "
          "+dilation:1");
    CHECK(conv("Conv1DOp", "8, 4, 3", "1, 4, 10", "1, 8, 5")
              .ends_with("+stride:2 +padding:1 +dilation:1"));
    CHECK(
        conv("Conv2DOp", "8, 3, 4, 4", "1, 3, 8, 8", "1, 8, 9, 9") ==
        "linalg.Conv2DOp 'c': stride, padding is lost: upstream does not print them; grant it with "
        "--assume='c.stride=...' --assume='c.padding=...'");
    // A margin may lie around a window that covers all of the input, and take another stride.
    CHECK(conv("Conv2DOp", "8, 3, 4, 4", "1, 3, 4, 4", "1, 8, 1, 1") ==
          "bias:false in_channels:3 out_channels:8 kernel_size:[4, 4] +stride:[4, 4] "
          "+padding:[0, 0] +dilation:[1, 1]");
    CHECK(conv("Conv1DOp", "8, 8, 3", "1, 8, 3", "1, 8, 3")
              .ends_with("groups:1 +stride:1 +padding:1 +dilation:1"));
    CHECK(conv("Conv1DOp", "192", "1, 8, 3", "1, 8, 1") ==
          "bias:false in_channels:8 out_channels:8 +kernel_size:3 +groups:1 +stride:3 +padding:0 "
          "+dilation:1");
    CHECK(conv("Conv3DOp", "767", "5, 3, 2, 4, 4", "5, 8, 1, 1, 1") ==
          "linalg.Conv3DOp 'c': kernel_size is lost: its weight does not show its kernel; grant it "
          "with --assume='c.kernel_size=...'");
  }

  TEST_CASE("taps lie side by side unless the printed extents need a distance") {
    const auto dilation = [](const std::string& in, const std::string& out,
                             const std::string& options) {
      const std::string text = recovered({parameter("c.weight", "8, 8, 3"),
                                          op("Conv1DOp <name=\"c\"> [" + options + "] ", in, out)});
      return text.substr(std::min(text.find("+dilation"), text.size()));
    };
    const std::string three = "in_channels:8, out_channels:8, kernel_size:3, stride:1, padding:0";
    CHECK(dilation("1, 8, 9", "1, 8, 7", three) == "+dilation:1");
    CHECK(dilation("1, 8, 9", "1, 8, 5", three) == "+dilation:2");
    CHECK(dilation("1, 8, 9", "1, 8, 1", three) == "+dilation:4");
    CHECK(dilation("1, 8, ?", "1, 8, 5", three) == "+dilation:1");
    CHECK(dilation("1, 8, 9", "1, 8, ?", three) == "+dilation:1");
    CHECK(dilation("1, 8, ?", "1, 8, ?", three) == "+dilation:1");
  }

  TEST_CASE("the order of a kernel's extents follows from the channels, for bytes channels last") {
    const auto conv = [](const std::string& weight, const std::string& dtype, const std::string& in,
                         const std::string& out) {
      return recovered(
          {"tensor.CPU.register () -> (%5:" + t(weight, dtype) + "[@c.weight])[symbol:c.weight]",
           op("Conv2DOp <name=\"c\"> ", in, out)});
    };
    CHECK(conv("4, 8, 3, 3", "Int8", "1, 8, 6, 6", "1, 4, 6, 6") ==
          "bias:false in_channels:8 out_channels:4 kernel_size:[3, 3] +stride:[1, 1] "
          "+padding:[1, 1] +dilation:[1, 1]");
    CHECK(conv("1, 1, 64, 32", "Float32", "1, 1, 8, 64", "1, 1, 8, 32") ==
          test::Part{"its operands give tensor<[1, 1, 8, 32], UInt16PerTensor, CPU>"});
    // Both orders are possible: only bytes have their channels last, which needs a recipe.
    CHECK(conv("4, 4, 4, 4", "Float32", "1, 4, 4, 4", "1, 4, 4, 4") !=
          test::Part{"impl_type is lost"});
    CHECK(conv("4, 4, 4, 4", "Int8", "1, 4, 4, 4", "1, 4, 4, 4") ==
          test::Part{"impl_type is lost"});
  }

  TEST_CASE("a weight of bytes with its channels last is that of a QNN kernel") {
    const std::string quantised = "tensor<[1, 1, 8, 64], UInt16PerTensor, CPU>";
    CHECK(recovered({"tensor.CPU.register () -> (%5:" + t("1, 1, 64, 32", "Int8") +
                         "[@c.weight])[symbol:c.weight]",
                     "linalg.CPU.Conv2DOp <name=\"c\"> (%0:" + quantised +
                         ") -> (%1:" + t("1, 1, 8, 32", "UInt16PerTensor") + ")"}) ==
          "bias:false in_channels:64 out_channels:32 kernel_size:[1, 1] "
          "+impl_type:QNN_LPBQ_w4a16o16_G32 stride:[1, 1] padding:[0, 0]");
  }

  TEST_CASE("the kernel of a weight of bytes says its recipe") {
    const auto conv = [](const std::string& channels, const UpgradeOptions& options) {
      Upgraded net(
          dump({"tensor.CPU.register () -> (%5:" + t("1, 1, " + channels + ", 32", "Int8") +
                    "[@c.weight])[symbol:c.weight]",
                "linalg.CPU.Conv2DOp <name=\"c\"> (%0:" +
                    t("1, 1, 8, " + channels, "UInt16PerTensor") +
                    ") -> (%1:" + t("1, 1, 8, 32", "UInt16PerTensor") + ")"}),
          options);
      if (!net.good) return net.errors().front();
      CHECK(net.problems() == Lines{});
      return print(net.module());
    };
    const auto recipe = [](const std::string& block) {
      return "[@c.weight][quant_recipe:QuantSpec(LPBQ(quant_min: -7, quant_max: 7, block_size: " +
             block +
             ", ch_axis: 3, scale_level_0_bitwidth: 4, quant_to_type: Int4, scale_1_type: "
             "Float32))]";
    };
    CHECK(has(conv("64", {}), recipe("32")));
    CHECK(has(conv("48", {}), recipe("16")));
    CHECK(has(conv("40", {}),
              "no block of 16, 32 or 64 divides 40 channels; grant it with "
              "--assume='c.impl_type=...'"));
    UpgradeOptions options;
    REQUIRE(grant(options, "Conv2D.impl_type=QNN_LPBQ_w4a16o16_G64"));
    CHECK(has(conv("64", options), recipe("64")));
  }

  TEST_CASE("the functional form of a norm has its weight as an operand") {
    const std::string norm =
        "linalg.CPU.RMSNormOp(%0:" + t("2, 8") + ", %1:" + t("8") + ") -> (%2:" + t("2, 8") + ")";
    CHECK(recovered({norm}) == "elementwise_affine:false +epsilon:1e-06 +add_unit_offset:false");
    // It takes no registered parameter.
    CHECK(has(upgraded(parameter("n.weight", "8") + "\n" + norm + "\nlinalg.CPU.RMSNormOp(%2:" +
                           t("2, 8") + ") -> (%3:" + t("2, 8") + ")\n",
                       kGranted),
              "RMSNormOp <name=\"n\"> [epsilon:1e-06, add_unit_offset:false] (%2:"));
  }

  TEST_CASE("an op that no dialect declares is left to a plug-in where that is granted") {
    const std::string op =
        "linalg.CPU.MyOp [name=\"a.b\"](%0:" + t("4") + ") -> (%1:" + t("4") + ")\n";
    const auto found = [&](const std::vector<std::string>& facts) {
      UpgradeOptions options;
      for (const std::string& fact : facts) REQUIRE(grant(options, fact));
      Upgraded net("@main () -> () {\n" + op + "}\n", options);
      return net.good ? print(net.module()) : net.errors().front();
    };
    CHECK(has(found({}),
              "linalg.MyOp 'a.b': meaning is lost: no dialect declares it; "
              "--assume=a.b.meaning=plugin leaves it to a plug-in"));
    const std::string kept = "linalg.CPU.MyOp [name=\"a.b\"] [meaning:plugin] (%0:";
    CHECK(has(found({"MyOp.meaning=plugin"}), kept));
    CHECK(has(found({"a.b.meaning=plugin"}), kept));
    CHECK(has(found({"MyOp.meaning=other"}), "no operation lost 'MyOp.meaning'"));
  }

  TEST_CASE("options of reductions and picks are what gives the printed type") {
    CHECK(recovered({op("ReduceMinOp", "2, 3", "2, 1")}) == "dim:1 keep_dim:true");
    CHECK(recovered({op("MeanOp", "2, 3", "3")}) == "dim:0 keep_dim:false");
    CHECK(recovered({op("ReduceSumOp", "3, 3", "3")}) == "+dim:1 +keep_dim:false");
    CHECK(recovered({op("ReduceMaxOp", "2, 3", "1")}) == "dim:2147483647 keep_dim:false");
    CHECK(recovered({op("ReduceMinOp", "2, 3", "7")}) ==
          "linalg.ReduceMinOp: dim, keep_dim is lost: no value gives what is printed");
    const std::string ids = ", %2:" + t("5", "Int32");
    CHECK(recovered({op("GatherOp", "1, 64, 16", "1, 5, 16", ids)}) == "dim:1");
    CHECK(recovered({op("GatherOp", "5, 5", "5, 5", ids)}) == "+dim:0");
    CHECK(recovered({op("StackOp", "2, 3", "2, 2, 3", ", %2:" + t("2, 3"))}) == "+dim:0");
  }

  TEST_CASE("steps between frames are those that use up the signal") {
    CHECK(recovered({"linalg.CPU.STFTOp(%0:" + t("1, 4000") + ", %1:" + t("400") +
                     ") -> (%2:" + t("1, 201, 26", "ComplexFP32") + ")"}) ==
          "n_fft:400 win_length:400 return_complex:true +hop_length:160 +center:true "
          "+onesided:true +pad_mode:reflect");
    // A shorter window does not say that half of the spectrum is printed.
    CHECK(has(recovered({"linalg.CPU.STFTOp(%0:" + t("1, 4000") + ", %1:" + t("320") +
                         ") -> (%2:" + t("1, 201, 25", "ComplexFP32") + ")"}),
              "+n_fft:400 win_length:320"));
  }

  TEST_CASE("what scales scores is one over the root of a head; another number stays an input") {
    const auto scaled = [](const std::string& user) {
      return upgraded("linalg.CPU.MatMulOp(%0:" + t("4, 16") + ", %1:" + t("5, 16") +
                      ") -> (%2:" + t("4, 5") + ")\nlinalg.CPU.MulOp(%2:" + t("4, 5") +
                      ", %3:" + t("1") + ") -> (%4:" + t("4, 5") + ")\nlinalg.CPU." + user +
                      "(%4:" + t("4, 5") + ") -> (%5:" + t("4, 5") + ")\n");
    };
    CHECK(has(scaled("SoftmaxOp"), "%3:" + t("1") + "[constant:[0.25]]"));
    CHECK(has(scaled("NegOp"), "%1:" + t("5, 16") + ", %3:" + t("1") + ") ->"));
  }

  TEST_CASE("older versions register no norms: they get the names that the models give") {
    const std::string x = t("2, 4");
    const auto graph = [&](const std::string& name, const std::string& body) {
      return "graph.SubGraphOp @" + name + " <CPU> {\n(%0:" + x + ") -> (%1:" + x + ") {\n" + body +
             "cf.ReturnOp (%1:" + x + ") -> ()\n}\n}\n";
    };
    const auto norm = [&](int from, int to) {
      return "linalg.CPU.RMSNormOp(%" + std::to_string(from) + ":" + x + ") -> (%" +
             std::to_string(to) + ":" + x + ")\n";
    };
    const auto call = [&](const std::string& callee, int from, int to) {
      return "graph.CallGraphOp @" + callee + " (%" + std::to_string(from) + ":" + x + ") -> (%" +
             std::to_string(to) + ":" + x + ")\n";
    };
    const std::string linear = "linalg.CPU.LinearOp(%0:" + x + ") -> (%1:" + x + ")\n";
    const std::string text =
        upgraded(parameter("m.self_attn.o.weight", "4, 4") + "\n" +
                     parameter("m.mlp.d.weight", "4, 4") + "\n" + call("m", 0, 1) +
                     graph("m", norm(0, 2) + call("m.self_attn", 2, 3) + norm(3, 4) +
                                    call("m.mlp", 4, 5) + norm(5, 1)) +
                     graph("m.self_attn", linear) + graph("m.mlp", linear),
                 kGranted);
    CHECK(has(text, "<name=\"m.input_layernorm\">"));
    CHECK(has(text, "<name=\"m.post_attention_layernorm\">"));
    CHECK(has(text, "<name=\"m.RMSNorm.2\">"));
    CHECK(has(text, "(%6:" + t("4") + "[@m.input_layernorm.weight])"));
  }

  TEST_CASE("quantised operands that meet are cast; ranges one beyond their type end at it") {
    const std::string spec =
        "[quant_recipe:QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65536, quant_to_type: "
        "UInt16, scale_type: Float32, zero_point_type: Int32), uuid=1, solved=0)]";
    const std::string text =
        upgraded("linalg.CPU.MulOp(%0:" + t("2", "UInt16PerTensor") + spec + ", %1:" + t("1") +
                 "[constant:[0.5]]) -> (%2:" + t("2", "UInt16PerTensor") + ")\n");
    CHECK(has(text, "quant_max: 65535"));
    CHECK(has(text, "CastTypeOp [dtype:UInt16PerTensor] (%1:"));
  }

  TEST_CASE("any option of an op can be granted, by type, name or place") {
    const auto filled = [](const std::string& fact) {
      UpgradeOptions options;
      const auto granted = grant(options, fact);
      if (!granted) return granted.error().message;
      return recovered(
          {op("FillOp", "4", "4"), "linalg.CPU.FillOp <name=\"a.f\"> [type:ones] (%2:" + t("4") +
                                       ") -> (%3:" + t("4") + ")"},
          options);
    };
    CHECK(filled("Fill.type=zeros") == "+type:ones");
    CHECK(filled("Fill.0.type=zeros") == "+type:ones");
    CHECK(filled("Fill.0.value=2.5").starts_with("linalg.FillOp: type is lost"));
    CHECK(filled("a.f.value=2.5").starts_with("linalg.FillOp: type is lost"));
    CHECK(filled("Fill.1.type=zeros").find("--assume: no operation lost 'Fill.1.type'") !=
          std::string::npos);
    CHECK(filled("Fill.0.type=[1") == test::Part{"expected"});
    CHECK(filled("%7=" + t("4")).find("--assume: no operation lost '%7'") != std::string::npos);
    CHECK(filled("type=zeros") ==
          "--assume is rms_eps=X, layer_norm_eps=X, packed_weights=TYPE, OP.attribute=value, "
          "%N=TYPE, "
          "%N.attribute=value, "
          "GRAPH.return=N, text:KEY=TEXT, comment=TEXT or Unknow=TYPE, found 'type=zeros'");
  }

  TEST_CASE("rows are picked of one dimension, or of the first where others are dropped") {
    const auto indices = [](const std::string& table, const std::string& picked) {
      const std::string in = "%0:" + t(table) + ", %1:" + t("3", "Int64"), out = "%2:" + t(picked);
      Upgraded module(dump({"graph.CallGraphOp @g (" + in + ") -> (" + out + ")",
                            "graph.SubGraphOp @g <CPU> {\n(" + in + ") -> (" + out + ") {\n" +
                                "linalg.CPU.IndexOp(%0:" + t(table) + ") -> (" + out +
                                ")\ncf.ReturnOp (" + out + ") -> ()\n}\n}"}));
      if (!module.good) return module.errors().front();
      CHECK(module.problems() == Lines{});
      const Op* index = nullptr;
      for_each_op(module.module(), [&](const Op& each) {
        if (each.is(OpId::kLinalgIndex)) index = &each;
      });
      REQUIRE(index != nullptr);
      return std::string(index->attribute("indices")->spelling());
    };
    CHECK(indices("5, 2, 4", "3, 2, 4") == "[1, {}, {}]");
    CHECK(indices("5, 2, 4", "5, 3, 4") == "[{}, 1, {}]");
    CHECK(indices("5, 2, 4", "3, 4") == "[1, [0], {}]");
  }

  TEST_CASE("a sidecar supplies attributes, operands, names and constants") {
    UpgradeOptions options;
    REQUIRE(grant_sidecar(options, R"({"schema": 1, "assume": ["rms_eps=1e-5"],
      "ops": {"Index.0": {"attributes": {"indices": [1, {}]},
                          "operands": {"1": "%9:tensor<[3], Int32, CPU>"}},
              "RMSNorm.0": {"name": "n"}},
      "constants": {"7": [2.5]}})"));
    const std::string text = upgraded(
        "linalg.CPU.IndexOp(%0:" + t("5, 4") + ") -> (%1:" + t("3, 4") +
            ")\nlinalg.CPU.AddOp(%1:" + t("3, 4") + ", %7:" + t("1") + ") -> (%2:" + t("3, 4") +
            ")\nlinalg.CPU.RMSNormOp(%2:" + t("3, 4") + ") -> (%3:" + t("3, 4") + ")\n",
        options);
    CHECK(has(text, "%9:" + t("3", "Int32") + ") -> ("));
    CHECK(has(text, "IndexOp [indices:[1, {}]] (%0:" + t("5, 4") + ", %9:"));
    CHECK(has(text, "%7:" + t("1") + "[constant:[2.5]]"));
    CHECK(has(text, "<name=\"n\"> [epsilon:1e-05, add_unit_offset:false]"));
    const auto refused = [&](const char* json) {
      const auto granted = grant_sidecar(options, json);
      return granted ? std::string() : granted.error().message;
    };
    CHECK(refused("[") == "a sidecar is one JSON object: it is not JSON");
    CHECK(refused("{}") == "a sidecar has \"schema\": 1");
    CHECK(refused(R"({"schema": 1, "op": {}})") ==
          "a sidecar has schema, assume, ops and constants, found 'op'");
    CHECK(refused(R"({"schema": 1, "ops": {"a": {"name": 1}}})") ==
          "a sidecar says of an op its name (a string), attributes and operands (objects), found "
          "'name'");
    CHECK(refused(R"({"schema": 1, "constants": {"7": 1}})") ==
          "a sidecar gives constants as arrays of numbers");
  }

  TEST_CASE("the text of an extent is checked whole") {
    const auto good = parse_symbolic_dim("Seq_1@input12:3");
    REQUIRE(good);
    CHECK(good->symbol == "Seq_1");
    CHECK(good->input == 12);
    CHECK(good->dim == 3);
    for (const char* bad :
         {"", "S", "S@input:1", "S@input0", "S@input0:", "@input0:1", "1S@input0:1", "S@input0:1x",
          "S@inputx:1", "S T@input0:1", "S@input-1:0"}) {
      CAPTURE(bad);
      CHECK(!parse_symbolic_dim(bad));
    }
  }
}
