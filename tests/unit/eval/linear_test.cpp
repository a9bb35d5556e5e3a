#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

TEST_CASE("a linear op finds weight and bias by its name") {
  OneOp op(
      "linalg.CPU.LinearOp <name=\"m.proj\"> [in_channels:2, out_channels:3, bias:true] "
      "(%0:tensor<[1, $S, 2], Float32, CPU>) -> (%1:tensor<[1, $S, 3], Float32, CPU>)");
  const Tensor x = floats({1, 1, 2}, {2, 3});
  CHECK(op.error({x}) == "813 'LinearOp': parameter '@m.proj.weight' has no value");
  op.parameter("m.proj.weight", floats({6}, {1, 0, 0, 1, 1, 1}));  // files may lack the shape
  CHECK(op.error({x}) == "813 'LinearOp': parameter '@m.proj.bias' has no value");
  op.parameter("m.proj.bias", floats({3}, {10, 20, 30}));
  CHECK(op.values({x}) == Values{12, 23, 35});
  CHECK(op.shape() == Shape{1, 1, 3});
  op.parameter("m.proj.weight", floats({4}, {1, 0, 0, 1}));
  CHECK(op.error({x}).starts_with("416 'LinearOp': parameter '@m.proj.weight': "));
}

TEST_CASE(
    "a linear op without bias takes its width from the declared type where nothing states it") {
  OneOp op(
      "linalg.CPU.LinearOp <name=\"p\"> [bias:false] (%0:tensor<[1, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, 1], Float32, CPU>)");
  op.parameter("p.weight", floats({1, 2}, {5, 7}));
  CHECK(op.values({floats({1, 2}, {1, 2})}) == Values{19});
  OneOp open(
      "linalg.CPU.LinearOp <name=\"p\"> [bias:false] (%0:tensor<[1, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, ?], Float32, CPU>)");
  CHECK(open.error({floats({1, 2}, {1, 2})}).starts_with("811 "));
  OneOp nameless(
      "linalg.CPU.LinearOp [bias:false] (%0:tensor<[1, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, 1], Float32, CPU>)");
  CHECK(nameless.error({floats({1, 2}, {1, 2})}).starts_with("414 "));
}

TEST_CASE("integer and Bool parameters of a linear op are read as numbers") {
  const std::string text =
      "linalg.CPU.LinearOp <name=\"p\"> [in_channels:2, out_channels:2, bias:true] "
      "(%0:tensor<[1, 2], Float32, CPU>) -> (%1:tensor<[1, 2], Float32, CPU>)";
  struct Case {
    DType dtype;
    Values weight;
    Values expected;  // of [0.5, -2], and a bias of 10 and 20
  };
  const Case cases[] = {
      {DType::kBool, {1, 0, 1, 1}, {10.5, 18.5}},
      {DType::kInt8, {-128, 1, 0, 127}, {-56, -234}},
      {DType::kUInt8, {255, 0, 0, 1}, {137.5, 18}},
      {DType::kInt16, {-32768, 0, 0, 32767}, {-16374, -65514}},
      {DType::kInt32, {-2147483648.0, 0, 0, 1}, {-1073741814, 18}},
      {DType::kUInt32, {4294967295.0, 0, 0, 1}, {2147483657.5, 18}},
      {DType::kInt64, {-0x1p62, 0, 0, 1}, {-0x1p61, 18}},
      {DType::kUInt64, {0x1.8p63, 0, 0, 1}, {0x1.8p62, 18}},
  };
  for (const Case& test : cases) {
    CAPTURE(std::string(name_of(test.dtype)));
    OneOp op(text);
    op.parameter("p.weight", tensor(test.dtype, {2, 2}, test.weight));
    op.parameter("p.bias", tensor(DType::kInt16, {2}, {10, 20}));
    Values rounded;
    for (const double value : test.expected) rounded.push_back(static_cast<float>(value));
    CHECK(op.values({floats({1, 2}, {0.5, -2})}) == rounded);
  }
}

