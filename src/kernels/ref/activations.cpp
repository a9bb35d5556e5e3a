// Rounds activations to 8-bit codes in runs of 32, as products with block weights take them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"
#include "kernels/ref/quantise.hpp"

namespace mir::ref {
namespace {

/// A run of a row in place.
void round_run(std::span<double> run) {
  float largest = 0;
  bool is_finite = true;
  for (const double value : run) {
    const float x = static_cast<float>(value);
    is_finite = is_finite && std::isfinite(x);
    largest = std::max(largest, std::fabs(x));
  }
  const float d = largest / 127;
  for (double& value : run) {
    if (!is_finite) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (d == 0) {
      value = 0;
    } else {
      // Beyond 127 only where d is subnormal and so far from largest / 127.
      const float code = std::clamp(static_cast<float>(value) / d, -127.0F, 127.0F);
      constexpr float kThreeHalvesOf2To23 = 0x1.8p23F;
      value = static_cast<double>(d) *
              static_cast<double>((code + kThreeHalvesOf2To23) - kThreeHalvesOf2To23);
    }
  }
}

}  // namespace

Result<void> round_activations(const View& x, const MutableView& out) {
  constexpr std::string_view kKernel = "round_activations";
  if (auto ok = check_floating(kKernel, {x, out}); !ok) return ok;
  if (auto ok = check_same_extents(kKernel, x, out); !ok) return ok;
  if (x.rank() < 1) return shape_error(kKernel, "a scalar has no rows");
  if (element_count(x) == 0) return {};
  const std::size_t outer = x.extents.size() - 1;
  std::vector<double> row(static_cast<std::size_t>(x.extents.back()));
  for_each_offset<2>(
      x.extents.first(outer), {x.strides.first(outer), out.strides.first(outer)},
      [&](Offsets<2> at) {
        read_values(sub_view(x, at[0], outer, 1), row);
        for (std::size_t i = 0; i < row.size(); i += kActivationRun) {
          const std::size_t left = row.size() - i;
          round_run(std::span(row).subspan(i, std::min<std::size_t>(kActivationRun, left)));
        }
        write_values(sub_view(out, at[1], outer, 1), row);
      });
  return {};
}

}  // namespace mir::ref
