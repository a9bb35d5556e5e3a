// Where things come from: positions in texts, and what passes and authors say beyond that.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mir/interner.hpp"
#include "mir/source.hpp"

namespace mir {

enum class LocationKind : std::uint8_t {
  kUnknown,
  kPosition,  ///< a place in the source space
  kRange,     ///< a range of the source space
  kFile,      ///< `"file":line:column to line:column`: a place in a text that is not at hand
  kNamed,     ///< `"name"(location)`
  kCallSite,  ///< `callsite(callee at caller)`
  kFused,     ///< `fused<metadata>[location, ...]`: made from several
  kOpaque,    ///< a `loc(...)` in words of its own, kept as written
  kStated,    ///< the text at a position says `loc(...)`
};

/// Where an op comes from: a position in the source space, or a handle of the context's
/// LocationTable. Handles of one context that are equal mean the same place.
struct Location {
  static constexpr std::uint32_t kTableBit = 0x8000'0000u;
  std::uint32_t raw = 0;  ///< 0: unknown
  bool is_position() const { return raw != 0 && (raw & kTableBit) == 0; }
  explicit operator bool() const { return raw != 0; }
  friend bool operator==(Location, Location) = default;
};

/// What a kFile location says.
struct FilePlace {
  static constexpr std::uint32_t kNone = ~0u;  ///< a number that is not given
  std::uint32_t line = 0, column = kNone;
  std::uint32_t end_line = kNone, end_column = kNone;
  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};

/// Makes and keeps the locations of one context. Thread-safe. All locations passed in must be of
/// the same table.
class LocationTable {
 public:
  explicit LocationTable(StringInterner& strings);
  ~LocationTable();

  Location position(SourcePos at) {
    return at < Location::kTableBit ? Location{at} : range({at, at});
  }
  Location range(Span span);
  Location file(std::string_view name, FilePlace place);
  Location named(std::string_view name, Location child = {});
  Location call_site(Location callee, Location caller);
  /// Parts that are fused themselves without metadata are taken apart, unknown and repeated ones
  /// left out; without metadata, one part stands for itself and none is unknown.
  Location fused(std::span<const Location> parts, std::string_view metadata = {});
  /// What the text at `at` says of an op: `said` is a whole `loc(...)`.
  Location stated(SourcePos at, std::string_view said);
  /// Reads a whole `loc(...)`; what is no location of the language becomes kOpaque.
  Location parse(std::string_view said);

  LocationKind kind(Location of) const;
  /// File of kFile, name of kNamed, metadata of kFused, whole text of kOpaque; empty for others.
  std::string_view text(Location of) const;
  FilePlace file_place(Location of) const;
  /// Child of kNamed, callee and caller of kCallSite, parts of kFused, what kStated says.
  std::span<const Location> parts(Location of) const;

  /// The first place in the source space that `of` leads to: its own range, the position of a
  /// stated one, or that of its parts (of a call site, the callee's); unknown when there is none.
  Span span(Location of) const;
  /// Whether `loc(...)` was written for it or one of its parts.
  bool is_stated(Location of) const;
  /// `loc(...)` for what was stated of it, empty when nothing was. With `sources` positions and
  /// ranges are spelled as `"file":line:column`, otherwise they are left out.
  std::string spelling(Location of, const SourceManager* sources = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mir
