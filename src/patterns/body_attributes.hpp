// Rows of the attributes that any op in the body of a declared op may have.
#pragma once

#include "mir/context.hpp"
#include "patterns/template.hpp"

namespace mir::patterns {

inline constexpr AttrRow kBodyAttributes[] = {
    {.name = kOnlyIfKey,
     .summary = "condition; if it is false, the op is left out and its results are its operands"},
    {.name = kRepeatKey,
     .type = AttrType::kDict,
     .summary = "variable with its count, as {i:$layers}: the op so many times, each on the "
                "results of the one before"},
};

}  // namespace mir::patterns
