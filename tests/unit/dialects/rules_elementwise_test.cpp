#include "infer.hpp"

using mir::testing::check_all;

TEST_CASE("binary ops broadcast, symbols included") {
  check_all({
      {"AddOp", "", {"[2, 3]", "[2, 3]"}, "[2, 3]"},
      {"AddOp", "", {"[2, 3]", "[3]"}, "[2, 3]"},
      {"AddOp", "", {"[3]", "[2, 3]"}, "[2, 3]"},
      {"AddOp", "", {"[2, 1, 4]", "[3, 1]"}, "[2, 3, 4]"},
      {"AddOp", "", {"[]", "[2]"}, "[2]"},
      {"AddOp", "", {"[0, 3]", "[1, 3]"}, "[0, 3]"},
      {"MulOp", "", {"[1, $S, 64]", "[1]"}, "[1, $S, 64]"},
      {"AddOp", "", {"[1, $S]", "[$B, 1]"}, "[$B, $S]"},
      {"SubOp", "", {"[$past+$S]", "[$S+$past]"}, "[$S+$past]"},
      {"AddOp", "", {"[?]", "[3]"}, "[3]"},
      {"AddOp", "", {"[?]", "[1]"}, "[?]"},
      {"AddOp", "", {"[?]", "[$S]"}, "[?]"},
      {"AddOp", "", {"[-1]", "[3]"}, "[3]"},
  });
}

TEST_CASE("extents that are not equal and not 1 do not broadcast") {
  check_all({
      {"AddOp",
       "",
       {"[2]", "[3]"},
       "500 'AddOp' takes operands whose extents are equal or 1, found [2] and [3]"},  // binary_c3
      {"AddOp", "", {"[$S]", "[3]"}, "500 'AddOp' takes"},
      {"AddOp", "", {"[$S]", "[$T]"}, "500 'AddOp' takes"},
      {"DivOp", "", {"[0]", "[2]"}, "500 'DivOp' takes"},
  });
}

TEST_CASE("binary ops keep the element type and let a complex operand win") {
  check_all({
      {"AddOp", "", {"Int32 [2]", "Int32 [2]"}, "Int32 [2]"},
      {"MulOp", "", {"[2]", "ComplexFP32 [2]"}, "ComplexFP32 [2]"},
      {"MulOp", "", {"ComplexFP32 [2]", "[2]"}, "ComplexFP32 [2]"},
      {"MulOp", "", {"UInt16PerTensor [2]", "[1]"}, "UInt16PerTensor [2]"},
      {"AddOp", "", {"Mystery [2]", "[2]"}, "Mystery [2]"},
      {"AddOp",
       "",
       {"Int32 [2]", "[2]"},
       "502 'AddOp' takes operands 0 and 1 of one element type, found Int32 and Float32"},  // binary_c2
      {"AddOp", "", {"Float16 [2]", "[2]"}, "502 'AddOp' takes"},
      {"AddOp",
       "",
       {"Bool [2]", "Bool [2]"},
       "502 'AddOp' takes numbers as operand 0, found Bool"},  // binary_c1
      {"AddOp", "", {"GGUF_Q4_0 [32]", "GGUF_Q4_0 [32]"}, "502 'AddOp' takes numbers"},
  });
}

TEST_CASE("unary ops keep shape and element type") {
  check_all({
      {"NegOp", "", {"Int8 [2, $S]"}, "Int8 [2, $S]"},
      {"NegOp", "", {"Bool [2]"}, "502 'NegOp' takes numbers"},  // unary_c1
      {"ReLUOp", "", {"[]"}, "[]"},
      {"ClipOp", "min_val:0, max_val:1.5", {"[2]"}, "[2]"},
      {"SiLUOp", "", {"Float16 [2]"}, "Float16 [2]"},
      {"SigmoidOp", "", {"UInt16PerTensor [2]"}, "UInt16PerTensor [2]"},
      {"ExpOp",
       "",
       {"Int32 [2]"},
       "502 'ExpOp' takes floating elements as operand 0, found Int32"},  // unary_float_c1
      {"GELUOp", "", {"ComplexFP32 [2]"}, "502 'GELUOp' takes"},
      {"AbsOp", "", {"ComplexFP64 [2]"}, "[2]"},
      {"AbsOp", "", {"Int16 [2]"}, "Int16 [2]"},
      {"CloneOp", "", {"Bool [2]"}, "Bool [2]"},
      {"ContiguousOp", "", {"GGUF_Q4_K [2, 256]"}, "GGUF_Q4_K [2, 256]"},
  });
}

