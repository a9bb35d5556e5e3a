// Tries bodies of ops before anything is made of them.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

/// One trial of a body and of the bodies in it, and why it failed.
struct BodyTrial {
  /// Bodies in bodies can multiply without end.
  static constexpr std::size_t kMostOps = std::size_t{1} << 20;

  /// A place in a body, the innermost one first.
  struct Place {
    Span at{};
    std::string text{};
  };

  std::string message{};
  std::vector<Place> places{};
  bool needs_number = false;                ///< where a symbolic extent is not enough
  std::size_t ops = 0;                      ///< that were tried
  std::unordered_set<std::string> known{};  ///< ops that fit: with attributes and types
};

}  // namespace mir
