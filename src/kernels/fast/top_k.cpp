// Top-k selection by integer keys that hold the order of an element and its index.
#include "kernels/fast/top_k.hpp"

#include <algorithm>
#include <type_traits>

#include "kernels/fast/chunks.hpp"

namespace mir::fast {

namespace {

/// Elements are compared as keys: their place in the order in the high half, their index in the low
/// one. So equal elements stay in the order of their indices, and no two keys are equal.
using Key = std::uint64_t;

/// The place in ascending order of a float with these bits, of which `infinity` is one.
template <class Bits>
std::uint32_t place_of_float(Bits bits, Bits infinity) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits magnitude = bits & static_cast<Bits>(~kSign);
  if (magnitude > infinity) return 0xffffffff;
  return (bits & kSign) != 0 ? std::uint32_t{kSign} - magnitude : std::uint32_t{kSign} + magnitude;
}

template <class T>
std::uint32_t place_of_integer(T value) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(value) + 0x80000000LL);
}

template <class Bits, Bits kInfinity>
struct FloatOrder {
  using Element = Bits;
  static std::uint32_t place(Bits bits) { return place_of_float(bits, kInfinity); }
};

template <class T>
struct IntegerOrder {
  using Element = T;
  static std::uint32_t place(T value) {
    if constexpr (std::is_same_v<T, std::uint32_t>) return value;
    return place_of_integer(value);
  }
};

template <class Order>
void one_row(const TopKOperands& o, std::int64_t row, Key* keys) {
  using Element = typename Order::Element;
  const std::int64_t outer = row / o.inner, inner = row % o.inner;
  const auto* const x = reinterpret_cast<const Element*>(o.x) + outer * o.length * o.inner + inner;
  const std::uint32_t flip = o.largest ? 0xffffffff : 0;
  for (std::int64_t i = 0; i < o.length; ++i) {
    keys[i] = Key{Order::place(x[i * o.inner]) ^ flip} << 32 | static_cast<std::uint32_t>(i);
  }
  if (o.k < o.length) std::nth_element(keys, keys + o.k, keys + o.length);
  const auto index = [](Key key) { return static_cast<std::uint32_t>(key); };
  if (o.sorted) {
    std::sort(keys, keys + o.k);
  } else {
    std::sort(keys, keys + o.k, [&](Key a, Key b) { return index(a) < index(b); });
  }
  const std::int64_t first = outer * o.k * o.inner + inner;
  auto* const values = reinterpret_cast<Element*>(o.values) + first;
  for (std::int64_t i = 0; i < o.k; ++i) {
    values[i * o.inner] = x[std::int64_t{index(keys[i])} * o.inner];
    o.indices[first + i * o.inner] = static_cast<std::int32_t>(index(keys[i]));
  }
}

template <class Order>
void all_rows(const TopKOperands& o, Context& context) {
  const Chunks chunks = cut(o.outer * o.inner, kTaskElements / 4 / o.length);
  const std::int64_t own = (2 * o.length + 15) / 16 * 16;  // floats, whole lines of the cache
  float* const scratch = context.scratch(own * context.pool().threads()).data();
  context.pool().for_each(chunks.count, [&](std::int64_t chunk, unsigned thread) {
    auto* const keys = reinterpret_cast<Key*>(scratch + own * thread);
    const std::int64_t first = chunks.first(chunk);
    for (std::int64_t row = first; row < first + chunks.length(chunk); ++row) {
      one_row<Order>(o, row, keys);
    }
  });
}

using Run = void (*)(const TopKOperands&, Context&);

/// Returns null for types that do not fit a key.
Run run_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return all_rows<FloatOrder<std::uint32_t, 0x7f800000>>;
    case DType::kBFloat16:
      return all_rows<FloatOrder<std::uint16_t, 0x7f80>>;
    case DType::kFloat16:
      return all_rows<FloatOrder<std::uint16_t, 0x7c00>>;
    case DType::kInt8:
      return all_rows<IntegerOrder<std::int8_t>>;
    case DType::kInt16:
      return all_rows<IntegerOrder<std::int16_t>>;
    case DType::kInt32:
      return all_rows<IntegerOrder<std::int32_t>>;
    case DType::kUInt8:
      return all_rows<IntegerOrder<std::uint8_t>>;
    case DType::kUInt16:
      return all_rows<IntegerOrder<std::uint16_t>>;
    case DType::kUInt32:
      return all_rows<IntegerOrder<std::uint32_t>>;
    default:
      return nullptr;
  }
}

}  // namespace

bool has_top_k(DType dtype) {
  return run_of(dtype) != nullptr;
}

void top_k(const TopKOperands& operands, Context& context) {
  if (operands.outer * operands.inner * operands.k == 0) return;
  run_of(operands.dtype)(operands, context);
}

}  // namespace mir::fast
