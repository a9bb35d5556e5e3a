// Short-time Fourier transforms. Complex numbers are pairs (re, im) along a last dimension of 2.
//
// Operands are of floating types, each of its own. N = n_fft, H =
// hop_length, W = win_length, the extent of the window, at most N. Twiddle factors are exact at
// quarter turns and else within 2^-51; transforms are direct sums in double in index order.
#pragma once

#include "kernels/ref/pad.hpp"

namespace mir::ref {

struct StftOptions {
  std::int64_t n_fft = 0;       ///< 1 or more
  std::int64_t hop_length = 0;  ///< 1 or more
  bool center = false;          ///< the signal has a margin of floor(N / 2) on both sides first
  PadMode margin = PadMode::kReflect;  ///< contents of the margin; kConstant: zeros
};

/// spec[b, k, f] = sum_n x[b, f H + n] window[n] e^(-2 pi i k n / N), n < W, over the signal [B, T]
/// with its margins. spec is [B, floor(N / 2) + 1, 1 + floor((T' - W) / H), 2] with T' the length
/// with margins. |error| <= 2^-49 sum_n |x window| + 0.5 ULP. A signal without elements has no
/// margin to reflect.
Result<void> stft(const View& signal, const View& window, const StftOptions& options,
                  const MutableView& spec);

struct IstftOptions {
  std::int64_t n_fft = 0;       ///< 1 or more
  std::int64_t hop_length = 0;  ///< 1 or more
  std::int64_t cut = 0;         ///< samples dropped at the front, 0 or more
  bool normalized = false;      ///< divides by N once more
};

/// Frame f of [B, floor(N / 2) + 1, F, 2] is x_f[n] = 1/N Re sum_k X[k] e^(2 pi i k n / N) over the
/// N values that X is half of, conjugates for the rest; the imaginary parts of X[0] and, for even
/// N, X[N / 2] have no say. Then
///   y[t] = sum_f x_f[t - f H] window[t - f H] / s[t]    s[t] = sum_f window[t - f H]^2
/// where s[t] exceeds 1e-10; elsewhere the sum is not divided. signal[b, i] = y[i + cut], as far as
/// frames reach; 0 after them. |error| <= 2^-49 F (sum |X window|) / s + 0.5 ULP.
Result<void> istft(const View& spec, const View& window, const IstftOptions& options,
                   const MutableView& signal);

}  // namespace mir::ref
