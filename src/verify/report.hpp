// Reporting for the checks: verdicts, places, limits.
#pragma once

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "ir/extent_prover.hpp"
#include "ir/op_places.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"
#include "mir/verify.hpp"
#include "support/suggest.hpp"
#include "verify/constraint.hpp"

namespace mir::checks {

inline std::string_view text(const Op& op, Symbol symbol) {
  return op.module().context().text(symbol);
}

/// A name as text writes it, with its `%`.
std::string spelling_of(const Module& module, ValueName name);

/// Turns breaches into diagnostics. Messages are made only for those that are kept.
class Reporter {
 public:
  Reporter(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options);
  /// Counts the findings that were not kept.
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  const Module& module() const { return module_; }
  VerifyLevel level() const { return level_; }
  /// True if a breach would be reported at all.
  bool wants(ConstraintId id) const { return verdicts_[index_of(id)] != Verdict::kOff; }
  template <class... Ids>
  bool wants_any(Ids... ids) const {
    return (wants(ids) || ...);
  }
  /// As wants, for the breaches of a shape rule.
  bool wants_rules() const { return wants_rules_; }

  /// Prover for the extents of the module; null if it declares no symbols.
  ExtentProver* prover() { return prover_ ? &*prover_ : nullptr; }
  /// True if both types can describe one value, for all values that the module declares for its
  /// symbols.
  bool agree(const Type* a, const Type* b) {
    return compatible(a, b) || (prover_ && prover_->agree(a, b));
  }

  /// How many breaches there were so far, whatever became of them.
  std::size_t breaches() const { return breaches_; }
  /// `message()` gives the text. The diagnostic for further notes, valid until the next report;
  /// null when it is not kept.
  template <class Message>
  Diagnostic* report(ConstraintId id, const Op& op, const Message& message) {
    const std::size_t index = index_of(id);
    const Constraint& constraint = constraints()[index];
    breaches_ += verdicts_[index] != Verdict::kOff;
    if (!keep(constraint.code, verdicts_[index], places_[index])) return nullptr;
    return add(constraint, verdicts_[index], op, message());
  }
  /// As report, at a part of the op's text: an attribute, a mention, a name (see OpPlaces).
  template <class Message>
  Diagnostic* report_at(ConstraintId id, const Op& op, const AttributePlace& place,
                        const Message& message) {
    return report_at<AttributePlace, Message>(id, op, place, message);
  }
  template <class Place, class Message>
  Diagnostic* report_at(ConstraintId id, const Op& op, const Place& place, const Message& message) {
    Diagnostic* const kept = report(id, op, message);
    if (kept != nullptr) kept->at = places_in_ops_.find(op, place);
    return kept;
  }
  /// The diagnostic, where it may get a suggestion that looks at the whole module; null otherwise.
  Diagnostic* to_suggest(Diagnostic* added) const {
    return added != nullptr && may_suggest(diagnostics_, added->code) ? added : nullptr;
  }
  /// A breach of a shape rule, whose diagnostic names its constraint itself, and perhaps a place.
  void report_rule(const Op& op, Diagnostic&& breach);

 private:
  static std::size_t index_of(ConstraintId id) { return static_cast<std::size_t>(id); }
  struct Findings {
    DiagCode code{};
    std::size_t count = 0;  ///< those that were not kept included
  };
  static constexpr std::uint8_t kUnplaced = 0xff;

  /// True if a report of this code is kept; counts one that is not. `place` is the index of its
  /// counter, once that is known.
  bool keep(DiagCode code, Verdict verdict, std::uint8_t& place) {
    if (verdict != Verdict::kFinding) return verdict == Verdict::kError && keep_error(code);
    if (place == kUnplaced) place = place_of(code);
    const std::size_t limit = options_.findings_per_code;
    return findings_[place].count++ < limit || limit == 0;
  }
  bool keep_error(DiagCode code);
  std::uint8_t place_of(DiagCode code);
  Verdict rule_verdict(DiagCode code) const;
  Diagnostic* add(const Constraint& constraint, Verdict verdict, const Op& op, std::string message);

  const Module& module_;
  Diagnostics& diagnostics_;
  const VerifyOptions& options_;
  VerifyLevel level_;
  bool wants_rules_;
  std::size_t breaches_ = 0;
  std::optional<ExtentProver> prover_;
  std::array<Verdict, kConstraintCount> verdicts_{};     // by constraint
  std::array<std::uint8_t, kConstraintCount> places_{};  // in findings_, by constraint
  std::vector<Findings> findings_;                       // a code each
  OpPlaces places_in_ops_;
};

/// Adds a second place to a report that was kept.
inline void note(Diagnostic* diagnostic, const Op& op, std::string_view message) {
  if (diagnostic != nullptr) diagnostic->note(op.span(), std::string(message));
}

/// Compiled formats copy from the address of a text, which an empty one may lack.
template <class Value>
const Value& printable(const Value& value) {
  return value;
}
inline std::string_view printable(std::string_view text) {
  return text.data() == nullptr ? std::string_view("") : text;
}

/// A message in a format that is read when the toolkit is compiled, FMT_COMPILE("..."): for
/// findings that dumps have in plenty.
template <class Format, class... Args>
std::string compiled(const Format& format, const Args&... args) {
  fmt::memory_buffer buffer;
  fmt::format_to(std::back_inserter(buffer), format, printable(args)...);
  return fmt::to_string(buffer);
}

}  // namespace mir::checks
