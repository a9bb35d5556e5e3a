// Upgrade step: declares the version, and warns of granted facts that were not used.
#include <fmt/format.h>

#include "mir/codes/recovery.hpp"
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

}  // namespace

void declare_version(Recovery& recovery) {
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
