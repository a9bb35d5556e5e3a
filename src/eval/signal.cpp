// Evaluators of short-time Fourier transforms.
#include "kernels/ref/signal.hpp"

#include "eval/evaluators.hpp"
#include "mir/linalg_ops.hpp"

namespace mir::eval {

namespace {

/// Complex elements as pairs along a last dimension; a view of pairs as it is.
template <class AnyView>
AnyView pairs(EvalCall& call, const AnyView& view) {
  const bool single = view.dtype == DType::kComplexFP32;
  if (!single && view.dtype != DType::kComplexFP64) return view;
  ref::Dims extents(view.extents.begin(), view.extents.end());
  ref::Dims strides(view.strides.begin(), view.strides.end());
  for (std::int64_t& stride : strides) stride *= 2;
  extents.push_back(2);
  strides.push_back(1);
  return {single ? DType::kFloat32 : DType::kFloat64, view.data, call.keep(std::move(extents)),
          call.keep(std::move(strides))};
}

/// [n] or [1, n] as [n]; the reverse of it for a signal.
ref::View last_dimension(const ref::View& view) {
  return {view.dtype, view.data, view.extents.last(1), view.strides.last(1)};
}
ref::View as_rows(EvalCall& call, const ref::View& view) {
  if (view.rank() == 2) return view;
  const std::int64_t length = view.extents[0];
  return {view.dtype, view.data, call.keep({1, length}), call.keep({length, 1})};
}

std::int64_t hop_length(const EvalCall& call) {
  const std::int64_t stated = call.integer(key::kHopLength);
  return stated == 0 ? call.integer(key::kNFft) / 4 : stated;
}

}  // namespace

Result<void> stft(EvalCall& call) {
  const linalg::STFT options(call);
  const bool zeros = options.pad_mode() == "constant";
  return ref::stft(as_rows(call, call.in(0)), last_dimension(call.in(1)),
                   {.n_fft = options.n_fft(),
                    .hop_length = hop_length(call),
                    .center = options.center(),
                    .margin = zeros ? ref::PadMode::kConstant : ref::PadMode::kReflect},
                   pairs(call, call.out()));
}

Result<void> istft(EvalCall& call) {
  const linalg::ISTFT options(call);
  const ref::View window = last_dimension(call.in(1));
  const std::int64_t n_fft = options.n_fft();
  std::int64_t cut = options.center() ? n_fft / 2 : 0;
  if (options.pad_mode() == "same") cut += (window.extents[0] - hop_length(call)) / 2;
  return ref::istft(pairs(call, call.in(0)), window,
                    {.n_fft = n_fft,
                     .hop_length = hop_length(call),
                     .cut = cut,
                     .normalized = options.normalized()},
                    call.out());
}

}  // namespace mir::eval
