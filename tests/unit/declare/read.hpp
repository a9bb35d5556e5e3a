// Texts that declare dialects, read and verified.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"

namespace mir::test {

/// A context that has read one text.
struct Declared {
  IRContext context;
  std::vector<Module*> modules;
  std::string problems;  ///< a line for each error: its code and its message

  explicit Declared(const std::string& text) {
    register_builtin_dialects(context);
    read(text);
  }

  void read(const std::string& text) {
    Diagnostics diagnostics;
    const SourceFile* file = context.sources().add("dialect.mir", text);
    modules = read_modules(*file, context, diagnostics);
    for (const Module* module : modules) {
      if (!diagnostics.has_errors()) verify(*module, diagnostics);
    }
    problems.clear();
    for (const Diagnostic& each : diagnostics.sorted()) {
      problems += std::string(spelling(each.code)) + " " + each.message + "\n";
    }
  }
};

/// A dialect `my` of one op with these attributes in brackets and regions.
inline std::string dialect_of_op(std::string_view attributes, std::string_view regions) {
  std::string text = "@my [mir_version:2] () -> () {\n    dialect.OpOp @AnOp ";
  if (!attributes.empty()) text += "[" + std::string(attributes) + "] ";
  return text + "{\n" + std::string(regions) + "}\n}\n";
}

/// A module with inputs and one op line.
inline std::string module_of_line(std::string_view inputs, std::string_view line) {
  return "@main [mir_version:2] (" + std::string(inputs) + ") -> () {\n    " + std::string(line) +
         "\n    cf.ReturnOp () -> ()\n}\n";
}

}  // namespace mir::test
