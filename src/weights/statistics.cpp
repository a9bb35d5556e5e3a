// Reads tensors as real numbers, and computes statistics and errors of them.
#include "weights/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir {

Result<std::optional<Tensor>> as_reals(const Tensor& tensor) {
  if (is_decodable_block(tensor.dtype())) {
    // A file may state no width for interleaved rows.
    if (!check_blocks_fit(tensor.dtype(), tensor.shape())) return std::optional<Tensor>();
    auto values = dequantise(tensor);
    if (!values) return std::move(values).error();
    return std::optional(*std::move(values));
  }
  const bool real = tensor.dtype() != DType::kByte && is_real(storage_type(tensor.dtype()));
  return real ? std::optional(tensor) : std::nullopt;
}

namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kLanes = 4;  // sums that do not wait for each other

/// Calls `use` with the elements as numbers, up to kBlock at a time, the last block filled with
/// zeros to a multiple of kLanes, and with their number.
template <class Use>
void for_each_block(const Tensor& reals, Use use) {
  std::array<double, kBlock> block{};
  const auto total = static_cast<std::size_t>(reals.elements());
  for (std::size_t first = 0; first < total; first += kBlock) {
    const std::size_t count = std::min(kBlock, total - first);
    elements_as_doubles(reals, static_cast<std::int64_t>(first), std::span(block).first(count));
    const std::size_t filled = (count + kLanes - 1) / kLanes * kLanes;
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(count),
              block.begin() + static_cast<std::ptrdiff_t>(filled), 0.0);
    use(std::span<const double>(block).first(filled), count);
  }
}

/// Results of one pass over some elements.
struct Totals {
  double sum = 0;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();
  std::int64_t zeros = 0;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;

  /// One element after the other.
  void add_singly(std::span<const double> values) {
    for (const double value : values) {
      if (!std::isfinite(value)) {
        ++(std::isnan(value) ? nans : infinities);
        continue;
      }
      zeros += value == 0 ? 1 : 0;
      sum += value;
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }

  /// Several at a time; false, and nothing added, where one of them is not finite.
  bool add_finite(std::span<const double> filled, std::size_t count) {
    std::array<double, kLanes> sums{};
    std::array<double, kLanes> probes{};
    std::array<double, kLanes> low{};
    std::array<double, kLanes> high{};
    std::array<std::int64_t, kLanes> found{};
    low.fill(filled[0]);
    high.fill(filled[0]);
    for (std::size_t at = 0; at < filled.size(); at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        // Padding repeats the first element here.
        const double value = at + lane < count ? filled[at + lane] : filled[0];
        sums[lane] += filled[at + lane];
        probes[lane] += filled[at + lane] * 0;  // NaN from the first that is not finite on
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
        found[lane] += filled[at + lane] == 0 ? 1 : 0;
      }
    }
    if (std::ranges::any_of(probes, [](double probe) { return probe != 0; })) return false;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sum += sums[lane];
      lowest = std::min(lowest, low[lane]);
      highest = std::max(highest, high[lane]);
      zeros += found[lane];
    }
    zeros -= static_cast<std::int64_t>(filled.size() - count);
    return true;
  }
};

/// The sum of the squared distances from the mean of the elements that are finite.
double squared_distances(const Tensor& reals, double mean) {
  double total = 0;
  for_each_block(reals, [&](std::span<const double> filled, std::size_t count) {
    std::array<double, kLanes> squares{};
    const std::size_t whole = count / kLanes * kLanes;
    for (std::size_t at = 0; at < whole; at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double distance = filled[at + lane] - mean;
        squares[lane] += distance * distance;
      }
    }
    double sum = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    const auto add = [&](std::span<const double> values) {
      for (const double value : values) {
        const double distance = value - mean;
        if (std::isfinite(distance)) sum += distance * distance;
      }
    };
    if (!std::isfinite(sum)) {
      sum = 0;
      add(filled.first(whole));
    }
    add(filled.subspan(whole, count - whole));
    total += sum;
  });
  return total;
}

}  // namespace

Statistics statistics(const Tensor& reals) {
  Totals totals;
  for_each_block(reals, [&](std::span<const double> filled, std::size_t count) {
    if (!totals.add_finite(filled, count)) totals.add_singly(filled.first(count));
  });
  Statistics result;
  result.elements = reals.elements();
  result.nans = totals.nans;
  result.infinities = totals.infinities;
  result.zeros = totals.zeros;
  const auto finite = static_cast<double>(result.elements - result.nans - result.infinities);
  if (finite == 0) return result;
  result.minimum = totals.lowest;
  result.maximum = totals.highest;
  result.mean = totals.sum / finite;
  result.deviation = std::sqrt(squared_distances(reals, result.mean) / finite);
  return result;
}

Accuracy accuracy(const Tensor& original, const Tensor& changed) {
  Accuracy result;
  double errors = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < original.elements(); ++i) {
    const double before = element_as_double(original, i);
    const double after = element_as_double(changed, i);
    // Equal infinities have no error, and neither has a NaN that stays one.
    const bool same = before == after || (std::isnan(before) && std::isnan(after));
    const double error = same ? 0 : std::fabs(after - before);
    result.max_error = std::isnan(error) ? error : std::max(result.max_error, error);
    errors += error * error;
    if (std::isfinite(before)) squares += before * before;
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(original.elements(), 1));
  result.rms_error = std::sqrt(errors / count);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  result.relative = errors == 0 ? 0 : std::isfinite(squares) ? std::sqrt(errors / squares) : kNan;
  return result;
}

}  // namespace mir
