// Weights for tests of packed products: stored in a type, as numbers, and packed.
#pragma once

#include <cstring>

#include "fast_problem.hpp"
#include "mir/kernels/fast/large_pages.hpp"
#include "mir/kernels/fast/linear.hpp"
#include "mir/kernels/ref/numeric.hpp"

namespace mir::fast::test {

/// Random weights [outputs, depth], rounded to `dtype`.
struct Weights {
  Weights(DType type, std::int64_t outputs_, std::int64_t depth_, unsigned seed)
      : dtype(type),
        outputs(outputs_),
        depth(depth_),
        values(random_floats(outputs * depth, seed)) {
    bytes.resize(values.size() * info(dtype).unit_bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dtype == DType::kFloat16) {
        put(i, ref::narrow_to_half(values[i]));
      } else if (dtype == DType::kBFloat16) {
        put(i, ref::narrow_to_bfloat16(values[i]));
      } else {
        std::memcpy(bytes.data() + 4 * i, &values[i], 4);
      }
    }
  }

  DType dtype;
  std::int64_t outputs, depth;
  FloatValues values;
  std::vector<std::byte> bytes;

 private:
  template <class T>
  void put(std::size_t i, T element) {
    std::memcpy(bytes.data() + sizeof(T) * i, &element, sizeof(T));
    values[i] = static_cast<float>(ref::widen(element));
  }
};

/// The same, packed for the instruction set of a context.
struct Packed {
  Packed(const Weights& weights, Context& context)
      : pages(packed_bytes(weights.dtype, weights.outputs, weights.depth, context.isa())),
        matrix(pack(weights.bytes.data(), weights.dtype, weights.outputs, weights.depth,
                    {pages.data(), pages.size()}, context)) {}

  LargePages pages;
  PackedMatrix matrix;
};

}  // namespace mir::fast::test
