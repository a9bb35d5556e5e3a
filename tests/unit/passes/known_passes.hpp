// The passes that a tool has, and a few for tests.
#pragma once

#include "../ir/read.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "verify/verify_text.hpp"

namespace mir::test {

using Lines = std::vector<std::string>;

/// What a tool registers, and what a test adds.
struct Passes {
  PassRegistry registry;
  IRContext texts;  // of pipelines

  Passes() {
    register_standard_passes(registry);
    register_conversions(registry);
  }

  /// None, with what was reported in `problems`.
  std::optional<Pipeline> read(std::string_view text) {
    const SourceFile* file = texts.sources().add("pipeline", std::string(text));
    REQUIRE(file != nullptr);
    Diagnostics diagnostics;
    auto pipeline = registry.read_pipeline(*file, diagnostics);
    problems = lines_of(diagnostics, texts);
    for (const Diagnostic& each : diagnostics.sorted()) {
      if (!each.hint.empty()) problems.back() += "; " + each.hint;
    }
    return pipeline;
  }
  Lines problems;

  /// Checks that the text of a module that verifies reads back.
  static void check_text(const Module& module) {
    Diagnostics ignored, found;
    if (!verify(module, ignored, {.report_findings = false})) return;
    CHECK(verify_text(module, found));
    CHECK(lines_of(found, module.context()) == Lines{});
  }

  /// What was reported of a run; empty when it was good.
  Lines run(Module& module, std::string_view text, const PipelineRun& how = {}) {
    const auto pipeline = read(text);
    REQUIRE(pipeline);
    Diagnostics diagnostics;
    const bool good = run_pipeline(module, *pipeline, how, diagnostics);
    CHECK(good != diagnostics.has_errors());
    if (good) check_text(module);
    return lines_of(diagnostics, module.context());
  }
};

}  // namespace mir::test
