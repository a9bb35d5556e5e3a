#include <algorithm>

#include "mir/analysis.hpp"

namespace mir {

std::string_view name_of(AnalysisId analysis) {
  constexpr std::array<std::string_view, kAnalysisCount> kNames = {
      "dominance", "liveness", "aliases", "call graph", "effects", "symbol ranges"};
  return kNames[static_cast<std::size_t>(analysis)];
}

void Analyses::keep_only(AnalysisSet kept) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!kept.has(static_cast<AnalysisId>(i))) slots_[i].reset();
  }
}

std::optional<AnalysisId> Analyses::first_stale(AnalysisSet claimed) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto id = static_cast<AnalysisId>(i);
    if (claimed.has(id) && slots_[i] != nullptr && slots_[i]->is_stale(*this)) return id;
  }
  return std::nullopt;
}

}  // namespace mir
