// Products of 8-bit codes, for one instruction set. Included by code_products.cpp once for each of
// them, with MIR_DOT_NAMESPACE and MIR_DOT set.
HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace MIR_DOT_NAMESPACE {
namespace {

#include "kernels/fast/matrix/block_steps-inl.h"

/// A panel: runs of codes as block products have them, then the sum of each output's codes.
std::int64_t panel_bytes(std::int64_t runs) {
  return kTileWidth * (runs * kRun + 4);
}

void pack_panel(const std::int8_t* weight, const PackedMatrix& matrix, std::int64_t panel,
                std::byte* to) {
  constexpr std::int64_t kStep = Dot<8>::kStep;
  const std::int64_t runs = runs_of(matrix.depth);
  std::byte* const packed = to + panel * panel_bytes(runs);
  const std::int64_t first = panel * kTileWidth;
  const std::int64_t columns = std::min(kTileWidth, matrix.outputs - first);
  // A code of 0, whatever the bias.
  std::memset(packed, kCodeBias, static_cast<std::size_t>(kTileWidth * runs * kRun));
  std::int32_t sums[kTileWidth] = {};
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::int8_t* const row = weight + (first + column) * matrix.depth;
    for (std::int64_t k = 0; k < matrix.depth; ++k) {
      packed[(k / kStep * kTileWidth + column) * kStep + k % kStep] =
          static_cast<std::byte>((row[k] + kCodeBias) & 255);
      sums[column] += row[k];
    }
  }
  std::memcpy(packed + kTileWidth * runs * kRun, sums, sizeof sums);
}

/// Codes of a row as lanes take them, and their sum.
std::int32_t place_row(const std::uint8_t* codes, int flip, std::int64_t depth,
                       std::int64_t block_rows, std::byte* to) {
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < depth; k += kRun) {
    HWY_ALIGN std::int8_t bytes[kRun] = {};
    HWY_ALIGN std::int16_t words[kRun] = {};
    const std::int64_t count = std::min(kRun, depth - k);
    for (std::int64_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<std::int8_t>(codes[k + i] ^ flip);
      words[i] = bytes[i];
      sum += bytes[i];
    }
    if constexpr (kTakesWords) {
      store_codes(words, block_rows, reinterpret_cast<std::int16_t*>(to) + k * block_rows);
    } else {
      store_codes(bytes, block_rows, reinterpret_cast<std::int8_t*>(to) + k * block_rows);
    }
  }
  return sum;
}

/// Terms subtracted from a row's sums: `zero` times the sums of the weight, and the bias.
struct RowOffset {
  std::int32_t zero, bias;
};

HWY_INLINE void store_sums(IntVector sum, IntVector weight_sum, const RowOffset& offset,
                           FloatVector scale, float* to) {
  const Ints ints;
  const IntVector zero = hn::Mul(weight_sum, hn::Set(ints, offset.zero));
  const IntVector exact = hn::Sub(hn::Sub(sum, zero), hn::Set(ints, offset.bias));
  hn::StoreU(hn::Mul(hn::ConvertTo(Floats(), exact), scale), Floats(), to);
}

template <int kRows, bool kPrefetches>
void multiply_rows(const CodeTask& task, const std::uint8_t* panel, const std::byte* x,
                   const std::int32_t* sums_of_x, float* to) {
  const IntVector none = hn::Zero(Ints());
  Sums sum = {none, none, none, none, none, none, none, none};
  for (std::int64_t run = 0; run < task.runs; ++run) {
    add_codes<8, kRun, kRows>(
        [&](int step, int v) HWY_ATTR {
          constexpr std::int64_t kBytes = kLanes * Dot<8>::kStep;
          const std::uint8_t* const codes = panel + (step * kTileVectors + v) * kBytes;
          if (kPrefetches && (v == 0 || kBytes >= kLineBytes)) {
            hwy::Prefetch(codes + kPrefetchBytes);
          }
          return Dot<8>::load(codes);
        },
        x, sum);
    panel += kTileWidth * kRun;
    x += kRows * kRun * kXBytes / Dot<8>::kStep;
  }
  const auto* const weight_sums = reinterpret_cast<const std::int32_t*>(panel);
  const auto store = [&](IntVector sum0, IntVector sum1, int row) HWY_ATTR {
    const RowOffset offset = {task.zero, kCodeBias * sums_of_x[row]};
    float* const out = to + row * kTileWidth;
    store_sums(sum0, hn::LoadU(Ints(), weight_sums), offset, hn::LoadU(Floats(), task.scales), out);
    store_sums(sum1, hn::LoadU(Ints(), weight_sums + kLanes), offset,
               hn::LoadU(Floats(), task.scales + kLanes), out + kLanes);
  };
  store(sum.a0, sum.a1, 0);
  if constexpr (kRows > 1) store(sum.b0, sum.b1, 1);
  if constexpr (kRows > 2) store(sum.c0, sum.c1, 2);
  if constexpr (kRows > 3) store(sum.d0, sum.d1, 3);
}

void run_tile(const CodeTask& task) {
  const auto* const panel = reinterpret_cast<const std::uint8_t*>(task.tile.weight->data) +
                            task.tile.panel * panel_bytes(task.runs);
  const std::int64_t row_bytes = task.runs * kRun * (kTakesWords ? 2 : 1);
  static_assert(kBlockTileRows == 4);
  for (std::int64_t row = 0; row < task.tile.rows; row += kBlockTileRows) {
    const std::byte* const x = task.x + (task.tile.row + row) * row_bytes;
    const std::int32_t* const sums_of_x = task.sums_of_x + task.tile.row + row;
    float* const to = task.sums + row * kTileWidth;
    switch (std::min(kBlockTileRows, task.tile.rows - row)) {
      case 4:
        multiply_rows<4, false>(task, panel, x, sums_of_x, to);
        break;
      case 3:
        multiply_rows<3, false>(task, panel, x, sums_of_x, to);
        break;
      case 2:
        multiply_rows<2, false>(task, panel, x, sums_of_x, to);
        break;
      default:
        multiply_rows<1, true>(task, panel, x, sums_of_x, to);
    }
  }
  store_tile(task.tile, kTileWidth, task.sums, nullptr);
}

}  // namespace

constexpr CodeTable kTable = {.width = kTileWidth,
                              .row_bytes = kRun * (kTakesWords ? 2 : 1),
                              .panel_bytes = panel_bytes,
                              .pack_panel = pack_panel,
                              .place_row = place_row,
                              .run = run_tile};

}  // namespace MIR_DOT_NAMESPACE
}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
