// Steps of products of codes: some rows of activations against two vectors of outputs.
//
// Included by files that define products for one instruction set, inside their namespace, with
// MIR_DOT set. Rows lie in blocks of at most kBlockTileRows; of a block, the codes that a
// lane takes at once, kXBytes, lie row by row side by side.

#include "kernels/fast/matrix/block_dot-inl.h"

inline constexpr int kTileVectors = 2;
inline constexpr std::int64_t kTileWidth = kTileVectors * kLanes;
/// True if codes of x that are multiplied by codes of 8 bits are 16-bit words.
inline constexpr bool kTakesWords = Dot<8>::kStep == 2;

/// The codes of a run to their places: kXBytes of each row of the block side by side.
template <class Code>
HWY_INLINE void store_codes(const Code* codes, std::int64_t block_rows, Code* to) {
  constexpr std::int64_t kStep = kXBytes / static_cast<std::int64_t>(sizeof(Code));
  for (std::int64_t k = 0; k < kRun; k += kStep) {
    std::memcpy(to + k * block_rows, codes + k, kXBytes);
  }
}

HWY_INLINE IntVector broadcast(const std::byte* x) {
  std::int32_t both;
  std::memcpy(&both, x, sizeof both);
  return hn::Set(Ints(), both);
}

/// The sums of up to four rows, by name: an array of them would lie in memory.
struct Sums {
  IntVector a0, a1, b0, b1, c0, c1, d0, d1;
};

/// sum += codes x for kStep elements of each row.
template <int kBits, int kRows>
MIR_MICROKERNEL void add_step(IntVector codes0, IntVector codes1, const std::byte* x, Sums& sum) {
  const auto add = [&](IntVector& sum0, IntVector& sum1, std::int64_t row) HWY_ATTR {
    // Otherwise compilers compute the products of all rows first and run out of registers.
    const IntVector factor = broadcast(x + row * kXBytes);
    sum0 = in_register(Dot<kBits>::add(sum0, codes0, factor));
    sum1 = in_register(Dot<kBits>::add(sum1, codes1, factor));
  };
  add(sum.a0, sum.a1, 0);
  if constexpr (kRows > 1) add(sum.b0, sum.b1, 1);
  if constexpr (kRows > 2) add(sum.c0, sum.c1, 2);
  if constexpr (kRows > 3) add(sum.d0, sum.d1, 3);
}

/// sum += codes x of one run. load(step, v) returns the codes of a step for vector v of outputs.
template <int kBits, int kRunSize, int kRows, class Load>
HWY_INLINE void add_codes(Load load, const std::byte* x, Sums& sum) {
  constexpr int kSteps = kRunSize / static_cast<int>(Dot<kBits>::kStep);
  // Without a loop: values that live from round to round would be copied between registers.
#ifdef MIR_CHECKED_BUILD  // takes long to compile
  HWY_UNROLL(1)
#else
  HWY_UNROLL(16)
#endif
  for (int step = 0; step < kSteps; ++step) {
    add_step<kBits, kRows>(load(step, 0), load(step, 1), x + step * kRows * kXBytes, sum);
  }
}
