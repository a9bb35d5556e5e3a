// Reads the elements of an array from its text.
#include "ir/context/elements.hpp"

#include <algorithm>
#include <string>

#include "ir/context/value_reader.hpp"
#include "mir/codes/names.hpp"
#include "mir/parse.hpp"

namespace mir {

/// Reads a list as the value of an alias in a separate text, by the one grammar.
class ElementReader {
 public:
  ElementReader(IRContext& context, std::string_view text, SourcePos at, Diagnostics& diagnostics)
      : context_(context),
        text_(text),
        at_(at),
        diagnostics_(diagnostics),
        file_(sources_.add("parameters", std::string(kBefore).append(text).append(kAfter))) {}

  std::optional<std::vector<Element>> read() {
    if (file_ == nullptr) return fail("a list of values is too long");
    Diagnostics found(1);
    const auto tree = parse(*file_, found);
    if (!tree) return fail(found);
    const Unit& unit = tree->units().front();
    const auto last = static_cast<std::uint32_t>(unit.tokens().size() - 1);
    const bool is_whole = tree->units().size() == 3 &&
                          unit.tokens()[last].kind() == TokenKind::kArrayClose &&
                          offset_of(unit.span(last).begin) == text_.size();
    if (!is_whole) return fail("unbalanced bracket in a list of values");
    return read(unit);
  }

 private:
  static constexpr std::string_view kBefore = "#p = [", kAfter = "]\n@m () -> () {\n}\n";

  std::uint32_t offset_of(SourcePos position) const {
    const auto from_begin = static_cast<std::int64_t>(position) - file_->base() -
                            static_cast<std::int64_t>(kBefore.size());
    return static_cast<std::uint32_t>(
        std::clamp(from_begin, std::int64_t{0}, static_cast<std::int64_t>(text_.size())));
  }

  std::optional<std::vector<Element>> fail(std::string message) {
    const auto size = static_cast<SourcePos>(text_.size());
    diagnostics_.error(diag::kTypeParameters, at_ == 0 ? Span{} : Span{at_, at_ + size},
                       std::move(message));
    return std::nullopt;
  }

  /// Reports errors of the list's own text at their places in the source space.
  std::nullopt_t fail(const Diagnostics& found) {
    for (const Diagnostic& each : found.sorted()) {
      const Span at =
          at_ == 0 ? Span{} : Span{at_ + offset_of(each.at.begin), at_ + offset_of(each.at.end)};
      diagnostics_.error(each.code, at, each.message).hint = each.hint;
    }
    return std::nullopt;
  }

  std::optional<std::vector<Element>> read(const Unit& unit) {
    Diagnostics found(1);
    ValueReader reader(context_, *file_, found, false);
    reader.begin(unit);
    std::vector<Element> list;
    std::uint32_t type_token = 0;
    // The last two nodes are the array and the alias.
    for (const Node& node : unit.nodes().first(unit.nodes().size() - 2)) {
      reader.read(node);
      const bool is_type = node.kind() == NodeKind::kType || node.kind() == NodeKind::kEncodedType;
      if (is_type) type_token = node.token;
      const std::uint32_t first = node.kind() == NodeKind::kTypeValue ? type_token : node.token;
      // A value replaces its parts.
      if (is_type || reader.values().empty()) continue;
      const bool is_new = reader.values().size() > list.size();
      list.resize(reader.values().size());
      if (is_new || list.back().value != reader.values().back()) {
        list.back() = {reader.values().back(), offset_of(unit.span(first).begin), 0};
      }
    }
    if (found.has_errors()) return fail(found);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto next = i + 1 < list.size() ? list[i + 1].begin : text_.size();
      const auto length = text_.substr(0, next).find_last_not_of(", \t\r\n") + 1;
      list[i].end = static_cast<std::uint32_t>(length);
    }
    return list;
  }

  IRContext& context_;
  std::string_view text_;
  SourcePos at_;
  Diagnostics& diagnostics_;
  SourceManager sources_;
  const SourceFile* file_;
};

std::optional<std::vector<Element>> read_elements(IRContext& context, std::string_view text,
                                                  SourcePos at, Diagnostics& diagnostics) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return std::vector<Element>();
  return ElementReader(context, text, at, diagnostics).read();
}

}  // namespace mir
