// Which ops the fast kernels compute.
#pragma once

#include <span>
#include <string_view>

namespace mir {

/// Names without device ("linalg.AddOp"), sorted. The list of ops and docs/ops.md show them; a test
/// holds each to be an op that the reference kernels compute as well.
std::span<const std::string_view> fast_ops();

}  // namespace mir
