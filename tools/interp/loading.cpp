// Reads, verifies and upgrades the module to be run.
#include "loading.hpp"

#include <fmt/format.h>

#include <utility>

#include "mir/codes/names.hpp"
#include "mir/codes/recovery.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"
#include "module_names.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/settle_text.hpp"

namespace mir::tools {

Verification verification_of_run(const Run& run, const Invocation& invocation,
                                 const VerificationSettings& checks) {
  // That no dialect declares an op is for the session to judge: it knows what is bound.
  static constexpr std::string_view kUndeclared[] = {"op_c1"};
  return {checks, run,
          invocation.bound_ops.empty() ? std::span<const std::string_view>() : kUndeclared};
}

LoadedModule load_module(const Run& run, const SourceFile& file, const Invocation& invocation,
                         const VerificationSettings& checks, Loading loading, IRContext& context,
                         Diagnostics& diagnostics) {
  const Verification verification = verification_of_run(run, invocation, checks);
  LossReport losses;
  remark_sidecar(invocation.found_sidecar, file.name(), diagnostics);
  const SourceFile* settled = settle_texts(file, invocation.assumed, context, losses, diagnostics);
  if (settled == nullptr) return {};
  const auto modules = read_modules(*settled, context, diagnostics);
  if (diagnostics.has_errors()) {
    verification.look_further(modules, diagnostics);
    return {};
  }
  const auto found = choose_module(modules, invocation.settings.module, file.name());
  if (!found) {
    diagnostics.error(found.error().code, {}, found.error().message);
    return {};
  }
  Module* const chosen = *found;
  if (loading == Loading::kProgram && !has_program(*chosen)) {
    diagnostics.error(diag::kWrongForm, chosen->top()->span(),
                      "the module is no lowered program: it has no instructions to follow");
    return {};
  }
  std::unique_ptr<Module> program;
  if (chosen->is_portable()) {
    // Warns of what is granted.
    if (loading == Loading::kGraphs) upgrade(*chosen, invocation.assumed, losses, diagnostics);
  } else {
    take_corrections(*chosen, invocation.assumed, losses, diagnostics);
    if (diagnostics.has_errors() || !verification.accepts_as_is(*chosen, diagnostics)) {
      return {};
    }
    if (loading == Loading::kProgram) program = clone(*chosen);
    const bool upgraded = upgrade(*chosen, invocation.assumed, losses, diagnostics);
    if (!upgraded || verification.shows_losses()) {
      diagnostics.remark(
          diag::kLostMeaning, {},
          fmt::format("'{}' is upgraded in memory: {}", file.name(), losses.summary()));
    }
    if (!upgraded) return {};
  }
  if (!verification.accepts(*chosen, diagnostics)) return {};
  return {chosen, std::move(program)};
}

}  // namespace mir::tools
