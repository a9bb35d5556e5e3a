#include "infer.hpp"

using mir::testing::check_all;

TEST_CASE("transpose and permute reorder extents") {
  check_all({
      {"TransposeOp", "dim0:1, dim1:2", {"[1, $S, 8, 64]"}, "[1, 8, $S, 64]"},
      {"TransposeOp", "dim0:-1, dim1:-2", {"[2, 3]"}, "[3, 2]"},
      {"TransposeOp", "dim0:1, dim1:1", {"[2, 3]"}, "[2, 3]"},
      {"TransposeOp",
       "dim0:0, dim1:2",
       {"[2, 3]"},
       "503 'dim1' of 'TransposeOp' is 2"},  // transpose_c1
      {"TransposeOp", "dim0:0", {"[2, 3]"}, "506 'TransposeOp' needs the attribute 'dim1'"},
      {"PermuteOp", "axis:[1, 0, 2]", {"[2, $S, 4]"}, "[$S, 2, 4]"},
      {"PermuteOp", "axis:[-1, 0, 1]", {"[2, 3, 4]"}, "[4, 2, 3]"},
      {"PermuteOp", "axis:[]", {"[]"}, "[]"},
      {"PermuteOp",
       "axis:[0, 0]",
       {"[2, 3]"},
       "504 'axis' of 'PermuteOp' has dimension 0 twice"},  // permute_c2
      {"PermuteOp", "axis:[0, -2]", {"[2, 3]"}, "504 'axis' of 'PermuteOp' has dimension 0 twice"},
      {"PermuteOp",
       "axis:[0]",
       {"[2, 3]"},
       "504 'axis' of 'PermuteOp' has 1 entries, expected 2"},  // permute_c1
      {"PermuteOp", "axis:[0, 2]", {"[2, 3]"}, "503 'axis'"},
  });
}

TEST_CASE("concat and stack join shapes") {
  check_all({
      {"ConcatOp", "dim:-1", {"[2, 3]", "[2, 4]", "[2, 0]"}, "[2, 7]"},
      {"ConcatOp", "dim:1", {"[1, $past]", "[1, $S]"}, "[1, $S+$past]"},
      {"ConcatOp", "dim:0", {"[1, ?]", "[1, 5]"}, "[2, 5]"},
      {"ConcatOp", "dim:0", {"[4]"}, "[4]"},
      {"ConcatOp", "dim:0", {"Int8PerTensor [4]", "UInt8PerTensor [4]"}, "Int8PerTensor [8]"},
      {"ConcatOp",
       "dim:0",
       {"[2, 3]", "[2, 4]"},
       "500 'ConcatOp' takes extent 3 in dimension 1 of every operand, found [2, 4] as operand "
       "1"},  // concat_c2
      {"ConcatOp", "dim:0", {"[2]", "[2, 4]"}, "501 'ConcatOp' takes operand 1 of rank 1"},
      {"ConcatOp", "dim:1", {"[2]", "[2]"}, "503 'dim'"},                  // concat_c1
      {"ConcatOp", "dim:0", {"[2]", "Int8 [2]"}, "502 'ConcatOp' takes"},  // concat_c3
      {"ConcatOp", "", {"[2]", "[2]"}, "506 'ConcatOp' needs"},
      {"StackOp", "dim:0", {"[3, $S]", "[3, $S]"}, "[2, 3, $S]"},
      {"StackOp", "dim:-1", {"[3]", "[3]", "[3]"}, "[3, 3]"},
      {"StackOp", "dim:1", {"[3]", "[3]"}, "[3, 2]"},
      {"StackOp", "dim:0", {"[]", "[]"}, "[2]"},
      {"StackOp", "dim:2", {"[3]", "[3]"}, "503 'dim'"},            // stack_c1
      {"StackOp", "dim:0", {"[3]", "[4]"}, "500 'StackOp' takes"},  // stack_c2
  });
}

TEST_CASE("repeat multiplies one extent") {
  check_all({
      {"RepeatOp", "dim:1, repeat_times:4", {"[1, 2, $S]"}, "[1, 8, $S]"},
      {"RepeatOp", "dim:-1, repeat_times:3", {"[$S]"}, "[3*$S]"},
      {"RepeatOp", "dim:0, repeat_times:0", {"[2]"}, "[0]"},
      {"RepeatOp", "dim:1, repeat_times:2", {"[2]"}, "503 'dim'"},            // repeat_c1
      {"RepeatOp", "dim:0, repeat_times:-1", {"[2]"}, "504 'repeat_times'"},  // repeat_c2
      {"RepeatOp", "dim:0", {"[2]"}, "506 'RepeatOp' needs"},
      {"RepeatOp", "dim:0, repeat_times:4611686018427387904", {"[4]"}, "315 an extent"},
  });
}