TEST_CASE("comparison gives Bool, selection the type of what is selected") {
  check_all({
      {"EqualOp", "", {"Int32 [2, 1]", "Int32 [3]"}, "Bool [2, 3]"},
      {"EqualOp", "", {"Bool [2]", "Bool [2]"}, "Bool [2]"},
      {"EqualOp", "", {"Bool [2]", "[2]"}, "502 'EqualOp' takes operands"},  // equal_c1
      {"EqualOp", "", {"[2]", "[3]"}, "500 'EqualOp' takes"},                // binary_c3
      {"WhereOp", "", {"Bool [1]", "[2, $S]", "[$S]"}, "[2, $S]"},
      {"WhereOp", "", {"UInt8 [2]", "[2]", "[2]"}, "[2]"},
      {"WhereOp",
       "",
       {"[2]", "[2]", "[2]"},
       "502 'WhereOp' takes Bool, UInt8 or Int8 as operand 0, found Float32"},  // where_c1
      {"WhereOp",
       "",
       {"Bool [2, 3]", "[3]", "[3]"},
       "500 'WhereOp' takes operand 0 that broadcasts to [3], found [2, 3]"},  // where_c3
      {"WhereOp", "", {"Bool [3]", "[3]", "[2]"}, "500 'WhereOp' takes operand 2"},
      {"WhereOp",
       "",
       {"Bool [3]", "[3]", "Int32 [3]"},
       "502 'WhereOp' takes operands 1 and 2"},  // where_c2
      {"MaskedScatterOp", "", {"[2, 3]", "Int8 [2, 1]", "[3]"}, "[2, 3]"},
      {"MaskedScatterOp", "", {"[3]", "Int8 [2, 3]", "[3]"}, "500 'MaskedScatterOp' takes"},
  });
}

TEST_CASE("order and larger elements are those of real numbers, logic is that of Bool") {
  check_all({
      {"NotEqualOp", "", {"ComplexFP32 [2]", "ComplexFP32 [2]"}, "Bool [2]"},
      {"LessOp", "", {"Float16 [2, 1]", "Float16 [$S]"}, "Bool [2, $S]"},
      {"GreaterOp", "", {"Bool [2]", "Bool [2]"}, "Bool [2]"},
      {"LessOp", "", {"UInt16PerTensor [2]", "[1]"}, "Bool [2]"},
      {"LessOp",
       "",
       {"ComplexFP32 [2]", "ComplexFP32 [2]"},
       "502 'LessOp' takes real numbers or Bool as operand 0, found ComplexFP32"},  // compare_c1
      {"LessEqualOp", "", {"GGUF_Q4_0 [32]", "GGUF_Q4_0 [32]"}, "502 'LessEqualOp' takes real"},
      {"MaximumOp", "", {"Int8 [2, 1]", "Int8 [3]"}, "Int8 [2, 3]"},
      {"MinimumOp", "", {"[$S]", "[1]"}, "[$S]"},
      {"RemOp",
       "",
       {"[2]", "ComplexFP32 [2]"},
       "502 'RemOp' takes real numbers as operand 1, found ComplexFP32"},  // binary_real_c1
      {"AndOp", "", {"Bool [2, 1]", "Bool [$S]"}, "Bool [2, $S]"},
      {"XorOp",
       "",
       {"Bool [2]", "Int8 [2]"},
       "502 'XorOp' takes Bool as operand 1, found Int8"},  // logical_c1
      {"NotOp", "", {"Bool [2, $S]"}, "Bool [2, $S]"},
      {"NotOp", "", {"UInt8 [2]"}, "502 'NotOp' takes Bool as operand 0, found UInt8"},
      {"FloorOp", "", {"Int32 [2]"}, "502 'FloorOp' takes floating elements"},
      {"SignOp", "", {"UInt8 [2]"}, "UInt8 [2]"},
  });
}

TEST_CASE("conversions take the type from their attribute or leave the declared one") {
  check_all({
      {"CastTypeOp", "dtype:Float16", {"Int8 [2, $S]"}, "Float16 [2, $S]"},
      {"CastTypeOp", "dtype:Float32", {"[2]"}, "[2]"},
      {"CastTypeOp", "", {"[2]"}, ""},
      {"CastTypeOp", "dtype:3", {"[2]"}, "312 attribute 'dtype' of 'CastTypeOp' is 3"},
      {"X2XOp", "", {"[2]"}, ""},
      {"X2XOp", "device:QNN", {"[2]"}, "[2]"},
      {"FillOp", "type:zeros", {"Int64 [2]"}, "Int64 [2]"},
      {"FillOp",
       "type:noise",
       {"[2]"},
       "504 'type' of 'FillOp' is 'noise', expected zeros"},  // fill_c1
  });
}

TEST_CASE("a result of another element type loses the encoding, one of the same keeps it") {
  using mir::testing::infer_line;
  const std::string x = "%0:tensor<[2], Float32, CPU, #layout.rows<4>>";
  const std::string y = ") -> (%1:tensor<[2], Float32, CPU>)";
  CHECK(infer_line("linalg.CPU.NegOp(" + x + y).inferred.front() ==
        "tensor<[2], Float32, CPU, #layout.rows<4>>");
  CHECK(infer_line("linalg.CPU.CastTypeOp [dtype:Int8] (" + x + y).inferred.front() ==
        "tensor<[2], Int8, CPU>");
}

TEST_CASE("an operand that is no tensor is reported") {
  const auto answer =
      mir::testing::infer_line("linalg.CPU.NegOp(%0:!a.handle) -> (%1:tensor<[2], Float32, CPU>)");
  CHECK(answer.error == "311 operand 0 of 'NegOp' has type !a.handle, expected a tensor");
}
