// Moving elements: copies between strided views, concatenation, repetition, conversion.
//
// copy, concat, stack and repeat take every element type with one element per storage unit (all but
// MXFP4 and the GGUF blocks), keep all bits, and need input and output of one type.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// out[i] = x[i], where x broadcasts to out's extents. Serves Transpose, Permute, Slice, Split,
/// Contiguous, Clone, X2X and views of any kind: the caller states the view by strides.
Result<void> copy(const View& x, const MutableView& out);

/// The inputs one after the other along `axis` (negative: from the end). At least one input; equal
/// ranks and equal extents except along the axis, where out's extent is the sum. Size-0 pieces are
/// fine.
Result<void> concat(std::span<const View> inputs, std::int64_t axis, const MutableView& out);

/// The inputs, all of equal extents, along a new dimension `axis` in [-(rank+1), rank].
Result<void> stack(std::span<const View> inputs, std::int64_t axis, const MutableView& out);

/// Each slice along `axis` `times` times in a row: a b -> a a b b for times = 2. `times` may be 0.
Result<void> repeat(const View& x, std::int64_t axis, std::int64_t times, const MutableView& out);

/// out[i] = x[i] converted to out's element type; equal extents. Takes Float16, BFloat16, Float32,
/// Float64, (U)Int8 to (U)Int64 and Bool on both sides. May run in place if both types have one
/// size.
/// - floating to floating: nearest even, overflow to infinity; a NaN stays a NaN (canonical)
/// - floating to integer: toward zero; values beyond the range give its nearest end, NaN gives 0
/// - integer to integer: modulo 2^bits (two's complement)
/// - integer to floating: nearest even in one rounding
/// - to Bool: whether the value is not zero (a NaN is not); from Bool: 0 or 1
Result<void> cast(const View& x, const MutableView& out);

/// Conversion of one element, as cast() does it.
struct ElementCast {
  /// Element `from_at` of `from` becomes element `to_at` of `to`.
  void (*convert)(const void* from, std::int64_t from_at, void* to, std::int64_t to_at);
};
/// An error for types that cast() does not take.
Result<ElementCast> element_cast(DType from, DType to);

/// The numbers start + i step, in double.
struct Sequence {
  /// Whole numbers of up to 64 bits, modulo 2^64.
  struct Whole {
    std::uint64_t start, step;
  };

  double start = 0, step = 1;
  std::optional<Whole> whole{};  ///< if both numbers are whole; exact in elements of integer types
};

/// Writes number `i` of a sequence as one element, with the bits of cast(); integers of a whole
/// sequence are exact, and beyond the range of the type the nearest end of it.
struct SequenceElement {
  void (*write)(const Sequence& sequence, std::int64_t i, void* to);
};
/// An error for types that cast() does not take.
Result<SequenceElement> sequence_element(DType dtype);

}  // namespace mir::ref
