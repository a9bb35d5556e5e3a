// A drawing of modules, for tools that lay it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mir/module.hpp"

namespace mir {

struct PictureOptions {
  std::string graph = {};                 ///< draws this graph alone; empty: the modules
  std::optional<std::size_t> depth = {};  ///< of graphs and regions that are drawn inside others
  bool has_types = false;                 ///< edges have the types of their values
};

/// A box with lines of text.
struct PictureNode {
  enum class Kind : std::uint8_t { kOp, kInput, kOutput };
  Kind kind{};
  std::size_t cluster = 0;
  std::vector<std::string> lines;
};

struct PictureEdge {
  std::size_t from = 0, to = 0;  ///< nodes
  std::string label;
  bool is_control = false;  ///< into a region, or from one repetition to the next
};

struct PictureCluster {
  std::string title;
  std::size_t parent = 0;
};

struct Picture {
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
  std::vector<PictureCluster> clusters;  ///< the first one is the whole picture
};

/// Draws data flow: ops with their parameters and constants as lines, inputs, outputs. A called
/// graph is a cluster at its call; so are the regions of an op. Equal neighbours, such as the
/// layers of a model, are drawn once, in a cluster with their number. Graphs of declarations are
/// left out.
Picture picture_of(std::span<Module* const> modules, const PictureOptions& options);

}  // namespace mir
