// When two attributes, ops or results are the same.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// The stated value of an attribute, otherwise its default; null if there is neither.
const Attr* effective_attribute(const Op& op, const AttrRow& row);

/// Whether two attributes have the same value: words and quoted strings of equal text do, and equal
/// numbers with a point in different spelling.
bool are_same_value(const Attr& a, const Attr& b);

/// Whether two numbers are the same, without rounding: `1`, `1.0` and `10e-1` are, but not `0.0`
/// and
/// `-0.0`. A NaN is the same as one of equal spelling.
bool are_same_number(const Attr& a, const Attr& b);

/// Whether all attributes of the op are of its row: none is a mark that a pass or a tool attached.
bool states_only_row_attributes(const Op& op);

/// Whether two ops of one kind have equal attributes: those of their row by effective value, others
/// as stated. Order does not matter.
bool have_equal_attributes(const Op& a, const Op& b);

/// Whether two ops do the same with their operands: equal names, devices, symbols and attributes,
/// and equal paths if these name weights or state. False for ops with regions or successors.
bool are_same_operation(const Op& a, const Op& b);

/// Whether two ops have the same results: they do the same with the same operands, and their
/// results have equal types, attributes and symbols. Effects are the caller's concern.
bool are_equivalent(const Op& a, const Op& b);

}  // namespace mir
