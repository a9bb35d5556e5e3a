// The dialects that come with the toolkit, and those that texts declare.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mir/context.hpp"

namespace mir {

/// builtin, graph, cf, tensor, linalg, prog, dbg, pattern, dialect, in this order. Names and
/// aliases are unique in a dialect; linalg rows are sorted by name. Type names are unique except
/// for two that upstream prints for two ops each: "SiLU" (also VisionRoPEOp) and "FlashAttention2"
/// (also FlashAttention2SwaSinkOp); the op a reader means without knowing operands comes first.
std::span<const Dialect* const> builtin_dialects();

/// Attributes that any op or value may carry besides those of its row: what upstream's passes
/// attach, quantisation and partition marks. They never change the results of an op.
std::span<const AttrRow> annotation_attributes();

/// Attributes that only values may carry: the numbers of a constant, scales, marks of QNN graphs.
std::span<const AttrRow> value_attributes();
/// The row in one of the two lists above; null for an attribute that no value may carry.
const AttrRow* find_value_attribute(std::string_view name);

/// Registers these dialects, and has the context register those that modules declare when they are
/// read. The context must have none of these dialects yet.
void register_builtin_dialects(IRContext& context);

/// The module that declares a dialect, in canonical text (docs/dialects.md). Of what only code has,
/// such as folding, `document` of each op has a list.
std::string dialect_text(const Dialect& dialect);

// Types of the builtin dialect, which must be registered.

/// `!builtin.any`
const DialectType* any_type(IRContext& context);
/// `!builtin.index`
const DialectType* index_type(IRContext& context);
/// `!builtin.scalar<dtype>`
const DialectType* scalar_type(IRContext& context, DType dtype);
/// `!builtin.function<[inputs], [results]>`
const DialectType* function_type(IRContext& context, std::span<const Type* const> inputs,
                                 std::span<const Type* const> results);

}  // namespace mir
