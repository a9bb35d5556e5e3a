// note [search]
// A run of 32 numbers x gets a scale s and a minimum m >= 0 with x near s c - m, c from 0 to 15.
// For each of 21 steps around the range / 15, codes are chosen, then s and m by weighted least
// squares for these codes. The pair with the least weighted square error is kept, and later steps
// start from its minimum. All in Float32 and in the order of ggml, so that blocks have its bits.
#include "weights/encode_q4_k.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "weights/elements.hpp"

namespace mir {

namespace {

constexpr int kRuns = 8, kRun = 32, kLargestCode = 15, kLargestScale = 63;

using Codes = std::array<std::uint8_t, kRun>;

struct FittedRun {
  float scale = 0;
  float minimum = 0;  ///< subtracted number, 0 or more
  Codes codes{};
};

/// To nearest, ties to even, in [0, largest]; 0 for NaN.
std::uint8_t nearest_code(float x, int largest) {
  const float rounded = std::nearbyint(x);
  if (!(rounded > 0)) return 0;
  return static_cast<std::uint8_t>(std::min(rounded, static_cast<float>(largest)));
}

/// Numbers of a run that count more the larger they are.
std::array<float, kRun> weights_of(const float* x) {
  float squares = 0;
  for (int i = 0; i < kRun; ++i) squares += x[i] * x[i];
  const float mean = std::sqrt(squares / kRun);
  std::array<float, kRun> weights{};
  for (int i = 0; i < kRun; ++i) weights[i] = mean + std::fabs(x[i]);
  return weights;
}

float square_error(const float* x, const std::array<float, kRun>& weights, const Codes& codes,
                   float scale, float offset) {
  float sum = 0;
  for (int i = 0; i < kRun; ++i) {
    const float difference = scale * codes[i] + offset - x[i];
    sum += weights[i] * (difference * difference);
  }
  return sum;
}

/// See note [search].
FittedRun fit_run(const float* x) {
  const auto weights = weights_of(x);
  float least = x[0], largest = x[0], sum_w = weights[0], sum_x = weights[0] * x[0];
  for (int i = 1; i < kRun; ++i) {
    least = std::min(least, x[i]);
    largest = std::max(largest, x[i]);
    sum_w += weights[i];
    sum_x += weights[i] * x[i];
  }
  least = std::min(least, 0.0F);
  if (largest == least) return {.minimum = -least};
  Codes codes{};
  float offset = least;
  const auto choose_codes = [&](float inverse) {
    for (int i = 0; i < kRun; ++i) codes[i] = nearest_code(inverse * (x[i] - offset), kLargestCode);
  };
  float inverse = kLargestCode / (largest - least);
  float scale = 1 / inverse;
  choose_codes(inverse);
  float best = square_error(x, weights, codes, scale, offset);
  Codes best_codes = codes;
  for (int step = 0; step <= 20; ++step) {
    inverse = (-1.0F + 0.1F * static_cast<float>(step) + kLargestCode) / (largest - offset);
    choose_codes(inverse);
    float sum_c = 0, sum_cc = 0, sum_xc = 0;
    for (int i = 0; i < kRun; ++i) {
      const float c = codes[i], w = weights[i];
      sum_c += w * c;
      sum_cc += w * c * c;
      sum_xc += w * c * x[i];
    }
    const float determinant = sum_w * sum_cc - sum_c * sum_c;
    if (!(determinant > 0)) continue;
    float fitted_scale = (sum_w * sum_xc - sum_x * sum_c) / determinant;
    float fitted_offset = (sum_cc * sum_x - sum_c * sum_xc) / determinant;
    if (fitted_offset > 0) {
      fitted_offset = 0;
      fitted_scale = sum_xc / sum_cc;
    }
    const float error = square_error(x, weights, codes, fitted_scale, fitted_offset);
    if (!(error < best)) continue;
    best = error;
    best_codes = codes;
    scale = fitted_scale;
    offset = fitted_offset;
  }
  return {scale, -offset, best_codes};
}

/// Scales and minima of 6 bits: the first four in bytes 0 to 7, the low halves of the others in
/// bytes 8 to 11, and their high bits above the first ones.
void pack_scales(const std::array<std::uint8_t, kRuns>& scales,
                 const std::array<std::uint8_t, kRuns>& minima, std::uint8_t* packed) {
  for (int j = 0; j < 4; ++j) {
    packed[j] = static_cast<std::uint8_t>(scales[j] | scales[j + 4] >> 4 << 6);
    packed[j + 4] = static_cast<std::uint8_t>(minima[j] | minima[j + 4] >> 4 << 6);
    packed[j + 8] = static_cast<std::uint8_t>((scales[j + 4] & 15) | minima[j + 4] << 4);
  }
}

/// Stores a number as Float16, and returns the stored value.
float store_half(float value, std::uint8_t* at) {
  const std::uint16_t bits = f16_from_double(value);
  std::memcpy(at, &bits, sizeof bits);
  return static_cast<float>(f16_to_double(bits));
}

}  // namespace

bool encode_q4_k(const float* values, std::uint8_t* block) {
  std::array<FittedRun, kRuns> runs;
  float largest_scale = 0, largest_minimum = 0;
  for (int j = 0; j < kRuns; ++j) {
    runs[j] = fit_run(values + kRun * j);
    largest_scale = std::max(largest_scale, runs[j].scale);
    largest_minimum = std::max(largest_minimum, runs[j].minimum);
  }
  const auto inverse_of = [](float x) { return x > 0 ? kLargestScale / x : 0; };
  const float inverse_scale = inverse_of(largest_scale);
  const float inverse_minimum = inverse_of(largest_minimum);
  std::array<std::uint8_t, kRuns> scales{}, minima{};
  for (int j = 0; j < kRuns; ++j) {
    scales[j] = nearest_code(inverse_scale * runs[j].scale, kLargestScale);
    minima[j] = nearest_code(inverse_minimum * runs[j].minimum, kLargestScale);
  }
  const float unit = store_half(largest_scale / kLargestScale, block);
  const float minimum_unit = store_half(largest_minimum / kLargestScale, block + 2);
  if (!std::isfinite(unit) || !std::isfinite(minimum_unit)) return false;
  pack_scales(scales, minima, block + 4);
  for (int j = 0; j < kRuns; ++j) {
    const float scale = unit * scales[j], minimum = minimum_unit * minima[j];
    if (scale == 0) continue;  // then codes have no meaning
    for (int i = 0; i < kRun; ++i) {
      runs[j].codes[i] = nearest_code((values[kRun * j + i] + minimum) / scale, kLargestCode);
    }
  }
  for (int j = 0; j < kRuns; ++j) {
    std::uint8_t* at = block + 16 + kRun * (j / 2);
    for (int i = 0; i < kRun; ++i) {
      const std::uint8_t code = runs[j].codes[i];
      at[i] = static_cast<std::uint8_t>(j % 2 == 0 ? code : at[i] | code << 4);
    }
  }
  return true;
}

}  // namespace mir
