// Products of BFloat16 with BFloat16, for one instruction set. Included by bfloat_products.cpp once
// for each of them, with MIR_DOT_NAMESPACE and MIR_DOT set.
//
// Elements of a weight lie in pairs along the depth, the first one in the low half of 32 bits; in a
// panel those of its outputs side by side, pair after pair. Products of two such numbers are exact
// in Float32, so where there is no instruction for a pair the sums go on element by element.
HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace MIR_DOT_NAMESPACE {
namespace {

using Words = hn::RebindToUnsigned<Floats>;
using WordVector = hn::Vec<Words>;

/// Floats that a pair of x takes: its 32 bits, or both of its elements as Float32.
inline constexpr std::int64_t kPairFloats = MIR_DOT ? 1 : 2;
inline constexpr std::int64_t kPairBlock = kDepthBlock / 2;

/// The first `count` elements, at most kLanes, rounded; 0 after them.
template <class T>
HWY_INLINE void round_some(const T* from, std::int64_t count, std::uint32_t* to) {
  if (count == kLanes) return hn::StoreU(round_to_bfloat(load_floats(from)), Words(), to);
  T padded[kLanes] = {};
  std::copy_n(from, count, padded);
  hn::StoreU(round_to_bfloat(load_floats(padded)), Words(), to);
}

template <class T>
void pack_panel_of(const std::byte* bytes, std::int64_t outputs, std::int64_t depth,
                   std::int64_t panel, std::byte* to) {
  const T* const weight = reinterpret_cast<const T*>(bytes);
  const std::int64_t pairs = (depth + 1) / 2;
  auto* const packed = reinterpret_cast<std::uint32_t*>(to) + panel * kPanelWidth * pairs;
  const std::int64_t first = panel * kPanelWidth;
  const std::int64_t columns = std::min(kPanelWidth, outputs - first);
  if (columns < kPanelWidth) {
    std::memset(packed, 0, static_cast<std::size_t>(kPanelWidth * pairs) * sizeof *packed);
  }
  // One more, so that a pair of a single lane has a second element.
  std::uint32_t words[kLanes + 1] = {};
  constexpr std::int64_t kStep = kLanes > 1 ? kLanes : 2;
  for (std::int64_t k = 0; k < depth; k += kStep) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const T* const row = weight + (first + column) * depth;
      for (std::int64_t i = 0; i < kStep; i += kLanes) {
        round_some(row + k + i, std::clamp<std::int64_t>(depth - k - i, 0, kLanes), words + i);
      }
      for (std::int64_t i = 0; i < std::min(kStep, depth - k); i += 2) {
        packed[(k + i) / 2 * kPanelWidth + column] = words[i] >> 16 | words[i + 1];
      }
    }
  }
}

void pack_panel(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                std::int64_t panel, std::byte* to) {
  switch (dtype) {
    case DType::kFloat32:
      return pack_panel_of<float>(weight, outputs, depth, panel, to);
    case DType::kBFloat16:
      return pack_panel_of<hwy::bfloat16_t>(weight, outputs, depth, panel, to);
    default:
      return pack_panel_of<hwy::float16_t>(weight, outputs, depth, panel, to);
  }
}

/// Puts row number `row` of `step` rows into its block: pair after pair those of all rows.
void pack_row(const float* x, std::int64_t depth, std::int64_t row, std::int64_t step, float* to) {
  HWY_ALIGN std::uint32_t words[kLanes + 1] = {};
  constexpr std::int64_t kStep = kLanes > 1 ? kLanes : 2;
  for (std::int64_t k = 0; k < depth; k += kStep) {
    for (std::int64_t i = 0; i < kStep; i += kLanes) {
      round_some(x + k + i, std::clamp<std::int64_t>(depth - k - i, 0, kLanes), words + i);
    }
    for (std::int64_t i = 0; i < std::min(kStep, depth - k); i += 2) {
      float* const pair = to + (k + i) / 2 * kPairFloats * step + row;
#if MIR_DOT
      const std::uint32_t both = words[i] >> 16 | words[i + 1];
      std::memcpy(pair, &both, sizeof both);
#else
      std::memcpy(pair, words + i, sizeof *words);
      std::memcpy(pair + step, words + i + 1, sizeof *words);
#endif
    }
  }
}

/// A block of rows against a part of a panel.
struct PairBlock {
  const float* x;
  std::int64_t x_step;  ///< rows of the block in memory
  const std::uint32_t* panel;
  std::int64_t pairs;
  float* sums;
  bool adds;  ///< to what is in sums
};

