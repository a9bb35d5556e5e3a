#include "loading.hpp"

#include <fmt/format.h>

#include "mir/resolve.hpp"
#include "upgrade/settle_text.hpp"
#include "verification.hpp"

namespace mir::tools {

Module* load_module(const Run& run, const SourceFile& file, const InterpSettings& settings,
                    IRContext& context, Diagnostics& diagnostics) {
  // That no dialect declares an op is for the session to judge: it knows what is bound.
  constexpr std::string_view kUndeclared[] = {"op_c1"};
  const auto verification = Verification::create(
      run, settings.bound_ops.empty() ? std::span<const std::string_view>() : kUndeclared);
  LossReport losses;
  const SourceFile* settled = settle_texts(file, settings.assumed, context, losses, diagnostics);
  if (settled == nullptr) return nullptr;
  const auto modules = read_modules(*settled, context, diagnostics);
  if (diagnostics.has_errors()) {
    if (verification) verification->look_further(modules, diagnostics);
    return nullptr;
  }
  const std::string_view name = settings.invocation.arguments.value("module");
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
  if (!chosen->is_portable() && !settings.wants_machine()) {
    const bool upgraded = upgrade(*chosen, settings.assumed, losses, diagnostics);
    diagnostics.remark(
        DiagCode::kLostMeaning, {},
        fmt::format("'{}' is upgraded in memory: {}", file.name(), losses.summary()));
    if (!upgraded) return nullptr;
  }
  return verification && verification->accepts(*chosen, diagnostics) ? chosen : nullptr;
}

}  // namespace mir::tools
