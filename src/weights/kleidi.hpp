// Packed weights of linear layers as KleidiAI's kernels take them, and the values they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Memory layout of the right operand [N, K] of a product.
struct KleidiLayout {
  enum class Kind : std::uint8_t {
    kQsi4c32p,  ///< symmetric 4 bits in blocks of 32, a BFloat16 scale each
    kQai4c32p,  ///< asymmetric 4 bits in blocks of 32, a Float32 scale and offset each
    kFp16p      ///< Float16
  };
  Kind kind = Kind::kQsi4c32p;
  int rows = 4;  ///< rows that are interleaved (`nr`)
  int run = 8;   ///< values of one row that stay together; not used by kFp16p
};

/// Returns the layout that an `impl_type` or a tile names, such as
/// `KaiLinear_f32_qai8dxp_..._qsi4c32p8x8_4x8x32` or `qsi4c32p4x8`; no value for other texts and
/// for tiles whose width is that of a machine (`4vlx4`).
std::optional<KleidiLayout> kleidi_layout(std::string_view text);

/// Returns the bytes of a packed [rows, columns] operand; no value if the product overflows, an
/// extent is below 1, or the layout does not take so many columns (kQai4c32p: a multiple of 32).
std::optional<std::uint64_t> kleidi_bytes(const KleidiLayout& layout, std::int64_t rows,
                                          std::int64_t columns);

/// True if MIR_Q4_A32 holds every number of an operand with so many columns: layouts of 4 bits,
/// where blocks fill rows.
bool kleidi_fits_blocks(const KleidiLayout& layout, std::int64_t columns);

/// Contents of a packed operand.
struct UnpackedLinear {
  Tensor weight;  ///< [rows, columns]
  Tensor bias;    ///< [rows], Float32; zeros if the layer has no bias
};

/// The weight as Float32, exact (kQai4c32p: rounded once), or as MIR_Q4_A32, whose elements are the
/// same numbers bit by bit. `packed` must have exactly the bytes that the layout gives. MIR_Q4_A32
/// is refused where kleidi_fits_blocks() does not hold and where a scale of kQai4c32p, which is
/// stored as its sixteenth, is too large for Float32.
Result<UnpackedLinear> unpack_kleidi(const KleidiLayout& layout, std::int64_t rows,
                                     std::int64_t columns, std::span<const std::byte> packed,
                                     DType to = DType::kFloat32);

}  // namespace mir
