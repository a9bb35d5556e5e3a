// Workflow commands that GitHub shows as annotations.
#include <fmt/format.h>

#include <iterator>

#include "support/render_forms.hpp"
#include "support/terminal_text.hpp"

namespace mir {

namespace {

/// Text of a command; in a property `:` and `,` are escaped as well.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char byte : text) {
    if (byte == '%' || byte == '\r' || byte == '\n' || (property && (byte == ':' || byte == ','))) {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(byte));
    } else {
      out += byte;
    }
  }
  return out;
}

std::string shown(std::string_view text) {
  return visible(clipped(text));
}

std::string_view command(Severity severity) {
  return severity == Severity::kRemark ? "notice" : name_of(severity);
}

}  // namespace

std::string render_github(std::span<const Diagnostic> list, const SourceManager& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : list) {
    std::string text = shown(diagnostic.message);
    for (const Note& note : diagnostic.notes) {
      text += "\nnote: ";
      if (const SourceFile* file = sources.file_of(note.at.begin)) {
        text += fmt::format("line {}: ", file->line_column(note.at.begin).line);
      }
      text += shown(note.message);
    }
    if (!diagnostic.hint.empty()) text += "\nhint: " + shown(diagnostic.hint);
    fmt::format_to(std::back_inserter(out), "::{} ", command(diagnostic.severity));
    if (const SourceFile* file = sources.file_of(diagnostic.at.begin)) {
      const LineColumn at = file->line_column(diagnostic.at.begin);
      fmt::format_to(std::back_inserter(out), "file={},line={},col={},",
                     escaped(shown(file->name()), true), at.line, at.column);
    }
    fmt::format_to(std::back_inserter(out), "title={}::{}\n", spelling(diagnostic.code),
                   escaped(text, false));
  }
  return out;
}

}  // namespace mir
