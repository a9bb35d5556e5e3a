// The op rows as people read them.
#pragma once

#include <functional>
#include <string>

#include "mir/ir/context.hpp"

namespace mir {

/// Whether an op ("linalg.AddOp") runs in this toolkit.
using RunsFn = std::function<bool(std::string_view name)>;

/// One op a line, aligned: name, operands -> results, what is known of it, summary.
std::string list_ops(const IRContext& context, const RunsFn& runs);

/// docs/ops.md: the index of all ops with their support and a link to their page.
std::string ops_index(const IRContext& context, const RunsFn& runs);

}  // namespace mir
