#include <doctest/doctest.h>

#include <optional>

#include "fast_weights.hpp"
#include "kernels/fast/elementwise.hpp"

namespace mir::fast {
namespace {

using namespace test;

constexpr std::int64_t kRows[] = {1, 2, 5, 9, 33};

struct Form {
  DType dtype;
  Activations activations = Activations::kFloat32;
};
constexpr Form kForms[] = {{DType::kFloat32},
                           {DType::kBFloat16},
                           {DType::kFloat16},
                           {DType::kGgufQ8_0},
                           {DType::kGgufQ4_0},
                           {DType::kGgufQ4K},
                           {DType::kFloat32, Activations::kBFloat16},
                           {DType::kBFloat16, Activations::kBFloat16}};

/// `depth`, or what blocks fill.
std::int64_t depth_for(DType dtype, std::int64_t depth) {
  const std::int64_t lanes = info(dtype).lanes;
  return (depth + lanes - 1) / lanes * lanes;
}

bool same_bits(const FloatValues& a, const FloatValues& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

FloatValues product(const Packed& weight, const FloatValues& x, std::int64_t rows, Context& context,
                    const Epilogue& epilogue = {}) {
  const std::int64_t outputs = weight.matrix.outputs;
  FloatValues out(static_cast<std::size_t>(rows * outputs));
  linear(weight.matrix,
         {.rows = {.x = x.data(), .x_stride = weight.matrix.depth, .rows = rows},
          .out = out.data(),
          .out_stride = outputs,
          .epilogue = epilogue},
         context);
  return out;
}

/// a op b, b repeating.
FloatValues combined(Binary op, const FloatValues& a, const FloatValues& b, Context& context) {
  FloatValues out(a.size());
  const auto width = static_cast<std::int64_t>(b.size());
  binary(op, {.data = reinterpret_cast<const std::byte*>(a.data()), .strides = {width, 1}},
         {.data = reinterpret_cast<const std::byte*>(b.data()), .strides = {0, 1}},
         {.data = reinterpret_cast<std::byte*>(out.data()),
          .rank = 2,
          .extents = {static_cast<std::int64_t>(a.size()) / width, width}},
         context);
  return out;
}

FloatValues applied(Unary function, const FloatValues& x, Context& context) {
  FloatValues out(x.size());
  unary(function, x.data(), out.data(), static_cast<std::int64_t>(x.size()), context);
  return out;
}

constexpr Unary kActivations[] = {Unary::kRelu, Unary::kSigmoid, Unary::kSilu, Unary::kGelu,
                                  Unary::kQuickGelu};

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("bias and residual at the end of a product have the bits of the sums as ops") {
  on_each_isa([](Context& context) {
    for (const auto& [dtype, activations] : kForms) {
      const std::int64_t depth = depth_for(dtype, 260);
      const Packed weight(Weights(dtype, 53, depth, 31), context, activations);
      for (const std::int64_t rows : kRows) {
        const FloatValues x = random_floats(rows * depth, 32), bias = random_floats(53, 33);
        const FloatValues residual = random_floats(rows * 53, 34);
        const FloatValues got =
            product(weight, x, rows, context,
                    {.bias = bias.data(), .residual = residual.data(), .residual_stride = 53});
        const FloatValues sum =
            combined(Binary::kAdd, product(weight, x, rows, context), bias, context);
        CHECK(same_bits(got, combined(Binary::kAdd, sum, residual, context)));
      }
    }
  });
}

TEST_CASE("an activation at the end of a product has the bits of the op") {
  on_each_isa([](Context& context) {
    for (const auto& [dtype, activations] : kForms) {
      const std::int64_t depth = depth_for(dtype, 70);
      const Packed weight(Weights(dtype, 53, depth, 50), context, activations);
      for (const std::int64_t rows : kRows) {
        const FloatValues x = random_floats(rows * depth, 51), bias = random_floats(53, 52);
        const FloatValues residual = random_floats(rows * 53, 53);
        const FloatValues sum =
            combined(Binary::kAdd, product(weight, x, rows, context), bias, context);
        for (const Unary function : kActivations) {
          const FloatValues got = product(weight, x, rows, context,
                                          {.bias = bias.data(),
                                           .activation = function,
                                           .residual = residual.data(),
                                           .residual_stride = 53});
          const FloatValues want =
              combined(Binary::kAdd, applied(function, sum, context), residual, context);
          CHECK(same_bits(got, want));
        }
      }
    }
  });
}

TEST_CASE("products of normalised rows have the bits of rms_norm and the products") {
  on_each_isa([](Context& context) {
    for (const auto& [dtype, activations] : kForms) {
      const std::int64_t depth = depth_for(dtype, 520);
      const Packed gate(Weights(dtype, 53, depth, 54), context, activations);
      const Packed up(Weights(dtype, 53, depth, 55), context, activations);
      const FloatValues scale = random_floats(depth, 56);
      for (const std::int64_t rows : kRows) {
        const FloatValues x = random_floats(rows * depth, 57);
        FloatValues normal(x.size());
        const RmsNorm norm = {.weight = scale.data(), .epsilon = 1e-5F, .add_unit_offset = true};
        rms_norm({.x = x.data(),
                  .x_stride = depth,
                  .out = normal.data(),
                  .out_stride = depth,
                  .rows = rows,
                  .width = depth},
                 norm, context);
        const LinearRows from = {.x = x.data(), .x_stride = depth, .rows = rows, .norm = &norm};
        FloatValues first(static_cast<std::size_t>(rows * 53)), second(first), gated(first);
        const LinearTarget targets[] = {
            {.weight = &gate.matrix, .out = first.data(), .out_stride = 53, .epilogue = {}},
            {.weight = &up.matrix, .out = second.data(), .out_stride = 53, .epilogue = {}}};
        linear_group(from, targets, context);
        linear_gated(gate.matrix, up.matrix,
                     {.rows = from, .out = gated.data(), .out_stride = 53, .epilogue = {}},
                     context);
        CHECK(same_bits(first, product(gate, normal, rows, context)));
        CHECK(same_bits(second, product(up, normal, rows, context)));
        CHECK(same_bits(gated, combined(Binary::kMul, first, second, context)));
      }
    }
  });
}

TEST_CASE("threads normalise rows in memory of their own") {
  // As many rows as give each thread blocks, and wide enough that all of them get to work.
  constexpr std::int64_t kManyRows = 96, kDepth = 1024, kOutputs = 8;
  for (const IsaLevel isa : isas()) {
    Context one(1, isa), many(4, isa);
    const Packed weight(Weights(DType::kFloat32, kOutputs, kDepth, 58), one);
    const FloatValues x = random_floats(kManyRows * kDepth, 59);
    const RmsNorm norm = {.weight = nullptr, .epsilon = 1e-5F, .add_unit_offset = false};
    const auto product = [&](Context& context) {
      FloatValues out(static_cast<std::size_t>(kManyRows * kOutputs));
      linear(weight.matrix,
             {.rows = {.x = x.data(), .x_stride = kDepth, .rows = kManyRows, .norm = &norm},
              .out = out.data(),
              .out_stride = kOutputs,
              .epilogue = {}},
             context);
      return out;
    };
    const FloatValues want = product(one);
    for (int round = 0; round < 5; ++round) CHECK(same_bits(product(many), want));
  }
}

TEST_CASE("a group of products has the bits of its products") {
  on_each_isa([](Context& context) {
    const Packed first(Weights(DType::kFloat32, 53, 96, 35), context);
    const Packed second(Weights(DType::kBFloat16, 7, 96, 36), context);
    const Packed fifth(Weights(DType::kFloat16, 5, 96, 39), context, Activations::kBFloat16);
    const Packed third(Weights(DType::kGgufQ8_0, 5, 96, 37), context);
    const Packed fourth(Weights(DType::kGgufQ4_0, 21, 96, 38), context);
    for (const std::int64_t rows : kRows) {
      const FloatValues x = random_floats(rows * 96, 37), bias = random_floats(7, 38);
      FloatValues a(static_cast<std::size_t>(rows * 53)), b(static_cast<std::size_t>(rows * 7));
      FloatValues c(static_cast<std::size_t>(rows * 5)), d(static_cast<std::size_t>(rows * 21));
      FloatValues e(c.size());
      const LinearTarget targets[] = {
          {.weight = &first.matrix, .out = a.data(), .out_stride = 53, .epilogue = {}},
          {.weight = &second.matrix,
           .out = b.data(),
           .out_stride = 7,
           .epilogue = {.bias = bias.data()}},
          {.weight = &fifth.matrix, .out = e.data(), .out_stride = 5, .epilogue = {}},
          {.weight = &third.matrix, .out = c.data(), .out_stride = 5, .epilogue = {}},
          {.weight = &fourth.matrix, .out = d.data(), .out_stride = 21, .epilogue = {}}};
      linear_group({.x = x.data(), .x_stride = 96, .rows = rows}, targets, context);
      CHECK(same_bits(a, product(first, x, rows, context)));
      CHECK(same_bits(b, product(second, x, rows, context, {.bias = bias.data()})));
      CHECK(same_bits(c, product(third, x, rows, context)));
      CHECK(same_bits(d, product(fourth, x, rows, context)));
      CHECK(same_bits(e, product(fifth, x, rows, context)));
    }
  });
}

TEST_CASE("a gated product has the bits of two products, an activation and their product") {
  on_each_isa([](Context& context) {
    for (const auto& [dtype, activations] : kForms) {
      const std::int64_t depth = depth_for(dtype, 520);
      const Packed gate(Weights(dtype, 53, depth, 39), context, activations);
      const Packed up(Weights(dtype, 53, depth, 40), context, activations);
      for (const std::int64_t rows : kRows) {
        const FloatValues x = random_floats(rows * depth, 41, 1.0);
        const FloatValues sum = product(gate, x, rows, context);
        const FloatValues factor = product(up, x, rows, context);
        for (const Unary function : kActivations) {
          FloatValues got(static_cast<std::size_t>(rows * 53));
          linear_gated(gate.matrix, up.matrix,
                       {.rows = {.x = x.data(), .x_stride = depth, .rows = rows},
                        .out = got.data(),
                        .out_stride = 53,
                        .epilogue = {.activation = function}},
                       context);
          const FloatValues gated = applied(function, sum, context);
          CHECK(same_bits(got, combined(Binary::kMul, gated, factor, context)));
        }
      }
    }
  });
}

TEST_CASE("a row of a product has the same bits alone and among others") {
  on_each_isa([](Context& context) {
    for (const auto& [dtype, activations] : kForms) {
      const std::int64_t depth = depth_for(dtype, 500);
      const Packed weight(Weights(dtype, 53, depth, 42), context, activations);
      const FloatValues x = random_floats(37 * depth, 43);
      const FloatValues all = product(weight, x, 37, context);
      for (std::ptrdiff_t row = 0; row < 37; ++row) {
        const FloatValues alone(x.begin() + row * depth, x.begin() + (row + 1) * depth);
        const FloatValues want(all.begin() + row * 53, all.begin() + (row + 1) * 53);
        CHECK(same_bits(product(weight, alone, 1, context), want));
      }
    }
  });
}

TEST_CASE("products in bfloat16 have the same bits on all instruction sets without their dot") {
  const Weights values(DType::kFloat32, 53, 515, 46);
  const FloatValues x = random_floats(5 * 515, 47);
  std::optional<FloatValues> first;
  for (const IsaLevel isa : isas()) {
    if (isa == IsaLevel::kAvx512Bf16) break;
    Context context(2, isa);
    const Packed weight(values, context, Activations::kBFloat16);
    const FloatValues got = product(weight, x, 5, context);
    if (!first) first = got;
    CHECK(same_bits(got, *first));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast
