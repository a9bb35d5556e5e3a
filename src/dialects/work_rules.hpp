// Work of ops other than moving each value once: the functions of OpRow::work.
#pragma once

#include <cstdint>
#include <optional>

#include "mir/work.hpp"

namespace mir::works {

/// Storage begins or ends its life.
OpWork nothing(const WorkContext& context);
/// Results are written, operands are not read.
OpWork results_once(const WorkContext& context);
/// As many elements are read as written.
OpWork results_twice(const WorkContext& context);
/// A source and the whole that it becomes a part of are read and written.
OpWork each_copied_whole(const WorkContext& context);
/// Tokens are read and written; those in the cache stay where they are.
OpWork tokens_appended(const WorkContext& context);
/// The elements of operand 0 that the other operands select are read and written.
OpWork elements_picked(const WorkContext& context);
/// The selected rows of the table are read and written; other rows do not count.
OpWork rows_taken(const WorkContext& context);
/// Each element of the result is the product of a row of the operand and a row of the weight.
OpWork linear_products(const WorkContext& context);
/// Each element of the result is the product of a patch of the operand and a row of the weight.
OpWork convolution_products(const WorkContext& context);
/// Each element of the result is the product of a row and a column of the operands.
OpWork products_of_operands(const WorkContext& context);
/// A sum over all indices of an equation, of products of as many factors as there are operands.
OpWork products_of_indices(const WorkContext& context);
/// Each value moves once; one multiply-add for each iteration that is joined to others.
OpWork generic_loops(const WorkContext& context);
/// Each operand and result moves once; one multiply-add for each number that is joined to another.
OpWork kernel_loops(const WorkContext& context);

// Attention: each query with the keys that it sees.
OpWork flash_attention(const WorkContext& context);
OpWork swa_sink_attention(const WorkContext& context);
OpWork paged_attention(const WorkContext& context);
OpWork radix_attention(const WorkContext& context);

}  // namespace mir::works

namespace mir {

/// Keys that the queries of an attention see.
struct AttentionSight {
  bool causal = false;  ///< none after the query; the last query sees the last key
  std::optional<std::int64_t> window = {};  ///< of those the last so many
};
/// Returns the number of pairs of a query and a key that it sees. If extents are symbolic, no fewer
/// keys than queries are assumed, and each query counts with its whole window.
Dim attention_pairs(DimTable& table, Dim queries, Dim keys, const AttentionSight& sight);
std::int64_t attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionSight& sight);

}  // namespace mir
