#include "infer.hpp"

using mir::testing::check;
using mir::testing::check_all;

TEST_CASE("reductions drop or keep their dimension") {
  check_all({
      {"ReduceSumOp", "dim:-1", {"[2, $S]"}, "[2]"},
      {"MeanOp", "dim:0, keep_dim:true", {"[$S, 3]"}, "[1, 3]"},
      {"ReduceMaxOp", "dim:all", {"[2, 3]"}, "[1]"},
      {"ReduceMaxOp", "dim:2147483647", {"Int8 [2, 3]"}, "Int8 [1]"},
      {"ReduceMinOp", "dim:all, keep_dim:true", {"[2, 3]"}, "[1, 1]"},
      {"ReduceMinOp", "dim:0", {"[5]"}, "[]"},
      {"ReduceMinOp", "dim:1", {"[5]"}, "503 'dim'"},  // reduce_c2
      {"ReduceMinOp", "dim:rows", {"[5]"}, "312 attribute 'dim'"},
      {"ReduceMinOp", "", {"[5]"}, "506 'ReduceMinOp' needs"},
      {"ReduceSumOp", "dim:0", {"Bool [5]"}, "502 'ReduceSumOp' takes"},  // reduce_c1
  });
}

TEST_CASE("sorting ops give Int32 indices") {
  check_all({
      {"CumSumOp", "dim:-1", {"[2, $S]"}, "[2, $S]"},
      {"CumSumOp", "dim:0", {"Int8 [2]"}, "Int8 [2]"},
      {"CumSumOp", "dim:1", {"[2]"}, "503 'dim'"},                               // cum_sum_c2
      {"CumSumOp", "dim:0", {"Bool [2]"}, "502 'CumSumOp' takes real numbers"},  // cum_sum_c1
      {"CumSumOp", "", {"[2]"}, "506 'CumSumOp' needs"},
      {"IotaOp", "shape:[2, $S], dtype:Int32, dim:1", {}, "Int32 [2, $S]"},
      {"IotaOp", "shape:[0], dtype:BFloat16, dim:-1, start:3, step:0.5", {}, "BFloat16 [0]"},
      {"IotaOp", "shape:[2, -1], dtype:Int32, dim:1", {}, "504 'shape' of 'IotaOp'"},  // iota_c1
      {"IotaOp", "shape:[2], dtype:Int32, dim:1", {}, "503 'dim'"},                    // iota_c2
      {"IotaOp", "shape:[], dtype:Int32, dim:0", {}, "503 'dim'"},
      {"IotaOp", "shape:[2], dtype:Bool, dim:0", {}, "502 'dtype' of 'IotaOp' is Bool"},  // iota_c3
      {"IotaOp", "shape:[2], dtype:ComplexFP32, dim:0", {}, "502 'dtype' of 'IotaOp'"},
      {"IotaOp", "shape:[2], dim:0", {}, "506 'IotaOp' needs"},
      {"TopKOp", "k:8", {"[$S, 128]"}, "[$S, 8]; Int32 [$S, 8]", 2},
      {"TopKOp", "k:2, dim:0", {"Int8 [5, 3]"}, "Int8 [2, 3]; Int32 [2, 3]", 2},
      {"TopKOp",
       "k:6, dim:0",
       {"[5, 3]"},
       "504 'k' of 'TopKOp' is 6, expected 0 to the extent 5 of dimension 0",
       2},  // top_k_c1
      {"TopKOp", "k:-1", {"[5]"}, "504 'k'", 2},
      {"TopKOp", "", {"[5]"}, "506 'TopKOp' needs", 2},
      {"ArgsortOp", "", {"[2, $S]"}, "Int32 [2, $S]"},
      {"ArgsortOp", "dim:2", {"[2, 3]"}, "503 'dim'"},  // argsort_c1
  });
}

TEST_CASE("random_uniform gives numbers of a shape and a state") {
  check_all({
      {"RandomUniformOp", "shape:[2, $S]", {"Int64 [2]"}, "[2, $S]; Int64 [2]", 2},
      {"RandomUniformOp", "shape:[]", {"Int64 [2]"}, "[]; Int64 [2]", 2},
      {"RandomUniformOp", "shape:[1]", {"Int64 [1]"}, "500 'RandomUniformOp' takes", 2},
      {"RandomUniformOp", "shape:[1]", {"Int64 [2, 1]"}, "501 'RandomUniformOp' takes", 2},
      {"RandomUniformOp", "shape:[1]", {"[2]"}, "502 'RandomUniformOp' takes", 2},
      {"RandomUniformOp", "shape:[?]", {"Int64 [2]"}, "504 'shape'", 2},
  });
}

