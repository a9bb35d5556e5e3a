#include "infer.hpp"

using mir::testing::check_all;

TEST_CASE("a view keeps the element count, as a polynomial") {
  check_all({
      {"ViewOp", "to_shape:[1, $S, 8, 64]", {"[1, $S, 512]"}, "[1, $S, 8, 64]"},
      {"ViewOp", "to_shape:[1, -1, 8, 64]", {"[1, $S, 512]"}, "[1, $S, 8, 64]"},
      {"ViewOp", "to_shape:[1, $S, -1]", {"[1, $S, 8, 64]"}, "[1, $S, 512]"},
      {"ViewOp", "to_shape:[-1]", {"[$B, $S, 4]"}, "[4*$B*$S]"},
      {"ViewOp", "to_shape:[-1, 256]", {"[$N, 4, 64]"}, "[$N, 256]"},
      {"ViewOp", "to_shape:[-1, 64]", {"[4*$N+8, 16]"}, "[$N+2, 64]"},
      {"ViewOp", "to_shape:[$S, -1]", {"[$S*4, 3]"}, "[$S, 12]"},
      {"ViewOp", "to_shape:[-1, $S+1]", {"[$S+1, 3]"}, "[3, $S+1]"},
      {"ViewOp", "to_shape:[6, -1]", {"[2, 3, 4]"}, "[6, 4]"},
      {"ViewOp", "to_shape:[]", {"[1, 1]"}, "[]"},
      {"ViewOp", "to_shape:[1, 1]", {"[]"}, "[1, 1]"},
      {"ViewOp", "to_shape:[3, 4]", {"[?, 4]"}, "[3, 4]"},
      {"ViewOp", "to_shape:[0, 9]", {"[3, 0]"}, "[0, 9]"},
      {"ViewOp", "", {"[2, 3]"}, ""},
      {"ReshapeOp", "shape:[-1, 2]", {"Int8 [4, 3]"}, "Int8 [6, 2]"},
  });
}

TEST_CASE("a view with another element count is refused") {
  check_all({
      {"ViewOp",
       "to_shape:[2, 4]",
       {"[2, 3]"},
       "505 'ViewOp' takes a shape with the elements of [2, 3], found [2, 4]"},  // view_c2
      {"ViewOp", "to_shape:[4, -1]", {"[2, 3]"}, "505 'ViewOp' takes"},
      {"ViewOp", "to_shape:[-1, 4]", {"[$S, 10]"}, "505 'ViewOp' takes"},
      {"ViewOp", "to_shape:[-1, $T]", {"[$S, 10]"}, "505 'ViewOp' takes"},
      {"ViewOp", "to_shape:[$T]", {"[$S]"}, "505 'ViewOp' takes"},
      {"ViewOp", "to_shape:[-1, 0]", {"[0]"}, "505 'ViewOp' takes"},
      {"ViewOp",
       "to_shape:[-1, -1]",
       {"[4]"},
       "504 'to_shape' of 'ViewOp' is [-1, -1], expected extents of which one may be -1"},  // view_c1
      {"ViewOp", "to_shape:[-2, 2]", {"[4]"}, "504 'to_shape'"},
      {"ViewOp", "to_shape:4", {"[4]"}, "312 attribute 'to_shape'"},
      {"ViewOp", "to_shape:[4611686018427387904, 4]", {"[0]"}, "315 the element count of"},
  });
}

TEST_CASE("a slice has the extents between its bounds") {
  check_all({
      {"SliceOp", "indices:[{\"start\":1,\"end\":3,\"step\":1}]", {"[5]"}, "[2]"},
      {"SliceOp", "indices:[{\"start\":0,\"end\":5,\"step\":2}]", {"[5]"}, "[3]"},
      {"SliceOp", "indices:[{\"start\":3,\"end\":2,\"step\":1}]", {"[5]"}, "[0]"},
      {"SliceOp", "indices:[{\"start\":-2,\"end\":-1,\"step\":1}]", {"[5]"}, "[1]"},
      {"SliceOp", "indices:[{\"start\":-1,\"end\":0,\"step\":1}]", {"[5]"}, "[1]"},
      {"SliceOp", "indices:[{\"start\":-2}]", {"[5]"}, "[2]"},
      {"SliceOp", "indices:[{\"end\":-2}]", {"[5]"}, "[3]"},
      {"SliceOp", "indices:[all, {}]", {"[5, $S]"}, "[5, $S]"},
      {"SliceOp", "indices:[{\"start\":2147483633,\"end\":2147483633,\"step\":1}]", {"[5]"}, "[5]"},
      {"SliceOp", "indices:[{\"start\":all,\"end\":2}]", {"[5]"}, "[2]"},
      {"SliceOp", "indices:[{\"start\":2147483633,\"end\":2,\"step\":1}]", {"[$S]"}, "[2]"},
      {"SliceOp", "indices:[{\"start\":-1,\"end\":0,\"step\":1}]", {"[$S]"}, "[1]"},
      {"SliceOp", "indices:[{\"start\":$S-1,\"end\":$S,\"step\":1}]", {"[$S]"}, "[1]"},
      {"SliceOp", "indices:[{\"start\":$past,\"end\":$past+$S}]", {"[1024]"}, "[$S]"},
      {"SliceOp", "indices:[{\"start\":1}]", {"[$S]"}, "[$S-1]"},
      {"SliceOp", "indices:[{\"start\":0,\"step\":2}]", {"[2*$S]"}, "[$S]"},
      {"SliceOp", "indices:[{\"start\":0,\"end\":3}]", {"[?]"}, "[3]"},
      {"SliceOp", "indices:[]", {"[]"}, "[]"},
  });
}

