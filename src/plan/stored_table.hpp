// Tables of embeddings that stay in the element type of their file.
#pragma once

#include <optional>

#include "mir/op.hpp"
#include "plan/parameter_source.hpp"

namespace mir {

/// Returns the table of an EmbeddingOp as its file has it, if the op reads it in Float32 and the
/// file has it in another float type, each of whose numbers Float32 holds exactly. Then a run
/// converts the rows that it reads, and the table is never made in Float32. No value otherwise.
std::optional<Tensor> stored_table(const Op& op, const ParameterSource& parameters);

}  // namespace mir
