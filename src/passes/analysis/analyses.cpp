#include <algorithm>

#include "mir/analysis.hpp"

namespace mir {

const Analyses::Held* Analyses::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(known_, [&](const auto& each) { return each->name == name; });
  return found == known_.end() ? nullptr : found->get();
}

void Analyses::keep_only(const AnalysisSet& kept) {
  std::erase_if(known_, [&](const auto& each) { return !kept.has(each->name); });
}

std::optional<std::string_view> Analyses::first_stale(const AnalysisSet& claimed) const {
  for (const auto& each : known_) {
    if (claimed.has(each->name) && each->is_stale(*this)) return each->name;
  }
  return std::nullopt;
}

}  // namespace mir
