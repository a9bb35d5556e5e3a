// Analysis of the graphs that edits changed, with the findings of the others kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"

namespace mir::lsp {

/// Part of a graph at the top of a module on which the rest of a text depends.
struct GraphInterface {
  bool is_known = false;  ///< false: all findings may depend on all of the text of the unit
  std::uint64_t hash =
      0;  ///< of the head, the calls, quantisations and parts that stale types have
  friend bool operator==(const GraphInterface&, const GraphInterface&) = default;
};
GraphInterface interface_of(const SyntaxTree& tree, const Unit& unit);

/// Consecutive units of a tree that are not those that were analysed.
struct ChangedUnits {
  std::size_t first = 0, count = 0;     ///< in the tree
  std::uint32_t replaced = 0, old = 0;  ///< mark of the first unit that they replace, and how many
};

/// True for checks that follow calls through a module, so that an excerpt cannot decide them.
bool is_of_module(DiagCode code);

/// The units of the text that was analysed last, known by their marks in the trees that follow.
class AnalysedUnits {
 public:
  /// Reports that only the first of several equal breaches of a module gets.
  using FirstReports = std::set<std::pair<DiagCode, std::string>>;

  /// Begins with the units of a tree, and marks them. `findings` are those of the tree.
  void begin(SyntaxTree& tree, std::span<const Diagnostic> findings);
  void forget() { count_ = 0; }
  bool is_known() const { return count_ != 0; }

  /// To be called before an edit of a range of the tree's text: keeps what the rest of the text
  /// depends on of the units there. `findings` are those of the tree.
  void note_edit(const SyntaxTree& tree, Span range, std::span<const Diagnostic> findings);
  /// The units of the tree that changed; no value if heads or ends of modules or aliases did.
  std::optional<std::vector<ChangedUnits>> changes(const SyntaxTree& tree) const;
  /// True if the changed units have the interfaces of those that they replace.
  bool keep_interfaces(const SyntaxTree& tree, const ChangedUnits& changed) const;
  /// First reports of the units that changed.
  FirstReports first_reports(const ChangedUnits& changed) const;
  /// Classes of errors that the module with this mark had: see class_of_error() in the source.
  unsigned errors_in(std::uint32_t module) const {
    const auto found = errors_.find(module);
    return found == errors_.end() ? 0 : found->second;
  }
  /// True if an error in it hides others.
  bool had_open_error(std::uint32_t module) const { return open_.contains(module); }
  /// The changed units are analysed, too. They keep the interfaces.
  static void accept(SyntaxTree& tree, std::span<const ChangedUnits> changes);

 private:
  struct Noted {
    GraphInterface interface;
    FirstReports first_reports;
  };
  std::uint32_t count_ = 0;                   // 0: none were analysed
  std::map<std::uint32_t, Noted> noted_;      // by mark
  std::map<std::uint32_t, unsigned> errors_;  // by mark of the head of a module
  std::set<std::uint32_t> open_;              // likewise
};

/// Findings of a text of which changed graphs were analysed.
struct PartialAnalysis {
  std::vector<Diagnostic> findings;  ///< in the order of the text
  bool is_whole = false;             ///< they are those that an analysis of the whole text finds
};

/// Analyses the changed units in the context, which owns the text and has its dialects. `last` are
/// the findings of the text that was analysed, at their places now. No value if the whole text must
/// be analysed. While the text has errors of syntax, findings of whole modules are left as they
/// were.
std::optional<PartialAnalysis> analyse_changes(const SyntaxTree& tree,
                                               std::span<const Diagnostic> syntax_errors,
                                               const AnalysedUnits& analysed,
                                               std::span<const ChangedUnits> changes,
                                               std::span<const Diagnostic> last,
                                               IRContext& context);

}  // namespace mir::lsp
