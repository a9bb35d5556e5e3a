// The table of unique locations.
#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "ir/context/location_text.hpp"
#include "mir/context.hpp"
#include "support/arena.hpp"
#include "support/unique_table.hpp"
#include "support/utf8.hpp"
#include "syntax/layout.hpp"
#include "syntax/spellings.hpp"

namespace mir {

namespace {

/// Chains of call sites and names are cut where they get deeper: whoever reads them recurses.
constexpr std::uint32_t kMaxLocationDepth = 256;

struct Entry {
  LocationKind kind = LocationKind::kUnknown;
  std::uint32_t depth = 1;
  Symbol text{};
  FilePlace place{};  // of kFile
  Span span{};        // of kRange and kStated
  std::span<const Location> parts{};
};

/// The bytes that differ between two entries: the kind and the fields that it has. Those of call
/// sites fit into a string without an allocation.
std::string key_of(const Entry& entry) {
  std::string key(1, static_cast<char>(entry.kind));
  const auto add = [&](std::uint32_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (entry.kind == LocationKind::kRange) {
    add(entry.span.begin);
    add(entry.span.end);
    return key;
  }
  add(entry.text.id);
  if (entry.kind == LocationKind::kFile) {
    const FilePlace& place = entry.place;
    for (const std::uint32_t number : {place.line, place.column, place.end_line, place.end_column})
      add(number);
  }
  for (const Location part : entry.parts) add(part.raw);
  return key;
}

}  // namespace

struct LocationTable::State {
  explicit State(StringInterner& interner) : strings(interner) {}

  Symbol intern(std::string_view text) { return strings.intern(with_valid_utf8(text)); }

  Entry entry(Location of) {
    if (!of) return {};
    if (of.is_position()) return {.kind = LocationKind::kPosition};
    const std::lock_guard lock(mutex);
    return entries[of.raw & ~Location::kTableBit];
  }

  /// The location `entry` describes; its parts are copied. A part that is too deep is left out.
  Location add(Entry described, bool is_unique = false) {
    const auto is_too_deep = [&](Location part) { return entry(part).depth >= kMaxLocationDepth; };
    std::vector<Location> kept;
    if (std::ranges::any_of(described.parts, is_too_deep)) {
      kept.assign(described.parts.begin(), described.parts.end());
      std::ranges::replace_if(kept, is_too_deep, Location());
      described.parts = kept;
    }
    for (const Location part : described.parts) {
      described.depth = std::max(described.depth, entry(part).depth + 1);
    }
    const std::string key = is_unique ? std::string() : key_of(described);
    const std::lock_guard lock(mutex);
    if (!is_unique) {
      if (const Location* known = known_ones.find(key)) return *known;
    }
    described.parts = arena.copy(described.parts);
    const Location made{static_cast<std::uint32_t>(entries.size()) | Location::kTableBit};
    entries.push_back(described);
    if (!is_unique) known_ones.insert(arena.copy(std::string_view(key)), made);
    return made;
  }

