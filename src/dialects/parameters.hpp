// Parameters that an op owns or names, their extents, and the cache that it keeps.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mir/infer.hpp"
#include "mir/module.hpp"

namespace mir {

/// True if an op with these attributes owns the parameter, which its deciding attribute, or the
/// default in the row, determines.
bool owns_parameter(const OpRow& row, const WeightRow& weight, const IRContext& context,
                    std::span<const NamedAttr> attributes);

/// Extents of a parameter by the words of its row, `[out_channels, in_channels / groups]`: each is
/// an integer attribute or a list of them; where in_channels, out_channels or hidden_size is not
/// stated, the last extent of operand 0 or of the result, but none for `stated in_channels`; `D` is
/// the last of operand 0. An extent that is not constant or not stated is unknown. No value if the
/// rank is not known.
std::optional<std::vector<Dim>> parameter_dims(const WeightRow& weight, const IRContext& context,
                                               const TensorType* operand, const TensorType* result,
                                               std::span<const NamedAttr> attributes);

/// Extents of the parameter of an op, by the function of its row if there is one. `result` is the
/// type of the first result, or null.
std::optional<std::vector<Dim>> parameter_dims(const InferRequest& op, const WeightRow& weight,
                                               const TensorType* result);

/// Like parameter_dims(), as numbers; no value if any extent is unknown.
std::optional<std::vector<std::int64_t>> parameter_extents(const WeightRow& weight,
                                                           const IRContext& context,
                                                           const TensorType* operand,
                                                           const TensorType* result,
                                                           std::span<const NamedAttr> attributes);

/// The parameter that a linalg.ParamOp gives as its result; none for other ops, and for one without
/// a name.
std::optional<Symbol> named_parameter(const Op& op);

/// The name of the cache that a KVCacheOp keeps its state in: attribute `cache`, else the op's
/// path; the empty symbol when it has neither or the op is no KVCacheOp.
Symbol cache_of(const Op& op);

/// True if an attribute of the op names a parameter, a state or the layer that the op belongs to.
/// Ops of equal layers differ in such attributes and in their paths.
bool is_name_attribute(const Op& op, const AttrRow& row);

}  // namespace mir
