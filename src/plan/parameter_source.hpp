// The interface through which plans read parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "eval/evaluate.hpp"
#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Origin of a weight: bytes of a file, and the type in which it is packed.
struct WeightOrigin {
  Tensor stored;
  DType dtype = DType::kFloat32;
  std::int64_t elements = 0;
};

/// Parameters that are in memory while something needs them.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;

  /// The tensors that are acquired.
  virtual const ParameterTable& table() const = 0;
  /// Puts tensors into the table; each call that succeeds needs one of release(). If a tensor
  /// cannot be made, the error tells why, and none is acquired.
  virtual Result<void> acquire(std::span<const Symbol> parameters) = 0;
  /// Takes them out of the table; `for_good`: no run needs them any more.
  virtual void release(std::span<const Symbol> parameters, bool for_good) = 0;
  /// Returns the file bytes that a parameter is made from; no value if it is not made from a file.
  virtual std::optional<WeightOrigin> origin(Symbol parameter) const = 0;
};

}  // namespace mir
