// The work of which the limits of a machine are measured.
#include "fast_problem.hpp"
#include "kernels/fast/limits.hpp"

namespace mir::fast::test {
namespace {

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("a measurement of multiply-adds does an equal number in every thread") {
  for (const IsaLevel isa : isas()) {
    CAPTURE(name_of(isa));
    Context one(1, isa), two(2, isa);
    const double alone = multiply_adds(one);
    // Two operations for each of 100000 rounds of 12 chains of a vector's lanes.
    const double lanes = alone / (2.0 * 100000 * 12);
    CHECK((lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16));
    CHECK(multiply_adds(two) == 2 * alone);
    for (const int bits : {4, 8}) {
      const double codes = multiply_codes(bits, one);
      CHECK(codes > 0);
      CHECK(multiply_codes(bits, two) == 2 * codes);
    }
    CHECK(multiply_bfloats(two) == 2 * multiply_bfloats(one));
  }
}

TEST_CASE("a measurement of memory reads all of its words") {
  constexpr std::size_t kBytes = std::size_t{3} << 20;
  std::vector<std::uint64_t> words(kBytes / 8);
  std::mt19937_64 bits(90);
  std::uint64_t all = 0;
  for (std::uint64_t& word : words) all ^= word = bits();
  for (const IsaLevel isa : isas()) {
    CAPTURE(name_of(isa));
    for (const unsigned threads : {1U, 2U}) {
      Context context(threads, isa);
      CHECK(read_all(std::as_bytes(std::span(words)), context) == all);
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast::test
