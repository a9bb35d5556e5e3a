// Proposes the edit that adds an attribute to an op.
#include "ir/propose_attribute.hpp"

#include <fmt/format.h>

#include <string>

#include "mir/context.hpp"

namespace mir {

namespace {

/// Returns a value that the row admits, as text: the first of its choices, else that of the
/// example.
std::string a_value_of(const AttrRow& row, std::string_view example) {
  if (!row.choices.empty()) return fmt::format("\"{}\"", row.choices.front());
  const SourceFile file("row", std::string(example), 1);
  const OpText text(file, {1, 1});
  const Span value = text.value(row.name);
  return value.known() ? std::string(text.text(value)) : std::string();
}

}  // namespace

void propose_attribute(Diagnostic& diagnostic, const OpText& source, const OpKindInfo& op,
                       const AttrRow& row) {
  const std::string value = a_value_of(row, op.row->example);
  if (value.empty()) return;
  const std::string entry = fmt::format("{}:{}", row.name, value);
  if (const Span list = source.attribute_list(); list.known()) {
    const std::string_view rest = source.text_after(list);
    const bool is_empty = rest.find_first_not_of(" \t") == rest.find(']');
    diagnostic.proposals.push_back({{list.end, list.end}, is_empty ? entry : entry + ", "});
  } else if (op.dialect->attributes == AttrPosition::kBeforeOperands) {
    const Span operands = source.first(TokenKind::kLParen);
    if (!operands.known()) return;
    diagnostic.proposals.push_back({{operands.begin, operands.begin}, fmt::format("[{}] ", entry)});
  } else if (const Span end = source.last_list_end(); end.known()) {
    diagnostic.proposals.push_back({{end.end, end.end}, fmt::format(" [{}]", entry)});
  }
}

}  // namespace mir
