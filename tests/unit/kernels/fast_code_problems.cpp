#include <fmt/format.h>

#include "fast_problem.hpp"
#include "kernels/fast/large_pages.hpp"
#include "kernels/fast/matrix/linear.hpp"

namespace mir::fast::test {
namespace {

struct CodeShape {
  std::int64_t rows, outputs, depth;
};
constexpr CodeShape kShapes[] = {{0, 5, 32},   {1, 1, 1},    {1, 33, 64},   {1, 16, 4099},
                                 {2, 15, 31},  {3, 49, 33},  {4, 32, 96},   {5, 17, 160},
                                 {7, 64, 257}, {31, 31, 65}, {33, 97, 100}, {65, 3, 1031}};

std::vector<std::byte> random_codes(std::int64_t count, unsigned seed, bool is_extreme) {
  std::mt19937 bits(seed);
  std::vector<std::byte> codes(static_cast<std::size_t>(count));
  for (std::byte& code : codes) {
    code = is_extreme ? std::byte{0x80} : static_cast<std::byte>(bits() >> 24);
  }
  return codes;
}

/// Exact sums, rounded as the header says: every instruction set gives these bits.
Problem code_problem(const CodeShape& s, bool is_unsigned, std::int32_t zero, bool is_extreme) {
  const auto x = random_codes(s.rows * s.depth, 81, is_extreme);
  const auto weight = random_codes(s.outputs * s.depth, 82, is_extreme);
  const FloatValues scales = random_floats(s.outputs, 83), bias = random_floats(s.outputs, 84);
  Problem problem{.name = fmt::format("linear of {} x {} x {} codes, zero {}{}", s.rows, s.outputs,
                                      s.depth, zero, is_unsigned ? ", unsigned" : ""),
                  .out_size = static_cast<std::size_t>(s.rows * s.outputs),
                  .places = all_places(static_cast<std::size_t>(s.rows * s.outputs)),
                  .slack = std::vector<double>(static_cast<std::size_t>(s.rows * s.outputs), 0.0)};
  for (std::int64_t m = 0; m < s.rows; ++m) {
    for (std::int64_t n = 0; n < s.outputs; ++n) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < s.depth; ++k) {
        const auto code = static_cast<std::uint8_t>(x[static_cast<std::size_t>(m * s.depth + k)]);
        const std::int64_t value = is_unsigned ? code : static_cast<std::int8_t>(code);
        sum += (value - zero) *
               static_cast<std::int8_t>(weight[static_cast<std::size_t>(n * s.depth + k)]);
      }
      const auto column = static_cast<std::size_t>(n);
      const float product = static_cast<float>(sum) * scales[column];
      problem.want.push_back(product + bias[column]);
    }
  }
  problem.run = [=](float* to, Context& context) {
    LargePages memory(packed_bytes(DType::kInt8, s.outputs, s.depth, context.isa()));
    const PackedMatrix packed = pack(weight.data(), DType::kInt8, s.outputs, s.depth,
                                     {memory.data(), memory.size()}, context);
    linear_codes({.weight = &packed,
                  .x = x.data(),
                  .is_unsigned = is_unsigned,
                  .rows = s.rows,
                  .zero = zero,
                  .scales = scales.data(),
                  .bias = bias.data(),
                  .out = to},
                 context);
  };
  return problem;
}

}  // namespace

Problems code_problems() {
  Problems problems;
  for (const CodeShape& shape : kShapes) {
    problems.push_back(code_problem(shape, false, 0, false));
    problems.push_back(code_problem(shape, false, -128, false));
    problems.push_back(code_problem(shape, true, 131, false));
  }
  // The largest sums there are: of -128 times -128, and of 128 less 255 times -128.
  problems.push_back(code_problem({2, 3, kMostCodeDepth}, false, 0, true));
  problems.push_back(code_problem({2, 3, kMostCodeDepth}, false, 127, true));
  problems.push_back(code_problem({1, 3, kMostCodeDepth}, true, 255, true));
  return problems;
}

}  // namespace mir::fast::test
