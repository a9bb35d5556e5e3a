// Fast kernels against the reference: what a kernel is to compute on one shape and how far off it
// may be. fast_equivalence_test.cpp runs every problem of `problem_families` on each instruction
// set and with several numbers of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "kernels/fast/context.hpp"

namespace mir::fast::test {

using FloatValues = std::vector<float>;

struct Problem {
  std::string name;
  std::size_t out_size = 0;  ///< floats of the output's memory
  /// Where the results lie in it; other places must stay as they are.
  std::vector<std::size_t> places = {};
  FloatValues before = {};  ///< the output's content before the run, if the kernel runs in place
  std::function<void(float* out, Context&)> run = {};
  std::vector<double> want = {};   ///< for each place
  std::vector<double> slack = {};  ///< how far the result may be from it; 0: equal, sign included
};

/// 0, 1, ..: results that fill the output.
inline std::vector<std::size_t> all_places(std::size_t count) {
  std::vector<std::size_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = i;
  return places;
}

inline FloatValues random_floats(std::int64_t count, unsigned seed, double scale = 2.0) {
  FloatValues values(static_cast<std::size_t>(count));
  std::mt19937 bits(seed);
  for (float& v : values) {
    v = static_cast<float>((static_cast<double>(bits()) / 2147483648.0 - 1.0) * scale);
  }
  return values;
}

/// The same numbers for the reference kernels, which then round at 53 bits only.
inline ref::test::Array in_double(const FloatValues& values, ref::Dims extents) {
  ref::test::Array array(DType::kFloat64, std::move(extents));
  for (std::size_t i = 0; i < values.size(); ++i) array.set(i, values[i]);
  return array;
}

/// What the reference kernel has to have computed for a problem to say anything.
inline void require_ok(const Result<void>& done) {
  if (!done) throw std::runtime_error("a problem is wrong: " + done.error().message);
}

/// One unit in the last place of a Float32 near `value`.
inline double float_ulp(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

/// The instruction sets of this machine.
inline std::span<const IsaLevel> isas() {
  return isa_levels().first(static_cast<std::size_t>(detected_isa_level()) + 1);
}

/// Calls body(context), two threads, on each instruction set of this machine.
template <class Body>
void on_each_isa(Body body) {
  for (const IsaLevel isa : isas()) {
    Context context(2, isa);
    body(context);
  }
}

using Problems = std::vector<Problem>;
Problems elementwise_problems();
Problems rows_problems();
Problems rope_problems();
Problems reduction_problems();
Problems select_problems();
Problems strip_problems();
Problems code_problems();
Problems linear_problems();
Problems product_problems();
Problems movement_problems();
Problems block_problems();
Problems attention_problems();

struct ProblemFamily {
  std::string_view name;
  Problems (*problems)();
};
inline constexpr ProblemFamily kProblemFamilies[] = {
    {"elementwise", elementwise_problems},
    {"rows", rows_problems},
    {"rope", rope_problems},
    {"reductions", reduction_problems},
    {"choices and conversions", select_problems},
    {"products of codes", code_problems},
    {"strips", strip_problems},
    {"linear", linear_problems},
    {"products", product_problems},
    {"movement", movement_problems},
    {"linear with blocks", block_problems},
    {"attention", attention_problems},
};

}  // namespace mir::fast::test