TEST_CASE("a matrix product serves several heads from one") {
  OneOp op(
      "linalg.CPU.MatMulOp [transpose_b:true] (%0:tensor<[1, 2, 1, 2], Float32, CPU>, "
      "%1:tensor<[1, 1, 2, 2], Float32, CPU>) -> (%2:tensor<[1, 2, 1, 2], Float32, CPU>)");
  CHECK(op.values({floats({1, 2, 1, 2}, {1, 2, 3, 4}), floats({1, 1, 2, 2}, {1, 0, 1, 1})}) ==
        Values{1, 3, 3, 7});
  CHECK(op.error({floats({1, 2, 1, 2}, {1, 2, 3, 4}), floats({1, 1, 2, 3}, {1, 0, 1, 1, 0, 0})})
            .starts_with("500 "));
}

TEST_CASE("an embedding picks rows and refuses ids outside its table") {
  OneOp op(
      "linalg.CPU.EmbeddingOp <name=\"e\"> [vocab_size:3, hidden_size:2] "
      "(%0:tensor<[1, $S], Int64, CPU>) -> (%1:tensor<[1, $S, 2], Float32, CPU>)");
  op.parameter("e.weight", floats({3, 2}, {0, 1, 10, 11, 20, 21}));
  CHECK(op.values({ints({1, 2}, {2, 0})}) == Values{20, 21, 0, 1});
  CHECK(op.error({ints({1, 1}, {3})}).starts_with("803 "));
  CHECK(op.values({ints({1, 0}, {})}).empty());
}

TEST_CASE("gather replaces one dimension by those of the indices") {
  OneOp op(
      "linalg.CPU.GatherOp [dim:1] (%0:tensor<[2, 3], Float32, CPU>, "
      "%1:tensor<[2], Int32, CPU>) -> (%2:tensor<[2, 2], Float32, CPU>)");
  CHECK(op.values({floats({2, 3}, {0, 1, 2, 3, 4, 5}), tensor(DType::kInt32, {2}, {2, 0})}) ==
        Values{2, 0, 5, 3});
}

TEST_CASE("index treats every dimension by itself") {
  OneOp op(
      "linalg.CPU.IndexOp [indices:[1, {\"start\":1,\"end\":3,\"step\":1}, [1, 0]]] "
      "(%0:tensor<[2, 3, 2], Float32, CPU>, %1:tensor<[1, 2], Int64, CPU>) -> "
      "(%2:tensor<[1, 2, 2, 2], Float32, CPU>)");
  Values table;
  for (int i = 0; i < 12; ++i) table.push_back(i);
  CHECK(op.values({floats({2, 3, 2}, table), ints({1, 2}, {1, 1})}) ==
        Values{9, 8, 11, 10, 9, 8, 11, 10});
  CHECK(op.shape() == Shape{1, 2, 2, 2});
  CHECK(op.error({floats({2, 3, 2}, table), ints({1, 2}, {1, 2})}).starts_with("803 "));
}

TEST_CASE("einsum reads its equation") {
  OneOp op(
      "linalg.CPU.EinsumOp [equation:\"...ij, jk\"] (%0:tensor<[1, 2, 2], Float32, CPU>, "
      "%1:tensor<[2, 1], Float32, CPU>) -> (%2:tensor<[1, 2, 1], Float32, CPU>)");
  CHECK(op.values({floats({1, 2, 2}, {1, 2, 3, 4}), floats({2, 1}, {10, 1})}) == Values{12, 34});
  CHECK(op.error({floats({1, 2, 2}, {1, 2, 3, 4}), floats({3, 1}, {1, 1, 1})}).starts_with("500 "));
}

TEST_CASE("scatter combines as it says") {
  const auto scatter = [](const std::string& reduce) {
    OneOp op("linalg.CPU.ScatterOp [dim:0" + reduce +
             "] (%0:tensor<[2], Int32, CPU>, %1:tensor<[2], Int64, CPU>, %2:tensor<[2], Int32, "
             "CPU>) -> (%3:tensor<[2], Int32, CPU>)");
    return op.values({tensor(DType::kInt32, {2}, {4, 5}), ints({2}, {1, -1}),
                      tensor(DType::kInt32, {2}, {3, 6})});
  };
  CHECK(scatter("") == Values{4, 6});
  CHECK(scatter(", reduce:add") == Values{4, 14});
  CHECK(scatter(", reduce:mul") == Values{4, 90});
  CHECK(scatter(", reduce:max") == Values{4, 6});
  CHECK(scatter(", reduce:min") == Values{4, 3});
}

}  // namespace mir::test
