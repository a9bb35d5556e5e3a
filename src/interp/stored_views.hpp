// Places of the parameters of a module in weight files.
#pragma once

#include "mir/op.hpp"
#include "mir/weights.hpp"

namespace mir {

/// Returns the part of a stored tensor that the register of a parameter states. It borrows texts of
/// the context.
StoredView stored_view(const Op& registration);

}  // namespace mir
