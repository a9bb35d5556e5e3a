// Parses `// expect-error` comments and compares them with the reported diagnostics.
#include "support/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "mir/codes/checks.hpp"

namespace mir {

namespace {

constexpr std::string_view kMarker = "// expect-";

/// The next line of `rest` without its line end, taken off it.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_separator(std::string_view line) {
  const auto end = line.find_last_not_of(" \t");
  return line.substr(0, end + 1) == "// -----";
}

constexpr std::array<std::pair<std::string_view, ExpectedKind>, 4> kKinds = {
    {{"error", ExpectedKind::kError},
     {"warning", ExpectedKind::kWarning},
     {"remark", ExpectedKind::kRemark},
     {"note", ExpectedKind::kNote}}};

std::string_view word(ExpectedKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].first;
}

ExpectedKind kind_of(Severity severity) {
  return severity == Severity::kError     ? ExpectedKind::kError
         : severity == Severity::kWarning ? ExpectedKind::kWarning
                                          : ExpectedKind::kRemark;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Lines of a text, to find the nearest one without an expectation.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    while (!text.empty()) lines_.push_back(take_line(text));
  }
  std::size_t size() const { return lines_.size(); }
  std::string_view operator[](std::size_t index) const { return lines_[index]; }
  bool expects(std::size_t index) const { return lines_[index].find(kMarker) != std::string::npos; }

 private:
  std::vector<std::string_view> lines_;
};

/// Returns the index of the line that `place` names, seen from line `at`; no value if there is no
/// such line or `place` is not understood.
std::optional<std::size_t> resolve_place(std::string_view place, const Lines& lines,
                                         std::size_t at) {
  if (place.empty()) return at;
  if (place == "above" || place == "below") {
    const std::size_t step = place == "above" ? std::size_t(-1) : 1;  // wraps around below 0
    std::size_t line = at + step;
    while (line < lines.size() && lines.expects(line)) line += step;
    return line < lines.size() ? std::optional(line) : std::nullopt;
  }
  const bool back = place.front() == '-';
  if (!back && place.front() != '+') return std::nullopt;
  std::size_t offset = 0;
  const char* end = place.data() + place.size();
  const auto [stop, error] = std::from_chars(place.data() + 1, end, offset);
  if (error != std::errc() || stop != end) return std::nullopt;
  // A text ends on the line after its last one.
  if (back ? offset > at : offset > lines.size() - at) return std::nullopt;
  return back ? at - offset : at + offset;
}

/// Reads the expectation after `// expect-` on line `at`; no value if it is not one.
std::optional<ExpectedDiagnostic> read_expectation(std::string_view text, const Lines& lines,
                                                   std::size_t at, std::uint32_t first_line) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const auto& each) { return take(text, each.first); });
  if (kind == kKinds.end()) return std::nullopt;
  ExpectedDiagnostic result;
  result.kind = kind->second;
  if (take(text, "[")) {
    const auto close = text.find(']');
    if (close == text.npos) return std::nullopt;
    result.code = text.substr(0, close);
    text.remove_prefix(close + 1);
  }
  const auto open = text.find("{{"), close = text.rfind("}}");
  if (open == text.npos || close == text.npos || close < open + 2) return std::nullopt;
  result.text = text.substr(open + 2, close - open - 2);
  std::string_view place = text.substr(0, open);
  place = place.substr(0, place.find_last_not_of(" \t") + 1);
  const bool placed = take(place, "@");
  if (placed == place.empty()) return std::nullopt;
  if (place == "unknown") return result;
  const auto line = resolve_place(place, lines, at);
  if (!line) return std::nullopt;
  result.line = first_line + static_cast<std::uint32_t>(*line);
  return result;
}

/// A reported diagnostic or note, one per line.
struct Report {
  ExpectedKind kind;
  DiagCode code;
  Span at;
  std::string_view message;
};

