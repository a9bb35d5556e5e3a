// Recomputes convolution results at the edges, where zero padding meets non-finite weights.
#include "kernels/fast/matrix/conv_edges.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/ref/numeric.hpp"

namespace mir::fast {
namespace {

using Spatial = ConvOperands::Spatial;

std::int64_t volume(const Spatial& extents) {
  return extents[0] * extents[1] * extents[2];
}

/// The element `number` of something with these extents, in row-major order.
Spatial place_of(std::int64_t number, const Spatial& extents) {
  const std::int64_t line = number / extents[2];
  return {line / extents[1], line % extents[1], number % extents[2]};
}

/// One output channel of one image.
class Channel {
 public:
  Channel(const ConvOperands& operands, std::int64_t image, std::int64_t channel)
      : o_(operands), taps_(volume(o_.kernel)) {
    const std::int64_t images = o_.groups * o_.inputs * volume(o_.x_extents);
    const std::int64_t group = channel / o_.outputs;
    x_ = o_.x + image * images + group * o_.inputs * volume(o_.x_extents);
    weight_ = o_.weight + channel * o_.inputs * taps_;
    bias_ = o_.bias == nullptr ? nullptr : o_.bias + channel;
    out_ = o_.out + (image * o_.groups * o_.outputs + channel) * volume(o_.out_extents);
  }

  bool is_finite() const {
    return std::all_of(weight_, weight_ + o_.inputs * taps_,
                       [](float value) { return std::isfinite(value); });
  }

  void sum_edges() const {
    for (std::int64_t number = 0; number < volume(o_.out_extents); ++number) {
      const Spatial first = first_tap(number);
      if (!is_edge(first)) continue;
      const float sum = ref::narrow_to_float(sum_inside(first));
      out_[number] = ref::narrow_to_float(bias_ == nullptr ? sum : sum + *bias_);
    }
  }

 private:
  Spatial first_tap(std::int64_t number) const {
    Spatial at = place_of(number, o_.out_extents);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = at[i] * o_.stride[i] - o_.padding[i];
    return at;
  }

  bool is_edge(const Spatial& first) const {
    for (std::size_t i = 0; i < first.size(); ++i) {
      const std::int64_t last = first[i] + o_.dilation[i] * (o_.kernel[i] - 1);
      if (first[i] < 0 || last >= o_.x_extents[i]) return true;
    }
    return false;
  }

  double sum_inside(const Spatial& first) const {
    double sum = 0;
    for (std::int64_t k = 0; k < o_.inputs * taps_; ++k) {
      Spatial at = place_of(k % taps_, o_.kernel);
      bool is_inside = true;
      for (std::size_t i = 0; i < at.size(); ++i) {
        at[i] = first[i] + at[i] * o_.dilation[i];
        is_inside = is_inside && at[i] >= 0 && at[i] < o_.x_extents[i];
      }
      if (!is_inside) continue;
      const std::int64_t line = (k / taps_ * o_.x_extents[0] + at[0]) * o_.x_extents[1] + at[1];
      sum += double{x_[line * o_.x_extents[2] + at[2]]} * double{weight_[k]};
    }
    return sum;
  }

  const ConvOperands& o_;
  std::int64_t taps_;
  const float* x_;
  const float* weight_;
  const float* bias_;
  float* out_;
};

}  // namespace

void sum_edges(const ConvOperands& operands, std::int64_t image, std::int64_t channel) {
  const Channel sums(operands, image, channel);
  if (!sums.is_finite()) sums.sum_edges();
}

}  // namespace mir::fast
