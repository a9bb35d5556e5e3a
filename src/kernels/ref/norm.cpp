// Reference RMSNorm and LayerNorm over trailing dimensions.
#include "kernels/ref/norm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"
#include "kernels/ref/elementary.hpp"

namespace mir::ref {
namespace {

using Values = std::vector<double>;

/// All of an optional operand, or `count` times `otherwise`.
Values values_or(const View* view, std::size_t count, double otherwise) {
  Values values(count, otherwise);
  if (view != nullptr) read_values(*view, values);
  return values;
}

Result<void> check_parameter(std::string_view kernel, std::string_view name, const View* parameter,
                             std::span<const std::int64_t> extents) {
  if (parameter == nullptr) return {};
  if (auto ok = check_floating(kernel, {*parameter}); !ok) return ok;
  if (same_extents(parameter->extents, extents)) return {};
  return shape_error(kernel, fmt::format("the {} does not have the extents of a row", name));
}

/// Replaces each row, the trailing `row_dims` dimensions, by what `normalise` makes of it.
template <class Normalise>
void for_each_row(const View& x, const MutableView& out, std::size_t row_dims,
                  Normalise normalise) {
  const std::size_t outer = x.extents.size() - row_dims;
  if (element_count(x) == 0) return;
  Values row(static_cast<std::size_t>(element_count(sub_view(x, 0, outer, row_dims))));
  for_each_offset<2>(x.extents.first(outer), {x.strides.first(outer), out.strides.first(outer)},
                     [&](Offsets<2> at) {
                       read_values(sub_view(x, at[0], outer, row_dims), row);
                       normalise(row);
                       write_values(sub_view(out, at[1], outer, row_dims), row);
                     });
}

}  // namespace

Result<void> rms_norm(const View& x, const View* weight, const RmsNormOptions& options,
                      const MutableView& out) {
  if (auto ok = check_floating("rms_norm", {x, out}); !ok) return ok;
  if (auto ok = check_same_extents("rms_norm", x, out); !ok) return ok;
  if (x.rank() < 1) return shape_error("rms_norm", "a scalar has no rows");
  if (auto ok = check_parameter("rms_norm", "weight", weight, x.extents.last(1)); !ok) return ok;

  const auto width = static_cast<std::size_t>(x.extents.back());
  Values scale = values_or(weight, width, 1.0);
  if (weight != nullptr && options.add_unit_offset) {
    for (double& w : scale) w += 1.0;
  }
  for_each_row(x, out, 1, [&](Values& row) {
    double squares = 0;
    for (const double v : row) squares += v * v;
    const double factor = rsqrt(squares / static_cast<double>(width) + options.epsilon);
    for (std::size_t i = 0; i < width; ++i) row[i] = row[i] * factor * scale[i];
  });
  return {};
}

Result<void> layer_norm(const View& x, const View* weight, const View* bias,
                        const LayerNormOptions& options, const MutableView& out) {
  if (auto ok = check_floating("layer_norm", {x, out}); !ok) return ok;
  if (auto ok = check_same_extents("layer_norm", x, out); !ok) return ok;
  if (options.normalised_dims < 0 || options.normalised_dims > x.rank()) {
    return attribute_error("layer_norm", fmt::format("{} normalised dimensions of {}",
                                                     options.normalised_dims, x.rank()));
  }
  const auto row_dims = static_cast<std::size_t>(options.normalised_dims);
  const auto row_extents = x.extents.last(row_dims);
  if (auto ok = check_parameter("layer_norm", "weight", weight, row_extents); !ok) return ok;
  if (auto ok = check_parameter("layer_norm", "bias", bias, row_extents); !ok) return ok;

  const View one_row = sub_view(x, 0, x.extents.size() - row_dims, row_dims);
  const auto width = static_cast<std::size_t>(element_count(one_row));
  const Values scale = values_or(weight, width, 1.0);
  const Values shift = values_or(bias, width, 0.0);
  for_each_row(x, out, row_dims, [&](Values& row) {
    double sum = 0;
    for (const double v : row) sum += v;
    const double mean = sum / static_cast<double>(width);
    double squares = 0;
    for (double& v : row) {
      v -= mean;
      squares += v * v;
    }
    const double factor = rsqrt(squares / static_cast<double>(width) + options.epsilon);
    for (std::size_t i = 0; i < width; ++i) row[i] = row[i] * factor * scale[i] + shift[i];
  });
  return {};
}

}  // namespace mir::ref
