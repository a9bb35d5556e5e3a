#include <cmath>
#include <limits>

#include "one_op.hpp"
#include "weights/random.hpp"

namespace mir::test {

using Values = std::vector<double>;

TEST_CASE("views share the bytes of their operand") {
  OneOp view(
      "linalg.CPU.ViewOp [to_shape:[1, $S, 2]] (%0:tensor<[$S, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, $S, 2], Float32, CPU>)");
  view.bind("S", 2);
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const auto result = view.run({x});
  REQUIRE(result);
  CHECK(result->front().shape() == Shape{1, 2, 2});
  CHECK(result->front().bytes().data() == x.bytes().data());
  CHECK(view.op().has(Trait::kSameBytes));
}

TEST_CASE("a view must hold the elements of its operand") {
  OneOp view(
      "linalg.CPU.ViewOp [to_shape:[3, -1]] (%0:tensor<[?], Float32, CPU>) -> "
      "(%1:tensor<[3, ?], Float32, CPU>)");
  CHECK(view.values({floats({6}, {1, 2, 3, 4, 5, 6})}).size() == 6);
  CHECK(view.shape() == Shape{3, 2});
  CHECK(view.error({floats({5}, {1, 2, 3, 4, 5})}).starts_with("505 "));
}

TEST_CASE("reshape, contiguous, clone and x2x keep the values") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const char* const lines[] = {
      "linalg.CPU.ReshapeOp [shape:[4]] (%0:tensor<[2, 2], Float32, CPU>) -> "
      "(%1:tensor<[4], Float32, CPU>)",
      "linalg.CPU.ContiguousOp(%0:tensor<[2, 2], Float32, CPU>) -> "
      "(%1:tensor<[2, 2], Float32, CPU>)",
      "linalg.CPU.CloneOp(%0:tensor<[2, 2], Float32, CPU>) -> (%1:tensor<[2, 2], Float32, CPU>)",
      "linalg.CPU.X2XOp [device:QNN] (%0:tensor<[2, 2], Float32, CPU>) -> "
      "(%1:tensor<[2, 2], Float32, QNN>)"};
  for (const char* line : lines) CHECK(OneOp(line).values({x}) == Values{1, 2, 3, 4});
}

TEST_CASE("transpose and permute move dimensions") {
  OneOp transpose(
      "linalg.CPU.TransposeOp [dim0:0, dim1:-1] (%0:tensor<[2, 3], Float32, CPU>) -> "
      "(%1:tensor<[3, 2], Float32, CPU>)");
  CHECK(transpose.values({floats({2, 3}, {1, 2, 3, 4, 5, 6})}) == Values{1, 4, 2, 5, 3, 6});
  OneOp permute(
      "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%0:tensor<[1, 2, 2], Float32, CPU>) -> "
      "(%1:tensor<[2, 1, 2], Float32, CPU>)");
  CHECK(permute.values({floats({1, 2, 2}, {1, 2, 3, 4})}) == Values{1, 3, 2, 4});
  OneOp twice(
      "linalg.CPU.PermuteOp [axis:[0, 0]] (%0:tensor<[2, 2], Float32, CPU>) -> "
      "(%1:tensor<[2, 2], Float32, CPU>)");
  CHECK(twice.error({floats({2, 2}, {1, 2, 3, 4})}).starts_with("504 "));
}

TEST_CASE("slices take start, end and step and count negative bounds from the end") {
  const Tensor x = floats({1, 5}, {0, 1, 2, 3, 4});
  const auto part = [&](const std::string& bounds) {
    OneOp op("linalg.CPU.SliceOp [indices:[all, {" + bounds +
             "}]] (%0:tensor<[1, $N], Float32, "
             "CPU>) -> (%1:tensor<[1, ?], Float32, CPU>)");
    op.bind("N", 5);
    return op.values({x});
  };
  CHECK(part(R"("start":1,"end":4,"step":2)") == Values{1, 3});
  CHECK(part(R"("start":-1,"end":0,"step":1)") == Values{4});
  CHECK(part(R"("start":-3,"end":-1)") == Values{2, 3});
  CHECK(part(R"("end":2)") == Values{0, 1});
  CHECK(part(R"("start":2147483633,"end":2147483633,"step":1)") == Values{0, 1, 2, 3, 4});
  CHECK(part(R"("start":3,"end":3)").empty());
  CHECK(part(R"("start":0,"end":0)").empty());
  CHECK(part(R"("start":-2,"end":0)").empty());
  CHECK(part(R"("start":$N-2,"end":$N)") == Values{3, 4});
  OneOp beyond(
      "linalg.CPU.SliceOp [indices:[{\"start\":0,\"end\":3}]] (%0:tensor<[2], Float32, "
      "CPU>) -> (%1:tensor<[3], Float32, CPU>)");
  CHECK(beyond.error({floats({2}, {1, 2})}).starts_with("504 "));
  OneOp unbound(
      "linalg.CPU.SliceOp [indices:[{\"start\":$X,\"end\":2}]] (%0:tensor<[2], Float32, "
      "CPU>) -> (%1:tensor<[1], Float32, CPU>)");
  CHECK(unbound.error({floats({2}, {1, 2})}) == "822 'SliceOp': 'start' of a slice has no value");
}

