// Determines which parameters each step reads, and which step reads each one last.
#include "plan/parameter_uses.hpp"

#include <algorithm>
#include <unordered_map>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "mir/module.hpp"
#include "support/last_uses.hpp"

namespace mir {

ParameterUses::ParameterUses(const Schedule& schedule) {
  const auto symbol_in = [&](ValueIndex index) {
    const ScheduledValue& scheduled = schedule.values()[index];
    return scheduled.role == ValueRole::kParameter ? scheduled.value->symbol() : Symbol{};
  };
  for (const ValueIndex index : schedule.outputs()) {
    if (const Symbol symbol = symbol_in(index)) outputs_.push_back(symbol);
  }
  std::unordered_map<Symbol, std::size_t> numbers;
  const auto number_of = [&](Symbol symbol) {
    return numbers.try_emplace(symbol, numbers.size()).first->second;
  };
  LastUses uses;
  for (const Step& step : schedule.steps()) {
    std::vector<Symbol>& symbols = by_step_.emplace_back();
    const auto add = [&](Symbol symbol) {
      if (!symbol || std::ranges::find(symbols, symbol) != symbols.end()) return;
      symbols.push_back(symbol);
      uses.use(number_of(symbol), static_cast<std::uint32_t>(by_step_.size() - 1));
    };
    for (const ValueIndex index : schedule.operands(step)) add(symbol_in(index));
    for (const OwnedParameter& owned : owned_parameters(*step.op)) add(owned.symbol);
    if (const auto named = named_parameter(*step.op)) add(*named);
    const ControlStep* control = schedule.control(by_step_.size() - 1);
    if (control == nullptr) continue;
    // The nodes of regions acquire their own: packed weights need not be there.
    for (const Schedule& region : control->regions) {
      for (const Value* parameter : region.parameters()) {
        uses.use(number_of(parameter->symbol()), static_cast<std::uint32_t>(by_step_.size() - 1));
      }
    }
  }
  for (const Symbol symbol : outputs_) uses.keep(number_of(symbol));
  for (std::size_t step = 0; step < by_step_.size(); ++step) {
    std::vector<Symbol>& symbols = by_step_[step];
    const auto rest = std::stable_partition(symbols.begin(), symbols.end(), [&](Symbol symbol) {
      return uses.of(number_of(symbol)) != step;
    });
    first_last_.push_back(static_cast<std::size_t>(rest - symbols.begin()));
  }
}

}  // namespace mir