TEST_CASE("gather replaces one dimension by those of the indices") {
  check_all({
      {"GatherOp", "dim:0", {"[1024, 64]", "Int32 [1, $S]"}, "[1, $S, 64]"},
      {"GatherOp", "dim:-1", {"[4, 5]", "Int64 []"}, "[4]"},
      {"GatherOp", "dim:1", {"[4, 5, 6]", "[2, 3]"}, "[4, 2, 3, 6]"},
      {"GatherOp", "dim:2", {"[4, 5]", "Int32 [2]"}, "503 'dim'"},            // gather_c2
      {"GatherOp", "dim:0", {"[4, 5]", "Int8 [2]"}, "502 'GatherOp' takes"},  // gather_c1
  });
}

TEST_CASE("the extent of a dimension is one number") {
  check_all({
      {"ExtentOp", "dim:1", {"[2, $S]"}, "Int64 [1]"},
      {"ExtentOp", "dim:-2", {"Bool [2, ?]"}, "Int64 [1]"},
      {"ExtentOp", "dim:2", {"[2, 3]"}, "503 'dim'"},  // extent_c1
      {"ExtentOp", "dim:-3", {"[2, 3]"}, "503 'dim'"},
      {"ExtentOp", "dim:0", {"[]"}, "503 'dim'"},
      {"ExtentOp", "", {"[2]"}, "506 'ExtentOp' needs"},
  });
}

TEST_CASE("a shape that a run matches has the rank of the operand") {
  check_all({
      {"MatchShapeOp", "shape:[1, 4]", {"[1, $S]"}, "[1, 4]"},
      {"MatchShapeOp", "shape:[$T, 4]", {"Int8 [?, $S]"}, "Int8 [$T, 4]"},
      {"MatchShapeOp", "shape:[2*($S/2)]", {"[$S]"}, "[2*($S/2)]"},
      {"MatchShapeOp", "shape:[3]", {"[3]"}, "[3]"},
      {"MatchShapeOp", "shape:[]", {"[]"}, "[]"},
      {"MatchShapeOp", "shape:[3]", {"[4]"}, "[3]"},
      {"MatchShapeOp", "shape:[1, 3]", {"[3]"}, "501 'MatchShapeOp' takes"},      // match_shape_c2
      {"MatchShapeOp", "shape:[-1]", {"[$S]"}, "504 'shape' of 'MatchShapeOp'"},  // match_shape_c1
      {"MatchShapeOp", "", {"[$S]"}, "506 'MatchShapeOp' needs"},
  });
}

TEST_CASE("compress leaves open how many elements it takes") {
  check_all({
      {"CompressOp", "", {"[16, 4]", "Bool [16]"}, "[?, 4]"},
      {"CompressOp", "dim:-1", {"Int8 [2, $S]", "Int8 [$S]"}, "Int8 [2, ?]"},
      {"CompressOp", "dim:1", {"[2, ?]", "UInt8 [3]"}, "[2, ?]"},
      {"CompressOp", "", {"[4]", "[4]"}, "502 'CompressOp' takes"},          // compress_c1
      {"CompressOp", "dim:1", {"[4]", "Bool [4]"}, "503 'dim'"},             // compress_c2
      {"CompressOp", "", {"[4]", "Bool [5]"}, "500 'CompressOp' takes"},     // compress_c3
      {"CompressOp", "", {"[4]", "Bool [4, 1]"}, "501 'CompressOp' takes"},  // compress_c3
      {"CompressOp", "", {"[]", "Bool [1]"}, "501 'CompressOp' takes"},
  });
}

