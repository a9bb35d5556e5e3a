// Renders an instruction of a lowered program as one line of a trace.
#include "program_step_text.hpp"

#include <fmt/format.h>

#include "mir/attribute_keys.hpp"
#include "report_text.hpp"

namespace mir::tools {

namespace {

std::string_view word_of(const Op& op, std::string_view key) {
  const Attr* value = op.attribute(key);
  return value != nullptr && value->kind() == AttrKind::kString ? value->text() : "";
}

}  // namespace

std::string text_of(const ProgramStep& step) {
  const Op& op = *step.instruction;
  const IRContext& context = op.module().context();
  std::string line = fmt::format("pc {} depth {}: {}", step.pc, step.depth, op.name());
  const auto label = op.dump_facts().label;
  if (label) line += fmt::format(" {}", context.text(*label));
  for (const std::string_view key : {key::kSymbol, key::kOpType}) {
    const auto text = word_of(op, key);
    if (!text.empty()) line += fmt::format(" {}", text);
  }
  if (const auto name = word_of(op, key::kSymbolName); !name.empty())
    line += fmt::format(" '{}'", name);
  if (const Attr* slot = op.attribute(key::kProgramUuid)) {
    const Attr *type = op.attribute(key::kType), *position = op.attribute(key::kInputPos);
    line +=
        fmt::format(" {} {} %{}", type != nullptr && type->spelling() == "0" ? "input" : "output",
                    position == nullptr ? "?" : position->spelling(), slot->spelling());
  }
  if (op.operand_count() + op.result_count() == 0) return line;
  std::string operands, results;
  for (const Use& use : op.operand_uses()) {
    operands +=
        fmt::format("{}%{}", operands.empty() ? "" : ", ", value_name(*use.value(), context));
  }
  for (const Value& result : op.results()) {
    results += fmt::format("{}%{}", results.empty() ? "" : ", ", value_name(result, context));
  }
  return line + fmt::format(" ({}) -> ({})", operands, results);
}

}  // namespace mir::tools
