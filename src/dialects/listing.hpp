// The op rows as people read them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "mir/context.hpp"

namespace mir {

/// Tells if a kernel set computes an op.
using RunsFn = std::function<bool(OpId op)>;
struct OpSupport {
  RunsFn ref;  ///< structure, which a schedule carries out, included
  RunsFn fast;
};

/// One op a line, aligned: name, operands -> results, what is known of it, summary.
std::string list_ops(const IRContext& context, const OpSupport& support);

/// Operands, attributes, example and page of each op with `part` in its name, in any case of its
/// letters. Empty if no op has it.
std::string describe_ops(const IRContext& context, const OpSupport& support, std::string_view part);

/// One kind of types or attributes a line, aligned: name, parameters, summary. Parameters in
/// brackets may be left out.
std::string list_types(const IRContext& context);

/// The words that editors colour, one a line, sorted, each after its kind: `op`, `attribute`,
/// `type` or `element-type`.
std::string list_keywords(const IRContext& context);

/// docs/ops.md: the index of all ops with their support and a link to their page, and of all types.
std::string ops_index(const IRContext& context, const OpSupport& support);

}  // namespace mir
