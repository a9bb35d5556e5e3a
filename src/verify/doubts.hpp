// Decides which breaches follow from errors in the text.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/module.hpp"
#include "text/damaged_text.hpp"
#include "verify/constraint.hpp"

namespace mir {

/// Errors of syntax have codes below the first, errors of reading below the second.
inline constexpr auto kFirstOfResolve = static_cast<DiagCode>(300);
inline constexpr auto kFirstOfVerification = static_cast<DiagCode>(400);

/// Errors of verification that are kept beside errors of reading.
inline constexpr std::size_t kMostUnsoundErrors = 1000;

/// The ops of modules in the order of the text.
class OpsInOrder {
 public:
  explicit OpsInOrder(std::span<Module* const> modules);

  /// Returns the op whose head a place is in; null if there is none.
  const Op* at(SourcePos place) const {
    const auto next = std::ranges::upper_bound(ops_, place, {}, &Entry::first);
    return next == ops_.begin() ? nullptr : std::prev(next)->second;
  }
  auto begin() const { return ops_.begin(); }
  auto end() const { return ops_.end(); }

 private:
  using Entry = std::pair<SourcePos, const Op*>;
  std::vector<Entry> ops_;
};

/// An op whose body is not closed, and where that was noticed. What follows may be outside of it.
struct UnclosedOp {
  const Op* op;
  SourcePos noticed;
};
/// Errors of syntax have a note at the brace that is not closed.
std::vector<UnclosedOp> unclosed_ops(const OpsInOrder& ops, std::span<const Diagnostic> known);

/// True for errors that an op has whatever the rest of the text is.
bool concerns_op_alone(DiagCode code);

/// Ops and checks that errors leave in doubt.
///
/// note [sound ops]
/// An error of an op follows from another one if something that the op is checked against is wrong:
/// the op itself, the definition of an operand, or the contents of its regions. What is in doubt is
/// thus checked after the other errors are repaired. Names, arities, attributes, callees and
/// repeated symbols are checked against nothing but rows and symbols, so they are reported for all
/// ops. In a dump each mention states the type of its value, so an op is only in doubt if it
/// mentions a storage that text which cannot be read mentions.
///
/// note [lost structure]
/// Tells which breaches may follow from errors in the text. From a brace without its pair, or a
/// head that cannot be read, ops may be in wrong regions: breaches that depend on the region are in
/// doubt.
class Doubts {
 public:
  /// `known` are the errors of the text, of which all others may follow.
  Doubts(std::span<Module* const> modules, const OpsInOrder& ops,
         std::span<const Diagnostic> known);

  /// True unless the breach, whether it is found or not, depends on text with an error.
  bool decide(const Diagnostic& breach) const;
  /// True if an error of reading follows from one of syntax.
  bool explain(const Diagnostic& error) const;

 private:
  bool concern(const Module& module) const { return unsound_modules_.contains(&module); }
  void add(const Op& op);
  void add_parents(const Op* op);
  void follow_pending();
  void find_lost_structure(std::span<const Diagnostic> known);
  bool decides(CheckGroup group, DiagCode code, const Op& op) const;
  bool decides_by_module(DiagCode code, const Op& op) const;
  bool decides_op_alone(DiagCode code, const Op& op) const;
  bool is_sound(const Op& op) const { return !ops_.contains(&op) && !parents_.contains(&op); }
  bool may_be_defined(const Op& op) const;
  bool is_displaced(const Op& op) const;
  bool is_in_lost_module(const Op& op) const;
  bool is_in_damaged_template(const Op& op) const;
  bool is_damaged(SourcePos place) const;
  void find_cut_lists(std::span<const Diagnostic> known);
  bool is_below_cut_list(const Op& op) const;
  bool is_cut_off(const Op& op) const;
  static const DamagedText& damage_of(const Op& op) { return op.module().notes<DamagedText>(); }

  const OpsInOrder& order_;
  std::span<Module* const> modules_;
  std::vector<UnclosedOp> unclosed_;
  std::unordered_set<const Module*> unsound_modules_;
  std::unordered_set<const Op*> ops_;
  std::unordered_set<const Op*> parents_;               // of those
  std::unordered_set<const Op*> damaged_;               // of text that cannot be read
  std::unordered_map<const Op*, SourcePos> cut_lists_;  // see find_cut_lists()
  std::vector<const Op*> pending_;
  SourcePos lost_from_ = kNowhere;   // see note [lost structure]
  const Module* lost_in_ = nullptr;  // the module around that place
  bool are_dialects_lost_ = false;   // some of the text
  bool are_aliases_lost_ = false;    // likewise

  static constexpr SourcePos kNowhere = ~SourcePos{0};
};

}  // namespace mir
