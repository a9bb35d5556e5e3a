// What a diff says of ops and values, and the texts by which it finds those that belong together.
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

/// What an op is called: kind, path, symbol, label.
std::string name_key(const Op& op);
/// What an op is and reads, without ids.
std::string content_key(const Op& op);
/// What an op and all within it are called.
std::string structure_key(const Op& op);

/// Where a value comes from, without its name: "result 0 of linalg.SiLUOp 'act'".
std::string source_text(const Value& value);
/// Where text names the value first: "%7 at 12:5".
std::string mention_text(const Value& value);

/// An op as one line without its values' names.
std::string op_line(const Op& op);

}  // namespace mir
