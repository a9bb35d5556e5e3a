// Matrix products.
//
// Operands are of floating types, each of its own. Every output element is
// one sum over k = 0, 1, ... in double, in that order, starting from +0, rounded once on store.
// With operands of at most 24 significant bits the products are exact, so against a float64
// evaluation
//   |error| <= K 2^-53 sum_k |a_k b_k| + 0.5 ULP of the stored value.
// K = 0 gives +0 (plus the bias). NaN and infinities follow IEEE; a zero never hides a NaN.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

struct MatMulOptions {
  bool transpose_a = false;  ///< a is [.., K, M] instead of [.., M, K]
  bool transpose_b = false;  ///< b is [.., N, K] instead of [.., K, N]
};

/// out[.., m, n] = sum_k a[.., m, k] b[.., k, n]. Ranks at least 2; out has a's batch extents.
/// b is rank 2 (shared) or has a's rank; each of its batch extents is equal to a's, 1, or divides
/// a's, and batch index i of a then reads index floor(i / (A / B)) of b (grouped queries: each head
/// of b serves A / B consecutive heads of a). out overlaps no input.
Result<void> matmul(const View& a, const View& b, const MatMulOptions& options,
                    const MutableView& out);

/// y[.., n] = sum_k x[.., k] weight[n, k] + bias[n]. x is [.., K] of rank at least 1, weight [N,
/// K], bias [N] or null, out [.., N]. The bias is added last, before rounding. out overlaps no
/// input.
Result<void> linear(const View& x, const View& weight, const View* bias, const MutableView& out);

}  // namespace mir::ref
