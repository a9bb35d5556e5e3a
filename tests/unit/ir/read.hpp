// Short ways for tests to say "this text means ...".
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/print.hpp"

namespace mir::test {

/// Each diagnostic as `line:column MIRnnnn message`, a warning with `warning` before its message;
/// without a place as `- MIRnnnn message`.
inline std::vector<std::string> lines_of(const Diagnostics& diagnostics, const IRContext& context) {
  std::vector<std::string> list;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    std::string line = "-";
    if (const SourceFile* file = context.sources().file_of(diagnostic.at.begin)) {
      const LineColumn at = file->line_column(diagnostic.at.begin);
      line = std::to_string(at.line) + ":" + std::to_string(at.column);
    }
    line += " " + spelling(diagnostic.code) + " ";
    if (diagnostic.severity == Severity::kWarning) line += "warning ";
    list.push_back(line + diagnostic.message);
  }
  return list;
}

/// A text, read into a context of its own.
class Reading {
 public:
  explicit Reading(std::string text) {
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add("test.mir", std::move(text));
    REQUIRE(file != nullptr);
    modules = read_modules(*file, context, diagnostics);
  }

  std::vector<std::string> errors() const { return lines_of(diagnostics, context); }

  /// The first module of a text without errors.
  Module& module() {
    const auto found = errors();
    for (const std::string& error : found) MESSAGE(error);
    REQUIRE(found.empty());
    REQUIRE_FALSE(modules.empty());
    return *modules.front();
  }

  IRContext context;
  Diagnostics diagnostics{0};
  std::vector<Module*> modules;
};

/// Dumps whose text upstream left ambiguous; the parser refuses them with a place.
inline bool is_ambiguous(std::string_view path) {
  return path.find("synth_attrs") != path.npos || path.find("synth_nested") != path.npos;
}

/// What reading a text reports.
inline std::vector<std::string> errors(std::string text) {
  return Reading(std::move(text)).errors();
}

/// The ops of a region's blocks in order, without nested ones.
inline std::vector<Op*> ops_of(const Region& region) {
  std::vector<Op*> list;
  for (Block* block : region.blocks()) {
    for (Op* op : block->ops()) list.push_back(op);
  }
  return list;
}

/// The op of `list` whose spelling is `spelling`, the `skip`-th of them.
inline Op* find_op(const Region& region, std::string_view spelling, int skip = 0) {
  for (Op* op : ops_of(region)) {
    if (op->module().context().text(op->op_name().spelling) == spelling && skip-- == 0) return op;
    for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
      if (Op* found = find_op(*inner, spelling, skip)) return found;
    }
  }
  return nullptr;
}

}  // namespace mir::test
