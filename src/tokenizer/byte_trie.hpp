// Strings that are searched by their first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace mir::tokenizer {

/// A trie of byte strings with a number each.
class ByteTrie {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// Adds a string that is not empty. A string that was added before gets the new number.
  void add(std::string_view text, std::uint32_t number);
  bool empty() const { return nodes_.size() == 1; }
  /// True if a string begins with this byte.
  bool can_begin(char byte) const { return begins_[static_cast<unsigned char>(byte)]; }

  /// Calls `found(size, number)` for each string that `text` begins with, the shortest first.
  template <class Found>
  void for_each_prefix(std::string_view text, const Found& found) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == kNone) return;
      if (nodes_[node] != kNone) found(i + 1, nodes_[node]);
    }
  }

  struct Prefix {
    std::size_t size = 0;  ///< 0 where no string fits
    std::uint32_t number = kNone;
  };
  /// The longest string that `text` begins with.
  Prefix longest_prefix(std::string_view text) const {
    Prefix longest;
    for_each_prefix(text, [&](std::size_t size, std::uint32_t number) {
      longest = {size, number};
    });
    return longest;
  }

 private:
  struct Edge {
    std::uint64_t from = ~std::uint64_t{0};  ///< node and byte
    std::uint32_t to = kNone;
  };
  static std::size_t hash(std::uint64_t from) {
    return static_cast<std::size_t>((from * 0x9E3779B97F4A7C15u) >> 20);
  }
  std::uint32_t child(std::uint32_t node, unsigned char byte) const {
    if (edges_.empty()) return kNone;
    const std::uint64_t from = (std::uint64_t{node} << 8) | byte;
    for (std::size_t slot = hash(from);; ++slot) {
      const Edge& edge = edges_[slot & (edges_.size() - 1)];
      if (edge.from == from) return edge.to;
      if (edge.to == kNone) return kNone;
    }
  }
  std::uint32_t add_child(std::uint32_t node, unsigned char byte);

  std::vector<std::uint32_t> nodes_{kNone};  // the number of the string that ends in each
  std::vector<Edge> edges_;                  // a hash table
  bool begins_[256] = {};
};

}  // namespace mir::tokenizer
