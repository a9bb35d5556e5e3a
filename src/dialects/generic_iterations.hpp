// The number of iterations of generic ops.
#pragma once

#include "dialects/generic_form.hpp"

namespace mir {

/// The number of iterations. Bounds end tiles: `$i*32+$r < $n` makes loops over `$i` and `$r` have
/// `$n` iterations if `$r` has 32. Conditions of `where`, and bounds of other indices, count as
/// fulfilled.
Dim iterations_of(const GenericForm& form, IRContext& context);

}  // namespace mir
