// A short summary of a tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "mir/weights.hpp"

namespace mir {

/// XXH64 of the bytes, seed 0: equal exactly when runs agree bit for bit (up to collisions).
std::uint64_t hash_bytes(const Tensor& tensor);

struct TensorSummary {
  DType dtype{};
  Shape shape;
  bool real = false;  ///< true if the numbers below have a meaning
  double min = 0;     ///< of the elements that are not NaN; 0 if there are none
  double max = 0;
  double mean = 0;
  double deviation = 0;  ///< standard deviation of the finite elements; 0 when there are none
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  std::int64_t zeros = 0;
  std::uint64_t hash = 0;
};
TensorSummary summarise(const Tensor& tensor);
/// "Float32 [1, 16, 64], min -1.5, max 2, mean 0.01, hash 0123456789abcdef".
std::string render(const TensorSummary& summary);

struct RankedElement {
  std::int64_t index = 0;  ///< along the last axis
  ElementNumber value{};
};
/// The `count` largest elements of the last row (all axes but the last at their end), largest
/// first, equal ones by index; NaNs come last. Refuses tensors without a row of real numbers.
Result<std::vector<RankedElement>> top_elements(const Tensor& tensor, std::size_t count);

}  // namespace mir
