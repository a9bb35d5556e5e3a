#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>

#include "../seeds.hpp"
#include "fast_problem.hpp"

namespace mir::fast {
namespace {

using namespace test;

constexpr unsigned kThreadCounts[] = {1, 3, 2, 8};
/// Sanitizers try one thread and three, which get unequal shares or none.
constexpr std::size_t kTriedThreadCounts = mir::test::kIsSanitized ? 2 : std::size(kThreadCounts);
constexpr std::size_t kGuard = 16;
constexpr std::uint32_t kMark = 0xa5a5a5a5;

/// Output memory of a problem, between guards.
class Output {
 public:
  explicit Output(const Problem& problem)
      : problem_(problem), bits_(problem.out_size + 2 * kGuard, kMark) {
    for (std::size_t i = 0; i < problem.before.size(); ++i) {
      bits_[kGuard + i] = std::bit_cast<std::uint32_t>(problem.before[i]);
    }
    before_ = bits_;
  }
  float* data() { return reinterpret_cast<float*>(bits_.data() + kGuard); }
  float at(std::size_t place) const { return std::bit_cast<float>(bits_[kGuard + place]); }
  const std::vector<std::uint32_t>& bits() const { return bits_; }

  /// Everything but the results is as it was.
  bool rest_is_intact() const {
    std::vector<std::uint32_t> expected = before_;
    for (const std::size_t place : problem_.places) {
      expected[kGuard + place] = bits_[kGuard + place];
    }
    return expected == bits_;
  }

 private:
  const Problem& problem_;
  std::vector<std::uint32_t> bits_, before_;
};

bool is_close(double got, double want, double slack) {
  if (want != want) return got != got;
  if (got == want) return slack != 0 || std::signbit(got) == std::signbit(want);
  return std::fabs(got - want) <= slack;
}

/// A stored NaN is the positive quiet one; no problem moves others.
bool is_stored_well(float got) {
  return got == got || std::bit_cast<std::uint32_t>(got) == 0x7fc00000;
}

void compare(const Problem& problem, const Output& out) {
  for (std::size_t i = 0; i < problem.places.size(); ++i) {
    const float stored = out.at(problem.places[i]);
    const double got = stored;
    if (!is_stored_well(stored)) {
      FAIL_CHECK("a NaN is stored as " << std::bit_cast<std::uint32_t>(stored));
      return;
    }
    if (is_close(got, problem.want[i], problem.slack[i])) continue;
    CAPTURE(i);
    CAPTURE(got);
    CAPTURE(problem.want[i]);
    CAPTURE(problem.slack[i]);
    FAIL_CHECK("a result is beyond its bound");
    return;  // one is enough
  }
}

/// The contexts of one instruction set, one for each number of threads.
using Contexts = std::vector<std::unique_ptr<Context>>;

void check(const Problem& problem, const Contexts& contexts) {
  CAPTURE(problem.name);
  REQUIRE(problem.want.size() == problem.places.size());
  REQUIRE(problem.slack.size() == problem.places.size());
  std::vector<std::uint32_t> first;
  for (const auto& context : contexts) {
    CAPTURE(context->pool().threads());
    Output out(problem);
    problem.run(out.data(), *context);
    if (!first.empty()) {
      CHECK(out.bits() == first);  // so the rest is intact, too
      continue;
    }
    CHECK(out.rest_is_intact());
    first = out.bits();
    compare(problem, out);
  }
}

TEST_SUITE_BEGIN("fast kernels");

/// Each family has a case below.
void check_family(std::string_view name) {
  static_assert(std::size(kProblemFamilies) == 12);
  const auto family = std::ranges::find(kProblemFamilies, name, &ProblemFamily::name);
  REQUIRE(family != std::end(kProblemFamilies));
  const Problems problems = family->problems();
  REQUIRE_FALSE(problems.empty());
  for (const IsaLevel isa : isas()) {
    CAPTURE(name_of(isa));
    Contexts contexts;
    for (const unsigned threads : std::span(kThreadCounts).first(kTriedThreadCounts)) {
      contexts.push_back(std::make_unique<Context>(threads, isa));
    }
    for (const Problem& problem : problems) check(problem, contexts);
  }
}

TEST_CASE("elementwise: fast kernels are within bounds of ref; threads change no byte") {
  check_family("elementwise");
}
TEST_CASE("rows: fast kernels are within bounds of ref; threads change no byte") {
  check_family("rows");
}
TEST_CASE("rope: fast kernels are within bounds of ref; threads change no byte") {
  check_family("rope");
}
TEST_CASE("reductions: fast kernels are within bounds of ref; threads change no byte") {
  check_family("reductions");
}
TEST_CASE(
    "choices and conversions: fast kernels are within bounds of ref; threads change no byte") {
  check_family("choices and conversions");
}
TEST_CASE("strips: fast kernels have the bits of loops; threads change no byte") {
  check_family("strips");
}
TEST_CASE("products of codes: fast kernels are within bounds of ref; threads change no byte") {
  check_family("products of codes");
}
TEST_CASE("linear: fast kernels are within bounds of ref; threads change no byte") {
  check_family("linear");
}
TEST_CASE("products: fast kernels are within bounds of ref; threads change no byte") {
  check_family("products");
}
TEST_CASE("movement: fast kernels are within bounds of ref; threads change no byte") {
  check_family("movement");
}
TEST_CASE("linear with blocks: fast kernels are within bounds of ref; threads change no byte") {
  check_family("linear with blocks");
}
TEST_CASE("attention: fast kernels are within bounds of ref; threads change no byte") {
  check_family("attention");
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast
