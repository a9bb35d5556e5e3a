// Facts that the text of an op, a mention or a signature states beyond the IR. Nearly all of them
// occur in dumps only. Ops and regions own their facts, so that edits keep them right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mir/type.hpp"

namespace mir {

class Region;
class Use;

/// A value's name in text: decimal storage ids are numbers, everything else is interned.
class ValueName {
 public:
  constexpr ValueName() = default;
  static constexpr ValueName number(std::uint32_t id) { return ValueName(id); }
  static constexpr ValueName symbol(Symbol name) { return ValueName(name.id | kSymbolBit); }
  static constexpr std::uint32_t kMaxNumber = 0x7fff'fffe;

  constexpr bool is_number() const { return (raw_ & kSymbolBit) == 0; }
  constexpr std::uint32_t number() const { return raw_; }
  constexpr Symbol symbol() const { return Symbol{raw_ & ~kSymbolBit}; }
  constexpr bool is_none() const { return raw_ == kNone; }
  constexpr std::uint32_t raw() const { return raw_; }
  friend bool operator==(ValueName, ValueName) = default;

 private:
  static constexpr std::uint32_t kSymbolBit = 0x8000'0000u;
  static constexpr std::uint32_t kNone = 0x7fff'ffffu;
  constexpr explicit ValueName(std::uint32_t raw) : raw_(raw) {}
  std::uint32_t raw_ = kNone;  ///< if kNone, printing chooses a fresh number
};

/// A mention of a value whose type or attributes differ from the value's: dumps print cached types
/// and forget attributes. Portable modules have none.
struct StatedMention {
  const Type* type = nullptr;
  std::span<const NamedAttr> attributes{};
  Symbol symbol{};
  bool has_symbol = false;
};

/// One result in the signature of a region: `-> (%9:tensor<...>)`.
struct RegionResult {
  ValueName name{};
  const Type* type = nullptr;
  Symbol symbol{};
  bool has_symbol = false;
  std::span<const NamedAttr> attributes{};
};

/// Facts that a dump states about one op.
struct DumpFacts {
  /// Upstream had not numbered the instruction.
  static constexpr std::uint64_t kUnnumbered = ~std::uint64_t{0};

  std::optional<std::uint64_t> address;  ///< of `addr:`
  std::optional<Symbol> label;           ///< the target of prog.jump
  bool has_square_path = false;          ///< the path was written `[name="..."]`
  std::span<StatedMention*> mentions;    ///< by operand, where there are any; see stated_mention()
};

/// Returns null if the mention states nothing beyond the value.
const StatedMention* stated_mention(const Use& use);

/// Returns the results in the signature of a region: Region::stated_results() if there are any,
/// otherwise the names and types of the returned values.
std::vector<RegionResult> signature_results(const Region& region);

}  // namespace mir
