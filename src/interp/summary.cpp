#include "mir/interp/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mir/files/elements.hpp"

namespace mir {

std::uint64_t hash_bytes(const Tensor& tensor) {
  return XXH64(tensor.bytes().data(), tensor.bytes().size(), 0);
}

TensorSummary summarise(const Tensor& tensor) {
  TensorSummary summary{.dtype = tensor.dtype(), .shape = tensor.shape()};
  summary.hash = hash_bytes(tensor);
  summary.real = is_real(storage_type(tensor.dtype()));
  if (!summary.real) return summary;
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
  double finite = 0, finite_mean = 0, squares = 0;  // deviations after Welford
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = element_as_double(tensor, i);
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
    summary.zeros += value == 0;
    if (std::isinf(value)) {
      ++summary.infinities;
      continue;
    }
    const double from_old = value - finite_mean;
    finite_mean += from_old / ++finite;
    squares += from_old * (value - finite_mean);
  }
  if (finite > 0) summary.deviation = std::sqrt(squares / finite);
  const std::int64_t counted = tensor.elements() - summary.nans;
  if (counted == 0) return summary;
  summary.min = min;
  summary.max = max;
  summary.mean = sum / static_cast<double>(counted);
  return summary;
}

std::string render(const TensorSummary& summary) {
  std::string text = fmt::format("{} [{}]", name_of(summary.dtype), fmt::join(summary.shape, ", "));
  if (summary.real) {
    text += fmt::format(", min {:.6g}, max {:.6g}, mean {:.6g}", summary.min, summary.max,
                        summary.mean);
  }
  if (summary.nans > 0) text += fmt::format(", {} NaN", summary.nans);
  if (summary.infinities > 0) text += fmt::format(", {} infinite", summary.infinities);
  return text + fmt::format(", hash {:016x}", summary.hash);
}

Result<std::vector<RankedElement>> top_elements(const Tensor& tensor, std::size_t count) {
  const bool has_row = tensor.rank() > 0 && tensor.elements() > 0;
  if (!has_row || !is_real(storage_type(tensor.dtype()))) {
    return Error{DiagCode::kTensorTypeConflict,
                 fmt::format("{} [{}] has no row of numbers to rank", name_of(tensor.dtype()),
                             fmt::join(tensor.shape(), ", "))};
  }
  const std::int64_t width = tensor.shape().back();
  std::vector<RankedElement> row;
  for (std::int64_t i = 0; i < width; ++i) {
    row.push_back({i, element_as_double(tensor, tensor.elements() - width + i)});
  }
  const auto key = [](double value) {
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  const auto before = [&](const RankedElement& a, const RankedElement& b) {
    if (key(a.value) != key(b.value)) return key(a.value) > key(b.value);
    if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
    return a.index < b.index;
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, row.size()));
  std::partial_sort(row.begin(), row.begin() + kept, row.end(), before);
  row.resize(static_cast<std::size_t>(kept));
  return row;
}

}  // namespace mir
