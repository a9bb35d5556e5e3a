// Parses and prints `loc(...)`.
#include "ir/context/location_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "syntax/text_literal.hpp"

namespace mir {

namespace {

constexpr int kMaxTextDepth = 64;

constexpr std::string_view kUnknownText = "unknown";

/// Recursive descent over a `loc(...)`; every function gives nothing at the first thing that
/// does not fit.
class LocationReader {
 public:
  LocationReader(LocationTable& table, std::string_view text) : table_(table), rest_(text) {}

  std::optional<Location> whole() {
    if (!word("loc") || !sign('(')) return std::nullopt;
    const auto found = location(0);
    return found && sign(')') && at_end() ? found : std::nullopt;
  }

 private:
  std::optional<Location> location(int depth) {
    if (depth > kMaxTextDepth) return std::nullopt;
    if (word(kUnknownText) || word("?")) return Location();
    if (word("callsite")) return call_site(depth);
    if (word("fused")) return fused(depth);
    const auto text = string();
    if (!text) return std::nullopt;
    if (sign(':')) return file(*text);
    if (!sign('(')) return table_.named(*text, Location());
    const auto child = location(depth + 1);
    if (!child || !sign(')')) return std::nullopt;
    return table_.named(*text, *child);
  }

  /// line [ ":" column [ "to" [ line ] ":" column ] ]
  std::optional<Location> file(std::string_view name) {
    const auto line = number();
    if (!line) return std::nullopt;
    FilePlace place{.line = *line};
    if (!sign(':')) return table_.file(name, place);
    const auto column = number();
    if (!column) return std::nullopt;
    place.column = *column;
    if (!word("to")) return table_.file(name, place);
    place.end_line = number().value_or(place.line);
    const auto end_column = sign(':') ? number() : std::nullopt;
    if (!end_column) return std::nullopt;
    place.end_column = *end_column;
    return table_.file(name, place);
  }

  std::optional<Location> call_site(int depth) {
    const auto callee = sign('(') ? location(depth + 1) : std::nullopt;
    const auto caller = callee && word("at") ? location(depth + 1) : std::nullopt;
    if (!caller || !sign(')')) return std::nullopt;
    return table_.call_site(*callee, *caller);
  }

  std::optional<Location> fused(int depth) {
    std::string metadata;
    if (sign('<')) {
      metadata = string().value_or("");
      if (metadata.empty() || !sign('>')) return std::nullopt;
    }
    if (!sign('[')) return std::nullopt;
    std::vector<Location> parts;
    if (!sign(']')) {
      do {
        const auto part = location(depth + 1);
        if (!part) return std::nullopt;
        parts.push_back(*part);
      } while (sign(','));
      if (!sign(']')) return std::nullopt;
    }
    return table_.fused(parts, metadata);
  }

  // -- words ------------------------------------------------------------------------------------

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  bool sign(char expected) {
    skip_blanks();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool word(std::string_view expected) {
    skip_blanks();
    if (!rest_.starts_with(expected)) return false;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    if (rest_.size() > expected.size() && is_letter(rest_[expected.size()])) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  std::optional<std::uint32_t> number() {
    skip_blanks();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::optional<std::string> string() {
    skip_blanks();
    if (!rest_.starts_with('"')) return std::nullopt;
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return std::nullopt;
    auto plain = unquote(rest_.substr(0, end + 1));
    if (plain) rest_.remove_prefix(end + 1);
    return plain;
  }

  LocationTable& table_;
  std::string_view rest_;
};

std::string spell_file(std::string_view name, const FilePlace& place) {
  std::string text = fmt::format("{}:{}", quote(name), place.line);
  if (place.column == FilePlace::kNone) return text;
  text += fmt::format(":{}", place.column);
  if (place.end_column == FilePlace::kNone) return text;
  text += place.end_line == place.line ? " to " : fmt::format(" to {}", place.end_line);
  return text + fmt::format(":{}", place.end_column);
}

std::string spell_span(Span span, const SourceManager* sources) {
  const SourceFile* file = sources == nullptr ? nullptr : sources->file_of(span.begin);
  if (file == nullptr) return std::string(kUnknownText);
  const LineColumn begin = file->line_column(span.begin);
  FilePlace place{begin.line, begin.column};
  if (span.end > span.begin) {
    const LineColumn end = file->line_column(span.end);
    place.end_line = end.line;
    place.end_column = end.column;
  }
  return spell_file(file->name(), place);
}

/// Texts in their order, each once.
struct SpelledParts {
  std::vector<std::string> texts;
  std::unordered_set<std::string> known;

  void add(std::string text) {
    if (known.insert(text).second) texts.push_back(std::move(text));
  }
};

/// Adds the texts of the parts of a fused location, as LocationTable::fused() has them once they
/// are read: each once, those of inner fused ones without metadata, none that says nothing.
void spell_parts(const LocationTable& table, Location of, const SourceManager* sources,
                 SpelledParts& spelled) {
  for (Location part : table.parts(of)) {
    if (sources == nullptr && !is_stated_part(table, part)) continue;
    if (table.kind(part) == LocationKind::kStated) part = table.parts(part)[0];
    if (table.kind(part) == LocationKind::kFused && table.text(part).empty()) {
      spell_parts(table, part, sources, spelled);
      continue;
    }
    std::string text = spell_location(table, part, sources);
    if (text != kUnknownText) spelled.add(std::move(text));
  }
}

}  // namespace

std::optional<Location> read_location(LocationTable& table, std::string_view said) {
  return LocationReader(table, said).whole();
}

bool is_stated_part(const LocationTable& table, Location part) {
  return table.is_stated(table.kind(part) == LocationKind::kStated ? table.parts(part)[0] : part);
}

std::string spell_location(const LocationTable& table, Location of, const SourceManager* sources) {
  const auto parts = table.parts(of);
  const auto spell = [&](Location part) { return spell_location(table, part, sources); };
  switch (table.kind(of)) {
    case LocationKind::kUnknown:
      return std::string(kUnknownText);
    case LocationKind::kPosition:
    case LocationKind::kRange:
      return spell_span(table.span(of), sources);
    case LocationKind::kFile:
      return spell_file(table.text(of), table.file_place(of));
    case LocationKind::kNamed: {
      const bool has_child =
          !parts.empty() && (sources != nullptr || is_stated_part(table, parts[0]));
      return quote(table.text(of)) + (has_child ? "(" + spell(parts[0]) + ")" : "");
    }
    case LocationKind::kCallSite:
      return fmt::format("callsite({} at {})", spell(parts[0]), spell(parts[1]));
    case LocationKind::kFused: {
      SpelledParts found;
      spell_parts(table, of, sources, found);
      const std::vector<std::string>& spelled = found.texts;
      const std::string_view metadata = table.text(of);
      if (metadata.empty() && spelled.size() <= 1) {
        return spelled.empty() ? std::string(kUnknownText) : spelled.front();
      }
      return fmt::format("fused{}[{}]", metadata.empty() ? "" : "<" + quote(metadata) + ">",
                         fmt::join(spelled, ", "));
    }
    case LocationKind::kOpaque:
      return std::string(table.text(of));
    case LocationKind::kStated:
      return spell(parts[0]);
  }
  return std::string(kUnknownText);
}

}  // namespace mir
