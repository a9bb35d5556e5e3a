// Short ways for tests to say "verification reports ... of this text".
#pragma once

#include "../ir/read.hpp"
#include "../registers.hpp"
#include "mir/verify.hpp"

namespace mir::test {

using Lines = std::vector<std::string>;

/// What verification reports of a text without other errors.
inline Lines verified(const std::string& text, const VerifyOptions& options = {}) {
  Reading reading(text);
  CAPTURE(text);
  REQUIRE(reading.errors() == Lines{});
  Diagnostics diagnostics(0);
  bool good = true;
  for (const Module* module : reading.modules) good = verify(*module, diagnostics, options) && good;
  CHECK(good == !diagnostics.has_errors());
  return lines_of(diagnostics, reading.context);
}

inline constexpr const char* kHead = "@main [mir_version:1] (%0:tensor<[2, 4], Float32, CPU>) -> (";

/// A portable module with these ops from line 2 on; %0 is its input of shape [2, 4].
inline std::string module_of(const Lines& ops, const std::string& results = "") {
  std::string text = kHead + results + ") {\n";
  for (const std::string& op : ops) text += op + "\n";
  return with_init(text + "}\n");
}

/// As above, with a return of nothing at the end.
inline Lines checked(Lines ops) {
  ops.emplace_back("cf.ReturnOp () -> ()");
  return verified(module_of(ops));
}

inline constexpr const char* kType = "tensor<[2, 4], Float32, CPU>";

/// `graph.SubGraphOp @name` from its type to its type, that runs `op`.
inline std::string graph(const std::string& name, const std::string& op = "") {
  const std::string x = "%9:" + std::string(kType);
  return "graph.SubGraphOp @" + name + " <CPU> {\n(" + x + ") -> (" + x + ") {\n" + op +
         (op.empty() ? "" : "\n") + "cf.ReturnOp (%9) -> ()\n}\n}";
}

}  // namespace mir::test
