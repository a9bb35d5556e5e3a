// Element types that no kernel takes: blocks of floats, integers of four bits, codes.
#include <cmath>
#include <unordered_map>
#include <utility>

#include "one_op.hpp"
#include "weights/blocks.hpp"

namespace mir::test::stand_ins_test {

using Values = std::vector<double>;

namespace {

/// The op of one operand and one result of these types, each "[2], Float32".
OneOp one(const std::string& op, const std::string& from, const std::string& to) {
  return OneOp("linalg.CPU." + op + " (%0:tensor<" + from + ", CPU>) -> (%1:tensor<" + to +
               ", CPU>)");
}

Tensor cast_to(const std::string& to, const Tensor& x, const std::string& from) {
  auto results =
      one("CastTypeOp [dtype:" + to + "]", "[" + std::to_string(x.elements()) + "], " + from,
          "[" + std::to_string(x.elements()) + "], " + to)
          .run({x});
  if (!results.ok()) MESSAGE(results.error().message);
  REQUIRE(results);
  return results->front();
}

/// 32 numbers that MXFP4 holds.
Values representable() {
  Values values;
  for (int i = 0; i < 32; ++i) values.push_back((i % 2 == 0 ? 1 : -1) * 0.25 * (i % 5));
  return values;
}

}  // namespace

TEST_CASE("MXFP4 converts from and to floating types, and views keep its bytes") {
  const Tensor x = floats({32}, representable());
  const Tensor packed = cast_to("MXFP4", x, "Float32");
  CHECK(packed.dtype() == DType::kMXFP4);
  CHECK(packed.bytes().size() == 17);
  CHECK(values_of(cast_to("Float32", packed, "MXFP4")) == representable());
  CHECK(values_of(cast_to("BFloat16", packed, "MXFP4")) == representable());
  const auto same = one("CloneOp", "[32], MXFP4", "[32], MXFP4").run({packed});
  REQUIRE(same);
  CHECK(same->front().bytes().data() == packed.bytes().data());
}

TEST_CASE("blocks that can be made are cast to, and are parameters of a look-up") {
  Values steps;  // -8 to 7 halves around 3, twice
  for (int i = 0; i < 32; ++i) steps.push_back(3 + 0.5 * (i % 16 - 8));
  const Tensor x = floats({32}, steps);
  const Tensor packed = cast_to("MIR_Q4_A32", x, "Float32");
  CHECK(packed.dtype() == DType::kMirQ4A32);
  CHECK(packed.bytes().size() == 24);
  CHECK(values_of(cast_to("Float32", packed, "MIR_Q4_A32")) == steps);
  CHECK(cast_to("GGUF_Q8_0", cast_to("Float64", x, "Float32"), "Float64").bytes().size() == 34);
  CHECK(one("CastTypeOp [dtype:MIR_Q4_A32]", "[32], Float32", "[32], MIR_Q4_A32")
            .error({floats({32}, Values(32, std::nan("")))})
            .find("a value that MIR_Q4_A32 has no scale for") != std::string::npos);
  OneOp look_up(
      "linalg.CPU.EmbeddingOp <name=\"e\"> [vocab_size:1, hidden_size:32] "
      "(%0:tensor<[2], Int64, CPU>) -> (%1:tensor<[2, 32], Float32, CPU>)");
  look_up.parameter("e.weight", packed);
  Values twice = steps;
  twice.insert(twice.end(), steps.begin(), steps.end());
  CHECK(look_up.values({ints({2}, {0, 0})}) == twice);
}

TEST_CASE("parameters may be blocks") {
  const std::string text =
      "linalg.CPU.LinearOp <name=\"fc\"> [in_channels:32, out_channels:1, bias:false] "
      "(%0:tensor<[1, 32], Float32, CPU>) -> (%1:tensor<[1, 1], Float32, CPU>)";
  Values counts;
  for (int i = 0; i < 32; ++i) counts.push_back(i + 1);
  double sum = 0;
  for (int i = 0; i < 32; ++i) sum += representable()[static_cast<std::size_t>(i)] * (i + 1);
  const Tensor plain = floats({32}, representable());
  OneOp packed(text);
  packed.parameter("fc.weight", cast_to("MXFP4", plain, "Float32"));
  CHECK(packed.values({floats({1, 32}, counts)}) == Values{sum});
  const auto blocks = quantise(floats({32}, Values(32, 127)), DType::kGgufQ8_0);
  REQUIRE(blocks);
  OneOp gguf(text);
  gguf.parameter("fc.weight", *blocks);
  // Such weights take activations of 8 bits: counts in steps of 32 / 127.
  double rounded = 0;
  const auto step = static_cast<double>(32.0F / 127);
  for (int i = 1; i <= 32; ++i) rounded += step * std::nearbyint(i / step);
  CHECK(std::fabs(rounded - 32 * 33 / 2) > 0.1);
  CHECK(gguf.values({floats({1, 32}, counts)}) == Values{static_cast<float>(127 * rounded)});
  OneOp own(text);
  own.parameter("fc.weight", *quantise(floats({32}, Values(32, 127)), DType::kMirQ4A32));
  CHECK(own.values({floats({1, 32}, counts)}) == Values{static_cast<float>(127 * rounded)});
}

TEST_CASE("integers of four bits wrap in arithmetic and saturate from floats") {
  OneOp add(
      "linalg.CPU.AddOp(%0:tensor<[3], Int4, CPU>, %1:tensor<[3], Int4, CPU>) -> "
      "(%2:tensor<[3], Int4, CPU>)");
  CHECK(add.values({tensor(DType::kInt4, {3}, {7, -8, 3}),
                    tensor(DType::kInt4, {3}, {1, -1, 2})}) == Values{-8, 7, 5});
  OneOp mul(
      "linalg.CPU.MulOp(%0:tensor<[2], UInt4, CPU>, %1:tensor<[2], UInt4, CPU>) -> "
      "(%2:tensor<[2], UInt4, CPU>)");
  CHECK(mul.values({tensor(DType::kUInt4, {2}, {15, 3}), tensor(DType::kUInt4, {2}, {15, 5})}) ==
        Values{1, 15});
  const Tensor x = floats({4}, {-9.5, 7.9, 100, -0.5});
  CHECK(values_of(cast_to("Int4", x, "Float32")) == Values{-8, 7, 7, 0});
  CHECK(values_of(cast_to("UInt4", x, "Float32")) == Values{0, 7, 15, 0});
  CHECK(values_of(cast_to("Int4", ints({2}, {9, -9}), "Int64")) == Values{-7, 7});
  CHECK(values_of(cast_to("Float32", tensor(DType::kInt4, {2}, {-8, 7}), "Int4")) == Values{-8, 7});
  CHECK(one("TransposeOp [dim0:0, dim1:1]", "[1, 2], Int4", "[2, 1], Int4")
            .values({tensor(DType::kInt4, {1, 2}, {-8, 7})}) == Values{-8, 7});
}

TEST_CASE("codes without a scale are refused where an op computes, not where it moves them") {
  const Tensor codes = tensor(DType::kInt8PerTensor, {2, 1}, {1, 2});
  CHECK(one("SiLUOp", "[2, 1], Int8PerTensor", "[2, 1], Int8PerTensor")
            .error({codes})
            .starts_with("840 "));
  CHECK(one("SiLUOp", "[2, 1], Float32", "[2, 1], Int8PerTensor")
            .error({floats({2, 1}, {1, 2})})
            .starts_with("840 "));
  CHECK(one("TransposeOp [dim0:0, dim1:1]", "[2, 1], Int8PerTensor", "[1, 2], Int8PerTensor")
            .values({codes}) == Values{1, 2});
}

TEST_CASE("an op moves codes as they are if all that it moves has one quantisation") {
  OneOp op(
      "linalg.CPU.WhereOp (%0:tensor<[2], Bool, CPU>, %1:tensor<[2], Int8, CPU>, "
      "%2:tensor<[2], Int8, CPU>) -> (%3:tensor<[2], Int8, CPU>)");
  const Value &index = *op.op().operand(0), &a = *op.op().operand(1), &b = *op.op().operand(2),
              &out = *op.op().result();
  const auto by = [](double scale) {
    return ref::Quantisation{.low = -128, .high = 127, .scales = {scale}};
  };
  using Quantisations = std::unordered_map<const Value*, ref::Quantisation>;
  const auto keeps = [&](Quantisations values) {
    return keeps_codes(op.op(), {.values = std::move(values), .parameters = {}});
  };
  CHECK(keeps({{&a, by(2)}, {&b, by(2)}, {&out, by(2)}}));
  CHECK_FALSE(keeps({{&a, by(2)}, {&b, by(2)}, {&out, by(3)}}));
  CHECK_FALSE(keeps({{&a, by(3)}, {&b, by(2)}, {&out, by(2)}}));
  CHECK_FALSE(keeps({{&a, by(2)}, {&b, by(3)}, {&out, by(2)}}));
  // An index is no element that moves, but has no quantisation of its own either.
  CHECK_FALSE(keeps({{&index, by(3)}, {&a, by(2)}, {&b, by(2)}, {&out, by(2)}}));
  ref::Quantisation channels = by(2), blocks = by(2);
  channels.axis = 0;
  blocks.block = 1;
  CHECK_FALSE(keeps({{&a, channels}, {&b, channels}, {&out, channels}}));
  CHECK_FALSE(keeps({{&a, blocks}, {&b, blocks}, {&out, blocks}}));
  OneOp floats(
      "linalg.CPU.CloneOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)");
  const Value &x = *floats.op().operand(0), &y = *floats.op().result();
  const auto keeps_floats = [&](Quantisations values) {
    return keeps_codes(floats.op(), {.values = std::move(values), .parameters = {}});
  };
  CHECK(keeps_floats({}));
  CHECK_FALSE(keeps_floats({{&x, by(2)}}));
  CHECK_FALSE(keeps_floats({{&y, by(2)}}));
  CHECK_FALSE(touches_codes(floats.op(), {}));
  CHECK(touches_codes(floats.op(), {.values = {{&x, by(2)}}, .parameters = {}}));
  CHECK(touches_codes(floats.op(), {.values = {{&y, by(2)}}, .parameters = {}}));
}

}  // namespace mir::test::stand_ins_test
