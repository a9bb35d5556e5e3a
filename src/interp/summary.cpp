// Computes hash, range, mean and deviation of a tensor, and its largest elements.
#include "interp/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "mir/codes/tensors.hpp"
#include "weights/elements.hpp"

namespace mir {

std::uint64_t hash_bytes(const Tensor& tensor) {
  return XXH64(tensor.bytes().data(), tensor.bytes().size(), 0);
}

namespace {

/// Count, mean and squared distances from the mean of finite numbers, block by block.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;

  /// Merges in the numbers among `values` that are finite: `finite` ones with this sum (Chan,
  /// Golub, LeVeque).
  void add(std::span<const double> values, double finite, double sum) {
    if (finite == 0) return;
    const double own_mean = sum / finite;
    double own_squares = 0;
    for (const double value : values) {
      const double distance = value - own_mean;
      if (std::isfinite(distance)) own_squares += distance * distance;
    }
    const double all = count + finite, apart = own_mean - mean;
    squares += own_squares + apart * apart * (count / all * finite);
    mean += apart * (finite / all);
    count = all;
  }
};

}  // namespace

TensorSummary summarise(const Tensor& tensor) {
  TensorSummary summary{.dtype = tensor.dtype(), .shape = tensor.shape()};
  summary.hash = hash_bytes(tensor);
  summary.real = is_real(storage_type(tensor.dtype()));
  if (!summary.real) return summary;
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
  Moments moments;
  std::array<double, 1024> room{};
  constexpr auto kRoom = static_cast<std::int64_t>(room.size());
  for (std::int64_t first = 0; first < tensor.elements(); first += kRoom) {
    const auto block =
        std::span(room).first(static_cast<std::size_t>(std::min(kRoom, tensor.elements() - first)));
    elements_as_doubles(tensor, first, block);
    double finite = 0, finite_sum = 0;
    for (const double value : block) {
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
      ++finite;
      finite_sum += value;
    }
    moments.add(block, finite, finite_sum);
  }
  if (moments.count > 0) summary.deviation = std::sqrt(moments.squares / moments.count);
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
    return Error{diag::kTensorTypeConflict,
                 fmt::format("{} [{}] has no row of numbers to rank", name_of(tensor.dtype()),
                             fmt::join(tensor.shape(), ", "))};
  }
  const std::int64_t width = tensor.shape().back();
  const std::int64_t first = tensor.elements() - width;
  std::vector<RankedElement> row;
  for (std::int64_t i = 0; i < width; ++i) {
    row.push_back({i, element_number(tensor, first + i)});
  }
  const auto before = [&](const RankedElement& a, const RankedElement& b) {
    return is_ranked_before(tensor, first + a.index, first + b.index);
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, row.size()));
  std::partial_sort(row.begin(), row.begin() + kept, row.end(), before);
  row.resize(static_cast<std::size_t>(kept));
  return row;
}

}  // namespace mir
