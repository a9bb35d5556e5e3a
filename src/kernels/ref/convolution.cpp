// Reference convolution in any number of spatial dimensions, with groups, strides and dilations.
#include "kernels/ref/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"

namespace mir::ref {
namespace {

using Values = std::vector<double>;

Values values_of(const View& view) {
  Values values(static_cast<std::size_t>(element_count(view)));
  read_values(view, values);
  return values;
}

/// Keeps products of options and extents far from the end of 64 bits.
constexpr std::int64_t kLargest = std::int64_t{1} << 30;

Result<void> check_options(std::size_t spatial, const ConvOptions& options) {
  const auto all = [&](const Dims& entries, std::int64_t low) {
    return entries.size() == spatial && std::ranges::all_of(entries, [low](std::int64_t entry) {
             return entry >= low && entry <= kLargest;
           });
  };
  if (all(options.stride, 1) && all(options.padding, 0) && all(options.dilation, 1) &&
      options.groups >= 1 && options.groups <= kLargest) {
    return {};
  }
  return attribute_error("conv", fmt::format("strides, paddings and dilations do not serve {} "
                                             "dimensions",
                                             spatial));
}

Result<void> check_extents(const View& x, const View& weight, const View* bias,
                           const ConvOptions& options, const View& out) {
  const bool channels_fit =
      x.extents[0] == out.extents[0] && x.extents[1] == weight.extents[1] * options.groups &&
      out.extents[1] == weight.extents[0] && weight.extents[0] % options.groups == 0;
  if (!channels_fit) return shape_error("conv", "channels of input, weight and result do not fit");
  if (bias != nullptr && (bias->rank() != 1 || bias->extents[0] != weight.extents[0])) {
    return shape_error("conv", "the bias does not have one element per output channel");
  }
  for (std::size_t i = 0; i + 2 < x.extents.size(); ++i) {
    const std::int64_t reach = options.dilation[i] * (weight.extents[i + 2] - 1) + 1;
    const std::int64_t room = x.extents[i + 2] + 2 * options.padding[i] - reach;
    if (weight.extents[i + 2] >= 1 && weight.extents[i + 2] <= kLargest && room >= 0 &&
        out.extents[i + 2] == room / options.stride[i] + 1) {
      continue;
    }
    return shape_error("conv",
                       fmt::format("a kernel of {} over {} does not give {}", weight.extents[i + 2],
                                   x.extents[i + 2], out.extents[i + 2]));
  }
  return {};
}

/// One plane of x under one plane of the weight, both row-major.
struct Window {
  std::span<const std::int64_t> x_extents;
  std::span<const std::int64_t> kernel;
  Dims x_strides;
  Dims kernel_strides;
  const ConvOptions& options;

  std::int64_t plane() const { return element_count({{}, nullptr, x_extents, {}}); }
  std::int64_t taps() const { return element_count({{}, nullptr, kernel, {}}); }

  /// Adds the products of all taps for the output at `place`.
  void add(double& sum, const double* x, const double* weight, std::span<const std::int64_t> place,
           std::size_t dim = 0) const {
    if (dim == kernel.size()) {
      sum += *x * *weight;
      return;
    }
    const std::int64_t first = place[dim] * options.stride[dim] - options.padding[dim];
    for (std::int64_t k = 0; k < kernel[dim]; ++k) {
      const std::int64_t at = first + k * options.dilation[dim];
      if (at < 0 || at >= x_extents[dim]) continue;
      add(sum, x + at * x_strides[dim], weight + k * kernel_strides[dim], place, dim + 1);
    }
  }
};

/// One output channel: `channels` planes of x under as many of the weight.
void run_channel(const Window& window, const double* x, const double* weight, std::int64_t channels,
                 double bias, std::span<const std::int64_t> places, Values& sums) {
  auto sum = sums.begin();
  for_each_index(places, [&](std::span<const std::int64_t> place) {
    *sum = 0;
    for (std::int64_t i = 0; i < channels; ++i) {
      window.add(*sum, x + i * window.plane(), weight + i * window.taps(), place);
    }
    *sum++ += bias;
  });
}

}  // namespace

Result<void> conv(const View& x, const View& weight, const View* bias, const ConvOptions& options,
                  const MutableView& out) {
  const View& offset = bias != nullptr ? *bias : weight;
  if (auto ok = check_floating("conv", {x, weight, offset, out}); !ok) return ok;
  if (x.rank() < 3 || weight.rank() != x.rank() || out.rank() != x.rank()) {
    return shape_error("conv",
                       fmt::format("ranks {} and {} to {}", x.rank(), weight.rank(), out.rank()));
  }
  const std::size_t spatial = x.extents.size() - 2;
  if (auto ok = check_options(spatial, options); !ok) return ok;
  if (auto ok = check_extents(x, weight, bias, options, out); !ok) return ok;
  if (element_count(out) == 0) return {};

  const Window window{x.extents.subspan(2), weight.extents.subspan(2),
                      row_major_strides(x.extents.subspan(2)),
                      row_major_strides(weight.extents.subspan(2)), options};
  const auto places = out.extents.subspan(2);
  const std::int64_t channels = weight.extents[1];
  const std::int64_t per_group = weight.extents[0] / options.groups;
  const Values weights = values_of(weight);
  const Values offsets =
      bias != nullptr ? values_of(*bias) : Values(static_cast<std::size_t>(weight.extents[0]));
  Values sums(static_cast<std::size_t>(element_count({{}, nullptr, places, {}})));
  for (std::int64_t b = 0; b < x.extents[0]; ++b) {
    const Values image = values_of(sub_view(x, b * x.strides[0], 1, spatial + 1));
    for (std::int64_t o = 0; o < weight.extents[0]; ++o) {
      run_channel(window, image.data() + o / per_group * channels * window.plane(),
                  weights.data() + o * channels * window.taps(), channels,
                  offsets[static_cast<std::size_t>(o)], places, sums);
      write_values(sub_view(out, b * out.strides[0] + o * out.strides[1], 2, spatial), sums);
    }
  }
  return {};
}

}  // namespace mir::ref
