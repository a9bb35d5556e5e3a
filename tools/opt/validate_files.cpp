// Validates patterns of files, and reports verdicts as diagnostics.
#include "tools/opt/validate_files.hpp"

#include <fmt/format.h>

#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "mir/validate.hpp"
#include "mir/verify.hpp"
#include "support/file_io.hpp"
#include "tools/opt/counterexample.hpp"
#include "tools/opt/watch_passes.hpp"

namespace mir::tools {

namespace {

void report(const PatternVerdict& verdict, Diagnostics& diagnostics) {
  const bool is_refuted = verdict.kind == PatternVerdict::Kind::kRefuted;
  diagnostics.error(is_refuted ? diag::kClaimRefuted : diag::kNotValidated, verdict.at,
                    spelling(verdict));
}

}  // namespace

ExitCode validate_files(const Run& run, const OptSettings& settings) {
  const ValidationOptions options{.count = *settings.validate, .seed = *settings.seed};
  if (settings.counterexamples.is_given()) {
    const auto made = make_folder(*settings.counterexamples);
    if (!made) return run.report(made.error());
  }
  std::string text;
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : *settings.validate_patterns) {
    IRContext context;
    Diagnostics diagnostics = run.diagnostics();
    if (!register_dialects(settings.dialects, context, diagnostics)) {
      return run.report(diagnostics, context.sources());
    }
    const auto file = read_source(path, context.sources());
    if (!file) {
      code = worst(code, run.report(file.error()));
      continue;
    }
    const std::vector<Module*> modules = read_modules(**file, context, diagnostics);
    const bool is_read = !diagnostics.has_errors();
    for (const Module* module : modules) {
      // Verdicts about one module, or its errors, do not keep the others from being tried.
      if (!is_read || !verify(*module, diagnostics)) continue;
      for (const PatternVerdict& verdict : validate_patterns(*module, options)) {
        if (verdict.kind == PatternVerdict::Kind::kKept) {
          text += spelling(verdict) + '\n';
        } else {
          report(verdict, diagnostics);
          if (!settings.counterexamples.is_given() || !verdict.counterexample) continue;
          const auto written = write_counterexample(*settings.counterexamples, verdict.pattern,
                                                    spelling(verdict), *verdict.counterexample,
                                                    fmt::format("random:{}", *settings.seed));
          if (!written) diagnostics.error(written.error().code, {}, written.error().message);
        }
      }
    }
    code = worst(code, run.report(diagnostics, context.sources()));
  }
  return worst(run.write_output(text), code);
}

}  // namespace mir::tools
