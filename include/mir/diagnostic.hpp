// Diagnostics: what went wrong, where, and what to do. Collected first, rendered once at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic_code.hpp"
#include "mir/source.hpp"

namespace mir {

/// A remark says what was done or found; it asks for nothing.
enum class Severity : std::uint8_t { kRemark, kWarning, kError };

/// `error`, `warning` or `remark`.
std::string_view name_of(Severity severity);

/// A second place that explains a diagnostic. Cannot exist alone.
struct Note {
  Span at;
  std::string message;
  friend bool operator==(const Note&, const Note&) = default;
};

/// A range and the text that replaces it. An empty range inserts, an empty text removes.
struct FixIt {
  Span at;
  std::string replacement;
  friend bool operator==(const FixIt&, const FixIt&) = default;
};

/// Messages start in lower case, end without a full stop, quote user text in single quotes, say
/// what was found and what was expected.
struct Diagnostic {
  Severity severity = Severity::kError;
  DiagCode code{};
  Span at;  ///< unknown for a problem with no place in a text
  std::string message;
  std::vector<Note> notes;
  std::string hint;          ///< the likely mistake, empty when there is no good guess
  std::vector<FixIt> fixes;  ///< edits that repair the problem when all are made
  std::string constraint;    ///< "ssa_c1, docs/verification.md": what was broken; empty: no id

  Diagnostic& note(Span where, std::string text) & {
    notes.push_back({where, std::move(text)});
    return *this;
  }
  Diagnostic& fix(Span where, std::string replacement) & {
    fixes.push_back({where, std::move(replacement)});
    return *this;
  }
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// How many diagnostics of a code there were, those not kept included.
struct DiagnosticCount {
  DiagCode code{};
  Severity severity = Severity::kError;
  std::size_t count = 0;
  friend bool operator==(const DiagnosticCount&, const DiagnosticCount&) = default;
};

/// Collects the diagnostics of one run. Not thread-safe: parallel work uses one each and appends.
class Diagnostics {
 public:
  /// `max_errors` errors are kept and counted further; 0 keeps all.
  explicit Diagnostics(std::size_t max_errors = 20) : max_errors_(max_errors) {}

  /// The reference is valid until the next call.
  Diagnostic& error(DiagCode code, Span at, std::string message);
  Diagnostic& warning(DiagCode code, Span at, std::string message);
  Diagnostic& remark(DiagCode code, Span at, std::string message);
  /// Counts what is not worth keeping, like the hundredth of its kind and those after it.
  void skip(Severity severity, DiagCode code, std::size_t how_many = 1);
  void append(Diagnostics&& other);

  std::size_t error_count() const { return errors_; }
  std::size_t warning_count() const { return warnings_; }
  /// Errors and warnings that were counted but not kept.
  std::size_t dropped_error_count() const { return dropped_; }
  std::size_t dropped_warning_count() const { return dropped_warnings_; }
  /// In order of code, errors before warnings.
  std::vector<DiagnosticCount> counts() const;
  bool has_errors() const { return errors_ != 0; }
  /// True once further errors are only counted: long work may stop early.
  bool is_full() const { return max_errors_ != 0 && errors_ - dropped_ >= max_errors_; }

  /// In order of position (unknown ones first), then of arrival; without exact repetitions.
  std::vector<Diagnostic> sorted() const;

 private:
  Diagnostic& add(Severity severity, DiagCode code, Span at, std::string message);
  void count(Severity severity, DiagCode code, std::size_t n);

  std::size_t max_errors_;
  std::size_t errors_ = 0;
  std::size_t dropped_ = 0;
  std::size_t warnings_ = 0;
  std::size_t dropped_warnings_ = 0;
  std::vector<DiagnosticCount> counts_;  // in order of first appearance
  std::vector<Diagnostic> list_;
  Diagnostic overflow_;  // receives what exceeds the limit
};

}  // namespace mir
