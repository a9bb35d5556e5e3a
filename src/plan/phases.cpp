// Determines in which phase of a run the extents of each value become known.
#include "plan/phases.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include "mir/module.hpp"

namespace mir {

class Phases::Finder {
 public:
  Finder(Phases& phases, const Schedule& schedule, const RunSymbols& symbols)
      : phases_(phases),
        schedule_(schedule),
        symbols_(symbols),
        dims_(schedule.module().context().dims()) {}

  void run() {
    phases_.phases_.resize(schedule_.values().size());
    for (ValueIndex index = 0; index < schedule_.values().size(); ++index) {
      if (schedule_.values()[index].role != ValueRole::kResult) find(index);
    }
    for (std::size_t step = 0; step < schedule_.steps().size(); ++step) {
      const Step& each = schedule_.steps()[step];
      const auto end = each.first_result + each.result_count;
      for (ValueIndex index = each.first_result; index < end; ++index) decide(index, step);
      for (ValueIndex index = each.first_result; index < end; ++index) find(index);
    }
  }

 private:
  const TensorType* type_of(ValueIndex index) const {
    return schedule_.values()[index].value->held_type();
  }

  std::optional<std::uint16_t> phase_of(Symbol symbol) const {
    if (symbols_.is_known(symbol)) return std::uint16_t{0};
    const auto found = decided_.find(symbol);
    return found == decided_.end() ? std::nullopt : std::optional(found->second);
  }

  /// A result tells the one symbol of an extent that has no value yet.
  void decide(ValueIndex index, std::size_t step) {
    if (type_of(index) == nullptr) return;
    for (const Dim extent : type_of(index)->dims()) {
      const auto all = dims_.symbols(extent);
      const auto is_open = [&](Symbol symbol) { return !phase_of(symbol); };
      if (std::ranges::count_if(all, is_open) != 1) continue;
      if (!phases_.is_begun_by(step)) {
        if (phases_.steps_.size() == std::numeric_limits<std::uint16_t>::max()) return;
        phases_.steps_.push_back(step);
      }
      decided_[*std::ranges::find_if(all, is_open)] =
          static_cast<std::uint16_t>(phases_.steps_.size());
    }
  }

  void find(ValueIndex index) {
    if (type_of(index) == nullptr) return;
    std::uint16_t last = 0;
    for (const Dim extent : type_of(index)->dims()) {
      if (extent.is_unknown()) return;
      for (const Symbol symbol : dims_.symbols(extent)) {
        const auto phase = phase_of(symbol);
        if (!phase) return;
        last = std::max(last, *phase);
      }
    }
    phases_.phases_[index] = last;
  }

  Phases& phases_;
  const Schedule& schedule_;
  const RunSymbols& symbols_;
  DimTable& dims_;
  std::unordered_map<Symbol, std::uint16_t> decided_;
};

Phases::Phases(const Schedule& schedule, const RunSymbols& symbols) {
  Finder(*this, schedule, symbols).run();
}

bool Phases::is_begun_by(std::size_t step) const {
  return std::ranges::binary_search(steps_, step);
}

}  // namespace mir
