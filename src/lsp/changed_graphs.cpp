// Analyses the graphs that edits changed in excerpts of the text, and keeps what was found
// elsewhere.
#include "lsp/changed_graphs.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lsp/excerpt.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/verification.hpp"
#include "mir/verify.hpp"
#include "support/unique_table.hpp"

// note [findings by graph]
// A finding of a graph depends on the graph's text, on the heads of modules and graphs, on graphs
// that declare parameters, and on aliases. Nothing else depends on the graph but by its interface.
// So when a graph changes and its interface does not, the findings of the other graphs stay, and so
// do those of checks that follow calls: unused graphs, cycles. Three kinds of checks are not as
// simple.
// - Of what occurs in several graphs, such as a broken specification, the first one is reported.
//   See is_of_first().
// - Symbols of extents, caches, frees and programs connect graphs. Graphs with these have no known
//   interface.
// - Where a module has an error, fewer checks of the whole module are reported: a change of that
//   needs a whole analysis.

namespace mir::lsp {

namespace {

constexpr auto kFirstOfMeaning = static_cast<DiagCode>(300);

bool ends_with_node(const Unit& unit, NodeKind kind) {
  return unit.nodes().back().kind() == kind;
}

bool is_one_of(std::span<const DiagCode> codes, DiagCode code) {
  return std::ranges::find(codes, code) != codes.end();
}

/// True for checks that report the first of several equal breaches of a module.
bool is_of_first(DiagCode code) {
  constexpr DiagCode kCodes[] = {
      diag::kUnknownElementType, diag::kBadDimension,  diag::kQuantField,    diag::kQuantRange,
      diag::kQuantUuid,          diag::kUnknownDevice, diag::kExtentInvalid, diag::kExtentUnproven};
  return is_one_of(kCodes, code);
}

/// A bit for errors of reading, of verification, and of shapes, which both find. Errors of reading
/// decide how much verification reports. 0 for findings.
unsigned class_of_error(const Diagnostic& each) {
  constexpr auto kFirstOfVerification = static_cast<DiagCode>(400);
  constexpr auto kFirstOfShapes = static_cast<DiagCode>(500);
  if (each.severity != Severity::kError) return 0;
  return each.code < kFirstOfVerification ? 1 : each.code < kFirstOfShapes ? 2 : 4;
}

bool is_open(const Diagnostic& each) {
  // The repair of a range edits all mentions of a specification.
  return each.code == diag::kTypeMissing || each.code == diag::kUnknownCallee ||
         each.code == diag::kQuantRange;
}

Span span_of(const Unit& unit) {
  return {unit.base(), unit.span(static_cast<std::uint32_t>(unit.tokens().size()) - 1).end};
}

bool is_inside(const Diagnostic& each, Span range) {
  return range.begin <= each.at.begin && each.at.begin < range.end;
}

class InterfaceHash {
 public:
  void add(std::string_view text) { value_ = (value_ ^ hash_text(text)) * kFactor + text.size(); }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
  std::uint64_t value_ = 0;
};

/// True for ops that may connect a graph with others by more than its interface states.
bool connects_graphs(std::string_view name) {
  const bool is_plain = name.starts_with("linalg.") || name.starts_with("cf.") ||
                        name.starts_with("tensor.") || name == "graph.CallGraphOp";
  return !is_plain || name.find("KVCache") != name.npos || name.find("egister") != name.npos ||
         name.find("ree") != name.npos;
}

}  // namespace

bool is_of_module(DiagCode code) {
  constexpr DiagCode kCodes[] = {diag::kUnusedGraph,    diag::kUnusedSymbol, diag::kUnboundSymbol,
                                 diag::kCallCycle,      diag::kCacheStep,    diag::kUseAfterFree,
                                 diag::kDoubleFree,     diag::kNeverFreed,   diag::kConstantFreed,
                                 diag::kDuplicateSymbol};
  return is_one_of(kCodes, code);
}

GraphInterface interface_of(const SyntaxTree& tree, const Unit& unit) {
  const auto body = body_of_graph(tree, unit);
  if (!body) return {};
  const auto nodes = unit.nodes();
  const auto end = static_cast<std::uint32_t>(unit.tokens().size()) - 1;
  const std::string_view whole = tree.file().slice({unit.span(0).begin, unit.span(end).end});
  if (whole.find('$') != whole.npos) return {};
  InterfaceHash hash;
  hash.add(tree.file().slice({unit.span(0).begin, unit.span(nodes[*body].token).end}));
  for (std::size_t i = *body + 1; i < nodes.size(); ++i) {
    const std::uint32_t token = nodes[i].token;
    switch (nodes[i].kind()) {
      case NodeKind::kOpName:
        if (connects_graphs(tree.text(unit, token))) return {};
        break;
      case NodeKind::kSymbol:
        hash.add(tree.text(unit, token));
        break;
      case NodeKind::kAttribute:
        if (tree.text(unit, token) == "symbol") return {};
        break;
      case NodeKind::kLeaf: {
        const TokenKind kind = unit.tokens()[token].kind();
        if (kind == TokenKind::kQuantSpec || kind == TokenKind::kQuantSpecOpen ||
            kind == TokenKind::kHash) {
          hash.add(tree.file().slice(
              {unit.span(token).begin, unit.span(token + nodes[i].count() - 1).end}));
        }
        break;
      }
      default:
        break;
    }
  }
  for (const NodeRange part : repeated_parts(tree, unit, *body)) {
    hash.add(
        tree.file().slice({unit.span(part.first_token).begin, unit.span(part.end_token - 1).end}));
  }
  return {true, hash.value()};
}

// -- units that changed ---------------------------------------------------------------------------

void AnalysedUnits::begin(SyntaxTree& tree, std::span<const Diagnostic> findings) {
  count_ = 0;
  noted_.clear();
  errors_.clear();
  open_.clear();
  std::vector<Unit> units = tree.take_units();
  std::uint32_t module = 0;
  auto next = findings.begin();
  for (Unit& unit : units) {
    unit.set_mark(++count_);
    if (ends_with_node(unit, NodeKind::kModuleBegin)) module = count_;
    for (; next != findings.end() && next->at.begin < span_of(unit).end; ++next) {
      if (next->severity != Severity::kError) continue;
      errors_[module] |= class_of_error(*next);
      if (is_open(*next)) open_.insert(module);
    }
  }
  tree = SyntaxTree(tree.file(), std::move(units));
}

void AnalysedUnits::note_edit(const SyntaxTree& tree, Span range,
                              std::span<const Diagnostic> findings) {
  if (!is_known()) return;
  const auto units = tree.units();
  const auto after = std::ranges::upper_bound(units, range.end, {}, &Unit::base);
  const auto first = std::ranges::upper_bound(units, range.begin, {}, &Unit::base);
  // A parse begins at a unit before.
  constexpr std::ptrdiff_t kBefore = 2;
  for (auto unit = first - std::min(kBefore, first - units.begin()); unit != after; ++unit) {
    if (unit->mark() == 0 || noted_.contains(unit->mark())) continue;
    Noted& noted = noted_[unit->mark()];
    noted.interface = interface_of(tree, *unit);
    const Span span = span_of(*unit);
    for (const Diagnostic& each : findings) {
      if (is_of_first(each.code) && is_inside(each, span)) {
        noted.first_reports.emplace(each.code, each.message);
      }
    }
  }
}

AnalysedUnits::FirstReports AnalysedUnits::first_reports(const ChangedUnits& changed) const {
  FirstReports all;
  for (std::uint32_t i = 0; i < changed.old; ++i) {
    const auto noted = noted_.find(changed.replaced + i);
    if (noted != noted_.end()) {
      all.insert(noted->second.first_reports.begin(), noted->second.first_reports.end());
    }
  }
  return all;
}

std::optional<std::vector<ChangedUnits>> AnalysedUnits::changes(const SyntaxTree& tree) const {
  if (!is_known()) return std::nullopt;
  const auto units = tree.units();
  std::vector<ChangedUnits> list;
  std::uint32_t expected = 1;
  std::size_t first = 0;
  const auto end_run = [&](std::size_t i, std::uint32_t mark) {
    if (i != first || mark != expected) {
      list.push_back({first, i - first, expected, mark - expected});
    }
  };
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::uint32_t mark = units[i].mark();
    if (mark == 0) {
      if (!ends_with_node(units[i], NodeKind::kOpEnd)) return std::nullopt;
      continue;
    }
    if (mark < expected) return std::nullopt;
    end_run(i, mark);
    expected = mark + 1;
    first = i + 1;
  }
  end_run(units.size(), count_ + 1);
  return list;
}

