// An open document: its text, its tree and what was found in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/changed_graphs.hpp"
#include "lsp/dialect_texts.hpp"
#include "lsp/excerpt.hpp"
#include "lsp/outline.hpp"
#include "lsp/position.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "syntax/reparse.hpp"

namespace mir {
class CostEstimate;
}

namespace mir::lsp {

/// A half-open range of positions.
struct Range {
  Position begin, end;
};

/// Thrown where the work for a request is stopped; never leaves the server.
struct Stopped {};

/// The text of one version with its tree, which may be damaged. Positions in the source space of a
/// snapshot begin at base(). The dialects must outlive it.
class Snapshot {
 public:
  /// Units and errors of a text, from which an edit makes those of the next one.
  struct Syntax {
    std::vector<Unit> units;
    std::vector<Diagnostic> errors;
  };

  /// With the syntax before an edit, only what the edit touches is parsed, where that is enough.
  Snapshot(std::string name, std::string text, const DialectTexts& dialects,
           std::optional<Syntax> before = std::nullopt, const TextEdit& edit = {});
  ~Snapshot();

  /// Work stops once `*stop` is true, and never if it is null.
  void set_stop(const std::atomic<bool>* stop) { stop_ = stop; }
  /// The analysis of a text before, of which one of this text keeps what still holds. It must
  /// outlive the snapshot.
  void set_last(LastAnalysis& last) { last_ = &last; }
  bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  /// Throws Stopped if the work is stopped.
  void check_stop() const {
    if (is_stopped()) throw Stopped{};
  }

  const SourceFile& file() const { return *file_; }
  std::string_view text() const { return file_->text(); }
  const SyntaxTree& tree() const { return tree_; }
  /// Errors of syntax.
  const std::vector<Diagnostic>& syntax_errors() const { return syntax_errors_; }
  bool is_whole() const { return syntax_errors_.empty(); }
  /// How the units differ from those of the text before; no value if all of the text was parsed.
  const std::optional<UnitChange>& change() const { return change_; }

  /// The context with the rows of ops that the text has: its own if it declares dialects, which
  /// analyses it; `shared` otherwise.
  IRContext& rows(IRContext& shared);
  /// Made at the first call.
  const Outline& outline(IRContext& rows);
  /// Frees the outlines until the next call. No reference to them may be in use.
  void drop_outlines() {
    outline_.reset();
    excerpt_.reset();
  }
  /// Returns what decides the meaning of names and types in a range; null if it is most of the
  /// text.
  Excerpt* excerpt(Span range);
  /// Resolves what can be read, which is the part of an analysis that can be stopped. Returns false
  /// if it was; the next call goes on.
  bool resolve();
  /// Analyses the graphs that changed. Returns false if that does not tell all findings; those of
  /// the last analysis are then what is known. Further calls do nothing.
  bool analyse_changes();
  /// True if the graphs that changed are analysed, and the whole text has to be.
  bool is_analysed_in_part() const { return is_analysed_in_part_ && !findings_; }
  /// The modules of the text. Resolves.
  const std::vector<Module*>& modules();
  /// Resolves and verifies what can be read; all findings of the text, in its order. The first call
  /// does the work.
  const std::vector<Diagnostic>& findings();
  bool is_analysed() const { return findings_.has_value(); }
  /// True if analysis found no errors. Analyses if necessary.
  bool is_sound();
  /// Cost estimates, one for each module; null for dumps, and for all if there are errors.
  const std::vector<std::unique_ptr<CostEstimate>>& costs();
  /// The op whose name is at a place, null if there is none. Resolves.
  const Op* op_named_at(SourcePos name);

  // Parts of a snapshot that is about to be destroyed.
  Syntax take_syntax() { return {tree_.take_units(), std::move(syntax_errors_)}; }
  std::string take_text() { return context_.sources().take_text(*file_); }
  std::vector<Diagnostic> take_findings() { return std::move(*findings_); }

 private:
  /// Modules that are being made.
  struct Resolution {
    Resolution(IRContext& context, const SourceFile& file) : resolver(context, file, found) {}

