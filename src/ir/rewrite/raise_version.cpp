// Raises the language version of a module into which edits brought ops of declared dialects.
#include "ir/rewrite/raise_version.hpp"

#include "ir/context/language_versions.hpp"
#include "ir/version_needs.hpp"
#include "mir/rewriter.hpp"

namespace mir {

void raise_version_for_dialects(Module& module) {
  const bool may_need = module.is_portable() && module.version() < kDialectsVersion &&
                        module.context().has_declared_dialects();
  if (!may_need) return;
  bool needs = false, has_own_symbols = false;
  for_each_version_need(module, module.version(), [&](const VersionNeed& need) {
    using Feature = VersionNeed::Feature;
    needs |= need.feature == Feature::kDeclaredOp || need.feature == Feature::kDeclaredType;
    has_own_symbols |= need.feature == Feature::kCalledSymbols;
  });
  if (needs && !has_own_symbols) Rewriter(module).set_version(kDialectsVersion);
}

}  // namespace mir