bool AnalysedUnits::keep_interfaces(const SyntaxTree& tree, const ChangedUnits& changed) const {
  if (changed.count != changed.old) return false;
  for (std::uint32_t i = 0; i < changed.count; ++i) {
    const auto noted = noted_.find(changed.replaced + i);
    if (noted == noted_.end() || !noted->second.interface.is_known) return false;
    if (interface_of(tree, tree.units()[changed.first + i]) != noted->second.interface) {
      return false;
    }
  }
  return true;
}

void AnalysedUnits::accept(SyntaxTree& tree, std::span<const ChangedUnits> changes) {
  std::vector<Unit> units = tree.take_units();
  for (const ChangedUnits& each : changes) {
    for (std::uint32_t i = 0; i < each.count; ++i) {
      units[each.first + i].set_mark(each.replaced + i);
    }
  }
  tree = SyntaxTree(tree.file(), std::move(units));
}

// -- analysis -------------------------------------------------------------------------------------

namespace {

/// Range of the units of a run and what is between them; an empty one if the run is empty.
Span range_of(const SyntaxTree& tree, const ChangedUnits& changed) {
  const auto units = tree.units();
  if (changed.count == 0) return {};
  const Unit& last = units[changed.first + changed.count - 1];
  return {units[changed.first].base(),
          last.span(static_cast<std::uint32_t>(last.tokens().size()) - 1).end};
}

/// The index of the head of the module around a unit.
std::size_t head_around(const SyntaxTree& tree, std::size_t unit) {
  while (unit != 0 && !ends_with_node(tree.units()[unit], NodeKind::kModuleBegin)) --unit;
  return unit;
}

Span module_around(const SyntaxTree& tree, std::size_t unit) {
  const auto units = tree.units();
  std::size_t end = unit;
  while (end + 1 != units.size() && !ends_with_node(units[end], NodeKind::kModuleEnd)) ++end;
  return {units[head_around(tree, unit)].base(), units[end].base() + 1};
}

/// Findings of one run of changed units.
class RunAnalysis {
 public:
  RunAnalysis(const SyntaxTree& tree, const ChangedUnits& changed, std::span<const Diagnostic> last)
      : tree_(tree), range_(range_of(tree, changed)), module_(module_around(tree, changed.first)) {
    for (const Diagnostic& each : last) {
      if (is_inside(each, range_)) {
        old_.push_back(each);
      } else if (is_inside(each, module_)) {
        around_.push_back(&each);
      }
    }
  }

