#include "kernels/ref/signal.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <numbers>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref::signal_test {
namespace {

using namespace test;

using Exact = long double;
using Complex = std::complex<Exact>;
using Values = std::vector<double>;

constexpr Exact kPi = std::numbers::pi_v<Exact>;

struct Sizes {
  std::int64_t n_fft, hop, window, length;
};

/// A transform by repeated multiplication with one root of unity.
Complex transformed(const std::vector<Exact>& samples, std::int64_t n_fft, std::int64_t k) {
  const Complex root =
      std::polar<Exact>(1, -2 * kPi * static_cast<Exact>(k) / static_cast<Exact>(n_fft));
  Complex sum = 0;
  for (std::size_t n = samples.size(); n-- > 0;) sum = sum * root + samples[n];
  return sum;
}

std::int64_t frames_of(const Sizes& s, bool center) {
  return (s.length + (center ? 2 * (s.n_fft / 2) : 0) - s.window) / s.hop + 1;
}

/// Sample `i` of a signal that goes on by mirroring, or with zeros.
Exact sample(const Array& x, std::int64_t row, std::int64_t i, PadMode margin) {
  const std::int64_t n = x.extents()[1];
  if (margin == PadMode::kConstant && (i < 0 || i >= n)) return 0;
  while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * (n - 1) - i;
  return x[static_cast<std::size_t>(row * n + (n == 1 ? 0 : i))];
}

constexpr Sizes kSizes[] = {{8, 2, 8, 20}, {7, 3, 5, 11}, {16, 16, 16, 16},
                            {4, 1, 1, 1},  {5, 2, 5, 7},  {12, 5, 9, 3}};

TEST_SUITE_BEGIN("kernels");

TEST_CASE("transforms of frames are within their bound") {
  for (const DType dtype : kFloatingTypes) {
    for (const Sizes& s : kSizes) {
      for (const PadMode margin : {PadMode::kReflect, PadMode::kConstant}) {
        const bool center = s.length < s.window || margin == PadMode::kConstant;
        const Array x = random_array(dtype, {2, s.length}, 1);
        const Array window = random_array(dtype, {s.window}, 2);
        const std::int64_t frames = frames_of(s, center);
        Array spec(dtype, {2, s.n_fft / 2 + 1, frames, 2});
        REQUIRE(stft(x, window, {s.n_fft, s.hop, center, margin}, spec));
        CHECK(spec.guards_intact());
        for (std::size_t i = 0; i < spec.size(); i += 2) {
          const auto at = static_cast<std::int64_t>(i / 2);
          const std::int64_t f = at % frames, k = at / frames % (s.n_fft / 2 + 1);
          std::vector<Exact> samples;
          Exact magnitude = 0;
          for (std::int64_t n = 0; n < s.window; ++n) {
            const std::int64_t from = f * s.hop + n - (center ? s.n_fft / 2 : 0);
            samples.push_back(sample(x, at / frames / (s.n_fft / 2 + 1), from, margin) *
                              window[static_cast<std::size_t>(n)]);
            magnitude += std::fabs(samples.back());
          }
          const Complex exact = transformed(samples, s.n_fft, k);
          for (const auto& [got, part] :
               {std::pair{spec[i], exact.real()}, std::pair{spec[i + 1], exact.imag()}}) {
            const double want = static_cast<double>(part);
            const double slack = 0x1p-49 * static_cast<double>(magnitude);
            const double beyond = std::max(0.0, std::fabs(got - want) - slack);
            CHECK(ulp_distance(dtype, want + beyond, want) <= 0.501);
          }
        }
      }
    }
  }
}

TEST_CASE("quarter turns are exact") {
  const Array x(DType::kFloat64, {1, 4}, {1, 2, 4, 8});
  const Array window(DType::kFloat64, {4}, {1, 1, 1, 1});
  Array spec(DType::kFloat64, {1, 3, 1, 2});
  REQUIRE(stft(x, window, {.n_fft = 4, .hop_length = 1}, spec));
  CHECK(spec.values() == Values{15, 0, -3, 6, -5, 0});
}

/// The inverse by its definition: the whole spectrum, complex.
std::vector<Exact> frame_of(const Array& spec, std::int64_t row, std::int64_t f,
                            std::int64_t n_fft) {
  const std::int64_t bins = spec.extents()[1], frames = spec.extents()[2];
  std::vector<Exact> samples;
  for (std::int64_t n = 0; n < n_fft; ++n) {
    Complex sum = 0;
    for (std::int64_t k = 0; k < n_fft; ++k) {
      const std::int64_t half = k < bins ? k : n_fft - k;
      const auto at = static_cast<std::size_t>(((row * bins + half) * frames + f) * 2);
      Complex value(spec[at], k < bins ? spec[at + 1] : -spec[at + 1]);
      sum += value * std::polar<Exact>(1, 2 * kPi * static_cast<Exact>(k * n % n_fft) /
                                              static_cast<Exact>(n_fft));
    }
    samples.push_back(sum.real() / static_cast<Exact>(n_fft));
  }
  return samples;
}

TEST_CASE("inverse transforms overlap, add and divide") {
  for (const Sizes& s : kSizes) {
    for (const bool normalized : {false, true}) {
      const std::int64_t frames = 3, length = (frames - 1) * s.hop + s.n_fft, cut = s.hop / 2;
      const Array spec = random_array(DType::kFloat64, {2, s.n_fft / 2 + 1, frames, 2}, 3);
      const Array window = random_array(DType::kFloat64, {s.window}, 4);
      Array signal(DType::kFloat64, {2, length - cut + 2});
      REQUIRE(istft(spec, window, {s.n_fft, s.hop, cut, normalized}, signal));
      CHECK(signal.guards_intact());
      for (std::int64_t row = 0; row < 2; ++row) {
        std::vector<Exact> sums(static_cast<std::size_t>(length + 2), 0), squares(sums);
        for (std::int64_t f = 0; f < frames; ++f) {
          const auto samples = frame_of(spec, row, f, s.n_fft);
          for (std::int64_t n = 0; n < s.window; ++n) {
            const Exact w = window[static_cast<std::size_t>(n)];
            const auto at = static_cast<std::size_t>(f * s.hop + n);
            sums[at] += samples[static_cast<std::size_t>(n)] * w;
            squares[at] += w * w;
          }
        }
        for (std::int64_t t = cut; t < length + 2; ++t) {
          const auto at = static_cast<std::size_t>(t);
          Exact want = squares[at] > 1e-10L ? sums[at] / squares[at] : sums[at];
          if (normalized) want /= static_cast<Exact>(s.n_fft);
          const double got = signal[static_cast<std::size_t>(row * (length - cut + 2) + t - cut)];
          const double slack = 0x1p-45 / static_cast<double>(std::max(squares[at], 1e-3L));
          CHECK(std::fabs(got - static_cast<double>(want)) <= slack);
        }
      }
    }
  }
}

TEST_CASE("a signal comes back from its transforms") {
  const Array x = random_array(DType::kFloat64, {1, 24}, 5);
  Array window(DType::kFloat64, {8});
  for (std::size_t n = 0; n < 8; ++n) {
    window.set(n, 0.5 - 0.5 * std::cos(std::numbers::pi * static_cast<double>(n) / 4));
  }
  Array spec(DType::kFloat64, {1, 5, 13, 2}), back(DType::kFloat64, {1, 24});
  REQUIRE(stft(x, window, {.n_fft = 8, .hop_length = 2, .center = true}, spec));
  REQUIRE(istft(spec, window, {.n_fft = 8, .hop_length = 2, .cut = 4}, back));
  CHECK(not_within(0x1p-48, back, x) == "");
}

TEST_CASE("samples without a window are not divided, imaginary ends have no say") {
  const Array spec(DType::kFloat32, {1, 2, 1, 2}, {6, 5, 0, 7});
  const Array silent(DType::kFloat32, {2}, {1e-6, 2});
  Array signal(DType::kFloat32, {1, 2});
  REQUIRE(istft(spec, silent, {.n_fft = 2, .hop_length = 1}, signal));
  CHECK(signal[0] == static_cast<double>(static_cast<float>(silent[0] * 3)));
  CHECK(signal[1] == 1.5);
}

TEST_CASE("a NaN stays in its frames") {
  const Array x(DType::kFloat32, {1, 4}, {1, 2, 3, kNaN});
  const Array window(DType::kFloat32, {2}, {1, 1});
  Array spec(DType::kFloat32, {1, 2, 2, 2});
  REQUIRE(stft(x, window, {.n_fft = 2, .hop_length = 2}, spec));
  CHECK(spec[0] == 3);
  CHECK(std::isnan(spec[2]));
}

TEST_CASE("transforms refuse what does not fit") {
  const Array x(DType::kFloat32, {1, 8}), window(DType::kFloat32, {4}), wide(DType::kFloat32, {5});
  const Array none(DType::kFloat32, {1, 0}), whole(DType::kInt32, {1, 8});
  Array spec(DType::kFloat32, {1, 3, 5, 2}), signal(DType::kFloat32, {1, 8});
  const auto code = [](const Result<void>& result) {
    REQUIRE_FALSE(result);
    return result.error().code;
  };
  CHECK(stft(x, window, {.n_fft = 4, .hop_length = 1}, spec));
  CHECK(code(stft(x, window, {.n_fft = 4, .hop_length = 2}, spec)) == diag::kKernelShape);
  CHECK(code(stft(x, wide, {.n_fft = 4, .hop_length = 1}, spec)) == diag::kKernelShape);
  CHECK(code(stft(x, window, {.n_fft = 4, .hop_length = 0}, spec)) == diag::kKernelAttribute);
  CHECK(code(stft(whole, window, {.n_fft = 4, .hop_length = 1}, spec)) == diag::kKernelDType);
  Array one(DType::kFloat32, {1, 3, 1, 2});
  CHECK(code(stft(none, window, {.n_fft = 4, .hop_length = 1, .center = true}, one)) ==
        diag::kKernelShape);
  CHECK(stft(none, window,
             {.n_fft = 4, .hop_length = 1, .center = true, .margin = PadMode::kConstant}, one));
  CHECK(istft(spec, window, {.n_fft = 4, .hop_length = 1}, signal));
  CHECK(code(istft(spec, window, {.n_fft = 6, .hop_length = 1}, signal)) == diag::kKernelShape);
  CHECK(code(istft(spec, window, {.n_fft = 4, .hop_length = 1, .cut = -1}, signal)) ==
        diag::kKernelAttribute);
  Array no_frames(DType::kFloat32, {1, 3, 0, 2});
  REQUIRE(istft(no_frames, window, {.n_fft = 4, .hop_length = 1}, signal));
  CHECK(signal.values() == Values(8, 0.0));
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref::signal_test