TEST_CASE("pad grows the last dimensions") {
  check_all({
      {"PadOp", "pad:[1, 2]", {"[3, $T]"}, "[3, $T+3]"},
      {"PadOp", "pad:[1, 2, 3, 4], mode:circular", {"[3, 5]"}, "[10, 8]"},
      {"PadOp", "pad:[]", {"[3]"}, "[3]"},
      {"PadOp", "pad:[1]", {"[3]"}, "504 'pad' of 'PadOp' has 1 entries"},
      {"PadOp", "pad:[1, 1, 1, 1]", {"[3]"}, "504 'pad'"},
      {"PadOp", "pad:[-1, 1]", {"[3]"}, "504 'pad' of 'PadOp' has -1"},
      {"PadOp", "pad:[1, 1], mode:mirror", {"[3]"}, "504 'mode'"},
  });
}

TEST_CASE("interpolation takes a size or factors") {
  check_all({
      {"InterpolateOp", "size:[32, $W], mode:bilinear", {"[1, 3, 16, 16]"}, "[1, 3, 32, $W]"},
      {"InterpolateOp", "scale_factor:[1.5]", {"[1, 3, 5]"}, "[1, 3, 7]"},
      {"InterpolateOp", "scale_factor:[2]", {"[1, 3, $T]"}, "[1, 3, ?]"},
      {"InterpolateOp", "", {"[1, 3, 5]"}, ""},
      {"InterpolateOp", "size:[4], mode:bilinear", {"[1, 3, 5]"}, "501 'InterpolateOp' takes"},
      {"InterpolateOp", "size:[4], mode:linear", {"[1, 3, 5]"}, "[1, 3, 4]"},
      {"InterpolateOp", "size:[4], mode:linear", {"[1, 3, 5, 5]"}, "501 'InterpolateOp' takes"},
      {"InterpolateOp", "size:[4], mode:trilinear", {"[1, 3, 5, 5, 5]"}, "[1, 3, 5, 5, 4]"},
      {"InterpolateOp", "size:[4], mode:trilinear", {"[1, 3, 5, 5]"}, "501 'InterpolateOp' takes"},
      {"InterpolateOp", "size:[4]", {"[1, 3, 5, 5, 5]"}, "[1, 3, 5, 5, 4]"},
      {"InterpolateOp", "size:[4]", {"[1, 3, 5, 5, 5, 5]"}, "501 'InterpolateOp' takes"},
      {"InterpolateOp", "size:[4]", {"[3, 5]"}, "501 'InterpolateOp' takes"},
      {"InterpolateOp", "size:[-4]", {"[1, 3, 5]"}, "504 'size'"},
      {"InterpolateOp", "scale_factor:[0.0]", {"[1, 3, 5]"}, "504 'scale_factor'"},
      {"InterpolateOp", "size:[4, 4]", {"[1, 3, 5]"}, "504 'size'"},
      {"InterpolateOp", "size:[4], mode:cubic", {"[1, 3, 5]"}, "504 'mode'"},
  });
}

TEST_CASE("an extent or a count of elements that no type can state is an error") {
  const std::string most = "[9223372036854775807, 1]", half = "[4611686018427387904, 1]";
  check_all({
      {"ConcatOp", "dim:0", {half, half}, "315 an extent of the result of 'ConcatOp' does not fit"},
      {"RepeatOp", "dim:0, repeat_times:2", {most}, "315 an extent of the result of 'RepeatOp'"},
      {"RepeatOp", "dim:1, repeat_times:2", {most}, "315 the element count of tensor<"},
      {"RepeatOp",
       "dim:0, repeat_times:9223372036854775807",
       {"[2*$S]"},
       "315 an extent of the result of 'RepeatOp'"},
      {"PadOp", "pad:[1, 0]", {"[9223372036854775807]"}, "315 an extent of the result of 'PadOp'"},
      {"RepeatOp", "dim:0, repeat_times:2", {"[?]"}, "[?]"},
  });
}
