// Lines of a hover, and the words that several of them have.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lsp/features.hpp"

namespace mir::lsp {

/// Lines of a hover, as Markdown or as plain text.
class HoverText {
 public:
  explicit HoverText(bool markdown) : markdown_(markdown) {}

  std::string code(std::string_view text) const;
  void line(const std::string& text);
  nlohmann::json json(const Document& document, Span at) const;

 private:
  bool markdown_;
  std::string text_;
};

/// ", 64 bytes"; empty if the extents or the element type are not known.
std::string bytes_of(IRContext& rows, std::string_view type);
/// "line 12"
std::string place_text(const Document& document, SourcePos at);

}  // namespace mir::lsp
