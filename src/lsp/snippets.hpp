// Ops as snippets of the protocol: text with places to fill in.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "mir/context.hpp"

namespace mir::lsp {

/// Facts about the text around a snippet.
struct SnippetForm {
  bool has_types = false;  ///< states types that can be inferred, as dumps do
  /// Returns the name of a new value: the word, or another one if the text has that.
  std::function<std::string(std::string_view word)> fresh{};
  /// Layers that the op may have: their parameters exist, and no op has them yet.
  std::span<const std::string> layers{};
};

/// Returns the example of a row as a snippet, with `name` as the op's name: a place for each
/// operand under its name, for the layer, and for each attribute that is required or has choices.
/// Results are named after the layer or the op.
std::string op_snippet(IRContext& rows, const OpRow& row, std::string_view name,
                       const SnippetForm& form);

}  // namespace mir::lsp
