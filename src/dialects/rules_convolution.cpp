// Rules of convolutions, interpolation and Fourier transforms.
#include <cmath>
#include <tuple>

#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

using Numbers = std::vector<std::int64_t>;

/// The attribute as `count` integers, each at least `low`; `otherwise` for an absent one, none for
/// an absent one without a default.
struct Taps {
  std::optional<Numbers> values;
  bool good = true;
};

Taps read_taps(InferContext& op, AttrKey key, std::size_t count, std::int64_t low,
               std::optional<std::int64_t> otherwise) {
  Taps taps;
  const Attr* found = op.attribute(key);
  if (found == nullptr) {
    if (otherwise) taps.values = Numbers(count, *otherwise);
    return taps;
  }
  if (count == 1 && found->kind() == AttrKind::kInt) {
    taps.values = Numbers{found->integer()};
  } else {
    taps.values = op.integers(key);
  }
  taps.good = taps.values.has_value();
  if (!taps.good) return taps;
  taps.good = taps.values->size() == count;
  for (const std::int64_t value : *taps.values) taps.good = taps.good && value >= low;
  if (!taps.good) {
    op.fail_at(key, diag::kAttributeOutOfRange,
               fmt::format("'{}' of '{}' is {}, expected {} of {} or more", key.text, op.op_name(),
                           found->spelling(),
                           count == 1 ? "an integer" : fmt::format("{} integers", count), low));
  }
  return taps;
}

/// floor((in + 2 pad - dilation (kernel - 1) - 1) / stride) + 1.
Dim window_count(InferContext& op, Dim in, std::int64_t pad, std::int64_t dilation,
                 std::int64_t kernel, std::int64_t stride) {
  ExtentMath& dims = op.extents();
  const Dim reach = dims.add(dims.multiply(Dim(dilation), Dim(kernel - 1)), Dim(1));
  const Dim padded = dims.add(in, dims.multiply(Dim(2), Dim(pad)));
  return dims.add(dims.floor_divide(dims.subtract(padded, reach), Dim(stride)), Dim(1));
}

/// The rule of all convolutions over `spatial` dimensions, channels first or last.
bool convolve(InferContext& op, std::size_t spatial, bool channels_last,
              std::optional<DType> dtype) {
  op.constraint("conv_1d_c1");
  const TensorType* x = ranked(op, 0, spatial + 2);
  if (x == nullptr || !takes(op, 0, *x, Elements::kFloating)) return false;
  Shape shape = shape_of(*x);
  const std::size_t channel = channels_last ? spatial + 1 : 1, first = channels_last ? 1 : 2;
  op.constraint("conv_1d_c2");
  const auto out = extent_or_unknown(op, key::kOutChannels);
  if (!out || !expect_attribute(op, key::kInChannels, 0, shape, channel)) return false;
  op.constraint("conv_1d_c3");
  const auto groups = integer_at_least(op, key::kGroups, 1, 1);
  if (!groups) return false;
  if (!expect_divisor(op, "groups that divide in_channels", shape[channel], Dim(*groups)) ||
      !expect_divisor(op, "groups that divide out_channels", *out, Dim(*groups))) {
    return false;
  }
  op.constraint("conv_1d_c4");
  const Taps kernel = read_taps(op, key::kKernelSize, spatial, 1, std::nullopt);
  const Taps stride = read_taps(op, key::kStride, spatial, 1, 1);
  const Taps padding = read_taps(op, key::kPadding, spatial, 0, 0);
  const Taps dilation = read_taps(op, key::kDilation, spatial, 1, 1);
  if (!kernel.good || !stride.good || !padding.good || !dilation.good) return false;
  op.constraint("conv_1d_c5");
  shape[channel] = *out;
  for (std::size_t i = 0; i < spatial; ++i) {
    Dim& extent = shape[first + i];
    if (!kernel.values) {
      extent = Dim::unknown();
      continue;
    }
    const Dim in = extent;
    extent = window_count(op, in, (*padding.values)[i], (*dilation.values)[i], (*kernel.values)[i],
                          (*stride.values)[i]);
    if (!op.may_be_at_least(extent, Dim(1))) {
      return mismatch(op, diag::kShapeMismatch,
                      fmt::format("an extent that holds the kernel of {} in dimension {}",
                                  (*kernel.values)[i], first + i),
                      show(op, in));
    }
  }
  return dtype ? give(op, shape, *dtype, *x) : give(op, std::move(shape), *x);
}

