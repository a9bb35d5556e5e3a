// Short-time Fourier transform and its inverse, computed by the definition.
#include "kernels/ref/signal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"
#include "kernels/ref/elementary.hpp"

namespace mir::ref {
namespace {

using Values = std::vector<double>;
constexpr double kQuarterTurn = 1.57079632679489661923;
/// Keeps products of lengths far from the end of 64 bits.
constexpr std::int64_t kLongest = std::int64_t{1} << 30;

/// A point of the unit circle.
struct Phase {
  double cos;
  double sin;
};

/// e^(2 pi i m / n) for m = 0 .. n - 1.
std::vector<Phase> circle(std::int64_t n) {
  std::vector<Phase> phases;
  for (std::int64_t m = 0; m < n; ++m) {
    const std::int64_t quarter = 4 * m / n;
    const double angle =
        kQuarterTurn * (static_cast<double>(4 * m - quarter * n) / static_cast<double>(n));
    const double c = cos(angle), s = sin(angle);
    const Phase turned[] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}};
    phases.push_back(turned[quarter]);
  }
  return phases;
}

Values row_values(const View& view, std::int64_t offset, std::size_t dim) {
  Values values(static_cast<std::size_t>(view.extents[dim]));
  read_values(sub_view(view, offset, dim, 1), values);
  return values;
}

Result<void> check(std::string_view kernel, const View& window, std::int64_t n_fft,
                   std::int64_t hop_length) {
  if (window.rank() != 1) return shape_error(kernel, "the window is not a list");
  if (n_fft < 1 || n_fft > kLongest || hop_length < 1 || hop_length > kLongest) {
    return attribute_error(kernel, fmt::format("transforms of {} every {}", n_fft, hop_length));
  }
  if (window.extents[0] <= n_fft) return {};
  return shape_error(kernel,
                     fmt::format("a window of {} for transforms of {}", window.extents[0], n_fft));
}

/// The signal with its margins.
Values with_margins(const Values& signal, const StftOptions& options) {
  if (!options.center) return signal;
  const auto length = static_cast<std::int64_t>(signal.size());
  const std::int64_t margin = options.n_fft / 2;
  Values padded(static_cast<std::size_t>(length + 2 * margin), 0.0);
  for (std::int64_t i = 0; i < length + 2 * margin && length > 0; ++i) {
    const std::int64_t from = margin_index(options.margin, i - margin, length);
    if (from >= 0) padded[static_cast<std::size_t>(i)] = signal[static_cast<std::size_t>(from)];
  }
  return padded;
}

/// X[k] of samples, of which there are at most as many as phases.
std::array<double, 2> transform(const Values& samples, const std::vector<Phase>& phases,
                                std::size_t k) {
  double re = 0, im = 0;
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const Phase& phase = phases[k * n % phases.size()];
    re += samples[n] * phase.cos;
    im -= samples[n] * phase.sin;
  }
  return {re, im};
}

}  // namespace

Result<void> stft(const View& signal, const View& window, const StftOptions& options,
                  const MutableView& spec) {
  if (auto ok = check_floating("stft", {signal, window, spec}); !ok) return ok;
  if (auto ok = check("stft", window, options.n_fft, options.hop_length); !ok) return ok;
  if (signal.rank() != 2 || spec.rank() != 4) return shape_error("stft", "not rows of a signal");
  const std::int64_t length = signal.extents[1] + (options.center ? 2 * (options.n_fft / 2) : 0);
  const std::int64_t room = length - window.extents[0];
  const Dims expected{signal.extents[0], options.n_fft / 2 + 1,
                      room < 0 ? 0 : room / options.hop_length + 1, 2};
  if (!same_extents(spec.extents, expected)) {
    return shape_error("stft", "signal, window and result do not fit");
  }
  if (signal.extents[1] == 0 && options.center && options.margin != PadMode::kConstant) {
    return shape_error("stft", "no elements to make a margin of");
  }
  if (element_count(spec) == 0) return {};
  const std::vector<Phase> phases = circle(options.n_fft);
  const Values weights = row_values(window, 0, 0);
  Values samples(weights.size());
  for (std::int64_t b = 0; b < spec.extents[0]; ++b) {
    const Values row = with_margins(row_values(signal, b * signal.strides[0], 1), options);
    for (std::int64_t f = 0; f < spec.extents[2]; ++f) {
      const auto first = static_cast<std::size_t>(f * options.hop_length);
      for (std::size_t n = 0; n < samples.size(); ++n) samples[n] = row[first + n] * weights[n];
      for (std::int64_t k = 0; k < spec.extents[1]; ++k) {
        const std::int64_t at = b * spec.strides[0] + k * spec.strides[1] + f * spec.strides[2];
        write_values(sub_view(spec, at, 3, 1),
                     transform(samples, phases, static_cast<std::size_t>(k)));
      }
    }
  }
  return {};
}