template <int kRows, bool kPrefetches>
MIR_MICROKERNEL void multiply_pairs(const PairBlock& block) {
  const Floats d;
  FloatVector sum[kRows][kPanelVectors];
  HWY_UNROLL(8)
  for (int row = 0; row < kRows; ++row) {
    HWY_UNROLL(3)
    for (int v = 0; v < kPanelVectors; ++v) sum[row][v] = hn::Zero(d);
  }
  const float* x = block.x;
  const std::uint32_t* panel = block.panel;
  for (std::int64_t pair = 0; pair < block.pairs; ++pair) {
    if constexpr (kPrefetches) {
      HWY_UNROLL(3)
      for (int v = 0; v < kPanelVectors; ++v) {
        hwy::Prefetch(reinterpret_cast<const char*>(panel + v * kLanes) + kPrefetchBytes);
      }
    }
#if MIR_DOT
    HWY_UNROLL(8)
    for (int row = 0; row < kRows; ++row) {
      std::uint32_t bits;
      std::memcpy(&bits, x + row, sizeof bits);
      const auto factor = reinterpret_cast<__m512bh>(hn::Set(Words(), bits).raw);
      HWY_UNROLL(3)
      for (int v = 0; v < kPanelVectors; ++v) {
        const WordVector both = hn::LoadU(Words(), panel + v * kLanes);
        sum[row][v] = FloatVector{
            _mm512_dpbf16_ps(sum[row][v].raw, factor, reinterpret_cast<__m512bh>(both.raw))};
      }
    }
#else
    // First elements of all pairs, then second ones: registers do not suffice for both at once.
    for (int half = 0; half < 2; ++half) {
      FloatVector element[kPanelVectors];
      HWY_UNROLL(3)
      for (int v = 0; v < kPanelVectors; ++v) {
        const WordVector both = hn::LoadU(Words(), panel + v * kLanes);
        // A mask would take the register that one of the sums needs.
        const WordVector low = half == 0 ? both : hn::ShiftRight<16>(both);
        element[v] = hn::BitCast(d, hn::ShiftLeft<16>(low));
      }
      HWY_UNROLL(8)
      for (int row = 0; row < kRows; ++row) {
        const FloatVector factor = hn::Set(d, x[half * block.x_step + row]);
        HWY_UNROLL(3)
        for (int v = 0; v < kPanelVectors; ++v) {
          sum[row][v] = hn::MulAdd(factor, element[v], sum[row][v]);
        }
      }
    }
#endif
    x += kPairFloats * block.x_step;
    panel += kPanelWidth;
  }
  HWY_UNROLL(8)
  for (int row = 0; row < kRows; ++row) {
    HWY_UNROLL(3)
    for (int v = 0; v < kPanelVectors; ++v) {
      float* const to = block.sums + row * kPanelWidth + v * kLanes;
      hn::StoreU(block.adds ? hn::Add(hn::LoadU(d, to), sum[row][v]) : sum[row][v], d, to);
    }
  }
}

/// Dispatches to the block for `rows` rows, at most kBlockRows.
template <bool kPrefetches>
HWY_INLINE void multiply_rows(std::int64_t rows, const PairBlock& block) {
  switch (rows) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    case 8:
      return multiply_pairs<8, kPrefetches>(block);
    case 7:
      return multiply_pairs<7, kPrefetches>(block);
    case 6:
      return multiply_pairs<6, kPrefetches>(block);
    case 5:
      return multiply_pairs<5, kPrefetches>(block);
#endif
    case 4:
      return multiply_pairs<4, kPrefetches>(block);
    case 3:
      return multiply_pairs<3, kPrefetches>(block);
    case 2:
      return multiply_pairs<2, kPrefetches>(block);
    default:
      return multiply_pairs<1, kPrefetches>(block);
  }
}

/// The sums of all rows of the task for its panel of `weight`.
void multiply(const BfloatTask& task, const PackedMatrix& weight, float* sums) {
  const auto* const panel = reinterpret_cast<const std::uint32_t*>(weight.data) +
                            task.tile.panel * kPanelWidth * task.pairs;
  if (task.pairs == 0) {
    std::fill_n(sums, task.tile.rows * kPanelWidth, 0.0F);
    return;
  }
  for (std::int64_t pair = 0; pair < task.pairs; pair += kPairBlock) {
    for (std::int64_t row = 0; row < task.tile.rows; row += kBlockRows) {
      const PairBlock block = {.x = task.x + (row * task.pairs + pair * task.x_step) * kPairFloats,
                               .x_step = task.x_step,
                               .panel = panel + pair * kPanelWidth,
                               .pairs = std::min(kPairBlock, task.pairs - pair),
                               .sums = sums + row * kPanelWidth,
                               .adds = pair != 0};
      const std::int64_t rows = std::min<std::int64_t>(kBlockRows, task.tile.rows - row);
      // The first block fetches what the others find in the cache.
      if (row == 0) {
        multiply_rows<true>(rows, block);
      } else {
        multiply_rows<false>(rows, block);
      }
    }
  }
}

void run_tile(const BfloatTask& task) {
  make_tile(task.tile, kPanelWidth, task.scratch,
            [&](const PackedMatrix& weight, float* sums)
                HWY_ATTR { multiply(task, weight, sums); });
}

#if MIR_DOT
/// As many chains as hide the latency.
double multiply_pairs_in_registers() {
  constexpr std::int64_t kRounds = 50000;
  constexpr int kChains = 12;
  FloatVector sums[kChains];
  HWY_UNROLL(12)
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Set(Floats(), static_cast<float>(i));
  const auto factor = reinterpret_cast<__m512bh>(hn::Set(Words(), 0x3f003f00).raw);
  for (std::int64_t round = 0; round < kRounds; ++round) {
    HWY_UNROLL(12)
    for (int i = 0; i < kChains; ++i)
      sums[i] = FloatVector{_mm512_dpbf16_ps(sums[i].raw, factor, factor)};
  }
  HWY_UNROLL(12)
  for (int i = 1; i < kChains; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  // A volatile store keeps the compiler from removing the computation.
  volatile float sink = hn::GetLane(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(kRounds * kChains * kLanes * 2);
}
#endif

}  // namespace

constexpr BfloatTable kTable = {.width = kPanelWidth,
                                .block_rows = kBlockRows,
                                .pair_floats = kPairFloats,
                                .pack_panel = pack_panel,
                                .pack_row = pack_row,
                                .run = run_tile,
#if MIR_DOT
                                .multiply = multiply_pairs_in_registers};
#else
                                .multiply = nullptr};
#endif

}  // namespace MIR_DOT_NAMESPACE
}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
