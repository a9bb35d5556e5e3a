// Chains of elementwise functions against the functions one by one.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <random>

#include "fast_problem.hpp"
#include "kernels/fast/chain.hpp"

namespace mir::fast::chain_test {
namespace {

using namespace mir::fast::test;

using Extents = std::vector<std::int64_t>;

std::int64_t product_of(const Extents& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

/// Elements of some extents, of which those that are 1 repeat.
struct Values {
  Extents extents;
  FloatValues elements;

  BroadcastOperand against(const Extents& out) const {
    BroadcastOperand operand{.data = reinterpret_cast<const std::byte*>(elements.data())};
    std::int64_t stride = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
      operand.strides[i] = extents[i] == 1 && out[i] != 1 ? 0 : stride;
      stride *= extents[i];
    }
    // As plans state it: dimensions of one element have no stride.
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] == 1) operand.strides[i] = 0;
    }
    return operand;
  }
};

BroadcastResult result_in(FloatValues& elements, const Extents& extents) {
  BroadcastResult out{.data = reinterpret_cast<std::byte*>(elements.data()),
                      .rank = extents.size()};
  std::ranges::copy(extents, out.extents.begin());
  return out;
}

/// A chain of random functions, and operands for it.
struct RandomChain {
  Extents extents;
  std::vector<Values> operands;
  std::vector<ChainStep> steps;

  RandomChain(Extents of, std::size_t length, unsigned seed) : extents(std::move(of)), bits(seed) {
    add_operand(extents);
    for (std::size_t step = 0; step < length; ++step) add_step(step);
  }

 private:
  std::size_t below(std::size_t limit) { return bits() % limit; }

  std::uint8_t add_operand(const Extents& of) {
    FloatValues elements = random_floats(product_of(of), static_cast<unsigned>(bits()), 3.0);
    constexpr float kSpecial[] = {0.0F, -0.0F, HUGE_VALF, -HUGE_VALF, 1e-40F, 3e38F};
    for (std::size_t i = 0; i < elements.size(); i += 5) elements[i] = kSpecial[below(6)];
    operands.push_back({of, std::move(elements)});
    return static_cast<std::uint8_t>(operands.size() - 1);
  }

  /// A value with all extents.
  ChainStep::Source whole_source(std::size_t step) {
    if (step > 0 && below(4) != 0) {
      return {false, static_cast<std::uint8_t>(step - 1 - below(std::min<std::size_t>(step, 3)))};
    }
    return {true, 0};
  }

  ChainStep::Source any_source(std::size_t step) {
    if (below(2) == 0 || operands.size() == Chain::kMaxOperands) return whole_source(step);
    Extents of = extents;
    for (std::int64_t& extent : of) extent = below(2) == 0 ? 1 : extent;
    return {true, add_operand(of)};
  }

  void add_step(std::size_t step) {
    ChainStep made{.function = Unary::kAbs, .sources = {whole_source(step), any_source(step)}};
    switch (below(5)) {
      case 0:
      case 1:
        made.function = static_cast<Unary>(below(static_cast<std::size_t>(Unary::kQuickGelu) + 1));
        break;
      case 2:
        made.function = Clip{-1.5F, 2.0F};
        break;
      default:
        made.function = static_cast<Binary>(below(static_cast<std::size_t>(Binary::kMinimum) + 1));
        if (below(2) == 0) std::swap(made.sources[0], made.sources[1]);
    }
    // The last function reads the one before it, so that none is in vain.
    if (step > 0) {
      const bool is_swapped = made.sources[0].is_operand && !made.sources[1].is_operand &&
                              std::holds_alternative<Binary>(made.function);
      made.sources[is_swapped ? 1 : 0] = {false, static_cast<std::uint8_t>(step - 1)};
    }
    steps.push_back(made);
  }

  std::mt19937 bits;
};

FloatValues one_by_one(const RandomChain& of, Context& context) {
  std::vector<Values> results;
  for (const ChainStep& step : of.steps) {
    const auto source = [&](std::size_t i) -> const Values& {
      const ChainStep::Source& from = step.sources[i];
      return from.is_operand ? of.operands[from.index] : results[from.index];
    };
    Values made{of.extents, FloatValues(static_cast<std::size_t>(product_of(of.extents)))};
    const std::int64_t count = product_of(of.extents);
    if (const auto* op = std::get_if<Binary>(&step.function)) {
      binary(*op, source(0).against(of.extents), source(1).against(of.extents),
             result_in(made.elements, of.extents), context);
    } else if (const auto* function = std::get_if<Unary>(&step.function)) {
      unary(*function, source(0).elements.data(), made.elements.data(), count, context);
    } else {
      const Clip& bounds = std::get<Clip>(step.function);
      clip(source(0).elements.data(), bounds.low, bounds.high, made.elements.data(), count,
           context);
    }
    results.push_back(std::move(made));
  }
  return results.back().elements;
}

/// The first element with other bits, where any NaN is any other; -1: none.
std::ptrdiff_t first_difference(const FloatValues& got, const FloatValues& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool are_nan = std::isnan(got[i]) && std::isnan(want[i]);
    if (!are_nan && std::memcmp(&got[i], &want[i], sizeof(float)) != 0) {
      return static_cast<std::ptrdiff_t>(i);
    }
  }
  return -1;
}

const Extents kExtents[] = {{},           {0},     {1},        {7},       {8193},
                            {5, 13},      {13, 5}, {3, 1, 65}, {2, 0, 3}, {3, 2, 4, 1, 6, 5, 2, 3},
                            {1, 130, 129}};

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("a chain has the bits of its functions one by one") {
  on_each_isa([](Context& context) {
    for (const Extents& extents : kExtents) {
      for (unsigned seed = 0; seed < 12; ++seed) {
        const RandomChain random(extents, 1 + seed * 5 % Chain::kMaxSteps, seed);
        CAPTURE(fmt::format("{}", extents));
        CAPTURE(seed);
        const FloatValues want = one_by_one(random, context);
        std::vector<BroadcastOperand> operands;
        for (const Values& values : random.operands) operands.push_back(values.against(extents));
        const Chain steps(random.steps);
        FloatValues got(want.size(), -7.0F);
        chain(steps, operands, result_in(got, extents), context);
        CHECK(first_difference(got, want) == -1);
        // In the place of the operand that has the extents of the result.
        FloatValues in_place = random.operands[0].elements;
        operands[0].data = reinterpret_cast<const std::byte*>(in_place.data());
        chain(steps, operands, result_in(in_place, extents), context);
        CHECK(first_difference(in_place, want) == -1);
      }
    }
  });
}

TEST_CASE("results of a chain take turns in few blocks of memory") {
  std::vector<ChainStep> steps(8, {.function = Unary::kNeg});
  steps[0].sources[0] = {true, 0};
  for (std::uint8_t i = 1; i < 8; ++i) {
    steps[i].sources[0] = {false, static_cast<std::uint8_t>(i - 1)};
  }
  CHECK(Chain(steps).blocks() == 1);
  // The first result is read at the end, so it has a block of its own.
  steps[7] = {.function = Binary::kAdd, .sources = {{{false, 0}, {false, 6}}}};
  CHECK(Chain(steps).blocks() == 2);
  CHECK(Chain({{.function = Unary::kNeg, .sources = {{{true, 0}, {}}}}}).blocks() == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast::chain_test