namespace {

/// Sample n of the frame whose half spectrum is given as pairs, without the factor 1 / N.
double inverse(const Values& half, const std::vector<Phase>& phases, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; 2 * k < half.size(); ++k) {
    const Phase& phase = phases[k * n % phases.size()];
    const bool alone = k == 0 || 2 * k == phases.size();
    sum += alone ? half[2 * k] * phase.cos
                 : 2.0 * (half[2 * k] * phase.cos - half[2 * k + 1] * phase.sin);
  }
  return sum;
}

/// `length` samples of one row of the batch: frames added up and divided.
Values overlap_add(const View& spec, std::int64_t batch, const Values& window,
                   const std::vector<Phase>& phases, const IstftOptions& options,
                   std::int64_t length) {
  Values sums(static_cast<std::size_t>(length), 0.0), squares(sums);
  const auto count = static_cast<double>(options.n_fft);
  const Dims pair_extents{spec.extents[1], 2}, pair_strides{spec.strides[1], spec.strides[3]};
  Values half(static_cast<std::size_t>(spec.extents[1] * 2));
  for (std::int64_t f = 0; f < spec.extents[2]; ++f) {
    View pairs = sub_view(spec, batch * spec.strides[0] + f * spec.strides[2], 0, 0);
    pairs.extents = pair_extents;
    pairs.strides = pair_strides;
    read_values(pairs, half);
    for (std::size_t n = 0; n < window.size(); ++n) {
      const std::int64_t t = f * options.hop_length + static_cast<std::int64_t>(n) - options.cut;
      if (t < 0 || t >= length) continue;
      const double sample = inverse(half, phases, n) / count;
      sums[static_cast<std::size_t>(t)] +=
          (options.normalized ? sample / count : sample) * window[n];
      squares[static_cast<std::size_t>(t)] += window[n] * window[n];
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (squares[i] > 1e-10) sums[i] /= squares[i];
  }
  return sums;
}

}  // namespace

Result<void> istft(const View& spec, const View& window, const IstftOptions& options,
                   const MutableView& signal) {
  if (auto ok = check_floating("istft", {spec, window, signal}); !ok) return ok;
  if (auto ok = check("istft", window, options.n_fft, options.hop_length); !ok) return ok;
  if (options.cut < 0) return attribute_error("istft", fmt::format("{} samples cut", options.cut));
  if (spec.rank() != 4 || signal.rank() != 2 || spec.extents[0] != signal.extents[0] ||
      spec.extents[1] != options.n_fft / 2 + 1 || spec.extents[3] != 2) {
    return shape_error("istft", "transforms and signal do not fit");
  }
  const std::vector<Phase> phases = circle(element_count(spec) == 0 ? 0 : options.n_fft);
  const Values weights = row_values(window, 0, 0);
  for (std::int64_t b = 0; b < spec.extents[0]; ++b) {
    write_values(sub_view(signal, b * signal.strides[0], 1, 1),
                 overlap_add(spec, b, weights, phases, options, signal.extents[1]));
  }
  return {};
}

}  // namespace mir::ref
