#include "loading.hpp"

#include <fmt/format.h>

#include "mir/module.hpp"
#include "upgrade/settle_text.hpp"

namespace mir::tools {

Module* load_module(const Run& run, const SourceFile& file, const Invocation& invocation,
                    const VerificationSettings& checks, Loading loading, IRContext& context,
                    Diagnostics& diagnostics) {
  // That no dialect declares an op is for the session to judge: it knows what is bound.
  constexpr std::string_view kUndeclared[] = {"op_c1"};
  const Verification verification(
      checks, run,
      invocation.bound_ops.empty() ? std::span<const std::string_view>() : kUndeclared);
  LossReport losses;
  const SourceFile* settled = settle_texts(file, invocation.assumed, context, losses, diagnostics);
  if (settled == nullptr) return nullptr;
  const auto modules = read_modules(*settled, context, diagnostics);
  if (diagnostics.has_errors()) {
    verification.look_further(modules, diagnostics);
    return nullptr;
  }
  const std::string& name = *invocation.settings.module;
  Module* chosen = nullptr;
  for (Module* module : modules) {
    if (name.empty() ? modules.size() == 1 : context.text(module->name()) == name) chosen = module;
  }
  if (chosen == nullptr) {
    diagnostics.error(DiagCode::kEntryUnknown, {},
                      name.empty() ? fmt::format("'{}' has {} modules, choose one with --module",
                                                 file.name(), modules.size())
                                   : fmt::format("'{}' has no module '{}'", file.name(), name));
    return nullptr;
  }
  if (!chosen->is_portable() && loading == Loading::kGraphs) {
    const bool upgraded = upgrade(*chosen, invocation.assumed, losses, diagnostics);
    diagnostics.remark(
        DiagCode::kLostMeaning, {},
        fmt::format("'{}' is upgraded in memory: {}", file.name(), losses.summary()));
    if (!upgraded) return nullptr;
  }
  return verification.accepts(*chosen, diagnostics) ? chosen : nullptr;
}

}  // namespace mir::tools
