// Renders the lines of a hover.
#include "lsp/hover_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mir/tensor.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

/// A code span whose fence no backtick of the text can close: names come from files of others.
std::string code_span(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  const std::string_view gap = longest == 0 ? "" : " ";
  return fmt::format("{}{}{}{}{}", fence, gap, line, gap, fence);
}

}  // namespace

std::string HoverText::code(std::string_view text) const {
  return markdown_ ? code_span(text) : std::string(text);
}

void HoverText::line(const std::string& text) {
  if (!text_.empty()) text_ += "\n\n";
  text_ += text;
}

Json HoverText::json(const Document& document, Span at) const {
  return {{"contents", {{"kind", markdown_ ? "markdown" : "plaintext"}, {"value", text_}}},
          {"range", document.range(at)}};
}

std::string bytes_of(IRContext& rows, std::string_view type) {
  const auto parsed = rows.parse_type(type);
  const auto* tensor = parsed ? dyn_cast<TensorType>(*parsed) : nullptr;
  if (tensor == nullptr || !tensor->dtype()) return "";
  const auto count = tensor->element_count();
  if (!count || *count < 0) return "";
  const auto bytes = storage_bytes(*tensor->dtype(), static_cast<std::uint64_t>(*count));
  return bytes ? fmt::format(", {} {}", *bytes, *bytes == 1 ? "byte" : "bytes") : "";
}

std::string place_text(const Document& document, SourcePos at) {
  return fmt::format("line {}", document.position_of(at).line + 1);
}

}  // namespace mir::lsp
