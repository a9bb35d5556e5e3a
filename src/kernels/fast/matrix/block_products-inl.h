// Products with weights in blocks, for one instruction set. Included by block_products.cpp once for
// each of them, with MIR_DOT_NAMESPACE and MIR_DOT set.
HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace MIR_DOT_NAMESPACE {
namespace {

#include "kernels/fast/matrix/block_steps-inl.h"

/// A run of a panel: scales, minima, codes; each of all outputs. Of the codes, those of as many
/// elements as a lane takes at once lie side by side; of codes of 4 bits, the first half of a run's
/// elements are the low, the second the high half of bytes.
struct RunLayout {
  std::int64_t minima, codes, bytes;

  explicit RunLayout(const BlockLayout& layout) {
    const std::int64_t parameter = kTileWidth * (layout.has_halves ? 2 : 4);
    minima = parameter;
    codes = layout.has_minimum ? 2 * parameter : parameter;
    bytes = codes + kTileWidth * layout.run * layout.code_bits / 8;
  }
};

std::int64_t run_bytes(const BlockLayout& layout) {
  return RunLayout(layout).bytes * (kRun / layout.run);
}

void put_parameter(const BlockLayout& layout, float value, std::uint16_t bits, std::int64_t column,
                   std::byte* to) {
  if (layout.has_halves) {
    std::memcpy(to + 2 * column, &bits, sizeof bits);
  } else {
    std::memcpy(to + 4 * column, &value, sizeof value);
  }
}

void put_codes(const BlockLayout& layout, const BlockRun& run, std::int64_t column, std::byte* to) {
  const bool halves = layout.code_bits == 4;
  const std::int64_t step = halves ? Dot<4>::kStep : Dot<8>::kStep;
  const std::int64_t places = halves ? layout.run / 2 : layout.run;
  for (std::int64_t k = 0; k < places; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const int code = halves ? run.codes[i] | run.codes[i + static_cast<std::size_t>(places)] << 4
                            : static_cast<std::int8_t>(run.codes[i]) - layout.offset + kCodeBias;
    to[(k / step * kTileWidth + column) * step + k % step] = static_cast<std::byte>(code & 255);
  }
}

void pack_panel(const std::byte* weight, const PackedMatrix& matrix, const BlockLayout& layout,
                std::int64_t panel, std::byte* to) {
  const RunLayout at(layout);
  const std::int64_t runs = matrix.depth / layout.run;
  const std::int64_t row_bytes =
      matrix.depth / layout.lanes * static_cast<std::int64_t>(info(matrix.dtype).unit_bytes);
  std::byte* const packed = to + panel * runs * at.bytes;
  const std::int64_t first = panel * kTileWidth;
  const std::int64_t columns = std::min(kTileWidth, matrix.outputs - first);
  if (columns < kTileWidth) std::memset(packed, 0, static_cast<std::size_t>(runs * at.bytes));
  BlockRun block{};
  for (std::int64_t column = 0; column < columns; ++column) {
    const auto* const row =
        reinterpret_cast<const std::uint8_t*>(weight) + (first + column) * row_bytes;
    for (std::int64_t run = 0; run < runs; ++run) {
      layout.read(row, run, block);
      std::byte* const into = packed + run * at.bytes;
      put_parameter(layout, block.scale, block.scale_bits, column, into);
      if (layout.has_minimum) {
        put_parameter(layout, block.minimum, block.minimum_bits, column, into + at.minima);
      }
      put_codes(layout, block, column, into + at.codes);
    }
  }
}

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

HWY_INLINE FloatVector load_parameters(const std::uint8_t* at, bool has_halves, int v) {
  return has_halves ? load_floats(reinterpret_cast<const hwy::float16_t*>(at) + v * kLanes)
                    : load_floats(reinterpret_cast<const float*>(at) + v * kLanes);
}

/// A block of rows as RoundedRow has them, against a panel. Sums are those of the panel's runs.
struct Rows {
  const std::byte* codes;
  const float* scales;
  const float* sums;
  const std::int32_t* starts;  ///< null: all 0
  std::int64_t runs;           ///< of the panel
};
struct Panel {
  const std::uint8_t* data;
  const BlockLayout& layout;
  RunLayout at;
};

/// to += scale x products of one run, of one row.
HWY_INLINE void add_dots(FloatVector dots0, FloatVector dots1, FloatVector scale0,
                         FloatVector scale1, float x_scale, float* to) {
  const Floats d;
  const FloatVector scale = hn::Set(d, x_scale);
  hn::Store(hn::MulAdd(dots0, hn::Mul(scale0, scale), hn::Load(d, to)), d, to);
  hn::Store(hn::MulAdd(dots1, hn::Mul(scale1, scale), hn::Load(d, to + kLanes)), d, to + kLanes);
}

/// Sums over all runs, at `to`, which is aligned to vectors.
template <int kBits, int kRunSize, int kRows, bool kPrefetches>
void multiply_rows(const Rows& rows, const Panel& panel, float* to) {
  const Floats d;
  constexpr bool kStarts = kBits == 4 || kCodeBias != 0;
  constexpr std::int32_t kNoStarts[kRows] = {};
  const std::int32_t* starts = rows.starts == nullptr ? kNoStarts : rows.starts;
  const std::int64_t next_starts = rows.starts == nullptr ? 0 : kRows;
  std::fill_n(to, kRows * kTileWidth, 0.0F);
  const std::uint8_t* at = panel.data;
  const std::byte* codes = rows.codes;
  for (std::int64_t run = 0; run < rows.runs; ++run, at += panel.at.bytes) {
    const std::int64_t i = run * kRows;
    const auto start = [&](std::int64_t row) HWY_ATTR {
      return kStarts && row < kRows ? hn::Set(Ints(), starts[row]) : hn::Zero(Ints());
    };
    Sums sum = {start(0), start(0), start(1), start(1), start(2), start(2), start(3), start(3)};
    add_codes<kBits, kRunSize, kRows, kPrefetches>(at + panel.at.codes, codes, sum);
    codes += kRows * kRunSize * kXBytes / Dot<kBits>::kStep;
    starts += next_starts;
    const float* const scales = rows.scales + run * kRunSize / kRun * kRows;
    const FloatVector scale0 = load_parameters(at, panel.layout.has_halves, 0);
    const FloatVector scale1 = load_parameters(at, panel.layout.has_halves, 1);
    const auto add = [&](IntVector sum0, IntVector sum1, std::int64_t row) HWY_ATTR {
      add_dots(hn::ConvertTo(d, Dot<kBits>::finish(sum0)),
               hn::ConvertTo(d, Dot<kBits>::finish(sum1)), scale0, scale1, scales[row],
               to + row * kTileWidth);
    };
    add(sum.a0, sum.a1, 0);
    if constexpr (kRows > 1) add(sum.b0, sum.b1, 1);
    if constexpr (kRows > 2) add(sum.c0, sum.c1, 2);
    if constexpr (kRows > 3) add(sum.d0, sum.d1, 3);
    if (!panel.layout.has_minimum) continue;
    for (std::int64_t column = 0; column < kTileWidth; column += kLanes) {
      const FloatVector minimum =
          load_parameters(at + panel.at.minima, panel.layout.has_halves, column != 0);
      for (int row = 0; row < kRows; ++row) {
        float* const total = to + row * kTileWidth + column;
        hn::Store(hn::MulAdd(minimum, hn::Set(d, rows.sums[i + row]), hn::Load(d, total)), d,
                  total);
      }
    }
  }
}

template <int kBits, int kRunSize>
void multiply_some(std::int64_t count, const Rows& rows, const Panel& panel, float* to) {
  static_assert(kBlockTileRows == 4);
  switch (count) {
    case 4:
      return multiply_rows<kBits, kRunSize, 4, false>(rows, panel, to);
    case 3:
      return multiply_rows<kBits, kRunSize, 3, false>(rows, panel, to);
    case 2:
      return multiply_rows<kBits, kRunSize, 2, false>(rows, panel, to);
    default:
      return multiply_rows<kBits, kRunSize, 1, true>(rows, panel, to);
  }
}

/// By the bits of codes and the length of runs.
using Multiply = void (*)(std::int64_t count, const Rows& rows, const Panel& panel, float* to);
Multiply multiply_for(const BlockLayout& layout) {
  constexpr int kLong = kRun, kShort = kRun / 2;
  if (layout.run == kLong) {
    return layout.code_bits == 8 ? multiply_some<8, kLong> : multiply_some<4, kLong>;
  }
  return layout.code_bits == 8 ? multiply_some<8, kShort> : multiply_some<4, kShort>;
}

void multiply(const BlockTask& task, const PackedMatrix& weight, float* sums) {
  const BlockLayout& layout = *block_layout(weight.dtype);
  const RunLayout at(layout);
  const std::int64_t per_run = kRun / layout.run, runs = task.runs * per_run;
  const Panel panel = {.data = reinterpret_cast<const std::uint8_t*>(weight.data) +
                               task.tile.panel * runs * at.bytes,
                       .layout = layout,
                       .at = at};
  const bool is_byte = layout.code_bits == 8, has_words = kTakesWords && is_byte;
  const bool has_starts = is_byte ? kCodeBias != 0 : layout.offset != 0;
  const RunSums& all = per_run == 1 ? task.x.runs : task.x.halves;
  const Multiply multiply_rows_of = multiply_for(layout);
  for (std::int64_t row = 0; row < task.tile.rows; row += kBlockTileRows) {
    const std::int64_t i = (task.tile.row + row) * task.runs;
    const RunSums of_rows = all.at(i * per_run);
    const std::int32_t* const starts = is_byte ? of_rows.starts8 : of_rows.starts4;
    const Rows rows = {.codes = has_words
                                    ? reinterpret_cast<const std::byte*>(task.x.words + i * kRun)
                                    : reinterpret_cast<const std::byte*>(task.x.bytes + i * kRun),
                       .scales = task.x.scales + i,
                       .sums = of_rows.sums,
                       .starts = has_starts ? starts : nullptr,
                       .runs = runs};
    multiply_rows_of(std::min(kBlockTileRows, task.tile.rows - row), rows, panel,
                     sums + row * kTileWidth);
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
                               .run_bytes = run_bytes,
                               .pack_panel = pack_panel,
                               .round_row = round_row,
                               .run = run_tile,
                               .multiply_codes = {multiply_codes<4>, multiply_codes<8>}};

}  // namespace MIR_DOT_NAMESPACE
}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
