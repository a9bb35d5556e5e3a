// Attributes that registered parameters tell.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// The extent, called `word` in the row, of a parameter of the op at `path`; unknown if no
/// registered parameter has it.
Dim extent_of_parameter(const Module& module, const OpRow& row, Symbol path, std::string_view word);

/// The attributes of an op, with the extent of its result that they leave out and a registered
/// parameter of the portable module has: `out_channels` of a Linear is the first extent of its
/// weight. Refers to the attributes that it was made from.
class ToldAttributes {
 public:
  /// `path` is the name under which the parameters of the op are registered.
  ToldAttributes(const Module& module, const OpRow& row, Symbol path,
                 std::span<const NamedAttr> stated);

  std::span<const NamedAttr> all() const { return told_.empty() ? stated_ : std::span(told_); }

 private:
  std::span<const NamedAttr> stated_;
  std::vector<NamedAttr> told_;  // all of them; empty if no parameter tells any
};

}  // namespace mir
