// The greatest of extents that are symbolic.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mir/type.hpp"

namespace mir {

/// The greatest of some extents, none of which is at least as great as another one for all values
/// of the symbols from 0. Unknown if an extent is, or if too many remain.
class Maximum {
 public:
  explicit Maximum(Dim extent = Dim()) : extents_{extent} {}

  /// Makes it the greatest of itself and the extent, or of itself and others.
  void add(DimTable& table, Dim extent);
  void add(DimTable& table, const Maximum& other);
  /// The maximum of the extents with `more` added to each.
  Maximum plus(DimTable& table, Dim more) const;

  bool is_unknown() const { return extents_.front().is_unknown(); }
  /// Not empty.
  std::span<const Dim> extents() const { return extents_; }
  /// The extent, if only one is left.
  std::optional<Dim> single() const;
  /// `16*$S`, or `max(16*$S, 512)`.
  std::string print(const DimTable& table) const;

  friend bool operator==(const Maximum& maximum, Dim extent) { return maximum.single() == extent; }

 private:
  std::vector<Dim> extents_;
};

}  // namespace mir