TEST_CASE("scatter gives the type of what it scatters into") {
  check_all({
      {"ScatterOp", "dim:0", {"[16, $S]", "Int32 [3, $S]", "[3, $S]"}, "[16, $S]"},
      {"ScatterOp", "dim:-1", {"Bool [2, 3]", "Int64 [1, 9]", "Bool [1, 9]"}, "Bool [2, 3]"},
      {"ScatterOp", "dim:0", {"[4]", "Int32 [2]", "Int8 [2]"}, "502 'ScatterOp'"},  // scatter_c1
      // scatter_c2
      {"ScatterOp", "dim:0, reduce:sum", {"[4]", "Int32 [2]", "[2]"}, "504 'reduce'"},
      {"ScatterOp", "dim:0, reduce:add", {"Bool [4]", "Int32 [2]", "Bool [2]"}, "502 'ScatterOp'"},
      {"ScatterOp", "dim:0", {"[4]", "[2]", "[2]"}, "502 'ScatterOp'"},  // scatter_c3
      {"ScatterOp", "dim:0", {"[4]", "Int32 [2, 1]", "[2]"}, "501 'ScatterOp'"},
      {"ScatterOp", "dim:1", {"[4]", "Int32 [2]", "[2]"}, "503 'dim'"},  // scatter_c4
      // scatter_c5
      {"ScatterOp",
       "dim:0",
       {"[4, 2]", "Int32 [2, 3]", "[2, 3]"},
       "500 'ScatterOp' takes at most 2"},
      {"ScatterOp", "dim:0", {"[4]", "Int32 [2]", "[3]"}, "500 'ScatterOp' takes a value"},
      {"ScatterOp", "", {"[4]", "Int32 [2]", "[2]"}, "506 'ScatterOp' needs"},
  });
}

TEST_CASE("einsum gives the extents after its arrow") {
  const auto equation = [](const char* text) { return "equation:\"" + std::string(text) + "\""; };
  const auto gives = [&](const char* text, std::vector<std::string> operands, std::string result) {
    check({"EinsumOp", equation(text).c_str(), std::move(operands), std::move(result)});
  };
  gives("ij,jk->ik", {"[2, $S]", "[$S, 4]"}, "[2, 4]");
  gives(" i j , j k ", {"[2, 3]", "[3, 4]"}, "[2, 4]");
  gives("ba", {"[2, 3]"}, "[3, 2]");
  gives("bA", {"[2, 3]"}, "[3, 2]");
  gives("ii->i", {"[3, 3]"}, "[3]");
  gives("ii", {"[3, 3]"}, "[]");
  gives("...ij,...jk", {"[7, 1, 2, 3]", "[5, 3, 4]"}, "[7, 5, 2, 4]");
  gives("i...->...i", {"[2, 3, 4]"}, "[3, 4, 2]");
  gives("...->", {"Int8 [2, 3]"}, "Int8 []");
  gives(",i->i", {"[]", "[3]"}, "[3]");
  gives("i,i->i", {"[1]", "[$S]"}, "[$S]");
  gives("i,i", {"[3]", "Int32 [3]"}, "502 'EinsumOp' takes");  // einsum_c1
  gives("i", {"Bool [3]"}, "502 'EinsumOp' takes");
  // einsum_c2
  gives("ij", {"[3]"}, "504 'equation' of 'EinsumOp' is 'ij': 2 letters for operand 0 of rank 1");
  gives("i...j", {"[3]"}, "504 'equation' of 'EinsumOp' is 'i...j': 2 letters for operand 0");
  gives("i,j", {"[3]"}, "504 'equation' of 'EinsumOp' is 'i,j': 2 terms for 1 operands");
  gives("i->j", {"[3]"}, "504 'equation' of 'EinsumOp' is 'i->j': no operand has 'j'");
  gives("i->ii", {"[3]"}, "504 'equation' of 'EinsumOp' is 'i->ii': the result has 'i' twice");
  gives("i->i->i", {"[3]"}, "504 'equation' of 'EinsumOp' is 'i->i->i': '->i' is no term");
  gives("1", {"[3]"}, "504 'equation' of 'EinsumOp' is '1': '1' is no term of letters");
  gives("......", {"[3]"}, "504 'equation'");
  gives("", {"[3]"}, "504 'equation'");
  gives("abcdefghijklmnopqrstuvwxyzABCDEFG->a",
        {"[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
         "1, 1, 1, 1]"},
        "504 'equation'");
  gives("ij,jk", {"[2, 3]", "[4, 5]"},
        "500 'EinsumOp' takes extent 3 or 1 in dimension 0");  // einsum_c3
  gives("ii", {"[2, 3]"}, "500 'EinsumOp' takes extent 2 or 1 in dimension 1 of operand 0");
  check({"EinsumOp", "", {"[3]"}, "506 'EinsumOp' needs"});
}

