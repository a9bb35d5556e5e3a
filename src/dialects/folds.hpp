// Results that follow from types and attributes alone: the functions of OpRow::fold.
#pragma once

#include <vector>

#include "mir/context.hpp"

namespace mir::folds {

/// The extent that `dim` selects, if it is a number.
std::vector<FoldedResult> extent(const Op& op);
/// The operand, if the dimensions are one; the value before another exchange of the same two.
std::vector<FoldedResult> transpose(const Op& op);
/// The numbers of a constant operand; the value before the opposite cast.
std::vector<FoldedResult> cast(const Op& op);

}  // namespace mir::folds
