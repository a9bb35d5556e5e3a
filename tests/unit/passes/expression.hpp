// Short texts of types and of what computes a value.
#pragma once

#include <fmt/format.h>

#include <regex>
#include <string>

#include "mir/module.hpp"

namespace mir::test {

inline std::string expression(const Value& value, const IRContext& context);

inline std::string call_text(const Op& op) {
  std::string text(op.info().mnemonic.substr(0, op.info().mnemonic.rfind("Op")));
  for (const NamedAttr& each : op.attributes()) {
    text += fmt::format("[{}]", each.value->spelling());
  }
  text += '(';
  for (const Use& use : op.operand_uses()) {
    text += (use.index() == 0 ? "" : ", ") + expression(*use.value(), op.module().context());
  }
  return text + ')';
}

/// "Neg(Slice[..](x))" of a value that two such ops compute, "@w" of a parameter.
inline std::string expression(const Value& value, const IRContext& context) {
  if (value.is_result()) return call_text(*value.defining_op());
  if (value.has_symbol()) return fmt::format("@{}", context.text(value.symbol()));
  return std::string(context.text(value.name().symbol()));
}

/// `:f[2, 3]` is a type of floats.
inline std::string with_types(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(:f\[([^\]]*)\])"), ":tensor<[$1], Float32, CPU>");
}

}  // namespace mir::test
