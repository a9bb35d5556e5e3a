// A plan as graphs of linalg ops.
#pragma once

#include "graph_plan.hpp"

namespace mir::test {

std::string graph_text(const IRContext& context, const Plan& plan, bool portable);

/// `[k:v, ...]`, empty without attributes.
std::string attribute_list(const IRContext& context, std::span<const NamedAttr> attributes);

}  // namespace mir::test
