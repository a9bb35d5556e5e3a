// Texts of ops and values in a diff, and the keys that pair ops and values of two modules.
#pragma once

#include <string>
#include <string_view>

#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

inline std::string_view type_text(const Type* type) {
  return type == nullptr ? "untyped" : type->spelling();
}

/// `line:column`; empty for what no text has.
std::string place_text(const IRContext& context, Location at);

/// Key of the names of an op: kind, path, symbol, label.
std::string name_key(const Op& op);
/// Key of the kind, attributes and operands of an op, without ids.
std::string content_key(const Op& op);
/// Key of the names of an op and of all ops inside it.
std::string structure_key(const Op& op);

/// Describes the origin of a value, without its name: "result 0 of linalg.SiLUOp 'act'".
std::string source_text(const Value& value);
/// Returns the name of the value and the position of its first mention: "%7 at 12:5".
std::string mention_text(const Value& value);

/// An op as one line without its values' names.
std::string op_line(const Op& op);

}  // namespace mir
