#include "ir/text/location_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "ir/text/text_literal.hpp"

namespace mir {

namespace {

constexpr int kMaxTextDepth = 64;

/// Recursive descent over a `loc(...)`; every function gives false at the first thing that does
/// not fit.
class LocationReader {
 public:
  LocationReader(LocationTable& table, std::string_view text) : table_(table), rest_(text) {}

  bool whole(Location& out) {
    return word("loc") && sign('(') && location(out, 0) && sign(')') && at_end();
  }

 private:
  bool location(Location& out, int depth) {
    if (depth > kMaxTextDepth) return false;
    if (word("unknown") || word("?")) {
      out = {};
      return true;
    }
    if (word("callsite")) return call_site(out, depth);
    if (word("fused")) return fused(out, depth);
    std::string text;
    if (!string(text)) return false;
    if (sign(':')) return file(out, text);
    Location child;
    if (sign('(') && !(location(child, depth + 1) && sign(')'))) return false;
    out = table_.named(text, child);
    return true;
  }

  /// line [ ":" column [ "to" [ line ] ":" column ] ]
  bool file(Location& out, std::string_view name) {
    FilePlace place;
    if (!number(place.line)) return false;
    if (sign(':')) {
      if (!number(place.column)) return false;
      if (word("to")) {
        if (!number(place.end_line)) place.end_line = place.line;
        if (!sign(':') || !number(place.end_column)) return false;
      }
    }
    out = table_.file(name, place);
    return true;
  }

  bool call_site(Location& out, int depth) {
    Location callee, caller;
    if (!(sign('(') && location(callee, depth + 1) && word("at") && location(caller, depth + 1) &&
          sign(')'))) {
      return false;
    }
    out = table_.call_site(callee, caller);
    return true;
  }

  bool fused(Location& out, int depth) {
    std::string metadata;
    if (sign('<') && !(string(metadata) && !metadata.empty() && sign('>'))) return false;
    if (!sign('[')) return false;
    std::vector<Location> parts;
    if (!sign(']')) {
      do {
        Location part;
        if (!location(part, depth + 1)) return false;
        parts.push_back(part);
      } while (sign(','));
      if (!sign(']')) return false;
    }
    out = table_.fused(parts, metadata);
    return true;
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

  bool number(std::uint32_t& out) {
    skip_blanks();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

  bool string(std::string& out) {
    skip_blanks();
    if (!rest_.starts_with('"')) return false;
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return false;
    const auto plain = unquote(rest_.substr(0, end + 1));
    if (!plain) return false;
    out = *plain;
    rest_.remove_prefix(end + 1);
    return true;
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
  if (file == nullptr) return "unknown";
  const LineColumn begin = file->line_column(span.begin);
  FilePlace place{begin.line, begin.column};
  if (span.end > span.begin) {
    const LineColumn end = file->line_column(span.end);
    place.end_line = end.line;
    place.end_column = end.column;
  }
  return spell_file(file->name(), place);
}

}  // namespace

std::optional<Location> read_location(LocationTable& table, std::string_view said) {
  Location read;
  if (!LocationReader(table, said).whole(read)) return std::nullopt;
  return read;
}

std::string spell_location(const LocationTable& table, Location of, const SourceManager* sources) {
  const auto parts = table.parts(of);
  const auto spell = [&](Location part) { return spell_location(table, part, sources); };
  switch (table.kind(of)) {
    case LocationKind::kUnknown:
      return "unknown";
    case LocationKind::kPosition:
    case LocationKind::kRange:
      return spell_span(table.span(of), sources);
    case LocationKind::kFile:
      return spell_file(table.text(of), table.file_place(of));
    case LocationKind::kNamed:
      return quote(table.text(of)) + (parts.empty() ? "" : "(" + spell(parts[0]) + ")");
    case LocationKind::kCallSite:
      return fmt::format("callsite({} at {})", spell(parts[0]), spell(parts[1]));
    case LocationKind::kFused: {
      std::vector<std::string> spelled;
      for (const Location part : parts) {
        if (sources != nullptr || table.is_stated(part)) spelled.push_back(spell(part));
      }
      const std::string_view metadata = table.text(of);
      if (metadata.empty() && spelled.size() == 1) return spelled.front();
      return fmt::format("fused{}[{}]", metadata.empty() ? "" : "<" + quote(metadata) + ">",
                         fmt::join(spelled, ", "));
    }
    case LocationKind::kOpaque:
      return std::string(table.text(of));
    case LocationKind::kStated:
      return spell(parts[0]);
  }
  return "unknown";
}

}  // namespace mir
