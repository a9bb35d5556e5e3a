// Work of ops: arithmetic and memory traffic, by extents that may be symbolic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/op.hpp"
#include "mir/type.hpp"

namespace mir {

/// A tensor that an op reads or writes.
struct WorkTensor {
  std::vector<Dim> dims;
  Dim bytes;
};
/// A tensor of a known element type.
WorkTensor work_tensor(DimTable& table, std::optional<DType> dtype, std::vector<Dim> dims);
/// A value of this type. An unknown number of bytes if the type is no tensor.
WorkTensor work_tensor(DimTable& table, const Type* type);
/// The number of elements.
Dim elements_of(DimTable& table, const WorkTensor& tensor);
/// The bytes of all tensors.
Dim bytes_of(DimTable& table, std::span<const WorkTensor> tensors);

/// A parameter that the op owns.
struct WorkParameter {
  std::string_view suffix;  ///< ".weight"
  WorkTensor tensor;
};

/// An op and its tensors, whose extents may differ from the types in the module: a run knows more.
struct WorkContext {
  const Op& op;
  std::span<const WorkTensor> operands;
  std::span<const WorkTensor> results;
  std::span<const WorkParameter> parameters;

  /// Arithmetic of extents.
  DimTable& table() const;
  /// The parameter with this suffix; null if the op does not own it or it has no value.
  const WorkTensor* parameter(std::string_view suffix) const;
};

/// Returns the least work of an op, whichever kernel computes it. OpRow::work defines it. For other
/// ops it is each_value_once(), and none for an op with Trait::kSameBytes.
OpWork work_of(const WorkContext& context);

/// Operands and parameters that the op owns are read once, results are written once.
OpWork each_value_once(const WorkContext& context);

}  // namespace mir