  Span range() const { return range_; }

  /// Returns false if no excerpt tells enough.
  bool run(std::span<const Diagnostic> syntax_errors, IRContext& context) {
    auto excerpt = Excerpt::of(tree_, {range_.begin, range_.end - 1});
    if (!excerpt) return false;
    Diagnostics diagnostics(0);
    bool is_whole = true;
    for (const Diagnostic& each : syntax_errors) {
      if (!is_inside(each, range_)) continue;
      diagnostics.error(each.code, each.at, {}) = each;
      is_whole = false;
    }
    const std::vector<Module*> modules = resolve(excerpt->tree(), context, diagnostics);
    if (diagnostics.has_errors()) {
      verify_unsound(modules, diagnostics, {.findings_per_code = 0},
                     is_whole ? std::span<const Diagnostic>() : std::span(old_));
    } else {
      for (const Module* module : modules) {
        verify(*module, diagnostics, {.findings_per_code = 0});
      }
    }
    for (Module* module : modules) context.release(*module);
    for (Diagnostic& each : std::move(diagnostics).sorted()) {
      if (each.code < kFirstOfMeaning || is_of_module(each.code) || !is_inside(each, range_)) {
        continue;
      }
      if (!is_reported_before(each)) found_.push_back(std::move(each));
    }
    return true;
  }

