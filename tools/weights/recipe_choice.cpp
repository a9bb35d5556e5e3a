// Chooses types of layers greedily, by the least loss of accuracy for the bytes saved.
#include "recipe_choice.hpp"

#include <optional>

namespace mir::tools {

namespace {

struct Step {
  std::size_t layer = 0;
  std::size_t type = 0;
  std::uint64_t saved = 0;
  double loss = 0;

  bool is_better_than(const Step& other) const {
    // loss / saved, without the quotient
    const double mine = loss * static_cast<double>(other.saved);
    const double its = other.loss * static_cast<double>(saved);
    return mine < its || (mine == its && saved > other.saved);
  }
};

std::optional<Step> best_step(std::span<const LayerCosts> layers, const TypeChoice& choice) {
  std::optional<Step> best;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const TypeCost& now = layers[layer][choice[layer]];
    for (std::size_t type = 0; type < layers[layer].size(); ++type) {
      const TypeCost& then = layers[layer][type];
      if (then.bytes >= now.bytes) continue;
      const Step step{layer, type, now.bytes - then.bytes, then.loss - now.loss};
      if (!best || step.is_better_than(*best)) best = step;
    }
  }
  return best;
}

}  // namespace

std::uint64_t bytes_of(std::span<const LayerCosts> layers, const TypeChoice& choice) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) bytes += layers[i][choice[i]].bytes;
  return bytes;
}

std::vector<TypeChoice> choices_by_size(std::span<const LayerCosts> layers) {
  std::vector<TypeChoice> choices{TypeChoice(layers.size(), 0)};
  while (const auto step = best_step(layers, choices.back())) {
    choices.push_back(choices.back());
    choices.back()[step->layer] = step->type;
  }
  return choices;
}

}  // namespace mir::tools
