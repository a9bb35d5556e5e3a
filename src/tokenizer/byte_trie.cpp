// Builds tries of byte strings.
#include "tokenizer/byte_trie.hpp"

#include <utility>

namespace mir::tokenizer {

void ByteTrie::add(std::string_view text, std::uint32_t number) {
  begins_[static_cast<unsigned char>(text.front())] = true;
  std::uint32_t node = 0;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    const std::uint32_t known = child(node, value);
    node = known != kNone ? known : add_child(node, value);
  }
  nodes_[node] = number;
}

std::uint32_t ByteTrie::add_child(std::uint32_t node, unsigned char byte) {
  constexpr std::size_t kFirstEdges = 256;
  const auto put = [&](const Edge& edge) {
    std::size_t slot = hash(edge.from);
    while (edges_[slot & (edges_.size() - 1)].to != kNone) ++slot;
    edges_[slot & (edges_.size() - 1)] = edge;
  };
  if (nodes_.size() * 2 > edges_.size()) {
    const auto old =
        std::exchange(edges_, std::vector<Edge>(edges_.empty() ? kFirstEdges : edges_.size() * 2));
    for (const Edge& edge : old) {
      if (edge.to != kNone) put(edge);
    }
  }
  nodes_.push_back(kNone);
  const auto added = static_cast<std::uint32_t>(nodes_.size() - 1);
  put({(std::uint64_t{node} << 8) | byte, added});
  return added;
}

}  // namespace mir::tokenizer
