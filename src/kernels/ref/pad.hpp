// Margins around a tensor.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

enum class PadMode : std::uint8_t {
  kConstant,   ///< a given element
  kReflect,    ///< mirrored without repeating the edge: .. 2 1 | 0 1 2 | 1 0 ..
  kReplicate,  ///< the edge: .. 0 0 | 0 1 2 | 2 2 ..
  kCircular,   ///< from the other side: .. 1 2 | 0 1 2 | 0 1 ..
};

/// The index in [0, extent) that position `i` of an endless margin reads, as often as needed;
/// negative in kConstant mode outside of it. `extent` is at least 1.
std::int64_t margin_index(PadMode mode, std::int64_t i, std::int64_t extent);

/// out[i] = x[i - before], by `mode` where that lies outside of x. `before` has one entry of 0 or
/// more for each dimension; the margin after x is what is left of out's extent, 0 or more. Types as
/// for copy; `value` is one element of x's type, read in kConstant mode only. In the other modes a
/// dimension of extent 0 has no margin to give: an error unless out is empty.
Result<void> pad(const View& x, std::span<const std::int64_t> before, PadMode mode,
                 const View& value, const MutableView& out);

}  // namespace mir::ref
