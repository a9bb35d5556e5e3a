// Upgrade step: declares the version, and warns of granted facts that were not used.
#include <fmt/format.h>

#include "ir/ports.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/recovery.hpp"
#include "mir/walk.hpp"
#include "upgrade/steps/recovery.hpp"

// The end of an upgrade, and facts that are granted and that nothing needs.

namespace mir {

namespace {

/// A fact about all ops of a kind.
struct CommonFact {
  std::string_view name;
  bool (*is_granted)(const UpgradeOptions& options);
};

constexpr CommonFact kCommonFacts[] = {
    {kRmsEpsilonFact, [](const UpgradeOptions& o) { return o.rms_epsilon.has_value(); }},
    {kLayerNormEpsilonFact,
     [](const UpgradeOptions& o) { return o.layer_norm_epsilon.has_value(); }},
    {kPackedWeightsFact,
     [](const UpgradeOptions& o) { return o.packed_weights != DType::kFloat32; }},
};

void warn(const Module& module, std::string_view fact, std::string_view why,
          Diagnostics& diagnostics) {
  diagnostics.warning(diag::kGrantUnused, module.top()->span(),
                      fmt::format("'{}' is supplied, but {}", fact, why));
}

void warn_of_unused_facts(const Recovery& recovery) {
  for (const CommonFact& fact : kCommonFacts) {
    if (fact.is_granted(recovery.options) && !recovery.notes.lacked.contains(fact.name))
      warn(recovery.module, fact.name, "no operation lost it", recovery.diagnostics);
  }
}

/// Reports the values that the text of a portable module could not mention.
bool refuse_undefined_values(const Recovery& recovery) {
  bool is_defined = true;
  for_each_region(recovery.module, [&](const Region& region) {
    for (const Value* value : region.free_values()) {
      if (!value->has_uses() || (recovery.is_given(*value) && value->type() != nullptr)) continue;
      is_defined = false;
      recovery.diagnostics
          .error(diag::kUndefinedValue, value->first_use()->user()->span(),
                 fmt::format("value '%{}' is used and nothing defines it",
                             name_text(value->name(), recovery.context())))
          .note({}, "step 'recover-interface' makes inputs of such values");
    }
  });
  return is_defined;
}

}  // namespace

void declare_version(Recovery& recovery) {
  if (!refuse_undefined_values(recovery)) return;
  recovery.rewriter.set_version(1);
  warn_of_unused_facts(recovery);
}

void warn_of_ignored_facts(const Module& module, const UpgradeOptions& options,
                           Diagnostics& diagnostics) {
  constexpr std::string_view kComplete = "a portable module lost nothing";
  for (const CommonFact& fact : kCommonFacts) {
    if (fact.is_granted(options)) warn(module, fact.name, kComplete, diagnostics);
  }
  for (const Grant& grant : options.grants)
    warn(module, fmt::format("{}.{}", grant.op, grant.key), kComplete, diagnostics);
  for (const SymbolicDim& each : options.symbolic_dims) {
    warn(module, fmt::format("{}@input{}:{}", each.symbol, each.input, each.dim), kComplete,
         diagnostics);
  }
}

}  // namespace mir