TEST_CASE("slices out of range or out of form are refused") {
  check_all({
      {"SliceOp",
       "indices:[{\"start\":0,\"end\":6,\"step\":1}]",
       {"[5]"},
       "504 'indices' of 'SliceOp' has {\"start\":0,\"end\":6,\"step\":1} for dimension 0, "
       "expected bounds within extent 5"},  // slice_c3
      {"SliceOp", "indices:[{\"start\":-6}]", {"[5]"}, "504 'indices'"},
      {"SliceOp", "indices:[{\"end\":$S+1}]", {"[$S]"}, "504 'indices'"},
      {"SliceOp",
       "indices:[{\"start\":0,\"end\":2,\"step\":0}]",
       {"[5]"},
       "504 'indices' of 'SliceOp' has {\"start\":0,\"end\":2,\"step\":0} for dimension 0, "
       "expected all or start, end and a step"},  // slice_c2
      {"SliceOp", "indices:[{\"begin\":0}]", {"[5]"}, "504 'indices'"},
      {"SliceOp", "indices:[1]", {"[5]"}, "504 'indices'"},
      {"SliceOp",
       "indices:[all]",
       {"[5, 5]"},
       "504 'indices' of 'SliceOp' is [all], expected an array of 2 entries"},  // slice_c1
      {"SliceOp", "indices:all", {"[5]"}, "504 'indices'"},
      {"SliceOp", "", {"[5]"}, "506 'SliceOp' needs the attribute 'indices'"},
  });
}

TEST_CASE("split gives pieces that make up the whole") {
  check_all({
      {"SplitOp", "dim:0, split_size_or_sections:[1]", {"[3, $N]"}, "[1, $N]; [1, $N]; [1, $N]", 3},
      {"SplitOp", "dim:-1, split_size_or_sections:[2, 3]", {"[1, 5]"}, "[1, 2]; [1, 3]", 2},
      {"SplitOp", "dim:0, split_size_or_sections:[$S, $S*2]", {"[3*$S]"}, "[$S]; [2*$S]", 2},
      {"SplitOp", "dim:0, split_size_or_sections:[$S]", {"[2*$S]"}, "[$S]; [$S]", 2},
      {"SplitOp", "dim:0, split_size_or_sections:[4]", {"[4]"}, "[4]"},
      {"SplitOp",
       "dim:0, split_size_or_sections:[2]",
       {"[5]"},
       "500 'SplitOp' takes 2 pieces of extent 2, found extent 5",
       2},  // split_c3
      {"SplitOp", "dim:0, split_size_or_sections:[2, 2]", {"[5]"}, "500 'SplitOp' takes pieces", 2},
      {"SplitOp",
       "dim:0, split_size_or_sections:[2, 3]",
       {"[5]"},
       "507 'SplitOp' with 2 pieces has 3 results",
       3},  // split_c2
      {"SplitOp", "dim:0, split_size_or_sections:[6, -1]", {"[5]"}, "504 'split_size", 2},
      {"SplitOp", "dim:1, split_size_or_sections:[1]", {"[5]"}, "503 'dim'", 5},  // split_c1
      {"SplitOp", "dim:0", {"[5]"}, "506 'SplitOp' needs"},
      {"SplitOp", "split_size_or_sections:[1]", {"[5]"}, "506 'SplitOp' needs"},
  });
}

TEST_CASE("copy gives the destination with a part replaced") {
  check_all({
      {"CopyOp",
       "indices:[all, {\"start\":2,\"end\":6}, all]",
       {"[4, 64]", "[1, 16, 64]"},
       "[1, 16, 64]"},
      {"CopyOp", "indices:[{\"start\":$past,\"end\":$past+$S}]", {"[$S]", "[1024]"}, "[1024]"},
      {"CopyOp", "", {"[6]", "[2, 3]"}, "[2, 3]"},
      {"CopyOp", "", {"[170, 8]", "[1, 192, 8]"}, "", 0},
      {"CopyOp",
       "",
       {"[5]", "[2, 3]"},
       "505 'CopyOp' takes a source with the elements of [2, 3], found [5]"},  // copy_c2
      {"CopyOp", "indices:[{\"end\":2}, all]", {"[2, 3]", "[4, 3]"}, "[4, 3]"},
      {"CopyOp", "indices:[{\"end\":5}, all]", {"[2, 3]", "[4, 3]"}, "504 'indices'"},
      {"CopyOp", "", {"Int8 [6]", "[2, 3]"}, "502 'CopyOp' takes"},  // copy_c1
  });
}

TEST_CASE("index is orthogonal") {
  check_all({
      {"IndexOp", "indices:[1, all]", {"[1024, 64]", "Int32 [1, $S]"}, "[1, $S, 64]"},
      {"IndexOp", "indices:[[0, 3, 3], {\"end\":2}]", {"[4, 5]"}, "[3, 2]"},
      {"IndexOp", "indices:[1, 2]", {"[4, 5]", "Int64 [2]", "Int64 []"}, "[2]"},
      {"IndexOp", "", {"[4, 5]"}, ""},
      {"IndexOp",
       "indices:[[4]]",
       {"[4]"},
       "504 'indices' of 'IndexOp' has 4 for dimension 0 of extent 4"},  // index_c2
      {"IndexOp", "indices:[[-1]]", {"[4]"}, "504 'indices'"},
      {"IndexOp",
       "indices:[2]",
       {"[4]", "Int32 [2]"},
       "504 'indices' of 'IndexOp' names operand 2, expected 1 to 1"},  // index_c3
      {"IndexOp", "indices:[0]", {"[4]", "Int32 [2]"}, "504 'indices'"},
      {"IndexOp", "indices:[1]", {"[4]", "[2]"}, "502 'IndexOp' takes"},
      {"IndexOp", "indices:[all]", {"[4, 5]"}, "504 'indices'"},  // index_c1
  });
}
