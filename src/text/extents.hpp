// The extents in a text, apart from the IR that it describes.
#pragma once

#include <string_view>
#include <unordered_set>

#include "mir/dim.hpp"
#include "mir/interner.hpp"
#include "mir/parse.hpp"

namespace mir {

/// Reports every extent of a tensor type that cannot be read (MIR0301), as reading modules does.
class ExtentCheck {
 public:
  ExtentCheck(const SourceFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  void add(const Unit& unit);

 private:
  void extent(std::string_view word);

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  StringInterner strings_;
  DimTable dims_{strings_};
  std::unordered_set<std::string_view> types_;  // that were looked at
};

/// Like ExtentCheck, for all units of a text.
void check_extents(const SyntaxTree& tree, Diagnostics& diagnostics);

}  // namespace mir
