// Invariants that hold for any bytes read as text.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "mir/dialects.hpp"
#include "mir/format.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"
#include "syntax/damage.hpp"

namespace mir::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

/// Resolves and verifies the readable parts of a text with errors, which must only add errors.
inline void check_damaged_text(const SourceFile& file, IRContext& context) {
  Diagnostics found(0);
  const SyntaxTree tree = parse_damaged(file, found);
  require(exact_text(tree) == file.text() || tree.units().empty(), "a damaged tree has all bytes");
  const std::size_t errors = found.error_count();
  verify_unsound(resolve(tree, context, found), found);
  require(found.error_count() >= errors, "no error of syntax is taken back");
}

/// Parses `text`; when that succeeds, the tree gives the bytes back, formatting is a fixed point,
/// and what the IR prints reads back to IR that prints the same.
inline void check_text(std::string text) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("input", std::move(text));
  if (file == nullptr) return;
  Diagnostics diagnostics;
  const auto tree = parse(*file, diagnostics);
  if (!tree) {
    require(diagnostics.has_errors(), "a refused text has an error");
    check_damaged_text(*file, context);
    return;
  }
  require(exact_text(*tree) == file->text(), "the tree gives the text back");

  const std::string formatted = format(*tree);
  const SourceFile* second = context.sources().add("formatted", formatted);
  const auto second_tree = parse(*second, diagnostics);
  require(second_tree.has_value(), "formatted text parses");
  require(format(*second_tree) == formatted, "formatting is a fixed point");

  const auto modules = resolve(*tree, context, diagnostics);
  if (diagnostics.has_errors()) return;
  std::string printed;
  for (const Module* module : modules) {
    Diagnostics findings;
    (void)verify(*module, findings);
    printed += print(*module);
  }
  IRContext again;
  register_builtin_dialects(again);
  const auto reread = read_modules(*again.sources().add("printed", printed), again, diagnostics);
  require(!diagnostics.has_errors(), "printed IR reads back");
  std::string reprinted;
  for (const Module* module : reread) reprinted += print(*module);
  require(reprinted == printed, "printing is a fixed point");
}

}  // namespace mir::fuzz
