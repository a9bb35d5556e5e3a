// How far the elementary functions lie from the exact values, which MPFR gives with 160 bits.
//
// usage: elementary_errors PAGE           check, and compare with the page
//        elementary_errors PAGE --write   write the page
#include <fmt/format.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ref/elementary.hpp"

namespace {

using namespace mir;

constexpr mpfr_prec_t kBits = 160;

class Real {
 public:
  Real() { mpfr_init2(value_, kBits); }
  explicit Real(double x) : Real() { mpfr_set_d(value_, x, MPFR_RNDN); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

using Exact = int (*)(mpfr_ptr to, mpfr_srcptr x, mpfr_rnd_t rounding);

int exact_sigmoid(mpfr_ptr to, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_neg(to, x, rounding);
  mpfr_exp(to, to, rounding);
  mpfr_add_ui(to, to, 1, rounding);
  return mpfr_ui_div(to, 1, to, rounding);
}

/// MPFR's own gives +inf for -0.
int exact_rsqrt(mpfr_ptr to, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_sqrt(to, x, rounding);
  return mpfr_ui_div(to, 1, to, rounding);
}

struct Function {
  std::string_view name;
  double (*compute)(double);
  float (*compute_float)(float);  ///< null: there is none
  Exact exact;
  double low, high;  ///< the dense samples
  double bound;      ///< stated in units of the last place of a double
  std::vector<double> edges;
};

constexpr double kFloatBound = 0.500001;

/// Units of the last place between `got` and the exact value.
template <class T>
double distance(T got, mpfr_ptr want) {
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = 1e9;
  if (mpfr_nan_p(want) != 0 || got != got) return mpfr_nan_p(want) != 0 && got != got ? 0 : kWrong;
  if (mpfr_inf_p(want) != 0)
    return std::isinf(got) && (mpfr_sgn(want) > 0) == (got > 0) ? 0 : kWrong;
  if (std::isinf(got)) {
    // From the number halfway between the largest and the next power of two on.
    Real edge(std::ldexp(1.0, Limits::digits) - 0.5);
    mpfr_mul_2si(edge, edge, Limits::max_exponent - Limits::digits, MPFR_RNDN);
    return mpfr_cmpabs(want, edge) >= 0 && (mpfr_sgn(want) > 0) == (got > 0) ? 0 : kWrong;
  }
  if (mpfr_zero_p(want) != 0) return got == 0 ? 0 : kWrong;
  Real error(static_cast<double>(got));
  mpfr_sub(error, error, want, MPFR_RNDN);
  const auto exponent = std::max<mpfr_exp_t>(mpfr_get_exp(want), Limits::min_exponent);
  mpfr_mul_2si(error, error, Limits::digits - exponent, MPFR_RNDN);
  return std::abs(mpfr_get_d(error, MPFR_RNDA));
}

/// Doubles around the multiple k pi/2, and the one next to a multiple of all finite ones.
void add_quarter_turns(std::vector<double>& samples) {
  Real pi, multiple;
  mpfr_const_pi(pi, MPFR_RNDN);
  for (int i = 0; i < 4000; ++i) {
    const double k = i < 2000 ? i + 1 : std::floor(std::ldexp(1.0 + i * 0x1p-12, i % 1000));
    mpfr_mul_d(multiple, pi, k, MPFR_RNDN);
    mpfr_div_2ui(multiple, multiple, 1, MPFR_RNDN);
    const double near = mpfr_get_d(multiple, MPFR_RNDN);
    if (!std::isfinite(near)) continue;
    for (const double x : {near, std::nextafter(near, 0.0), std::nextafter(near, 1e308)}) {
      samples.insert(samples.end(), {x, -x});
    }
  }
  samples.push_back(std::ldexp(6381956970095103.0, 797));
}

template <class T>
std::vector<double> samples_of(const Function& function) {
  constexpr int kRandom = 30000;
  std::mt19937_64 bits(20);
  const auto unit = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  std::vector<double> samples = {0.0, -0.0, 1.0, -1.0, 0.5, -0.5};
  for (int i = 0; i < kRandom; ++i) {
    const double dense = function.low + (function.high - function.low) * unit();
    samples.push_back(dense);
    samples.push_back(std::ldexp(dense, -static_cast<int>(bits() % 70)));
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const T any = std::bit_cast<T>(static_cast<Bits>(bits()));
    if (std::isfinite(any)) samples.push_back(static_cast<double>(any));
    // Subnormals, and what lies around them.
    const double tiny = std::numeric_limits<T>::denorm_min() * std::ldexp(1 + unit(), i % 60);
    samples.insert(samples.end(), {tiny, -tiny});
  }
  for (const double edge : function.edges) {
    double up = edge, down = edge;
    for (int i = 0; i < 300; ++i) {
      samples.insert(samples.end(), {up, down, -up, -down});
      up = std::nextafter(static_cast<T>(up), std::numeric_limits<T>::infinity());
      down = std::nextafter(static_cast<T>(down), -std::numeric_limits<T>::infinity());
    }
  }
  // Squares, cubes and halves: exact results and midpoints.
  for (int i = 1; i < 3000; ++i) {
    samples.insert(samples.end(), {1.0 * i * i, i / 2.0, i / 8.0, 1.0 / i,
                                   std::ldexp(1.0, i % 2000 - 1000), std::ldexp(1.0 * i * i, -60)});
  }
  add_quarter_turns(samples);
  return samples;
}

struct Finding {
  std::size_t samples = 0;
  double largest = 0, at = 0;
};

template <class T, class Compute>
Finding measure(const Function& function, Compute compute) {
  Finding finding;
  Real want;
  for (const double sample : samples_of<T>(function)) {
    const T x = static_cast<T>(sample);
    if (!std::isfinite(x)) continue;
    Real argument(static_cast<double>(x));
    function.exact(want, argument, MPFR_RNDN);
    const double found = distance(compute(x), want);
    if (found > finding.largest) finding = {finding.samples, found, static_cast<double>(x)};
    ++finding.samples;
  }
  return finding;
}

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"exp",
       ref::exp,
       ref::exp,
       mpfr_exp,
       -50,
       50,
       1,
       {709.782712893384, 745.1332191019411, 708.3964185322641, 88.72283935546875,
        103.97207641601562, 87.33654}},
      {"expm1",
       ref::expm1,
       nullptr,
       mpfr_expm1,
       -5,
       5,
       2,
       {0.34657359027997264, 1.0397207708399179, 40, 1e-8}},
      {"log",
       ref::log,
       ref::log,
       mpfr_log,
       0.1,
       10,
       1,
       {1, 0.7071067811865476, 2, 2.2250738585072014e-308, 1.1754943508222875e-38}},
      {"sin",
       ref::sin,
       ref::sin,
       mpfr_sin,
       -20,
       20,
       1,
       {0.7853981633974483, 3.141592653589793, 1e22}},
      {"cos",
       ref::cos,
       ref::cos,
       mpfr_cos,
       -20,
       20,
       1,
       {0.7853981633974483, 1.5707963267948966, 1e22}},
      {"tanh", ref::tanh, ref::tanh, mpfr_tanh, -3, 3, 3, {22, 0.17328679513998632, 9.010913}},
      {"erf",
       ref::erf,
       ref::erf,
       mpfr_erf,
       -4,
       4,
       5,
       {1, 6, 0.5, 3.832506656900843, 5.863584748755167}},
      {"sigmoid",
       ref::sigmoid,
       nullptr,
       exact_sigmoid,
       -20,
       20,
       3,
       {0, 36.7368005696771, 709.782712893384, 745.1332191019411}},
      {"rsqrt",
       ref::rsqrt,
       ref::rsqrt,
       exact_rsqrt,
       0.1,
       10,
       1.5,
       {1, 4, 0.25, 2.2250738585072014e-308, 1.7976931348623157e308}},
  };
  return all;
}

