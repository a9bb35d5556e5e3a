// Renders diagnostics for terminals: headline, source excerpt, notes and suggested edits.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "support/render_forms.hpp"
#include "support/terminal_text.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kExcerptColumns = 100;
constexpr std::uint32_t kLeftContext = 40;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kMagenta = "\x1b[1;35m";
constexpr std::string_view kCyan = "\x1b[1;36m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kReset = "\x1b[0m";

/// A window of one line and the marked range in it, in byte offsets of the line.
struct Excerpt {
  std::string_view line;
  std::size_t begin;
  std::size_t end;
  std::size_t mark_begin;
  std::size_t mark_end;
};

/// Chooses the window without looking at more of the line than fits into it.
Excerpt excerpt_of(const SourceFile& file, Span at) {
  const std::string_view line = file.line(file.line_column(at.begin).line);
  const std::size_t offset = file.offset_in_line(at.begin);
  const std::size_t length = at.end > at.begin ? at.end - at.begin : 0;
  Excerpt result{line, 0, 0, std::min(offset, line.size()), std::min(offset + length, line.size())};
  result.begin = step_back(line, result.mark_begin, kLeftContext).offset;
  const TextStep right = step_forward(line, result.begin, kExcerptColumns);
  result.end = right.offset;
  if (right.offset == line.size()) {
    result.begin = step_back(line, result.begin, kExcerptColumns - right.columns).offset;
  }
  return result;
}

class Renderer {
 public:
  Renderer(const SourceManager& sources, bool colour) : sources_(sources), colour_(colour) {}

  void diagnostic(const Diagnostic& diagnostic);
  void headline(const Diagnostic& diagnostic);
  void summary(std::size_t errors, std::size_t warnings, std::size_t dropped);
  std::string take() { return std::move(out_); }

 private:
  void place(Span at);
  void excerpt(Span at);
  void fix(const FixIt& edit);
  void styled(std::string_view style, std::string_view text) {
    if (colour_) out_ += style;
    out_ += text;
    if (colour_) out_ += kReset;
  }

  const SourceManager& sources_;
  bool colour_;
  std::string out_;
};

void Renderer::place(Span at) {
  const SourceFile* file = sources_.file_of(at.begin);
  if (file == nullptr) return;
  const LineColumn where = file->line_column(at.begin);
  std::string text;
  append_visible(text, file->name());
  fmt::format_to(std::back_inserter(text), ":{}:{}:", where.line, where.column);
  styled(kBold, text);
  out_ += ' ';
}

void Renderer::headline(const Diagnostic& diagnostic) {
  place(diagnostic.at);
  const Severity severity = diagnostic.severity;
  styled(severity == Severity::kError     ? kRed
         : severity == Severity::kWarning ? kMagenta
                                          : kCyan,
         fmt::format("{}[{}]:", name_of(severity), spelling(diagnostic.code)));
  out_ += ' ';
  append_visible(out_, clipped(diagnostic.message));
  out_ += '\n';
}

void Renderer::excerpt(Span at) {
  const SourceFile* file = sources_.file_of(at.begin);
  if (file == nullptr) return;
  const Excerpt shown = excerpt_of(*file, at);
  const std::string_view before = shown.begin > 0 ? "…" : "";
  const std::string_view after = shown.end < shown.line.size() ? "…" : "";
  fmt::format_to(std::back_inserter(out_), "  {}", before);
  const auto piece = [&](std::size_t begin, std::size_t end) {
    return append_visible(out_, shown.line.substr(begin, end - begin));
  };
  const std::size_t mark_end = std::min(shown.mark_end, shown.end);
  const std::uint32_t indent = piece(shown.begin, shown.mark_begin) + !before.empty();
  const std::uint32_t marked = piece(shown.mark_begin, mark_end);
  piece(mark_end, shown.end);
  fmt::format_to(std::back_inserter(out_), "{}\n  {:{}}", after, "", indent);
  const std::uint32_t tail = marked > 0 ? marked - 1 + (shown.mark_end > shown.end) : 0;
  styled(kGreen, fmt::format("^{:~<{}}", "", tail));
  out_ += '\n';
}

void Renderer::diagnostic(const Diagnostic& diagnostic) {
  headline(diagnostic);
  excerpt(diagnostic.at);
  for (const Note& note : diagnostic.notes) {
    place(note.at);
    styled(kCyan, "note:");
    out_ += ' ';
    append_visible(out_, clipped(note.message));
    out_ += '\n';
    excerpt(note.at);
  }
  if (!diagnostic.hint.empty()) {
    styled(kGreen, "hint:");
    out_ += ' ';
    append_visible(out_, clipped(diagnostic.hint));
    out_ += '\n';
  }
  for (const FixIt& each : diagnostic.fixes) fix(each);
  if (diagnostic.constraint.empty()) return;
  styled(kCyan, "constraint:");
  out_ += ' ' + diagnostic.constraint + '\n';
}

void Renderer::fix(const FixIt& edit) {
  const SourceFile* file = sources_.file_of(edit.at.begin);
  if (file == nullptr) return;
  place(edit.at);
  styled(kGreen, "fix:");
  const std::string_view old = file->slice(edit.at);
  const auto quote = [&](std::string_view before, std::string_view text) {
    out_ += before;
    append_visible(out_, clipped(text));
    out_ += '\'';
  };
  if (old.empty()) {
    quote(" insert '", edit.replacement);
  } else {
    quote(edit.replacement.empty() ? " remove '" : " replace '", old);
    if (!edit.replacement.empty()) quote(" by '", edit.replacement);
  }
  out_ += '\n';
}

void Renderer::summary(std::size_t errors, std::size_t warnings, std::size_t dropped) {
  fmt::format_to(std::back_inserter(out_), "{} error{}, {} warning{}", errors,
                 errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
  if (dropped != 0) fmt::format_to(std::back_inserter(out_), " ({} more not shown)", dropped);
  out_ += '\n';
}

}  // namespace

std::string render(const Diagnostics& diagnostics, const SourceManager& sources,
                   const RenderOptions& options) {
  const std::vector<Diagnostic> list = diagnostics.sorted();
  if (options.format == DiagnosticFormat::kJson) return render_json(list, sources);
  if (options.format == DiagnosticFormat::kGithub) return render_github(list, sources);
  Renderer renderer(sources, options.colour);
  if (options.format == DiagnosticFormat::kLine) {
    for (const Diagnostic& diagnostic : list) renderer.headline(diagnostic);
    return renderer.take();
  }
  for (const Diagnostic& diagnostic : list) renderer.diagnostic(diagnostic);
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(list, severity, &Diagnostic::severity));
  };
  const std::size_t errors = count(Severity::kError), warnings = count(Severity::kWarning);
  const std::size_t dropped =
      diagnostics.dropped_error_count() + diagnostics.dropped_warning_count();
  if (errors + warnings + dropped != 0) renderer.summary(errors, warnings, dropped);
  return renderer.take();
}

}  // namespace mir
