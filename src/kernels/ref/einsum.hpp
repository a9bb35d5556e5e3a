// Sums of products over named indices.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// For each dimension of a tensor the number of the index it runs with.
using IndexNumbers = std::vector<std::size_t>;

/// out[r..] = sum over all indices that out does not have of the product of the operands, each read
/// at its own indices. An index has one extent; a dimension of extent 1 serves any (as in a
/// broadcast), and one index twice in an operand reads a diagonal. `operands` has the indices of
/// each input; `result` those of out, each once and each of an input. At most kMaxRank indices.
///
/// One type: floating, (U)Int8 to (U)Int64. Floating: products from the
/// first operand on and their sum from +0 in double, summed indices in the order of their numbers,
/// the last one fastest; one rounding on store. For K terms of n factors of at most 24 significant
/// bits |error| <= (K + n) 2^-53 sum |product| + 0.5 ULP. Integers wrap. A sum of nothing is +0.
Result<void> einsum(std::span<const View> inputs, std::span<const IndexNumbers> operands,
                    std::span<const std::size_t> result, const MutableView& out);

}  // namespace mir::ref
