// Syntax tree to IR.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/tree.hpp"

namespace mir {

/// Makes modules from the units of one text, one unit at a time, in order. A unit may be released
/// as soon as `add` returns.
///
/// Names. In a dump `%n` is a storage id: each result starts a new version, a use means the latest
/// version in its region. In a portable module each name is defined once and may be used before its
/// definition's line. A value that nothing defines becomes a free value of its region; in a
/// portable module it must be a constant or name a parameter.
class Resolver {
 public:
  Resolver(IRContext& context, const SourceFile& file, Diagnostics& diagnostics);
  ~Resolver();

  void add(const Unit& unit);
  /// The modules, which the context owns. Modules with errors are kept for inspection; callers
  /// stop when `diagnostics` has errors.
  std::vector<Module*> finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// All modules of a parsed text.
std::vector<Module*> resolve(const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics);

/// Parses and resolves unit by unit without keeping the tree: the way to read large texts.
std::vector<Module*> read_modules(const SourceFile& file, IRContext& context,
                                  Diagnostics& diagnostics);

}  // namespace mir