TEST_CASE("split cuts pieces of one or of stated extents") {
  OneOp op(
      "linalg.CPU.SplitOp [dim:1, split_size_or_sections:[1, 2]] (%0:tensor<[2, 3], Float32, "
      "CPU>) -> (%1:tensor<[2, 1], Float32, CPU>, %2:tensor<[2, 2], Float32, CPU>)");
  const auto pieces = op.run({floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  REQUIRE(pieces);
  CHECK(values_of(pieces->at(0)) == Values{1, 4});
  CHECK(values_of(pieces->at(1)) == Values{2, 3, 5, 6});
}

TEST_CASE("concat, stack and repeat put elements next to each other") {
  const Tensor a = floats({1, 2}, {1, 2}), b = floats({1, 2}, {3, 4});
  OneOp concat(
      "linalg.CPU.ConcatOp [dim:-1] (%0:tensor<[1, 2], Float32, CPU>, %1:tensor<[1, 2], "
      "Float32, CPU>) -> (%2:tensor<[1, 4], Float32, CPU>)");
  CHECK(concat.values({a, b}) == Values{1, 2, 3, 4});
  OneOp stack(
      "linalg.CPU.StackOp [dim:2] (%0:tensor<[1, 2], Float32, CPU>, %1:tensor<[1, 2], "
      "Float32, CPU>) -> (%2:tensor<[1, 2, 2], Float32, CPU>)");
  CHECK(stack.values({a, b}) == Values{1, 3, 2, 4});
  OneOp repeat(
      "linalg.CPU.RepeatOp [dim:1, repeat_times:2] (%0:tensor<[1, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, 4], Float32, CPU>)");
  CHECK(repeat.values({a}) == Values{1, 1, 2, 2});
}

TEST_CASE("copy gives the destination with a part replaced") {
  OneOp op(
      "linalg.CPU.CopyOp [indices:[{\"start\":1,\"end\":3}, all]] (%0:tensor<[4], Float32, "
      "CPU>, %1:tensor<[3, 2], Float32, CPU>) -> (%2:tensor<[3, 2], Float32, CPU>)");
  const Tensor target = floats({3, 2}, {0, 0, 0, 0, 0, 0});
  CHECK(op.values({floats({4}, {1, 2, 3, 4}), target}) == Values{0, 0, 1, 2, 3, 4});
  CHECK(values_of(target) == Values{0, 0, 0, 0, 0, 0});
  CHECK(op.error({floats({3}, {1, 2, 3}), target}).starts_with("505 "));
  OneOp in_place(
      "linalg.CPU.CopyOp (%0:tensor<[2], Float32, CPU>, %1:tensor<[2], Float32, CPU>) "
      "-> ()");
  CHECK(in_place.error({floats({2}, {1, 2}), floats({2}, {3, 4})}).starts_with("810 "));
}

TEST_CASE("fill makes what its type says") {
  const auto fill = [](const std::string& attributes) {
    OneOp op("linalg.CPU.FillOp [" + attributes +
             "] (%0:tensor<[3], Int32, CPU>) -> (%1:tensor<[3], Int32, CPU>)");
    return op.values({tensor(DType::kInt32, {3}, {7, 7, 7})});
  };
  CHECK(fill("type:zeros") == Values{0, 0, 0});
  CHECK(fill("type:ones") == Values{1, 1, 1});
  CHECK(fill("type:specific, value:4") == Values{4, 4, 4});
  CHECK(fill("type:arange, start:2, step:3, end:11") == Values{2, 5, 8});
}

TEST_CASE("numbers of attributes are elements to the bit") {
  const auto whole = [](const std::string& op, DType dtype, const std::string& result) {
    const std::string type = std::string(name_of(dtype));
    OneOp one("linalg.CPU." + op + " (%0:tensor<[1], " + type + ", CPU>) -> (%1:tensor<[" + result +
              "], " + type + ", CPU>)");
    const auto results = one.run({tensor(dtype, {1}, {0})});
    REQUIRE(results);
    const auto elements = results->front().as<std::int64_t>();
    return std::vector<std::int64_t>(elements.begin(), elements.end());
  };
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  using Whole = std::vector<std::int64_t>;
  CHECK(whole("ClipOp [min_val:9007199254740993.0, max_val:inf]", DType::kInt64, "1") ==
        Whole{kOdd});
  CHECK(whole("FillOp [type:specific, value:9.007199254740993e15]", DType::kInt64, "1") ==
        Whole{kOdd});
  CHECK(whole("FillOp [type:specific, value:1e400]", DType::kInt64, "1") == Whole{kLast});
  CHECK(whole("PadOp [pad:[1, 0], value:-9007199254740993]", DType::kInt64, "2") ==
        Whole{-kOdd, 0});
  CHECK(whole("FillOp [type:arange, start:9007199254740993, step:1]", DType::kInt64, "1") ==
        Whole{kOdd});
  OneOp iota(
      "linalg.CPU.IotaOp [shape:[3], dtype:Int64, dim:0, start:9223372036854775806] () -> "
      "(%1:tensor<[3], Int64, CPU>)");
  const auto counted = iota.run({});
  REQUIRE(counted);
  CHECK(counted->front().as<std::int64_t>()[0] == kLast - 1);
  CHECK(counted->front().as<std::int64_t>()[2] == kLast);
  // A zero keeps its sign.
  CHECK(whole("FillOp [type:specific, value:-0.0]", DType::kFloat64, "1") ==
        Whole{std::numeric_limits<std::int64_t>::min()});
  CHECK(whole("PadOp [pad:[1, 0], value:-0.0]", DType::kFloat64, "2") ==
        Whole{std::numeric_limits<std::int64_t>::min(), 0});
}

TEST_CASE("random fills draw from the stream of their seed") {
  const auto fill = [](const std::string& attributes, DType dtype) {
    const std::string type = "tensor<[9], " + std::string(name_of(dtype)) + ", CPU>";
    OneOp op("linalg.CPU.FillOp [type:random, " + attributes + "] (%0:" + type +
             ") -> (%1:" + type + ")");
    return op.values({tensor(dtype, {9}, Values(9, 0))});
  };
  const Values got = fill("start:-3, end:5, seed:7", DType::kFloat64);
  const std::uint64_t key = RandomStream(7, "").key;
  for (std::size_t i = 0; i < 9; ++i) {
    const auto words =
        philox({static_cast<std::uint32_t>(i / 4), 0, 0, 0},
               {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
    CHECK(got[i] == -3 + 8 * (words[i % 4] * 0x1p-32));
  }
  const Values whole = fill("start:-3, end:5, seed:7", DType::kInt8);
  for (std::size_t i = 0; i < 9; ++i) CHECK(whole[i] == std::trunc(got[i]));
  CHECK(fill("start:-3, end:5", DType::kFloat64) ==
        fill("start:-3, end:5, seed:42", DType::kFloat64));
  CHECK(fill("start:-3, end:5", DType::kFloat64) != got);
  CHECK(fill("start:2, end:2", DType::kFloat32) == Values(9, 2));
}

TEST_CASE("an alloc gives zeros") {
  OneOp op("tensor.CPU.alloc () -> (%0:tensor<[2], Int16, CPU>)");
  CHECK(op.values({}) == Values{0, 0});
}

TEST_CASE("a parameter op gives the parameter it names") {
  OneOp op(
      "linalg.CPU.ParamOp [name:gate.weight, shape:[2, 1]] () -> "
      "(%0:tensor<[2, 1], Float32, CPU>)");
  CHECK(op.error({}).starts_with("813 "));
  op.parameter("gate.weight", floats({2}, {5, 6}));
  CHECK(op.values({}) == Values{5, 6});
}

}  // namespace mir::test