  StringInterner& strings;
  std::mutex mutex;  // guards everything below
  Arena arena;
  std::deque<Entry> entries;
  TextTable<Location> known_ones;
};

LocationTable::LocationTable(StringInterner& strings) : state_(std::make_unique<State>(strings)) {}
LocationTable::~LocationTable() = default;

Location LocationTable::range(Span span) {
  if (!span.known()) return {};
  return state_->add({.kind = LocationKind::kRange, .span = span});
}

Location LocationTable::file(std::string_view name, FilePlace place) {
  return state_->add({.kind = LocationKind::kFile, .text = state_->intern(name), .place = place});
}

Location LocationTable::named(std::string_view name, Location child) {
  const Location parts[] = {child};
  return state_->add({.kind = LocationKind::kNamed,
                      .text = state_->intern(name),
                      .parts = std::span(parts).first(child ? 1 : 0)});
}

Location LocationTable::call_site(Location callee, Location caller) {
  const Location parts[] = {callee, caller};
  return state_->add({.kind = LocationKind::kCallSite, .parts = parts});
}

Location LocationTable::fused(std::span<const Location> parts, std::string_view metadata) {
  std::vector<Location> flat;
  std::unordered_set<std::uint32_t> known;
  const auto add = [&](Location part) {
    if (part && known.insert(part.raw).second) flat.push_back(part);
  };
  for (const Location part : parts) {
    const Entry entry = state_->entry(part);
    if (entry.kind == LocationKind::kFused && !entry.text) {
      std::for_each(entry.parts.begin(), entry.parts.end(), add);
    } else {
      add(part);
    }
  }
  if (metadata.empty() && flat.size() <= 1) return flat.empty() ? Location() : flat.front();
  return state_->add(
      {.kind = LocationKind::kFused, .text = state_->intern(metadata), .parts = flat});
}

Location LocationTable::stated(SourcePos at, std::string_view said) {
  const Location parts[] = {parse(said)};
  return state_->add({.kind = LocationKind::kStated, .span = {at, at}, .parts = parts}, true);
}

Location LocationTable::parse(std::string_view said) {
  if (const auto read = read_location(*this, said)) return *read;
  if (!said.starts_with("loc") || said.find('(') == said.npos) return {};
  const std::string canonical = canonical_text(TokenKind::kLoc, said);
  if (!is_location(canonical)) return {};
  return state_->add({.kind = LocationKind::kOpaque, .text = state_->strings.intern(canonical)});
}

LocationKind LocationTable::kind(Location of) const {
  return state_->entry(of).kind;
}
std::string_view LocationTable::text(Location of) const {
  return state_->strings.text(state_->entry(of).text);
}
FilePlace LocationTable::file_place(Location of) const {
  return state_->entry(of).place;
}
std::span<const Location> LocationTable::parts(Location of) const {
  return state_->entry(of).parts;
}

Span LocationTable::span(Location of) const {
  if (of.is_position()) return {of.raw, of.raw};
  const Entry entry = state_->entry(of);
  if (entry.span.known()) return entry.span;
  for (const Location part : entry.parts) {
    if (const Span found = span(part); found.known()) return found;
  }
  return {};
}

bool LocationTable::is_stated(Location of) const {
  if (of.is_position()) return false;
  const Entry entry = state_->entry(of);
  const auto is_part_stated = [&](Location part) { return is_stated_part(*this, part); };
  switch (entry.kind) {
    case LocationKind::kUnknown:
    case LocationKind::kPosition:
    case LocationKind::kRange:
      return false;
    case LocationKind::kNamed:
      return entry.parts.empty() || !entry.parts.front() || is_part_stated(entry.parts.front());
    case LocationKind::kFused:
    case LocationKind::kCallSite:
      return entry.text.id || std::ranges::any_of(entry.parts, is_part_stated);
    default:
      return true;
  }
}

std::vector<InlinedCall> LocationTable::inlined_calls(Location of) const {
  std::vector<InlinedCall> calls;  // outermost first
  while (of && !of.is_position()) {
    const Entry entry = state_->entry(of);
    if (entry.kind == LocationKind::kStated) break;
    if (entry.kind == LocationKind::kCallSite) {
      const Location at = entry.parts[1];
      const bool is_named = kind(at) == LocationKind::kNamed;
      calls.push_back({.graph = is_named ? text(at) : "", .at = at});
    }
    of = entry.parts.empty() ? Location() : entry.parts[0];
  }
  std::ranges::reverse(calls);
  return calls;
}

std::string LocationTable::spelling(Location of, const SourceManager* sources) const {
  if (sources == nullptr && !is_stated(of)) return "";
  const std::string inner = spell_location(*this, of, sources);
  return inner.starts_with("loc(") ? inner : "loc(" + inner + ")";  // opaque ones are whole
}

}  // namespace mir
