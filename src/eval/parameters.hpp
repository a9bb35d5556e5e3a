// Parameters and constants of portable modules.
#pragma once

#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// A parameter that an op finds by its path.
struct OwnedParameter {
  std::string_view suffix;  ///< ".weight"
  Symbol symbol;            ///< "<path>.weight"
};

/// True if the op owns `<path><suffix>`: its row lists the suffix and the attribute that decides
/// about it, if any, is true.
bool owns_parameter(const Op& op, std::string_view suffix);
/// Every parameter the op owns, in the order of its row; empty for an op without a path.
std::vector<OwnedParameter> owned_parameters(const Op& op);

/// The tensor of a value with attribute `constant:[...]`: one element for all, or one each. The
/// type must be static and its elements real numbers that hold the values stated.
Result<Tensor> constant_tensor(const Value& value);
/// The element of a tensor of one Float32; no value for others, undefined ones included.
std::optional<float> only_float(const Tensor& tensor);

}  // namespace mir
