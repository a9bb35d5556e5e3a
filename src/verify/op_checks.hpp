// One op against its row: attributes, types, shapes.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "support/arena.hpp"
#include "support/pointer_table.hpp"
#include "verify/checks.hpp"
#include "verify/weights.hpp"

namespace mir::checks {

/// Holds each op to its row. What is found sound is remembered by kind, types and options, with the
/// parameters that such an op owns, and not looked at again for the next op that has the same:
/// layers repeat each other.
///
/// note [types of dumps]
/// A part that upstream prints with the type of the whole (see dump_c2) is stale, and so is what an
/// op writes into it under the same name and type. Its extents are unknown here, and those of every
/// argument, free value and call result of its name. Options that are
/// printed (as attributes, or as the op_options of a launch) are used; where an op's options are
/// lost, its rule runs only if it needs none, and otherwise the types must be related as they are
/// under any options. Element types of results are not compared: dumps spell several alike.
class OpChecks {
 public:
  explicit OpChecks(Reporter& reporter);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region&) {}

 private:
  using Types = std::vector<const Type*>;

  /// Addresses that an op's verdict depends on. Without words if there would be too many.
  struct Signature {
    static constexpr std::size_t kMax = 23;
    std::array<const void*, kMax> words;  // the first `count` are set
    std::uint32_t count = 0;
    std::uint32_t hash = 0;

    /// When the words before `end` are set.
    void finish(const void** end);
  };
  /// Signature that was sound, and the parameters that every op with this signature owns.
  struct Sound {
    const void** words = nullptr;
    std::uint32_t word_count = 0;
    std::uint32_t hash = 0;
    std::uint32_t capacity = 0;
    bool is_mixed = false;  ///< sound but for element types that differ
    std::span<const OwnedParameter> parameters;

    bool is(const Signature& signature) const {
      return hash == signature.hash && word_count == signature.count && words != nullptr &&
             std::equal(words, words + word_count, signature.words.begin());
    }
  };
  static constexpr std::size_t kMostSlots = 1024;

  struct Target {
    const OpRow* row = nullptr;
    std::span<const NamedAttr> options;
    bool has_options = false;
  };

  bool is_launch(const Op& op) const { return op.is(OpId::kProgKernelLaunch); }
  bool is_annotation(Symbol key) const {
    return std::ranges::find(annotations_, key) != annotations_.end();
  }
  Target target_of(const Op& op) const;
  void sign(const Op& op, Signature& signature) const;
  /// True if the signature is known to be sound, with its entry or the entry to replace.
  std::pair<bool, Sound&> find(const Signature& signature);
  void remember(Sound& kept, const Signature& signature,
                std::span<const OwnedParameter> parameters);
  const Type* operand_type(const Use& use);
  const Type* stale_operand_type(const Value& value, const Type* type);
  bool is_stale(const Value& value) const {
    return !stale_values_.empty() && stale_values_[value.id()];
  }
  bool may_be_part(const Op& op) const;
  bool repeats_stale_type(const Op& op, const Value& result) const;
  bool is_stale_type(const Use& use, const Type* type) const;
  void find_stale_values();
  bool has_stale_name(const Value& value) const;
  const Type* with_unknown_extents(const Type* type);

  /// Types of values that no op defines, or that an op does.
  void check_strange_type(const Value& value, const Op& place);
  void check_constant(const Op& op);
  void check_by_row(const Op& op);
  void check_kernel(const Op& op, const Target& target);
  bool check_mixture(const Op& op, const Target& target);
  void check_types(const Op& op, const Target& target);
  void check_dump_types(const Op& op, const Target& target);
  void check_product(const Op& op, const Target& target);
  void check_open_extents(const Op& op);
  /// True if the rule accepts the operands and infers the stated result types; reports if asked to.
  bool run_rule(const Op& op, const Target& target, std::span<const NamedAttr> options,
                bool report);
  bool compare(const Op& op, const Types& inferred, bool report);
  /// Conditions of the rule that was called last.
  void report_undecided(const Op& op);

  Reporter& reporter_;
  IRContext& context_;
  bool is_dump_;
  std::vector<Symbol> annotations_;
  std::vector<bool> stale_values_;        // by id; empty: none
  std::vector<bool> stale_numbers_;       // their names: numbers
  std::vector<Symbol> stale_words_;       // and words
  PointerTable<char> strange_types_;      // of unknown elements or extents, that are reported
  PointerTable<const Type*> open_types_;  // by type: the same with unknown extents
  Types operands_;                        // of the op at hand
  std::vector<Sound> sound_;              // by hash; a later one takes the place of an earlier
  Arena arena_;                           // of what sound_ refers to
  WeightChecks weights_;
};

}  // namespace mir::checks
