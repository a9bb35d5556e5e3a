// Upgrade step: infers options of convolutions, transforms and resampling.
#include <algorithm>
#include <optional>

#include "upgrade/steps/option_rules.hpp"
#include "upgrade/steps/piece_shape.hpp"

// Options of convolutions, transforms and resampling.

namespace mir {

namespace {

using Numbers = std::vector<std::int64_t>;

std::optional<Numbers> constants(std::span<const Dim> dims) {
  Numbers numbers;
  for (const Dim dim : dims) {
    if (!dim.is_constant() || dim.constant() < 0) return std::nullopt;
    numbers.push_back(dim.constant());
  }
  return numbers;
}

const Attr* list_of(IRContext& context, std::span<const std::int64_t> numbers) {
  std::vector<const Attr*> elements;
  for (const std::int64_t number : numbers) elements.push_back(context.integer(number));
  return context.array(elements);
}

/// A convolution as its printed types and its registered weight show it.
struct Window {
  Numbers in, out;  ///< extents of the spatial dimensions
  std::int64_t in_channels = 0, out_channels = 0;
  Numbers kernel;
  std::int64_t groups = 1;
  bool channels_last = false;
  bool kernel_is_certain = true;  ///< a register shows it
};

/// `[Kh, Kw, K, N]`, its channels last: how upstream keeps weights for its QNN kernels. As bytes,
/// or where it cannot be a kernel of the usual order.
bool is_channels_last(const Numbers& in, const Numbers& out, const Numbers& weight, bool bytes) {
  if (in.size() != 4 || weight.size() != 4) return false;
  const bool last = weight[2] == in[3] && weight[3] == out[3];
  const bool first =
      weight[0] == out[1] && weight[1] == in[1] && weight[2] <= in[2] && weight[3] <= in[3];
  return last && (bytes || !first);
}

/// Kernel of a weight that version 1 of the parameter files made flat: the window that covers all
/// of the input, where the result has one element a channel.
std::optional<Numbers> flat_kernel(const Window& window, std::int64_t elements) {
  std::int64_t taps = window.in_channels * window.out_channels;
  for (const std::int64_t extent : window.in) taps *= extent;
  const bool one = std::ranges::all_of(window.out, [](std::int64_t each) { return each == 1; });
  return one && taps == elements ? std::optional(window.in) : std::nullopt;
}

/// The recipe of a weight that no register states, at the op.
const Attr* recipe_at(const Recovery& recovery, const Op& op) {
  const Attr* note = op.attribute(key::kQuantRecipe);
  return note == nullptr ? nullptr : weight_recipe(recovery.context(), *note, ".weight");
}

/// Returns the kernel extents of QNN's kernel if the dump registers no weight, by a recipe in
/// blocks: channels last and a single tap, which keeps the extents.
std::optional<Numbers> weight_by_recipe(Recovery& recovery, const Op& op) {
  const Attr* recipe = op.is(OpId::kLinalgConv2D) ? recipe_at(recovery, op) : nullptr;
  const auto in = constants(op.operand(0)->tensor_type()->dims());
  const auto out = constants(op.result()->tensor_type()->dims());
  if (recipe == nullptr || !in || !out || in->size() != 4 || out->size() != 4) return std::nullopt;
  const bool blocks = has_two_levels(read_quant_spec(*recipe));
  if (!blocks || !std::equal(in->begin(), in->end() - 1, out->begin())) return std::nullopt;
  return Numbers{1, 1, in->back(), out->back()};
}

std::optional<Window> read_window(Recovery& recovery, const Op& op) {
  const auto in = constants(op.operand(0)->tensor_type()->dims());
  const auto out = constants(op.result()->tensor_type()->dims());
  const TensorType* registered = parameter_of(recovery, op, ".weight");
  const auto weight =
      registered == nullptr ? weight_by_recipe(recovery, op) : constants(registered->dims());
  if (!in || !out || !weight || in->size() != out->size() || in->size() < 3) return std::nullopt;
  Window window;
  window.kernel_is_certain = registered != nullptr;
  const bool bytes = registered == nullptr || registered->dtype() == DType::kInt8;
  window.channels_last = is_channels_last(*in, *out, *weight, bytes);
  const auto spatial = [&](const Numbers& all) {
    return window.channels_last ? Numbers(all.begin() + 1, all.end() - 1)
                                : Numbers(all.begin() + 2, all.end());
  };
  window.in = spatial(*in), window.out = spatial(*out);
  window.in_channels = window.channels_last ? in->back() : (*in)[1];
  window.out_channels = window.channels_last ? out->back() : (*out)[1];
  if (window.channels_last) {
    window.kernel = {(*weight)[0], (*weight)[1]};
  } else if (weight->size() == in->size() && (*weight)[0] == window.out_channels &&
             (*weight)[1] > 0 && window.in_channels % (*weight)[1] == 0) {
    window.kernel.assign(weight->begin() + 2, weight->end());
    window.groups = window.in_channels / (*weight)[1];
  } else if (weight->size() == 1) {
    auto kernel = flat_kernel(window, weight->front());
    if (!kernel) return std::nullopt;
    window.kernel = *std::move(kernel);
    window.kernel_is_certain = op.is(OpId::kLinalgConv3D);  // the others may have margins
  } else {
    return std::nullopt;
  }
  return window;
}

/// Steps and margins of one dimension.
struct Steps {
  std::int64_t stride, padding;
};

/// Returns the steps by which windows of `kernel` on `in` give `out`, likely readings first:
/// windows side by side, then as many elements as before, then every step with half a kernel or no
/// padding.
std::vector<Steps> readings(std::int64_t in, std::int64_t out, std::int64_t kernel, bool pads) {
  std::vector<Steps> list;
  const auto add = [&](std::int64_t stride, std::int64_t padding) {
    const std::int64_t room = in + 2 * padding - kernel;
    if (stride < 1 || room < 0 || room / stride + 1 != out || (padding != 0 && !pads)) return;
    const auto same = [&](const Steps& each) {
      return each.stride == stride && each.padding == padding;
    };
    if (std::ranges::none_of(list, same)) list.push_back({stride, padding});
  };
  add(kernel, 0);
  add(1, (kernel - 1) / 2);
  for (std::int64_t stride = 1; stride <= kernel; ++stride) {
    add(stride, (kernel - 1) / 2);
    add(stride, 0);
  }
  return list;
}

/// A window that covers its whole input takes no step, so its stride has no meaning, unless there
/// may be a margin around; one of a single tap that gives as many elements takes each. What else
/// fits may have been otherwise.
bool is_certain(std::int64_t in, std::int64_t kernel, const Steps& steps, bool pads) {
  return kernel == 1 ? steps.stride == 1 : in == kernel && !pads;
}

void set_steps(Recovery& recovery, Op& op, const Window& window) {
  const bool one = op.is(OpId::kLinalgConv1D), pads = !op.is(OpId::kLinalgConv3D);
  Numbers strides, paddings;
  bool certain = true;
  for (std::size_t i = 0; i < window.in.size(); ++i) {
    const auto list = readings(window.in[i], window.out[i], window.kernel[i], pads);
    if (list.empty()) {
      return recovery.refuse_grantable(op, "stride, padding", "upstream does not print them");
    }
    strides.push_back(list.front().stride);
    paddings.push_back(list.front().padding);
    certain = certain && is_certain(window.in[i], window.kernel[i], list.front(), pads);
  }
  IRContext& context = recovery.context();
  const auto value = [&](const Numbers& numbers) {
    return one ? context.integer(numbers.front()) : list_of(context, numbers);
  };
  const auto give = certain ? &Recovery::derive : &Recovery::assume;
  (recovery.*give)(op, key::kStride, value(strides));
  if (pads) (recovery.*give)(op, key::kPadding, value(paddings));
  const bool wide = std::ranges::any_of(window.kernel, [](std::int64_t k) { return k != 1; });
  if (pads && wide) recovery.assume(op, key::kDilation, value(Numbers(window.kernel.size(), 1)));
}

/// How upstream's QNN kernels name themselves: by the block of their weight's scales. Where no
/// recipe tells it, the first of upstream's blocks that divides the channels.
void set_lpbq_name(Recovery& recovery, Op& op, std::int64_t channels) {
  const auto name = [&](std::int64_t block) {
    return recovery.context().word(fmt::format("QNN_LPBQ_w4a16o16_G{}", block));
  };
  const auto found =
      recovery.module.lookup_symbol(fmt::format("{}.weight", recovery.text(op.path())));
  const Attr* spec =
      found.value == nullptr ? recipe_at(recovery, op) : found.value->attribute(key::kQuantRecipe);
  if (spec != nullptr && spec->kind() == AttrKind::kQuantSpec) {
    if (const auto size = read_quant_spec(*spec).integer("block_size")) {
      return recovery.derive(op, key::kImplType, name(*size));
    }
  }
  for (const std::int64_t block : {32, 64, 16}) {
    if (channels % block == 0) return recovery.assume(op, key::kImplType, name(block));
  }
  recovery.refuse_grantable(op, key::kImplType,
                            fmt::format("no block of 16, 32 or 64 divides {} channels", channels));
}

/// Steps between frames that may have been: upstream's own choice, and those that use up the
/// signal.
Numbers likely_hops(const Op& op, bool inverse, std::int64_t n_fft, std::int64_t window) {
  const PieceShape spectrum = shape_of(inverse ? *op.operand(0) : *op.result());
  const PieceShape signal = shape_of(inverse ? *op.result() : *op.operand(0));
  Numbers hops{n_fft / 4};
  if (!spectrum[2].is_constant() || signal.empty() || !signal.back().is_constant()) return hops;
  const std::int64_t frames = spectrum[2].constant(), length = signal.back().constant();
  const auto add = [&](std::int64_t samples, std::int64_t steps) {
    if (steps > 0 && samples > 0 && samples % steps == 0) hops.push_back(samples / steps);
  };
  add(length, frames - 1);  // centred, a window as long as the transform
  add(length + 2 * (n_fft / 2) - window, frames - 1);
  add(length - window, frames - 1);
  add(length, frames);
  return hops;
}

/// Upstream writes all options of Conv1D but this one: taps side by side, where that gives what is
/// printed, else the least distance that does.
void assume_dilation(Recovery& recovery, Op& op) {
  if (Recovery::is_stated(op, key::kDilation)) return;
  const auto number = [&](AttrKey key) {
    const Attr* stated = op.attribute(key);
    const bool known = stated != nullptr && stated->kind() == AttrKind::kInt;
    return known ? stated->integer() : std::int64_t{0};
  };
  const std::int64_t stride = std::max<std::int64_t>(number(key::kStride), 1),
                     kernel = number(key::kKernelSize);
  const auto in = constants(op.operand(0)->tensor_type()->dims());
  const auto out = constants(op.result()->tensor_type()->dims());
  std::int64_t dilation = 1;
  if (in && out && !in->empty() && !out->empty() && kernel > 1) {
    const std::int64_t length = in->back() + 2 * number(key::kPadding);
    const auto gives = [&](std::int64_t d) {
      const std::int64_t room = length - d * (kernel - 1) - 1;
      return room >= 0 && room / stride + 1 == out->back();
    };
    std::int64_t fitting = 1;
    while (fitting * (kernel - 1) < length && !gives(fitting)) ++fitting;
    if (gives(fitting)) dilation = fitting;
  }
  recovery.assume(op, key::kDilation, recovery.context().integer(dilation));
}

}  // namespace

void convolution(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  // Upstream registers a bias after the weight; where there is none, nothing was loaded.
  const bool with_bias = parameter_of(recovery, op, ".bias") != nullptr;
  const bool registered = with_bias || parameter_of(recovery, op, ".weight") != nullptr;
  const auto give_bias = registered ? &Recovery::derive : &Recovery::assume;
  (recovery.*give_bias)(op, key::kBias, context.boolean(with_bias));
  const bool one = op.is(OpId::kLinalgConv1D);
  const bool stated =
      Recovery::is_stated(op, key::kStride) && Recovery::is_stated(op, key::kKernelSize);
  if (stated) {
    if (one) assume_dilation(recovery, op);
    return;
  }
  const auto window = read_window(recovery, op);
  if (!window) {
    return recovery.refuse_grantable(op, key::kKernelSize, "its weight does not show its kernel");
  }
  recovery.derive(op, key::kInChannels, context.integer(window->in_channels));
  recovery.derive(op, key::kOutChannels, context.integer(window->out_channels));
  const auto give = window->kernel_is_certain ? &Recovery::derive : &Recovery::assume;
  (recovery.*give)(
      op, key::kKernelSize,
      one ? context.integer(window->kernel.front()) : list_of(context, window->kernel));
  if (one) (recovery.*give)(op, key::kGroups, context.integer(window->groups));
  if (window->channels_last) set_lpbq_name(recovery, op, window->in_channels);
  set_steps(recovery, op, *window);
}

void transform(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  const bool inverse = op.is(OpId::kLinalgISTFT);
  const PieceShape spectrum = shape_of(inverse ? *op.operand(0) : *op.result());
  const PieceShape window = shape_of(*op.operand(1));
  const bool known = spectrum.size() >= 3 && spectrum[1].is_constant() &&
                     spectrum[1].constant() > 1 && !window.empty() && window.back().is_constant();
  if (!known) return recovery.refuse_grantable(op, key::kNFft, "the types do not tell it");
  const std::int64_t n_fft = (spectrum[1].constant() - 1) * 2;
  // Half of the spectrum is printed, unless the transform was not of a real signal; a window of
  // that length says that it is so.
  const bool certain = window.back().constant() == n_fft;
  const auto give = certain ? &Recovery::derive : &Recovery::assume;
  (recovery.*give)(op, key::kNFft, context.integer(n_fft));
  recovery.derive(op, key::kWinLength, context.integer(window.back().constant()));
  if (!inverse) recovery.derive(op, key::kReturnComplex, context.boolean(spectrum.size() == 3));
  std::vector<OptionCandidate> candidates;
  for (const std::int64_t hop : likely_hops(op, inverse, n_fft, window.back().constant())) {
    const Attr* const length = context.integer(hop);
    for (const bool center : {true, false}) {
      candidates.push_back({{key::kHopLength, length}, {key::kCenter, context.boolean(center)}});
    }
    if (!inverse) continue;
    candidates.push_back({{key::kHopLength, length},
                          {key::kCenter, context.boolean(false)},
                          {key::kPadMode, context.word("same")}});
  }
  choose_options(recovery, op, candidates, "hop_length, center", Candidates::kLikely);
  recovery.assume(op, key::kOnesided, context.boolean(true));
  recovery.assume(op, key::kPadMode, context.word("reflect"));
  if (inverse) recovery.assume(op, key::kNormalized, context.boolean(false));
}

void interpolate(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  const PieceShape out = shape_of(*op.result());
  if (out.size() < 3) return recovery.refuse(op, key::kSize, "rank below 3");
  std::vector<const Attr*> extents;
  for (std::size_t i = 2; i < out.size(); ++i) extents.push_back(context.dim(out[i]));
  recovery.derive(op, key::kSize, context.array(extents));
  recovery.assume(op, key::kMode, context.word("nearest"));
  recovery.assume(op, key::kAlignCorners, context.boolean(false));
  recovery.assume(op, key::kAntialias, context.boolean(false));
}

}  // namespace mir