TEST_CASE("convolutions count the places of their kernel") {
  check_all({
      {"Conv1DOp",
       "in_channels:80, out_channels:384, kernel_size:3, stride:2, padding:1",
       {"[1, 80, 3000]"},
       "[1, 384, 1500]"},
      {"Conv1DOp", "out_channels:4, kernel_size:3, padding:1", {"[1, 2, $T]"}, "[1, 4, $T]"},
      {"Conv1DOp", "out_channels:4, kernel_size:3, dilation:2", {"[1, 2, 7]"}, "[1, 4, 3]"},
      {"Conv1DOp", "out_channels:4, kernel_size:[3]", {"[1, 2, 7]"}, "[1, 4, 5]"},
      {"Conv1DOp", "out_channels:4", {"[1, 2, 7]"}, "[1, 4, ?]"},
      {"Conv1DOp",
       "out_channels:4, kernel_size:8",
       {"[1, 2, 7]"},
       "500 'Conv1DOp' takes an extent that holds the kernel of 8 in dimension 2, found 7"},
      {"Conv1DOp",
       "in_channels:3, kernel_size:1",
       {"[1, 2, 7]"},
       "500 'Conv1DOp' takes in_channels"},
      {"Conv1DOp",
       "groups:3, kernel_size:1",
       {"[1, 2, 7]"},
       "500 'Conv1DOp' takes groups that divide in_channels, found 2 and 3"},
      {"Conv1DOp", "kernel_size:0", {"[1, 2, 7]"}, "504 'kernel_size'"},
      {"Conv1DOp", "kernel_size:1, stride:0", {"[1, 2, 7]"}, "504 'stride'"},
      {"Conv2DOp",
       "out_channels:8, kernel_size:[16, 8], stride:[16, 8]",
       {"[1, 3, 32, 32]"},
       "[1, 8, 2, 4]"},
      {"Conv2DOp",
       "kernel_size:[1, 1, 1]",
       {"[1, 3, 32, 32]"},
       "504 'kernel_size' of 'Conv2DOp' is [1, 1, 1], expected 2 integers of 1 or more"},
      {"Conv2DOp",
       "out_channels:8, kernel_size:[1, 1], impl_type:QNN_LPBQ_w4a16o16_G32",
       {"[1, 5, 6, 3]"},
       "UInt16PerTensor [1, 5, 6, 8]"},
      {"Conv3DOp",
       "out_channels:8, kernel_size:[2, 14, 14], stride:[2, 14, 14]",
       {"[$N, 3, 2, 14, 14]"},
       "[$N, 8, 1, 1, 1]"},
      {"Conv3DOp", "kernel_size:[1, 1, 1]", {"[1, 3, 32, 32]"}, "501 'Conv3DOp' takes"},
  });
}

TEST_CASE("fourier transforms count their frames") {
  check_all({
      {"STFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:false",
       {"[64]", "[16]"},
       "[1, 9, 13, 2]"},
      {"STFTOp",
       "n_fft:16, hop_length:4, win_length:8, center:true, return_complex:true",
       {"[2, 64]", "[1, 8]"},
       "ComplexFP32 [2, 9, 19]"},
      {"STFTOp",
       "n_fft:16, hop_length:0, win_length:0, center:false",
       {"[64]", "[16]"},
       "[1, 9, 13, 2]"},
      {"STFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:false",
       {"[4*$N]", "[16]"},
       "[1, 9, $N-3, 2]"},
      {"STFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:false",
       {"[15]", "[16]"},
       "500 'STFTOp' takes a signal of at least one frame of 16, found [15]"},
      {"STFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:true",
       {"[64]", "[15]"},
       "500 'STFTOp' takes a window of win_length 16"},
      {"STFTOp", "n_fft:0", {"[64]", "[16]"}, "504 'n_fft'"},
      {"STFTOp", "n_fft:16, pad_mode:same", {"[64]", "[16]"}, "504 'pad_mode'"},
      {"STFTOp", "n_fft:16, onesided:false", {"[64]", "[16]"}, "504 'onesided'"},
      {"ISTFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:true",
       {"ComplexFP32 [2, 9, 17]", "[16]"},
       "[2, 64]"},
      {"ISTFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:false, pad_mode:same",
       {"[2, 9, 17, 2]", "[16]"},
       "[2, 68]"},
      {"ISTFTOp",
       "n_fft:16, hop_length:12, win_length:8, center:false, pad_mode:same",
       {"[2, 9, 17, 2]", "[8]"},
       "504 'ISTFTOp' takes a hop_length of up to 8 with pad_mode same, found 12"},
      {"ISTFTOp",
       "n_fft:16, hop_length:4, win_length:16, center:true",
       {"[2, 9, 0, 2]", "[16]"},
       "500 'ISTFTOp' takes enough frames"},
      {"ISTFTOp", "n_fft:16", {"[2, 8, 17, 2]", "[16]"}, "500 'ISTFTOp' takes"},
      {"ISTFTOp", "n_fft:16", {"[2, 9, 17]", "[16]"}, "502 'ISTFTOp' takes"},
  });
}