struct Frames {
  std::int64_t n_fft, hop, window;
  bool center;
};

std::optional<Frames> read_frames(InferContext& op) {
  op.constraint("stft_c2");
  const auto n_fft = required_integer(op, key::kNFft);
  const auto hop = integer_or(op, key::kHopLength, 0);
  const auto window = integer_at_least(op, key::kWinLength, 0, 0);
  const auto center = boolean_or(op, key::kCenter, false);
  const auto onesided = boolean_or(op, key::kOnesided, true);
  if (!n_fft || !hop || !window || !center || !onesided) return std::nullopt;
  if (!expect_boolean(op, key::kOnesided, *onesided, true)) return std::nullopt;
  constexpr std::int64_t kLongest = std::int64_t{1} << 30;
  for (const auto& [key, value, low] :
       {std::tuple(key::kNFft, *n_fft, 4), std::tuple(key::kHopLength, *hop, 0)}) {
    if (value >= low && value <= kLongest) continue;
    op.fail_at(key, diag::kAttributeOutOfRange,
               fmt::format("'{}' of '{}' is {}, expected {} to {}", key.text, op.op_name(), value,
                           low, kLongest));
    return std::nullopt;
  }
  return Frames{*n_fft, *hop == 0 ? *n_fft / 4 : *hop,
                *window == 0 || *window > *n_fft ? *n_fft : *window, *center};
}

bool expect_window(InferContext& op, const Frames& frames) {
  op.constraint("stft_c3");
  const TensorType* window = ranked(op, 1, 1, 2);
  if (window == nullptr || !takes(op, 1, *window, Elements::kFloating)) return false;
  const Shape shape = shape_of(*window);
  return (shape.size() == 1 || expect_extent(op, 1, shape, 0, Dim(1), "one window, in rows")) &&
         expect_extent(op, 1, shape, shape.size() - 1, Dim(frames.window),
                       "a window of win_length");
}

}  // namespace

bool conv_1d(InferContext& op) {
  return convolve(op, 1, false, std::nullopt);
}

bool conv_2d(InferContext& op) {
  const auto impl_type = string_or(op, key::kImplType, "Default");
  if (!impl_type) return false;
  const bool quantised = impl_type->starts_with("QNN_LPBQ_");
  return convolve(op, 2, quantised,
                  quantised ? std::optional(DType::kUInt16PerTensor) : std::nullopt);
}

bool conv_3d(InferContext& op) {
  return convolve(op, 3, false, std::nullopt);
}

bool interpolate(InferContext& op) {
  op.constraint("interpolate_c1");
  const TensorType* x = ranked(op, 0, 3, 5);
  if (x == nullptr || !takes(op, 0, *x, Elements::kFloating)) return false;
  op.constraint("interpolate_c2");
  const auto mode = string_or(op, key::kMode, "nearest");
  if (!mode || !expect_choice(op, key::kMode, *mode)) return false;
  Shape shape = shape_of(*x);
  const std::size_t rank = *mode == "linear"      ? 3
                           : *mode == "trilinear" ? 5
                           : *mode == "nearest"   ? shape.size()
                                                  : 4;
  op.constraint("interpolate_c1");
  if (ranked(op, 0, rank) == nullptr) return false;
  op.constraint("interpolate_c3");
  const bool by_size = op.attribute(key::kSize) != nullptr;
  const AttrKey key = by_size ? key::kSize : key::kScaleFactor;
  const Attr* target = op.attribute(key);
  if (target == nullptr) return true;
  if (target->kind() != AttrKind::kArray || target->elements().size() > rank - 2) {
    return op.fail_at(key, diag::kAttributeOutOfRange,
                      fmt::format("'{}' of '{}' is {}, expected an array of up to {} numbers",
                                  key.text, op.op_name(), target->spelling(), rank - 2));
  }
  for (const Dim extent : shape) op.run_needs_at_least(extent, Dim(1));
  const std::size_t first = rank - target->elements().size();
  for (std::size_t i = first; i < rank; ++i) {
    const Attr& element = *target->elements()[i - first];
    const bool is_number = element.kind() == AttrKind::kInt || element.kind() == AttrKind::kFloat;
    std::optional<Dim> extent = by_size ? as_extent(element) : std::nullopt;
    if (!by_size && is_number && element.number() > 0) {
      const Dim in = shape[i];
      const double scaled =
          in.is_constant() ? std::trunc(static_cast<double>(in.constant()) * element.number()) : 0;
      if (scaled < 0x1p62) {
        extent = in.is_constant() ? Dim(static_cast<std::int64_t>(scaled)) : Dim::unknown();
      }
    }
    if (!extent || extent->is_negative()) {
      return op.fail_at(
          key, diag::kAttributeOutOfRange,
          fmt::format("'{}' of '{}' has {}, expected a positive {}", key.text, op.op_name(),
                      element.spelling(), by_size ? "extent" : "factor"));
    }
    shape[i] = *extent;
  }
  return give(op, std::move(shape), *x);
}