    Diagnostics found{0};
    Resolver resolver;
    std::size_t next = 0;  // of the units
  };

  bool may_declare();
  void register_dialects();
  void analyse();
  void release_modules();

  IRContext context_;
  const std::atomic<bool>* stop_ = nullptr;
  LastAnalysis* last_ = nullptr;
  bool has_tried_changes_ = false;
  bool is_analysed_in_part_ = false;
  bool has_dialects_ = false;        // in the context
  std::optional<bool> may_declare_;  // a dialect
  const DialectTexts& dialects_;
  const SourceFile* file_;
  SyntaxTree tree_;
  std::vector<Diagnostic> syntax_errors_;
  std::optional<UnitChange> change_;
  std::optional<Outline> outline_;
  std::optional<std::vector<Diagnostic>> findings_;
  std::unique_ptr<Resolution> resolution_;  // null: not begun, or done
  std::optional<std::vector<Module*>> modules_;
  Diagnostics found_{0};  // by a resolution, until an analysis goes on with them
  std::optional<std::vector<std::unique_ptr<CostEstimate>>> costs_;
  std::optional<OpPlaces> ops_;
  std::optional<Excerpt> excerpt_;  // that was asked for last
};

class Document {
 public:
  /// The dialects must outlive the document.
  Document(std::string uri, std::int64_t version, std::string text, PositionEncoding encoding,
           const DialectTexts& dialects);

  const std::string& uri() const { return uri_; }
  /// Differs for each text of each document of a session.
  std::uint64_t revision() const { return revision_; }
  void set_revision(std::uint64_t revision) { revision_ = revision; }
  std::int64_t version() const { return version_; }
  void set_version(std::int64_t version) { version_ = version; }
  std::string_view text() const {
    return snapshot_ == nullptr ? std::string_view(text_) : snapshot_->text();
  }

  /// Replaces a range, or all of the text.
  void edit(const std::optional<Range>& range, std::string_view replacement);
  /// The snapshot of the text as it is now.
  Snapshot& now();

  /// The findings to show: those of the last analysis, moved by edits since then, with the errors
  /// of syntax that the text has now.
  std::vector<const Diagnostic*> shown_findings();
  /// Forgets results that used dialects which have changed.
  void forget_analysis();
  /// Analyses the graphs that changed. Returns true if shown_findings() has news of them: all, or
  /// what is known before the whole text is analysed.
  bool analyse_changes();
  /// Analyses the text if that is not done. No reference to its outline may be in use. Returns
  /// false if it was stopped before the end; the next call goes on.
  bool analyse();
  bool is_analysed() const { return snapshot_ != nullptr && snapshot_->is_analysed(); }
  /// True if the client has the findings of the current text.
  bool is_shown() const { return shown_; }
  void set_shown() { shown_ = true; }

  /// The semantic tokens that the client has.
  struct SentTokens {
    std::string id;
    std::vector<std::uint32_t> data;
  };
  SentTokens& sent_tokens() { return sent_tokens_; }

  const DialectTexts& dialects() const { return dialects_; }
  PositionEncoding encoding() const { return encoding_; }
  SourcePos offset_of(Position at) const { return kBase + lines_.offset_of(text(), at, encoding_); }
  Position position_of(SourcePos at) const {
    return lines_.position_of(text(), at - kBase, encoding_);
  }
  nlohmann::json range(Span span) const;
  const LineIndex& lines() const { return lines_; }

  /// Position of the first byte of the only text in its source space.
  static constexpr SourcePos kBase = 1;

 private:
  std::string uri_;
  std::int64_t version_;
  std::uint64_t revision_ = 0;
  std::string text_;  // unless the snapshot has it
  LineIndex lines_;
  PositionEncoding encoding_;
  const DialectTexts& dialects_;
  void drop_snapshot();

  LastAnalysis last_;                       // outlives the snapshot
  std::unique_ptr<Snapshot> snapshot_;      // null: the text was edited since
  std::optional<Snapshot::Syntax> before_;  // of an older text ...
  TextEdit edit_;                           // ... and what became of that
  bool shown_ = false;
  SentTokens sent_tokens_;
};

}  // namespace mir::lsp
