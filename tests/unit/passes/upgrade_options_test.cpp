// Options that a dump lost, recovered from types and parameters.
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

TEST_SUITE("upgrade") {
  TEST_CASE("linear and embedding follow from types and parameters") {
    CHECK(recovered({parameter("a.weight", "3, 4"), parameter("a.bias", "3"),
                     op("LinearOp", "2, 4", "2, 3")}) == "in_channels:4 out_channels:3 bias:true");
    CHECK(recovered({parameter("a.weight", "12"), op("LinearOp", "2, 4", "2, 3")}) ==
          "in_channels:4 out_channels:3 bias:false");
    const std::string ids =
        "linalg.CPU.EmbeddingOp(%0:" + t("2", "Int64") + ") -> (%1:" + t("2, 4") + ")";
    CHECK(recovered({parameter("e.weight", "10, 4"), ids}) == "vocab_size:10 hidden_size:4");
    CHECK(recovered({parameter("e.weight", "$V, 4"), ids}) ==
          "linalg.EmbeddingOp 'e': vocab_size is lost: its table is not registered");
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
      return std::string(upgraded.report.entries.back().source == Source::kAssumed ||
                                 upgraded.report.count(Source::kAssumed) != 0
                             ? "+"
                             : "") +
             std::string(matmul->attribute("transpose_b")->spelling());
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
              .find("transpose_b is lost: the printed types fit neither reading") !=
          std::string::npos);
    CHECK(product("3", "3", "3").find("transpose_b is lost: rank below 2") != std::string::npos);
  }

  TEST_CASE("a long chain of scalings behind a product is searched once") {
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
    const std::string lost =
        "linalg.TransposeOp: dim0, dim1 is lost: the printed types differ in other than two "
        "dimensions";
    CHECK(recovered({op("TransposeOp", "5, 5, 5", "5, 5, 5")}) == lost);
    CHECK(recovered({op("TransposeOp", "2, 3, 4", "3, 4, 2")}) == lost);
    CHECK(recovered({op("TransposeOp", "2, 3", "2, 3, 1")}) ==
          "linalg.TransposeOp: dim0, dim1 is lost: the printed types differ in rank");
  }

  TEST_CASE("a permutation follows from extents that differ") {
    CHECK(recovered({op("PermuteOp", "2, 3, 4", "4, 2, 3")}) == "axis:[2, 0, 1]");
    const std::string lost =
        "linalg.PermuteOp: axis is lost: equal extents leave several permutations";
    CHECK(recovered({op("PermuteOp", "2, 2, 4", "4, 2, 2")}) == lost);
    CHECK(recovered({op("PermuteOp", "2, 3, 4", "4, 2, 5")}) == lost);
  }

  TEST_CASE("views, casts and copies between devices are what their types say") {
    CHECK(recovered({op("ViewOp", "2, 6", "2, 3, 2")}) == "to_shape:[2, 3, 2]");
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
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 3")}) ==
          "linalg.RepeatOp: dim is lost: operand and result do not differ in one dimension");
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 10")}) ==
          "linalg.RepeatOp: repeat_times is lost: the extents are no multiple");
  }

  TEST_CASE("softmax and masks have one documented reading") {
    CHECK(recovered({op("SoftmaxOp", "2, 3", "2, 3")}) == "axis:-1");
    CHECK(recovered({op("CausalMaskOp", "3, 3", "3, 3")}) == "+sliding_window:false");
  }

  TEST_CASE("an epsilon is granted or lost") {
    const Lines rms{parameter("n.weight", "4"), op("RMSNormOp", "2, 4", "2, 4")};
    CHECK(recovered(rms) == "+epsilon:1e-06 +add_unit_offset:false");
    CHECK(recovered(rms, {}) ==
          "linalg.RMSNormOp 'n': epsilon is lost: grant it with --assume=rms_eps=1e-6 or the "
          "model's value");
    const Lines layer{parameter("n.weight", "4"), parameter("n.bias", "4"),
                      op("LayerNormOp", "2, 4", "2, 4")};
    CHECK(recovered(layer) == "normalized_shape:[4] elementwise_affine:true bias:true +eps:1e-05");
    CHECK(recovered(layer, {}) ==
          "linalg.LayerNormOp 'n': eps is lost: grant it with --assume=layer_norm_eps=1e-6 or the "
          "model's value");
  }

  TEST_CASE("the layout of a rotation follows from its table") {
    const auto rope = [](const std::string& x, const std::string& table) {
      return recovered({"linalg.CPU.RoPEOp(%0:" + t(x) + ", %1:" + t(table) + ", %2:" + t(table) +
                        ") -> (%3:" + t(x) + ")"});
    };
    CHECK(rope("1, 8, 5, 4", "1, 5, 4") == "input_type:BHSD");
    CHECK(rope("1, 5, 8, 4", "1, 5, 4") == "input_type:BSHD");
    CHECK(rope("1, 5, 5, 4", "1, 5, 4") == "+input_type:BHSD");
    CHECK(rope("1, 8, 5, 4", "1, 7, 4") ==
          "linalg.RoPEOp: input_type is lost: the table fits no layout");
    CHECK(rope("8, 5, 4", "1, 5, 4") == "linalg.RoPEOp: input_type is lost: x is not of rank 4");
  }

  TEST_CASE("what a dump states stands") {
    CHECK(recovered({"linalg.CPU.TransposeOp [dim0:0, dim1:2] (%0:" + t("5, 5, 5") +
                     ") -> (%1:" + t("5, 5, 5") + ")"}) == "dim0:0 dim1:2");
    CHECK(recovered({parameter("n.weight", "4"), "linalg.CPU.RMSNormOp [epsilon:0.1] (%0:" +
                                                     t("2, 4") + ") -> (%1:" + t("2, 4") + ")"},
                    {}) == "epsilon:0.1");
    CHECK(recovered({"linalg.CPU.SoftmaxOp [axis:0] (%0:" + t("2, 4") + ") -> (%1:" + t("2, 4") +
                     ")"}) == "axis:0");
  }

  TEST_CASE("an op that nothing recovers is refused by name and place") {
    CHECK(Upgraded(dump({"  " + op("SliceOp", "4", "2")})).errors() ==
          Lines{"2:3 MIR0700 linalg.SliceOp: indices is lost: no user tells the shape it needs"});
    CHECK(recovered({op("NoSuchOp", "4", "2")}) ==
          "linalg.NoSuchOp: meaning is lost: no dialect declares it");
    CHECK(recovered({op("SiLUOp", "4", "4", ", %2:" + t("4"))}) ==
          "linalg.SiLUOp: signature is lost: operands or results do not fit the op");
    CHECK(recovered({"linalg.CPU.SiLUOp(%0:!a.b) -> (%1:" + t("2") + ")"})
              .starts_with("linalg.SiLUOp: signature is lost"));
    CHECK(recovered({op("FillOp", "4", "4")}) ==
          "linalg.FillOp: value semantics is lost: it writes an operand in place");
    CHECK(recovered({"prog.fragment @code <CPU> <code> { prog.ret }"}) ==
          "prog.ret: graph form is lost: a program ends with prog.exit, a body behind a label with "
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
}
