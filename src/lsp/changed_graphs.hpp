// Analysis of the graphs that edits changed, with the findings of the others kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"
#include "syntax/reparse.hpp"

namespace mir::lsp {

/// Consecutive units of a tree that replace units of the text that was analysed.
struct ChangedUnits {
  std::size_t first = 0, count = 0;     ///< in the tree
  std::size_t before = 0, removed = 0;  ///< in the text that was analysed
};

/// Knowledge of the text that was analysed last: its findings, at their places in the current text,
/// and the units of the current tree that are not those of that text.
class LastAnalysis {
 public:
  /// Findings but those of syntax. Those whose text was edited are left out.
  const std::vector<Diagnostic>& findings() const { return findings_; }
  /// Likewise, the findings of the last text without errors of syntax. Findings of texts with
  /// errors may follow from these, and later texts must not keep them.
  const std::vector<Diagnostic>& whole_findings() const {
    return whole_findings_ ? *whole_findings_ : findings_;
  }
  /// `is_whole`: the text of the findings has no errors of syntax.
  void set_findings(std::vector<Diagnostic> findings, bool is_whole);
  /// Leaves findings() to an analysis of a text. `is_whole`: it has no errors of syntax.
  std::vector<Diagnostic> take_findings(bool is_whole);

  /// Begins with the units of a tree. `findings` are those of the tree, in its order. The context
  /// has the rows of its ops.
  void begin(const SyntaxTree& tree, std::span<const Diagnostic> findings, IRContext& context);
  /// Forgets all but the findings: the next analysis must be of the whole text.
  void forget();
  bool is_known() const { return !interfaces_.empty(); }

  /// Notes that a range of the text was replaced.
  void edit(Span replaced, std::uint32_t inserted);
  /// Notes that a change made the current tree out of the one before.
  void follow(const UnitChange& change);
  /// In the order of the tree.
  std::span<const ChangedUnits> changes() const { return changes_; }
  /// The changed units are analysed, too. They keep the facts of those that they replace.
  void accept() { changes_.clear(); }

  /// True if the changed units have the interfaces of those that they replace. Other graphs depend
  /// on nothing else of them.
  bool keep_interfaces(const SyntaxTree& tree, const ChangedUnits& changed,
                       IRContext& context) const;
  /// Kinds of errors that the module around changed units had.
  unsigned errors_around(const ChangedUnits& changed) const;
  /// True if a finding of the module around changed units, or an error of the text, depended on
  /// more than a graph and interfaces.
  bool had_wide_finding(const ChangedUnits& changed) const;

 private:
  struct ModuleFacts {
    std::size_t head = 0;  // index of its unit
    unsigned errors = 0;
    bool has_wide_finding = false;
  };
  const ModuleFacts& module_around(const ChangedUnits& changed) const;
  static bool move_findings(std::vector<Diagnostic>& findings, Span replaced,
                            std::uint32_t inserted);

  std::vector<Diagnostic> findings_;
  std::optional<std::vector<Diagnostic>> whole_findings_;  // no value: findings_
  std::vector<std::uint64_t> interfaces_;  // by unit; kUnknown: others may depend on all of it
  std::vector<ModuleFacts> modules_;
  bool is_whole_ = false;          // the text had no errors of syntax
  bool has_file_finding_ = false;  // one that depends on all modules
  std::vector<ChangedUnits> changes_;
};

/// Findings of a text of which changed graphs were analysed.
struct PartialAnalysis {
  std::vector<Diagnostic> findings;  ///< in the order of the text
  bool is_certain = false;           ///< they are those that an analysis of the whole text finds
};

/// Analyses the units that changed since the last analysis in the context, which owns the text and
/// has its dialects, and takes the findings elsewhere from that analysis. No value, and nothing
/// taken, if the whole text must be analysed. While the text has errors of syntax, findings of
/// whole modules are left as they were.
std::optional<PartialAnalysis> analyse_changes(const SyntaxTree& tree,
                                               std::span<const Diagnostic> syntax_errors,
                                               LastAnalysis& last, IRContext& context);

}  // namespace mir::lsp