/// Rows of the page; empty after a function that is not within its bound.
std::string rows() {
  std::string rows;
  const auto add = [&](const Function& function, std::string_view type, const Finding& found,
                       double bound) {
    rows += fmt::format("| {} | {} | {} | {:.7f} | {:.17g} | {:g} |\n", function.name, type,
                        found.samples, found.largest, found.at, bound);
    if (found.largest <= bound) return true;
    fmt::print(stderr, "{} of {}: {} units of the last place at {:a}, {} are stated\n",
               function.name, type, found.largest, found.at, bound);
    return false;
  };
  bool good = true;
  for (const Function& function : functions()) {
    good &= add(function, "Float64", measure<double>(function, function.compute), function.bound);
    if (function.compute_float == nullptr) continue;
    good &= add(function, "Float32", measure<float>(function, function.compute_float), kFloatBound);
  }
  return good ? rows : std::string();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string found = rows();
  mpfr_free_cache();
  if (found.empty()) return 1;
  const std::string page =
      "# Errors of the elementary functions\n\n"
      "Generated by `elementary_errors docs/elementary-errors.md --write` (in `tests/oracle/` of a "
      "build); do not\n"
      "edit. The functions of `src/kernels/ref/elementary.hpp` against MPFR with 160 bits: "
      "dense ranges, random\n"
      "bit patterns, subnormals, the neighbours of multiples of pi/2 up to the largest double, of "
      "the ends where\n"
      "results overflow or vanish and of the places where methods meet, squares, halves and powers "
      "of two.\n"
      "*Largest*: in units of the last place of the type. *Bound*: the largest error that the "
      "header "
      "allows.\n\n"
      "| function | type | samples | largest | at | bound |\n|---|---|---|---|---|---|\n" +
      found;
  if (argc > 2 && std::strcmp(argv[2], "--write") == 0) {
    std::ofstream(argv[1]) << page;
    return 0;
  }
  std::ostringstream stored;
  stored << std::ifstream(argv[1]).rdbuf();
  if (stored.str() == page) return 0;
  fmt::print(stderr, "{} is not what this run gives; write it with --write\n", argv[1]);
  return 1;
}
