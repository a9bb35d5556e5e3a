// A text that patterns are looked for in, line by line.
#pragma once

#include <chrono>
#include <compare>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "directives.hpp"

namespace mir::tools {

using CheckDeadline = std::chrono::steady_clock::time_point;

/// The lines of a text without those that are directives: a tool may print the text that it was
/// given, and no check may match itself or a check of another run.
class OutputText {
 public:
  /// `file` must outlive the object.
  OutputText(const SourceFile& file, const CheckPrefixes& prefixes, CheckDeadline deadline);

  struct Position {
    std::size_t line = 0;  ///< index in lines()
    std::size_t column = 0;
    auto operator<=>(const Position&) const = default;
  };
  /// Half-open.
  struct Region {
    Position begin;
    Position end;
  };

  std::span<const std::string_view> lines() const { return lines_; }
  Region whole() const { return {{0, 0}, {lines_.size(), 0}}; }
  /// The first match that lies in `where` and in one line; defines its variables. Fails when the
  /// search takes too many steps or reaches the deadline.
  Result<std::optional<Region>> search(const CheckPattern& pattern, Region where,
                                       CheckVariables& variables) const;
  Span span_of(Region region) const;

 private:
  SourcePos pos_of(Position position) const;

  const SourceFile& file_;
  CheckDeadline deadline_;
  std::vector<std::string_view> lines_;
};

}  // namespace mir::tools
