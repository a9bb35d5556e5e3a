// Determines which passes read an option, so that ineffective options can be refused.
#include "option_readers.hpp"

#include <algorithm>

#include "mir/upgrade.hpp"

namespace mir::tools {

bool is_of_text(std::string_view fact) {
  UpgradeOptions options;
  return grant(options, fact) && !options.texts.empty();
}

std::vector<std::string_view> readers_of(const OptSettings& settings, const OptionRow& row) {
  if (&row == &settings.generation) return {"downgrade"};
  if (&row == &settings.facts.symbolic_dim) return {"upgrade", "generalise"};
  const bool is_fact = &row == &settings.facts.assume || &row == &settings.sidecars.sidecar;
  if (!is_fact) return {};
  // A sidecar has no facts of the text alone.
  if (&row == &settings.facts.assume && std::ranges::all_of(row.given(), is_of_text)) return {};
  std::vector<std::string_view> readers = readers_of_grants();
  readers.insert(readers.begin(), "upgrade");
  return readers;
}

}  // namespace mir::tools
