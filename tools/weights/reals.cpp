#include "reals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mir/files/blocks.hpp"
#include "mir/files/elements.hpp"

namespace mir::tools {

Result<std::optional<Tensor>> as_reals(const Tensor& tensor) {
  if (is_decodable_block(tensor.dtype())) {
    auto values = dequantise(tensor);
    if (!values) return std::move(values).error();
    return std::optional(*std::move(values));
  }
  const bool real = tensor.dtype() != DType::kByte && is_real(storage_type(tensor.dtype()));
  return real ? std::optional(tensor) : std::nullopt;
}

Statistics statistics(const Tensor& reals) {
  Statistics result;
  result.elements = reals.elements();
  double sum = 0;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const double value = element_as_double(reals, i);
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? result.nans : result.infinities);
      continue;
    }
    if (value == 0) ++result.zeros;
    sum += value;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const auto finite = static_cast<double>(result.elements - result.nans - result.infinities);
  if (finite == 0) return result;
  result.minimum = lowest;
  result.maximum = highest;
  result.mean = sum / finite;
  double squares = 0;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const double distance = element_as_double(reals, i) - result.mean;
    if (std::isfinite(distance)) squares += distance * distance;
  }
  result.deviation = std::sqrt(squares / finite);
  return result;
}

Accuracy accuracy(const Tensor& original, const Tensor& changed) {
  Accuracy result;
  double errors = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < original.elements(); ++i) {
    const double before = element_as_double(original, i);
    const double after = element_as_double(changed, i);
    // Equal infinities are no error, and neither is a NaN that stays one.
    const bool same = before == after || (std::isnan(before) && std::isnan(after));
    const double error = same ? 0 : std::fabs(after - before);
    result.max_error = std::isnan(error) ? error : std::max(result.max_error, error);
    errors += error * error;
    if (std::isfinite(before)) squares += before * before;
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(original.elements(), 1));
  result.rms_error = std::sqrt(errors / count);
  result.relative = errors == 0 ? 0 : std::sqrt(errors / squares);
  return result;
}

}  // namespace mir::tools
