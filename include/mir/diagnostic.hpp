// Errors: codes, positions in texts, diagnostics, results that may be errors, and their
// rendering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mir/diagnostic_code.hpp"

namespace mir {

// Source texts, byte positions, lines and columns.

/// A position in the source space: the concatenation of every text a SourceManager holds.
/// Position 0 belongs to no text and means "unknown".
using SourcePos = std::uint32_t;

/// Half-open range of positions inside one text.
struct Span {
  SourcePos begin = 0;
  SourcePos end = 0;
  bool known() const { return begin != 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

struct LineColumn {
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t column = 0;  ///< 1-based, counted in code points
};

/// One text with its name. The text is followed by a NUL byte, so scanners need no bound check.
/// Lines end in LF or CRLF. Every query costs the same however long the line is, and const use is
/// thread-safe.
class SourceFile {
 public:
  /// `first_line` is the number of the text's first line: more than 1 for a part of a file.
  SourceFile(std::string name, std::string text, SourcePos base, std::uint32_t first_line = 1);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  /// Position of the first byte; the range [base, base + size] belongs to this text.
  SourcePos base() const { return base_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(text_.size()); }
  std::string_view slice(Span span) const {
    return std::string_view(text_).substr(span.begin - base_, span.end - span.begin);
  }
  SourcePos position_of(const char* at) const {
    return base_ + static_cast<SourcePos>(at - text_.data());
  }

  std::uint32_t first_line() const { return first_line_; }
  LineColumn line_column(SourcePos pos) const;
  /// Text of a line, counted from first_line(), without its line end.
  std::string_view line(std::uint32_t number) const;
  /// Byte offset of `pos` inside its line.
  std::uint32_t offset_in_line(SourcePos pos) const;

 private:
  friend class SourceManager;

  /// What precedes a byte offset. A byte 0x80 to 0xBF counts as part of the code point before it.
  struct Counts {
    std::uint32_t newlines = 0;
    std::uint32_t code_points = 0;
  };
  const std::vector<Counts>& checkpoints() const;
  Counts counts_before(std::uint32_t offset) const;
  /// Offset of the line that `newlines` line ends precede.
  std::uint32_t line_start(std::uint32_t newlines) const;
  std::uint32_t offset_of(SourcePos pos) const;

  std::string name_;
  std::string text_;
  SourcePos base_;
  std::uint32_t first_line_;
  mutable std::once_flag checkpoints_built_;
  mutable std::vector<Counts> checkpoints_;  // one per 1 KiB of text, built on first use
};

struct Error;

/// Holds the texts of one run. References stay valid for its lifetime. Adding is not thread-safe.
class SourceManager {
 public:
  /// Largest text accepted, in bytes; the whole space holds twice as much.
  static constexpr std::uint32_t kMaxFileSize = (1u << 31) - 2;

  /// Null if the remaining space is too small for `text`.
  const SourceFile* add(std::string name, std::string text, std::uint32_t first_line = 1);
  /// The error for a text that add() refused.
  static Error full(std::string_view name);
  /// The text that contains `pos`; null for position 0.
  const SourceFile* file_of(SourcePos pos) const;
  /// Moves the text out of a file of this manager. Nothing that was read from the file may be used
  /// afterwards, but trees, whose units know only places.
  std::string take_text(const SourceFile& file);

 private:
  std::deque<SourceFile> files_;
  SourcePos next_base_ = 1;
};

// Diagnostics: what went wrong, where, and what to do. Collected first, rendered once at the end.

/// A remark reports an action or a fact; nothing needs to be repaired.
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
  /// Edits that may be meant, by the hint: an editor offers them, `--fix` does not make them.
  std::vector<FixIt> proposals;
  std::string constraint;  ///< "ssa_c1: docs/verification.md#values": what was broken; empty: no id

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
  /// The first kept error of which `is(diagnostic)` is true; null: none. Valid until the next call.
  template <class Is>
  Diagnostic* find_error(const Is& is) {
    for (Diagnostic& each : list_) {
      if (each.severity == Severity::kError && is(std::as_const(each))) return &each;
    }
    return nullptr;
  }
  /// Takes back the kept errors of which `follows(diagnostic)` is true: others say their cause.
  template <class Follows>
  void withdraw(const Follows& follows) {
    std::erase_if(list_, [&](const Diagnostic& each) {
      const bool goes = each.severity == Severity::kError && follows(each);
      if (goes) uncount(each.code);
      return goes;
    });
  }

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
  std::vector<Diagnostic> sorted() const&;
  /// The same, moved out: no diagnostics are left.
  std::vector<Diagnostic> sorted() &&;

 private:
  Diagnostic& add(Severity severity, DiagCode code, Span at, std::string message);
  void count(Severity severity, DiagCode code, std::size_t n);
  void uncount(DiagCode code);

  std::size_t max_errors_;
  std::size_t errors_ = 0;
  std::size_t dropped_ = 0;
  std::size_t warnings_ = 0;
  std::size_t dropped_warnings_ = 0;
  std::vector<DiagnosticCount> counts_;  // in order of first appearance
  std::vector<Diagnostic> list_;
  Diagnostic overflow_;  // receives what exceeds the limit
};

// Errors as values: no exception crosses the API.

/// Why a call failed, for calls that have no text location to point at (files, kernels, runs).
struct Error {
  DiagCode code{};
  std::string message;  ///< lower case start, no full stop, quotes user text with single quotes
};

/// A value or the reason why there is none. `Result<void>` carries only the reason.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

// Renderings of diagnostics: for people, for grep, for programs.

enum class DiagnosticFormat { kHuman, kLine, kJson, kGithub };

struct RenderOptions {
  DiagnosticFormat format = DiagnosticFormat::kHuman;
  bool colour = false;
};

/// All collected diagnostics in one rendering.
/// - kHuman: `file:line:col: error[MIRnnnn]: text`, the source line clipped to about 100 display
///   columns around the range, a caret line, then notes in the same form, the hint and the fixes; a
///   closing line counts errors and says how many were not shown.
/// - kLine: the first line of that form only, one diagnostic a line.
/// - kJson: one JSON object a line, schema in docs/diagnostics-json.md.
/// - kGithub: one workflow command a line (`::error
/// file=...,line=...,col=...,title=MIRnnnn::text`). Messages, notes and hints are cut after 2000
/// bytes.
std::string render(const Diagnostics& diagnostics, const SourceManager& sources,
                   const RenderOptions& options);

/// Collects the diagnostics of a run, of any number of texts, for one SARIF 2.1.0 document.
class SarifLog {
 public:
  void add(const Diagnostics& diagnostics, const SourceManager& sources);
  /// The document, also when nothing was added. Errors that were not kept are not in it.
  std::string finish(std::string_view tool, std::string_view version) const;

 private:
  std::string results_;
  std::set<DiagCode> codes_;
};

}  // namespace mir
