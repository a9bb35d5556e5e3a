// Position of an op in messages of mllm-opt.
#pragma once

#include <fmt/format.h>

#include <string>

#include "mir/module.hpp"

namespace mir::tools {

/// `file:line:column: linalg.AddOp`; the name alone of an op that no text has.
inline std::string place_of(const Op& op) {
  const IRContext& context = op.module().context();
  const Span span = op.span();
  const SourceFile* file = context.sources().file_of(span.begin);
  if (file == nullptr) return std::string(op.name());
  const LineColumn at = file->line_column(span.begin);
  return fmt::format("{}:{}:{}: {}", file->name(), at.line, at.column, op.name());
}

}  // namespace mir::tools
