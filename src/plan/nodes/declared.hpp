// Tensors against the types of the values that they become.
#pragma once

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"
#include "plan/binder.hpp"

namespace mir {

/// Whether the tensor has a type; null fits nothing. Symbols without a value get one. The error
/// says what contradicts, and is empty where rank or element type differ.
Result<void> fits(const TensorType* declared, const Tensor& tensor, Binder& binder,
                  const DimPlace& place);

/// Whether result `number` of the op is what its type declares.
Result<void> check_declared(const Op& op, std::uint32_t number, const Tensor& tensor,
                            Binder& binder);

}  // namespace mir
