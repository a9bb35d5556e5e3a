// Choice of types of weights by the costs of each type alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mir::tools {

/// One type of a layer. The first of a layer is the type that it has.
struct TypeCost {
  std::uint64_t bytes = 0;
  double loss = 0;  ///< of accuracy, if this layer alone has the type
};

using LayerCosts = std::vector<TypeCost>;

/// The position of the chosen type of each layer.
using TypeChoice = std::vector<std::size_t>;

std::uint64_t bytes_of(std::span<const LayerCosts> layers, const TypeChoice& choice);

/// Choices from the types that the layers have to the smallest ones. Each differs from the one
/// before in one layer: the one that loses the least accuracy for each byte that it saves. Losses
/// of layers are taken to add up. Ties go to the step that saves more, then to the first layer.
std::vector<TypeChoice> choices_by_size(std::span<const LayerCosts> layers);

}  // namespace mir::tools