  /// True if the findings elsewhere are those of a whole analysis.
  bool is_certain(const AnalysedUnits& analysed, const ChangedUnits& changed) const {
    const std::uint32_t module = tree_.units()[head_around(tree_, changed.first)].mark();
    unsigned errors = 0;
    for (const Diagnostic& each : found_) errors |= class_of_error(each);
    for (const Diagnostic* each : around_) errors |= class_of_error(*each);
    AnalysedUnits::FirstReports first_reports;
    for (const Diagnostic& each : found_) {
      if (is_of_first(each.code)) first_reports.emplace(each.code, each.message);
    }
    return analysed.errors_in(module) == errors && !analysed.had_open_error(module) &&
           std::ranges::none_of(found_, is_open) &&
           first_reports == analysed.first_reports(changed);
  }

  /// Findings in the units, with the findings of whole modules at them.
  std::vector<Diagnostic> take_findings() {
    for (Diagnostic& each : old_) {
      if (is_of_module(each.code)) found_.push_back(std::move(each));
    }
    return std::move(found_);
  }

 private:
  bool is_reported_before(const Diagnostic& found) const {
    if (!is_of_first(found.code)) return false;
    return std::ranges::any_of(around_, [&](const Diagnostic* each) {
      return each->at.begin < range_.begin && each->code == found.code &&
             each->message == found.message;
    });
  }

  const SyntaxTree& tree_;
  Span range_, module_;
  std::vector<Diagnostic> old_;            // in the units
  std::vector<const Diagnostic*> around_;  // in the module, but not in the units
  std::vector<Diagnostic> found_;
};

}  // namespace

std::optional<PartialAnalysis> analyse_changes(const SyntaxTree& tree,
                                               std::span<const Diagnostic> syntax_errors,
                                               const AnalysedUnits& analysed,
                                               std::span<const ChangedUnits> changes,
                                               std::span<const Diagnostic> last,
                                               IRContext& context) {
  constexpr std::size_t kMostRuns = 4;
  if (changes.size() > kMostRuns) return std::nullopt;
  PartialAnalysis result;
  result.is_whole = syntax_errors.empty();
  std::vector<Span> ranges;
  for (const Diagnostic& each : syntax_errors) result.findings.push_back(each);
  for (const ChangedUnits& changed : changes) {
    if (changed.count == 0) {
      result.is_whole = false;
      continue;
    }
    RunAnalysis run(tree, changed, last);
    if (!run.run(syntax_errors, context)) return std::nullopt;
    result.is_whole = result.is_whole && analysed.keep_interfaces(tree, changed) &&
                      run.is_certain(analysed, changed);
    ranges.push_back(run.range());
    std::ranges::move(run.take_findings(), std::back_inserter(result.findings));
  }
  for (const Diagnostic& each : last) {
    const auto has = [&](Span range) { return is_inside(each, range); };
    if (std::ranges::none_of(ranges, has)) result.findings.push_back(each);
  }
  std::ranges::stable_sort(result.findings, {},
                           [](const Diagnostic& each) { return each.at.begin; });
  return result;
}

}  // namespace mir::lsp
