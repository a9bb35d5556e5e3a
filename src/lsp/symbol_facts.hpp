// Hovers over symbols and layers: signatures of graphs, parameters and their weights.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "lsp/named.hpp"
#include "lsp/weight_files.hpp"

namespace mir::lsp {

/// `index` is that of a symbol of the outline.
nlohmann::json hover_symbol(const View& view, std::uint32_t index, bool markdown,
                            const WeightFiles& weights);
nlohmann::json hover_layer(const View& view, const Named& layer, bool markdown,
                           const WeightFiles& weights);

/// The signature of a graph as it is read, with inferred types: `(%x: tensor<[2], Float32, CPU>) ->
/// (%y: tensor<[2], Float32, CPU> [logits])`. Empty if the op has no region with a signature.
std::string graph_signature(const View& view, std::uint32_t op);

}  // namespace mir::lsp
