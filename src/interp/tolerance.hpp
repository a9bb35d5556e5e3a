// Tolerances for comparing tensors, by element type.
#pragma once

#include <map>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "mir/weights.hpp"

namespace mir {

/// A tolerance for every element type.
///
/// Unless it is stated, Float64 has abs 1e-12 and rel 1e-10, Float32 abs 1e-6 and rel 1e-5, Float16
/// abs 1e-4 and rel 2e-3, BFloat16 abs 1e-3 and rel 1.6e-2, Float8E4M3 abs 2e-3 and rel 0.13,
/// Float8E5M2 abs 2e-5 and rel 0.26; complex types have that of their parts; all other types must
/// agree exactly.
class TolerancePolicy {
 public:
  /// The tolerance for a tensor of this type that was computed.
  Tolerance of(DType dtype) const;
  /// True if a tolerance that applies to this type was stated.
  bool states(DType dtype) const { return stated_.contains(dtype) || for_all_; }

  /// Adds `[DTYPE:]ITEM,ITEM..` with the items `exact`, `abs=X`, `rel=X`, `ulp=X`, `correlation=X`,
  /// `cosine=X` and `topK=X`. Items for a type, or without a type for all types, replace everything
  /// stated before. Without one of the first four, elements are not judged.
  Result<void> add(std::string_view text);

 private:
  std::map<DType, Tolerance> stated_;
  std::optional<Tolerance> for_all_;
};

}  // namespace mir
