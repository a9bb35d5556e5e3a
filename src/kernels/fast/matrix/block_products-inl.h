// Products with weights in blocks, for one instruction set. Included by block_products.cpp once for
// each of them, with MIR_DOT_NAMESPACE and MIR_DOT set.
HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace MIR_DOT_NAMESPACE {
namespace {

#include "kernels/fast/matrix/block_steps-inl.h"
// After the steps, whose constants they use.
#include "kernels/fast/matrix/block_panel-inl.h"
#include "kernels/fast/matrix/block_planes-inl.h"

HWY_INLINE void store_sums(std::int32_t sum, float scale, const RunSums& to, std::int64_t at) {
  to.sums[at] = scale * static_cast<float>(sum);
  to.starts4[at] = Dot<4>::start_of(-kOffset4 * sum);
  to.starts8[at] = Dot<8>::start_of(-kCodeBias * sum);
}

/// ref::round_activations of a row.
void round_row(const float* x, std::int64_t depth, const RoundedRow& to) {
  const Floats d;
  const Ints ints;
  constexpr int kVectors = static_cast<int>(kRun / kLanes);
  const FloatVector limit = hn::Set(d, 127.0F);
  // Adding 1.5 2^23 rounds to the nearest integer, which is then in the low bits.
  const FloatVector rounder = hn::Set(d, 12582912.0F);
  for (std::int64_t run = 0; run < depth / kRun; ++run, x += kRun) {
    FloatVector values[kVectors];
    IntVector largest = hn::Zero(ints);
    for (int v = 0; v < kVectors; ++v) {
      values[v] = hn::LoadU(d, x + v * kLanes);
      // Magnitudes are ordered as the integers that have their bits, NaN after infinity.
      largest = hn::Max(largest, hn::BitCast(ints, hn::Abs(values[v])));
    }
    const std::int32_t bits = hn::GetLane(hn::MaxOfLanes(ints, largest));
    constexpr std::int32_t kInfinity = 0x7f800000;
    float scale = std::numeric_limits<float>::quiet_NaN();
    if (bits < kInfinity) {
      std::memcpy(&scale, &bits, sizeof scale);
      scale = scale / 127;
    }
    // If the scale is 0, all values are so small that their codes are 0.
    const FloatVector divisor = hn::Set(d, scale == 0 ? 1.0F : scale);
    IntVector sums[2] = {hn::Zero(ints), hn::Zero(ints)};
    HWY_ALIGN std::int8_t bytes[kRun];
    HWY_ALIGN std::int16_t words[kRun];
    for (int v = 0; v < kVectors; ++v) {
      FloatVector steps = hn::Div(values[v], divisor);
      steps = hn::Max(hn::Min(steps, limit), hn::Neg(limit));
      const IntVector rounded =
          hn::Sub(hn::BitCast(ints, hn::Add(steps, rounder)), hn::BitCast(ints, rounder));
      sums[2 * v / kVectors] = hn::Add(sums[2 * v / kVectors], rounded);
      const hn::Rebind<std::int8_t, Ints> byte_lanes;
      const hn::Rebind<std::int16_t, Ints> word_lanes;
      hn::StoreU(hn::DemoteTo(byte_lanes, rounded), byte_lanes, bytes + v * kLanes);
      hn::StoreU(hn::DemoteTo(word_lanes, rounded), word_lanes, words + v * kLanes);
    }
    const std::int64_t at = run * to.block_rows;
    if (to.bytes != nullptr) store_codes(bytes, to.block_rows, to.bytes + at * kRun);
    if (to.words != nullptr) store_codes(words, to.block_rows, to.words + at * kRun);
    const auto sum_of = [&](IntVector v) HWY_ATTR {
      return bits < kInfinity ? hn::GetLane(hn::SumOfLanes(ints, v)) : 0;
    };
    to.scales[at] = scale;
    store_sums(sum_of(hn::Add(sums[0], sums[1])), scale, to.runs, at);
    if (to.halves.sums == nullptr) continue;
    store_sums(sum_of(sums[0]), scale, to.halves, 2 * at);
    store_sums(sum_of(sums[1]), scale, to.halves, 2 * at + to.block_rows);
  }
}

/// A block of rows as RoundedRow has them, against a panel. Sums are those of the panel's runs.
struct Rows {
  const std::byte* codes;
  const float* scales;
  const float* sums;
  const std::int32_t* starts;  ///< null: all 0
};
struct Panel {
  const std::uint8_t* data;  ///< of the first block
  std::int64_t blocks;
  const BlockLayout& layout;
  PanelLayout at;
};

/// Sums over runs of up to four rows.
struct Totals {
  FloatVector a0, a1, b0, b1, c0, c1, d0, d1;
};

/// Calls body(row, total0, total1) for kRows rows, with their two vectors of `totals`.
template <int kRows, class Body>
HWY_INLINE void for_each_total(Totals& totals, Body body) {
  body(0, totals.a0, totals.a1);
  if constexpr (kRows > 1) body(1, totals.b0, totals.b1);
  if constexpr (kRows > 2) body(2, totals.c0, totals.c1);
  if constexpr (kRows > 3) body(3, totals.d0, totals.d1);
}

/// `to` is aligned to vectors.
template <int kRows>
HWY_INLINE void store_totals(Totals& totals, float* to) {
  for_each_total<kRows>(totals, [&](int row, FloatVector total0, FloatVector total1) HWY_ATTR {
    hn::Store(total0, Floats(), to + row * kTileWidth);
    hn::Store(total1, Floats(), to + row * kTileWidth + kLanes);
  });
}

/// Scales of the activations of a run and sums of their values, for each row.
struct RunRows {
  const float* scales;
  const float* sums;
};

/// totals += scale x products + minimum x, for a run of a panel.
template <int kBits, int kRows>
MIR_MICROKERNEL void add_run(const Sums& products, const Parameters& run0, const Parameters& run1,
                             bool has_minimum, const RunRows& x, Totals& totals) {
  const Floats d;
  const auto add_one = [&](int row, IntVector sum, const Parameters& run,
                           FloatVector& total) HWY_ATTR {
    total = hn::MulAdd(hn::ConvertTo(d, Dot<kBits>::finish(sum)),
                       hn::Mul(run.scale, hn::Set(d, x.scales[row])), total);
    if (has_minimum) total = hn::MulAdd(run.minimum, hn::Set(d, x.sums[row]), total);
  };
  const auto add = [&](int row, IntVector sum0, IntVector sum1, FloatVector& total0,
                       FloatVector& total1) HWY_ATTR {
    add_one(row, sum0, run0, total0);
    add_one(row, sum1, run1, total1);
  };
  add(0, products.a0, products.a1, totals.a0, totals.a1);
  if constexpr (kRows > 1) add(1, products.b0, products.b1, totals.b0, totals.b1);
  if constexpr (kRows > 2) add(2, products.c0, products.c1, totals.c0, totals.c1);
  if constexpr (kRows > 3) add(3, products.d0, products.d1, totals.d0, totals.d1);
}

/// Sums of kRows rows that begin with the numbers at `starts`, or with 0 if it is null.
template <int kRows>
MIR_MICROKERNEL Sums start_sums(const std::int32_t* starts) {
  const auto start = [&](int row) HWY_ATTR {
    return starts != nullptr && row < kRows ? hn::Set(Ints(), starts[row]) : hn::Zero(Ints());
  };
  return {start(0), start(0), start(1), start(1), start(2), start(2), start(3), start(3)};
}

// One block of rows: codes go from the panel to registers.

/// sum += codes x for groups kGroup to kEnd - 1 of a chunk, whose activations begin at `x`.
template <class Codes, int kGroup, int kEnd, int kRows>
HWY_INLINE void add_groups(const std::uint8_t* codes, const std::byte* x, IntVector bias,
                           Sums& sum) {
  if constexpr (kGroup < kEnd) {
    if constexpr (kRows == 1) {
      constexpr std::int64_t kFirst = kGroup * Codes::kGroupBytes;
      constexpr std::int64_t kLast = kFirst + Codes::kGroupBytes;
      for (std::int64_t line = kFirst / kLineBytes; line < kLast / kLineBytes; ++line) {
        hwy::Prefetch(codes + line * kLineBytes + kPrefetchBytes);
      }
    }
    IntVector operands0[Codes::kSteps], operands1[Codes::kSteps];
    Codes::template load<kGroup>(codes, 0, bias, operands0);
    Codes::template load<kGroup>(codes, 1, bias, operands1);
    HWY_UNROLL(2)
    for (int step = 0; step < Codes::kSteps; ++step) {
      add_step<Codes::kBits, kRows>(operands0[step], operands1[step],
                                    x + (kGroup * Codes::kSteps + step) * kRows * kXBytes, sum);
    }
    add_groups<Codes, kGroup + 1, kEnd, kRows>(codes, x, bias, sum);
  }
}

/// Sums over a panel, at `to`, which is aligned to vectors.
template <class Codes, RunParameters kParameters, int kRunSize, int kRows>
void multiply_stored(const Rows& rows, const Panel& panel, float* to) {
  const Floats d;
  constexpr int kRuns = static_cast<int>(kRun) / kRunSize, kGroupsOfRun = kGroups / kRuns;
  constexpr std::int64_t kParameterRow = kTileWidth * kParameterBytes<kParameters>;
  const bool has_minimum = panel.layout.has_minimum;
  const IntVector bias = Codes::biases(Codes::bias_of(panel.layout));
  const std::byte* x = rows.codes;
  const float *scales = rows.scales, *sums = rows.sums;
  const std::int32_t* starts = rows.starts;
  const std::uint8_t* at = panel.data;
  const FloatVector none = hn::Zero(d);
  Totals totals = {none, none, none, none, none, none, none, none};
  for (std::int64_t block = 0; block < panel.blocks; ++block) {
    const Parameters block0 = block_parameters<kParameters>(at, has_minimum, 0);
    const Parameters block1 = block_parameters<kParameters>(at, has_minimum, 1);
    at += panel.at.head;
    for (std::int64_t chunk = 0; chunk < panel.at.chunks_of_block; ++chunk) {
      const auto multiply_run = [&](auto first, const std::uint8_t* parameters) HWY_ATTR {
        Sums sum = start_sums<kRows>(starts);
        if (starts != nullptr) starts += kRows;
        add_groups<Codes, first, first + kGroupsOfRun, kRows>(at + panel.at.codes, x, bias, sum);
        const Parameters run0 =
            run_parameters<kParameters>(parameters, panel.at.minima, has_minimum, block0, 0);
        const Parameters run1 =
            run_parameters<kParameters>(parameters, panel.at.minima, has_minimum, block1, 1);
        add_run<Codes::kBits, kRows>(sum, run0, run1, has_minimum, {scales, sums}, totals);
        sums += kRows;
      };
      multiply_run(std::integral_constant<int, 0>(), at);
      if constexpr (kRuns == 2) {
        multiply_run(std::integral_constant<int, kGroupsOfRun>(), at + kParameterRow);
      }
      at += panel.at.chunk;
      x += kGroups * Codes::kSteps * kRows * kXBytes;
      scales += kRows;
    }
  }
  store_totals<kRows>(totals, to);
}

// More rows: chunks are expanded once for all blocks of rows.

/// Expanded chunks: scales and minima of runs in Float32, and operands of Dot, vector by vector.
struct Expanded {
  const float* scales;
  const float* minima;  ///< null: none
  const std::uint8_t* codes;
  std::int64_t chunks;
};
inline constexpr std::int64_t kExpandedChunks = kMostBlockLanes / kRun;
inline constexpr std::int64_t kMostParameters = 2 * kExpandedChunks * kTileWidth;
template <bool kIsByte>
inline constexpr std::int64_t kOperandBytes = kGroups* kStepsOfGroup<kIsByte>* kTileWidth * 4;
/// Memory of expanded chunks, in floats.
inline constexpr std::int64_t kExpandedFloats =
    2 * kMostParameters + kExpandedChunks * kOperandBytes<true> / 4;

/// Stores the operands of groups from kGroup on.
template <class Codes, int kGroup>
HWY_INLINE void store_groups(const std::uint8_t* codes, IntVector bias, std::uint8_t* to) {
  if constexpr (kGroup < kGroups) {
    for (int v = 0; v < kTileVectors; ++v) {
      IntVector operands[Codes::kSteps];
      Codes::template load<kGroup>(codes, v, bias, operands);
      HWY_UNROLL(2)
      for (int step = 0; step < Codes::kSteps; ++step) {
        hn::Store(operands[step], Ints(),
                  reinterpret_cast<std::int32_t*>(to) + (step * kTileVectors + v) * kLanes);
      }
    }
    store_groups<Codes, kGroup + 1>(codes, bias, to + Codes::kSteps * kTileWidth * 4);
  }
}

/// Expands all chunks of a panel, at most kExpandedChunks, to `to`, which has kExpandedFloats.
template <class Codes, RunParameters kParameters, int kRunSize>
Expanded expand(const Panel& panel, float* to) {
  const Floats d;
  constexpr int kRuns = static_cast<int>(kRun) / kRunSize;
  constexpr std::int64_t kParameterRow = kTileWidth * kParameterBytes<kParameters>;
  const bool has_minimum = panel.layout.has_minimum;
  const IntVector bias = Codes::biases(Codes::bias_of(panel.layout));
  float *scales = to, *minima = to + kMostParameters;
  auto* codes = reinterpret_cast<std::uint8_t*>(to + 2 * kMostParameters);
  const Expanded expanded = {.scales = scales,
                             .minima = has_minimum ? minima : nullptr,
                             .codes = codes,
                             .chunks = panel.blocks * panel.at.chunks_of_block};
  const std::uint8_t* at = panel.data;
  const std::int64_t next = panel.blocks * panel.at.block;
  for (std::int64_t block = 0; block < panel.blocks; ++block) {
    const Parameters factors[] = {block_parameters<kParameters>(at, has_minimum, 0),
                                  block_parameters<kParameters>(at, has_minimum, 1)};
    at += panel.at.head;
    for (std::int64_t chunk = 0; chunk < panel.at.chunks_of_block; ++chunk, at += panel.at.chunk) {
      // The chunks of the next call, into the second-level cache: they arrive during the products.
      for (std::int64_t line = 0; line < panel.at.chunk; line += kLineBytes) {
        __builtin_prefetch(at + next + line, 0, 2);
      }
      for (int i = 0; i < kRuns; ++i) {
        for (int v = 0; v < kTileVectors; ++v, scales += kLanes, minima += kLanes) {
          const Parameters run = run_parameters<kParameters>(
              at + i * kParameterRow, panel.at.minima, has_minimum, factors[v], v);
          hn::Store(run.scale, d, scales);
          if (has_minimum) hn::Store(run.minimum, d, minima);
        }
      }
      store_groups<Codes, 0>(at + panel.at.codes, bias, codes);
      codes += kOperandBytes<Codes::kIsByte>;
    }
  }
  return expanded;
}

/// Adds the products with all chunks to the sums at `to`, which is aligned to vectors.
template <int kBits, int kRunSize, int kRows>
void multiply_expanded(const Rows& rows, const Expanded& panel, float* to) {
  const Floats d;
  constexpr std::int64_t kRuns = kRun / kRunSize;
  constexpr std::int64_t kRunBytes = kRunSize / Dot<kBits>::kStep * kTileWidth * 4;
  const std::int32_t* starts = rows.starts;
  const std::byte* x = rows.codes;
  const std::uint8_t* codes = panel.codes;
  Totals totals;
  for_each_total<kRows>(totals, [&](int row, FloatVector& total0, FloatVector& total1) HWY_ATTR {
    total0 = hn::Load(d, to + row * kTileWidth);
    total1 = hn::Load(d, to + row * kTileWidth + kLanes);
  });
  for (std::int64_t i = 0; i < panel.chunks * kRuns; ++i, codes += kRunBytes) {
    Sums sum = start_sums<kRows>(starts);
    if (starts != nullptr) starts += kRows;
    add_codes<kBits, kRunSize, kRows>(
        [&](int step, int v) HWY_ATTR {
          return hn::BitCast(Ints(), load_quads(codes + (step * kTileVectors + v) * kLanes * 4));
        },
        x, sum);
    x += kRows * kRunSize * kXBytes / Dot<kBits>::kStep;
    const auto parameters = [&](int v) HWY_ATTR {
      const std::int64_t place = i * kTileWidth + v * kLanes;
      return Parameters{hn::Load(d, panel.scales + place),
                        panel.minima == nullptr ? hn::Zero(d) : hn::Load(d, panel.minima + place)};
    };
    add_run<kBits, kRows>(sum, parameters(0), parameters(1), panel.minima != nullptr,
                          {rows.scales + i / kRuns * kRows, rows.sums + i * kRows}, totals);
  }
  store_totals<kRows>(totals, to);
}

/// The kernels of a layout, by the number of rows.
struct LayoutKernels {
  using MultiplyStored = void (*)(const Rows& rows, const Panel& panel, float* to);
  using MultiplyExpanded = void (*)(const Rows& rows, const Expanded& panel, float* to);
  MultiplyStored stored[kBlockTileRows];
  MultiplyExpanded expanded[kBlockTileRows];
  Expanded (*expand)(const Panel& panel, float* to);
};
template <int kLow, int kHigh, RunParameters kParameters, int kRunSize = kRun,
          class Codes = Planes<kLow, kHigh>>
constexpr LayoutKernels kKernels = {.stored = {multiply_stored<Codes, kParameters, kRunSize, 1>,
                                               multiply_stored<Codes, kParameters, kRunSize, 2>,
                                               multiply_stored<Codes, kParameters, kRunSize, 3>,
                                               multiply_stored<Codes, kParameters, kRunSize, 4>},
                                    .expanded = {multiply_expanded<Codes::kBits, kRunSize, 1>,
                                                 multiply_expanded<Codes::kBits, kRunSize, 2>,
                                                 multiply_expanded<Codes::kBits, kRunSize, 3>,
                                                 multiply_expanded<Codes::kBits, kRunSize, 4>},
                                    .expand = expand<Codes, kParameters, kRunSize>};

const LayoutKernels& kernels_for(const BlockLayout& layout) {
  using enum RunParameters;
  constexpr int kShort = kRun / 2;
  if (layout.low_bits == 2) {
    return layout.high_bits == 0 ? kKernels<2, 0, kNibbles, kShort>
                                 : kKernels<2, 1, kBytes, kShort>;
  }
  if (layout.low_bits == 8) return kKernels<8, 0, kHalves>;
  if (layout.high_bits == 2) return kKernels<4, 2, kBytes, kShort>;
  if (layout.high_bits == 1) {
    return layout.has_factors() ? kKernels<4, 1, kBytes> : kKernels<4, 1, kHalves>;
  }
  if (layout.has_factors()) return kKernels<4, 0, kBytes>;
  return layout.parameters == kFloats ? kKernels<4, 0, kFloats> : kKernels<4, 0, kHalves>;
}

void multiply(const BlockTask& task, const PackedMatrix& weight, float* sums) {
  const BlockLayout& layout = *block_layout(weight.dtype);
  const LayoutKernels& kernels = kernels_for(layout);
  const PanelLayout at(layout);
  const bool has_words = kTakesWords && layout.is_byte();
  const bool has_starts = layout.is_byte()
                              ? kCodeBias != 0 && (layout.offset != 0 || layout.is_signed())
                              : layout.offset != 0;
  const std::int64_t runs_of_chunk = kRun / layout.run;
  const RunSums& all = runs_of_chunk == 1 ? task.x.runs : task.x.halves;
  const auto rows_from = [&](std::int64_t row, std::int64_t count, std::int64_t chunk) {
    const std::int64_t i = (task.tile.row + row) * task.runs + chunk * count;
    const RunSums of_rows = all.at(i * runs_of_chunk);
    const std::int32_t* const starts = layout.is_byte() ? of_rows.starts8 : of_rows.starts4;
    return Rows{.codes = has_words ? reinterpret_cast<const std::byte*>(task.x.words + i * kRun)
                                   : reinterpret_cast<const std::byte*>(task.x.bytes + i * kRun),
                .scales = task.x.scales + i,
                .sums = of_rows.sums,
                .starts = has_starts ? starts : nullptr};
  };
  const std::int64_t blocks = task.runs / at.chunks_of_block;
  Panel panel = {.data = reinterpret_cast<const std::uint8_t*>(weight.data) +
                         task.tile.panel * blocks * at.block,
                 .blocks = blocks,
                 .layout = layout,
                 .at = at};
  if (task.tile.rows <= kBlockTileRows) {
    return kernels.stored[task.tile.rows - 1](rows_from(0, task.tile.rows, 0), panel, sums);
  }
  std::fill_n(sums, task.tile.rows * kTileWidth, 0.0F);
  const std::int64_t most = kExpandedChunks / at.chunks_of_block;
  for (std::int64_t block = 0; block < blocks; block += most) {
    panel.blocks = std::min(most, blocks - block);
    const Expanded expanded = kernels.expand(panel, task.expanded);
    for (std::int64_t row = 0; row < task.tile.rows; row += kBlockTileRows) {
      const std::int64_t count = std::min(kBlockTileRows, task.tile.rows - row);
      kernels.expanded[count - 1](rows_from(row, count, block * at.chunks_of_block), expanded,
                                  sums + row * kTileWidth);
    }
    panel.data += panel.blocks * at.block;
  }
}

void run_tile(const BlockTask& task) {
  make_tile(task.tile, kTileWidth, task.scratch,
            [&](const PackedMatrix& weight, float* sums)
                HWY_ATTR { multiply(task, weight, sums); });
}

/// As many chains as hide the latency, each with factors of its own, which are read anew in each
/// round: no product is that of another chain or of another round.
template <int kBits>
double multiply_codes() {
  constexpr std::int64_t kRounds = 50000;
  constexpr int kFactors = 2, kOperands = 4;
  constexpr int kChains = kFactors * kOperands;
  IntVector factors[kFactors], x[kOperands], sums[kChains];
  HWY_UNROLL(2)
  for (int i = 0; i < kFactors; ++i) factors[i] = hn::Set(Ints(), 0x01020304 + i);
  HWY_UNROLL(4)
  for (int i = 0; i < kOperands; ++i) x[i] = hn::Set(Ints(), 0x05060708 + i);
  HWY_UNROLL(8)
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Zero(Ints());
  for (std::int64_t round = 0; round < kRounds; ++round) {
    asm volatile("" : : "r"(factors) : "memory");
    HWY_UNROLL(8)
    for (int i = 0; i < kChains; ++i)
      sums[i] = Dot<kBits>::add(sums[i], factors[i / kOperands], x[i % kOperands]);
  }
  HWY_UNROLL(8)
  for (int i = 1; i < kChains; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  // A volatile store keeps the compiler from removing the computation.
  volatile std::int32_t sink = hn::GetLane(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(kRounds * kChains * kLanes * Dot<kBits>::kStep);
}

}  // namespace

constexpr BlockTable kTable = {.width = kTileWidth,
                               .takes_words = kTakesWords,
                               .expanded_floats = kExpandedFloats,
                               .panel_bytes = panel_bytes,
                               .pack_panel = pack_panel,
                               .round_row = round_row,
                               .run = run_tile,
                               .multiply_codes = {multiply_codes<4>, multiply_codes<8>}};

}  // namespace MIR_DOT_NAMESPACE
}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