std::vector<Report> flatten(std::span<const Diagnostic> diagnostics) {
  std::vector<Report> reports;
  for (const Diagnostic& each : diagnostics) {
    reports.push_back({kind_of(each.severity), each.code, each.at, each.message});
    for (const Note& note : each.notes) {
      reports.push_back({ExpectedKind::kNote, each.code, note.at, note.message});
    }
  }
  return reports;
}

}  // namespace

std::vector<InputPart> split_input(std::string_view text) {
  std::vector<InputPart> parts;
  std::string_view rest = text;
  const char* begin = text.data();
  std::uint32_t first_line = 1;
  for (std::uint32_t next_line = 2; !rest.empty(); ++next_line) {
    const std::string_view line = take_line(rest);
    if (!is_separator(line)) continue;
    parts.push_back({{begin, static_cast<std::size_t>(line.data() - begin)}, first_line});
    begin = rest.empty() ? text.data() + text.size() : rest.data();
    first_line = next_line;
  }
  const auto size = static_cast<std::size_t>(text.data() + text.size() - begin);
  parts.push_back({{begin, size}, first_line});
  return parts;
}

std::vector<ExpectedDiagnostic> read_expectations(const SourceFile& file,
                                                  Diagnostics& diagnostics) {
  const Lines lines(file.text());
  std::vector<ExpectedDiagnostic> expectations;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto marker = lines[i].find(kMarker);
    if (marker == std::string_view::npos) continue;
    const std::string_view comment = lines[i].substr(marker);
    const SourcePos at = file.position_of(comment.data());
    const Span span{at, at + static_cast<SourcePos>(comment.size())};
    auto each = read_expectation(comment.substr(kMarker.size()), lines, i, file.first_line());
    if (each) {
      each->at = span;
      expectations.push_back(*each);
      continue;
    }
    diagnostics.error(diag::kExpectationMalformed, span, "expectation cannot be read").hint =
        "an expectation reads '// expect-error[MIRnnnn]@+1 {{text}}'; code and place may be left "
        "out";
  }
  return expectations;
}

Diagnostics check_expectations(const SourceFile& file, const SourceManager& sources,
                               const Diagnostics& found) {
  Diagnostics differences(0);
  const std::vector<ExpectedDiagnostic> expectations = read_expectations(file, differences);
  std::vector<bool> met(expectations.size());
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_line;
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    by_line[expectations[i].line].push_back(i);
  }
  const std::vector<Diagnostic> sorted = found.sorted();
  for (const Report& report : flatten(sorted)) {
    const SourceFile* where = sources.file_of(report.at.begin);
    std::vector<std::size_t>& candidates =
        by_line[where == nullptr ? 0 : where->line_column(report.at.begin).line];
    const auto match = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t i) {
      const ExpectedDiagnostic& each = expectations[i];
      return each.kind == report.kind &&
             (each.code.empty() || each.code == spelling(report.code)) &&
             report.message.find(each.text) != std::string_view::npos;
    });
    if (match != candidates.end()) {
      met[*match] = true;
      candidates.erase(match);
      continue;
    }
    differences.error(diag::kUnexpectedDiagnostic, report.at,
                      fmt::format("unexpected {}[{}]: {}", word(report.kind), spelling(report.code),
                                  report.message));
  }
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    if (met[i]) continue;
    const ExpectedDiagnostic& each = expectations[i];
    differences.error(
        diag::kExpectationNotMet, each.at,
        fmt::format("expected {}{}{} was not reported: '{}'", word(each.kind),
                    each.code.empty() ? "" : fmt::format("[{}]", each.code),
                    each.line == 0 ? " without a place" : fmt::format(" on line {}", each.line),
                    each.text));
  }
  if (found.dropped_error_count() != 0) {
    differences.error(
        diag::kUnexpectedDiagnostic, {},
        fmt::format("{} further errors were not compared", found.dropped_error_count()));
  }
  return differences;
}

}  // namespace mir
