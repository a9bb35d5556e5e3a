// Raises the language version of a module into which edits brought newer ops.
#include "ir/rewrite/raise_version.hpp"

#include <algorithm>

#include "ir/context/language_versions.hpp"
#include "ir/version_needs.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"

namespace mir {

void raise_version(Module& module) {
  if (!module.is_portable() || module.version() >= kLatestVersion) return;
  std::int64_t needed = module.version();
  for_each_op(module, [&](const Op& op) {
    const OpRow* row = op.row();
    if (row == nullptr) return;
    needed = std::max<std::int64_t>(needed, row->version);
    if (has_added_operand(op)) needed = std::max<std::int64_t>(needed, row->added_operands.version);
  });
  if (needed == module.version() && !module.context().has_declared_dialects()) return;
  bool has_own_symbols = false;
  for_each_version_need(module, module.version(), [&](const VersionNeed& need) {
    using Feature = VersionNeed::Feature;
    if (need.feature == Feature::kDeclaredOp || need.feature == Feature::kDeclaredType)
      needed = std::max(needed, kDialectsVersion);
    has_own_symbols |= need.feature == Feature::kCalledSymbols;
  });
  if (needed > module.version() && !has_own_symbols) Rewriter(module).set_version(needed);
}

}  // namespace mir
