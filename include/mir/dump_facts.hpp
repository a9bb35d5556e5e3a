// What dumps add: what their text says beside the IR. A module keeps it apart; whoever does not
// read or write dumps never meets it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

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

/// Of one module. Only the Resolver and the Rewriter write here. What erased ops stated stays
/// unseen: ids are never used again.
class DumpFacts {
 public:
  /// Null if the mention states nothing beyond the value.
  const StatedMention* mention(const Use& use) const {
    return use.user()->states_mentions_ ? find_mention(use) : nullptr;
  }
  bool has_mentions() const { return !mentions_.empty(); }

  /// Whether the path was written `[name="..."]`.
  bool has_square_path(const Op& op) const { return of(op).has_square_path; }
  /// The target of prog.jump.
  std::optional<Symbol> label(const Op& op) const {
    return of(op).has_label ? std::optional(of(op).label) : std::nullopt;
  }
  /// Of `addr:`; all ones where upstream had not numbered the instruction.
  std::optional<std::uint64_t> address(const Op& op) const {
    return of(op).has_address ? std::optional(of(op).address) : std::nullopt;
  }
  static constexpr std::uint64_t kUnnumbered = ~std::uint64_t{0};

  /// The results in the text of the region's signature; empty for a region that was not read.
  std::span<const RegionResult> results(const Region& region) const {
    const auto found = results_.find(&region);
    return found == results_.end() ? std::span<const RegionResult>() : found->second;
  }

 private:
  friend class Rewriter;

  struct OpFacts {
    std::uint64_t address = 0;
    Symbol label;
    bool has_address = false, has_label = false, has_square_path = false;
  };

  const StatedMention* find_mention(const Use& use) const;
  const OpFacts& of(const Op& op) const { return op.id() < ops_.size() ? ops_[op.id()] : kNone; }
  OpFacts& edit(const Op& op) {
    if (op.id() >= ops_.size()) ops_.resize(op.id() + std::size_t{1});
    return ops_[op.id()];
  }
  static const OpFacts kNone;

  std::unordered_map<const Use*, StatedMention> mentions_;
  std::vector<OpFacts> ops_;  // by id, up to the last op that has any
  std::unordered_map<const Region*, std::span<const RegionResult>> results_;
};

inline constexpr DumpFacts::OpFacts DumpFacts::kNone{};

/// What the signature of a region says of its results: as its text states it, else as they are
/// handed over.
std::vector<RegionResult> stated_results(const Region& region);

}  // namespace mir