bool stft(InferContext& op) {
  op.constraint("stft_c1");
  const TensorType* signal = ranked(op, 0, 1, 2);
  if (signal == nullptr || !takes(op, 0, *signal, Elements::kFloating)) return false;
  const auto frames = read_frames(op);
  if (!frames || !expect_window(op, *frames)) return false;
  op.constraint("stft_c4");
  const auto complex = boolean_or(op, key::kReturnComplex, false);
  const auto pad_mode = string_or(op, key::kPadMode, "reflect");
  if (!complex || !pad_mode || !expect_choice(op, key::kPadMode, *pad_mode)) return false;
  op.constraint("stft_c5");
  ExtentMath& dims = op.extents();
  const Shape shape = shape_of(*signal);
  if (frames->center && *pad_mode != "constant") op.run_needs_at_least(shape.back(), Dim(1));
  const Dim length = dims.add(shape.back(), Dim(frames->center ? 2 * (frames->n_fft / 2) : 0));
  const Dim count = dims.add(
      dims.floor_divide(dims.subtract(length, Dim(frames->window)), Dim(frames->hop)), Dim(1));
  if (!op.may_be_at_least(count, Dim(1))) {
    return mismatch(op, diag::kShapeMismatch,
                    fmt::format("a signal of at least one frame of {}", frames->window),
                    show(op, shape));
  }
  Shape out{shape.size() == 2 ? shape[0] : Dim(1), Dim(frames->n_fft / 2 + 1), count};
  if (*complex) return give(op, out, DType::kComplexFP32, *signal);
  out.emplace_back(2);
  return give(op, out, DType::kFloat32, *signal);
}

bool istft(InferContext& op) {
  op.constraint("istft_c1");
  const TensorType* spec = ranked(op, 0, 3, 4);
  if (spec == nullptr) return false;
  const auto frames = read_frames(op);
  if (!frames || !expect_window(op, *frames)) return false;
  op.constraint("istft_c3");
  const auto pad_mode = string_or(op, key::kPadMode, "reflect");
  if (!pad_mode || !expect_choice(op, key::kPadMode, *pad_mode) ||
      !boolean_or(op, key::kNormalized, false)) {
    return false;
  }
  const Shape shape = shape_of(*spec);
  op.constraint("istft_c1");
  if (spec->dtype() && is_complex(*spec) != (shape.size() == 3)) {
    return mismatch(op, diag::kDTypeMismatch, "complex [B, F, N] or real [B, F, N, 2]",
                    spec->spelling());
  }
  op.constraint("istft_c2");
  if (!expect_extent(op, 0, shape, 1, Dim(frames->n_fft / 2 + 1), "n_fft / 2 + 1 =") ||
      (shape.size() == 4 && !expect_extent(op, 0, shape, 3, Dim(2), "pairs, extent"))) {
    return false;
  }
  op.constraint("istft_c4");
  ExtentMath& dims = op.extents();
  std::int64_t cut = frames->center ? 2 * (frames->n_fft / 2) : 0;
  if (*pad_mode == "same") {
    op.constraint("istft_c5");
    if (frames->hop > frames->window) {
      return mismatch(op, diag::kAttributeOutOfRange,
                      fmt::format("a hop_length of up to {} with pad_mode same", frames->window),
                      fmt::to_string(frames->hop));
    }
    op.constraint("istft_c4");
    cut += 2 * ((frames->window - frames->hop) / 2);
  }
  const Dim steps = dims.multiply(dims.subtract(shape[2], Dim(1)), Dim(frames->hop));
  const Dim length = dims.add(steps, Dim(frames->n_fft - cut));
  if (!op.may_be_at_least(length, kZero)) {
    return mismatch(op, diag::kShapeMismatch, "enough frames for a signal", show(op, shape));
  }
  return give(op, {shape[0], length}, DType::kFloat32, *spec);
}

}  // namespace mir::rules
