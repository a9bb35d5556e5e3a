// Attention where keys that a query does not see have weight after all.
#pragma once

#include <cstdint>

#include "kernels/fast/attention_task.hpp"

namespace mir::fast {

/// True if keys that the query of `row` does not see have weight, that is, if e^(hidden - largest)
/// is more than 0 in Float32. `largest` is the largest score that the query sees.
bool has_hidden_weight(const AttentionTask& task, std::int64_t row, float largest);

/// The query of `row` over all keys, in double; those that it does not see have the score
/// `hidden`. Keys of weight 0 add nothing.
void attend_hidden(const AttentionTask& task, std::int64_t row);

}  // namespace mir::fast
