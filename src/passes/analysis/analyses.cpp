// The cache of analyses: lookup, invalidation and checks of claims.
#include "mir/analysis.hpp"

namespace mir {

Analyses::Held* Analyses::find(std::string_view name) const {
  Held* each = known_.get();
  while (each != nullptr && each->name != name) each = each->next.get();
  return each;
}

template <class IsKept>
void Analyses::keep_if(const IsKept& is_kept) {
  for (std::unique_ptr<Held>* each = &known_; *each != nullptr;) {
    if (is_kept((*each)->name)) {
      each = &(*each)->next;
    } else {
      *each = std::move((*each)->next);
    }
  }
}

void Analyses::keep_only(const AnalysisSet& kept) {
  keep_if([&](std::string_view name) { return kept.has(name); });
}

void Analyses::forget(std::string_view forgotten) {
  keep_if([&](std::string_view name) { return name != forgotten; });
}

std::optional<std::string_view> Analyses::first_stale(const AnalysisSet& claimed) const {
  for (const Held* each = known_.get(); each != nullptr; each = each->next.get()) {
    if (claimed.has(each->name) && each->is_stale(*this)) return each->name;
  }
  return std::nullopt;
}

}  // namespace mir
