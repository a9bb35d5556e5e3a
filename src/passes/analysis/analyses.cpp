#include "mir/analysis.hpp"

namespace mir {

Analyses::Held* Analyses::find(std::string_view name) const {
  Held* each = known_.get();
  while (each != nullptr && each->name != name) each = each->next.get();
  return each;
}

void Analyses::keep_only(const AnalysisSet& kept) {
  for (std::unique_ptr<Held>* each = &known_; *each != nullptr;) {
    if (kept.has((*each)->name)) {
      each = &(*each)->next;
    } else {
      *each = std::move((*each)->next);
    }
  }
}

std::optional<std::string_view> Analyses::first_stale(const AnalysisSet& claimed) const {
  for (const Held* each = known_.get(); each != nullptr; each = each->next.get()) {
    if (claimed.has(each->name) && each->is_stale(*this)) return each->name;
  }
  return std::nullopt;
}

}  // namespace mir
