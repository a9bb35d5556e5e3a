// Judges two texts like a step that a pass makes from one to the other, by running them.
#include "tools/opt/validate_step.hpp"

#include <fmt/format.h>

#include "mir/codes/passes.hpp"
#include "mir/codes/usage.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/validate.hpp"
#include "mir/verify.hpp"
#include "tools/opt/counterexample.hpp"
#include "tools/opt/watch_passes.hpp"
#include "validate/validate_claim.hpp"

namespace mir::tools {

namespace {

/// Runs that are tried unless --validate states another number.
constexpr std::uint64_t kStepRuns = 20;

/// The only module of a file, which verifies. Null after reporting.
const Module* read_step(const std::string& path, const Run& run, IRContext& context,
                        Diagnostics& diagnostics, ExitCode& code) {
  const auto file = read_source(path, context.sources());
  if (!file) {
    code = worst(code, run.report(file.error()));
    return nullptr;
  }
  const std::vector<Module*> modules = read_modules(**file, context, diagnostics);
  if (diagnostics.has_errors()) return nullptr;
  if (modules.size() != 1) {
    diagnostics.error(diag::kNotValidated, {},
                      fmt::format("'{}' has {} modules, expected one", path, modules.size()));
    return nullptr;
  }
  if (!verify(*modules[0], diagnostics)) return nullptr;
  if (modules[0]->is_portable()) return modules[0];
  diagnostics.error(diag::kNotValidated, modules[0]->top()->span(),
                    "only portable modules can be compared by running them");
  return nullptr;
}

/// Tells the first input or output that differs; empty if all are alike.
std::string different_port(const Module& before, const Module& after) {
  const auto types = [](const Module& module, bool are_inputs) {
    std::vector<const Type*> list;
    const Block& block = module.body().only_block();
    if (are_inputs) {
      for (const Value& each : block.arguments()) list.push_back(each.type());
    } else {
      for (const Use& use : block.back()->operand_uses()) list.push_back(use.value()->type());
    }
    return list;
  };
  if (before.body().has_several_blocks() || after.body().has_several_blocks()) return "";
  for (const bool are_inputs : {true, false}) {
    const std::string_view port = are_inputs ? "input" : "output";
    const auto was = types(before, are_inputs), is = types(after, are_inputs);
    if (was.size() != is.size()) {
      return fmt::format("{} {}s before, {} after", was.size(), port, is.size());
    }
    for (std::size_t i = 0; i < was.size(); ++i) {
      const auto text = [](const Type* type) {
        return type == nullptr ? std::string("unknown") : std::string(type->spelling());
      };
      if (text(was[i]) == text(is[i])) continue;
      return fmt::format("{} {} is {} before, {} after", port, i, text(was[i]), text(is[i]));
    }
  }
  return "";
}

}  // namespace

ExitCode validate_step(const Run& run, const OptSettings& settings) {
  const StepClaim& claim = *settings.claim;
  if (run.operands().size() != 2) {
    return run.refuse(Error{diag::kUsage, "--validate-step takes two files, before and after"});
  }
  const ValidationOptions options{
      .count = settings.validate.is_given() ? *settings.validate : kStepRuns,
      .seed = *settings.seed};
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  ExitCode code = ExitCode::kSuccess;
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const Module* before = read_step(run.operands()[0], run, context, diagnostics, code);
  const Module* after = read_step(run.operands()[1], run, context, diagnostics, code);
  if (before == nullptr || after == nullptr) {
    return worst(code, run.report(diagnostics, context.sources()));
  }
  const Span place = after->top()->span();
  if (const std::string port = different_port(*before, *after); !port.empty()) {
    diagnostics.error(diag::kClaimRefuted, place, fmt::format("the step changes ports: {}", port));
    return run.report(diagnostics, context.sources());
  }
  const ChangeVerdict verdict =
      claim.kind == StepClaim::Kind::kBound
          ? validate_change(*before, *after, options, claim.bound)
          : validate::validate_claim(
                *before, *after,
                {.kind = claim.kind == StepClaim::Kind::kBits ? RewriteClaim::Kind::kBits
                                                              : RewriteClaim::Kind::kValue},
                options);
  std::string text;
  if (verdict.kind == PatternVerdict::Kind::kUndecided) {
    diagnostics.error(diag::kNotValidated, place, verdict.reason);
  } else if (verdict.kind == PatternVerdict::Kind::kKept) {
    text = fmt::format("the step keeps '{}': {} runs with {} elements\n", claim.text, verdict.runs,
                       verdict.elements);
  } else {
    const Counterexample& found = *verdict.counterexample;
    diagnostics.error(diag::kClaimRefuted, place,
                      fmt::format("the step does not keep '{}': {}", claim.text, found.difference));
    if (settings.counterexamples.is_given()) {
      auto written = make_folder(*settings.counterexamples);
      if (written) {
        written = write_counterexample(*settings.counterexamples, "step", found.difference, found,
                                       fmt::format("random:{}", *settings.seed));
      }
      if (!written) diagnostics.error(written.error().code, {}, written.error().message);
    }
  }
  return worst(run.write_output(text), run.report(diagnostics, context.sources()));
}

}  // namespace mir::tools
