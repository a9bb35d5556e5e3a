// Rewrites of text that keep its meaning but not its spelling.
#pragma once

#include <string>

#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"

namespace mir {

/// Rewrites that rewrite() applies, in this order.
struct Rewrites {
  /// Replaces each use of an alias by the aliased value or type, if the text defines the alias once
  /// and before the use. Erases definitions that are no longer used.
  bool expand_attributes = false;
  /// Spellings of older upstream versions become those of its newest: `kCPU` and `kFp32`,
  /// `LLMEmbeddingTokenOp`, `prog.exit` without lists, `[name="x"]` on an operation that is not a
  /// plug-in's, a constant printed twice, a subgraph without `symbol`, `None(` never closed.
  bool modernize = false;
  /// Storage ids (`%<n>`, `program_uuid:<n>`, the symbol `constant_<n>`) become 0, 1, ... in order
  /// of first appearance in their module; spec ids (`uuid=<n>`) likewise in the file, since its
  /// modules share aliases. Texts equal up to ids become equal. Other names stay.
  bool renumber = false;
  /// Quantisation specs written more than once get a definition `#q<uuid> = QuantSpec(...)` before
  /// the first module, and each use names it. Expanding gives the formatted original, if that had
  /// no aliases.
  bool alias_attributes = false;
};

/// The text in canonical layout after `rewrites`. Comments stay where they are. Fails only when
/// expanding adds more than 2^24 tokens.
Result<std::string> rewrite(const SyntaxTree& tree, const Rewrites& rewrites);

}  // namespace mir
