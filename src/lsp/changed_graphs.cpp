// Analyses the graphs that edits changed in excerpts of the text, and keeps what was found
// elsewhere.
#include "lsp/changed_graphs.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lsp/excerpt.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/names.hpp"
#include "mir/verify.hpp"
#include "support/unique_table.hpp"
#include "verify/constraint.hpp"
#include "verify/doubts.hpp"

// note [findings by graph]
// Reports of most checks depend on the graph around an op, and on what excerpts have of all others
// (see CheckScope). Checks of scope kInterfaces also depend on what a graph shows to others: its
// interface. So when a graph changes and its interface does not, the findings of other graphs stay,
// and so do those of scope kInterfaces in this graph. If the interface changes, or if reports
// depend on all of a module, the findings of the graph are known first, and the whole text is
// analysed after.

namespace mir::lsp {

namespace {

bool ends_with_node(const Unit& unit, NodeKind kind) {
  return unit.nodes().back().kind() == kind;
}

bool is_of_reading(const Diagnostic& each) {
  return each.severity == Severity::kError && each.code < kFirstOfVerification;
}

/// A bit for each kind of errors that others may follow from, so that verification leaves out what
/// depends on a module that has some; 0 for all others.
unsigned class_of_error(const Diagnostic& each) {
  if (is_of_reading(each)) return 1;
  return each.severity == Severity::kError && concerns_op_alone(each.code) ? 2 : 0;
}

bool is_wide(const Diagnostic& each) {
  return scope_of(each.code) == CheckScope::kModule;
}

bool is_inside(SourcePos place, Span range) {
  return range.begin <= place && place < range.end;
}

// -- interfaces -----------------------------------------------------------------------------------

constexpr std::uint64_t kUnknown = 0;

class Hash {
 public:
  void add(std::string_view text) { add(hash_text(text)); }
  void add(std::uint64_t more) { value_ = (value_ ^ more) * 0x9E3779B97F4A7C15u + 1; }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

/// Reads what units show to others: of a graph its head, the ops that connect it with others,
/// quantisations, symbols of extents, and the parts of the body that excerpts keep. Lives as long
/// as the text.
class InterfaceReader {
 public:
  InterfaceReader(const SyntaxTree& tree, IRContext& context) : tree_(tree), context_(context) {}

  /// True once a unit had an op that ends the life of a value. Then a use of the value, in any
  /// graph, may be wrong.
  bool has_frees() const { return has_frees_; }
  void begin_module() { has_frees_ = false; }

  /// Returns kUnknown if others may depend on all of the unit.
  std::uint64_t of(const Unit& unit);

 private:
  enum class Role : std::uint8_t {
    kPlain,
    kConnects,  ///< with a symbol, state or control: others depend on its text ...
    kHasState,  ///< ... and on the types of its values
  };
  Role role_of(std::string_view name);

  std::string_view text(const Unit& unit, std::size_t first, std::size_t end) const {
    return tree_.file().slice({unit.span(static_cast<std::uint32_t>(first)).begin,
                               unit.span(static_cast<std::uint32_t>(end - 1)).end});
  }

  const SyntaxTree& tree_;
  IRContext& context_;
  std::unordered_map<std::string_view, Role> roles_;
  bool has_frees_ = false;
};

InterfaceReader::Role InterfaceReader::role_of(std::string_view name) {
  const auto [known, is_new] = roles_.try_emplace(name, Role::kPlain);
  const OpName op = context_.op_name(name);
  const OpId id = op.kind.op();
  has_frees_ = has_frees_ || id == OpId::kTensorFree || id == OpId::kProgFree;
  const OpRow* const row = op.info->row;
  if (!is_new || row == nullptr) return known->second;
  const bool moves_control =
      has(row->effects, Effect::kControl) && !has(row->traits, Trait::kTerminator);
  if (has(row->effects, Effect::kReadsState) || has(row->effects, Effect::kWritesState)) {
    known->second = Role::kHasState;
  } else if (has(row->traits, Trait::kSymbol) || has(row->traits, Trait::kCallable) ||
             has(row->traits, Trait::kTemplate) || row->callee || moves_control) {
    known->second = Role::kConnects;
  }
  return known->second;
}

std::uint64_t InterfaceReader::of(const Unit& unit) {
  const auto nodes = unit.nodes();
  const auto body = body_of_graph(tree_, unit);
  if (!body) {
    for (const Node& node : nodes) {
      if (node.kind() == NodeKind::kOpName) role_of(tree_.text(unit, node.token));
    }
    return kUnknown;
  }
  Hash hash;
  hash.add(text(unit, 0, nodes[*body].token + 1));
  const bool has_extents = text(unit, 0, unit.tokens().size()).find('$') != std::string_view::npos;
  std::set<std::uint64_t> extents;  // with the ops around them
  std::string_view name;
  Role role = Role::kPlain;
  std::uint32_t op_begin = 0;
  const auto end_op = [&](std::uint32_t end) {
    if (role != Role::kPlain) hash.add(text(unit, op_begin, end));
    if (has_extents) {
      for (std::uint32_t i = op_begin; i < end; ++i) {
        std::string_view token = tree_.text(unit, i);
        if (token.find('$') == token.npos) continue;
        if (token.starts_with('%')) token.remove_prefix(std::min(token.find(':'), token.size()));
        Hash both;
        both.add(name);
        both.add(token);
        extents.insert(both.value());
      }
    }
    op_begin = end;
  };
  op_begin = nodes[*body].token;
  for (std::size_t i = *body + 1; i < nodes.size(); ++i) {
    const std::uint32_t token = nodes[i].token;
    switch (nodes[i].kind()) {
      case NodeKind::kOpName:
        end_op(token);
        name = tree_.text(unit, token);
        role = role_of(name);
        break;
      case NodeKind::kSymbol:
      case NodeKind::kValueSymbol:
        hash.add(tree_.text(unit, token));
        break;
      case NodeKind::kValue: {
        const NodeKind before = nodes[i - 1].kind();
        const bool has_type = unit.tokens()[token].kind() == TokenKind::kTypedValue ||
                              before == NodeKind::kType || before == NodeKind::kEncodedType;
        if (role == Role::kHasState && !has_type) return kUnknown;
        break;
      }
      case NodeKind::kAttribute:
        if (tree_.text(unit, token) == key::kQuantRecipe) hash.add(key::kQuantRecipe);
        break;
      case NodeKind::kLeaf: {
        const TokenKind kind = unit.tokens()[token].kind();
        if (kind == TokenKind::kQuantSpec || kind == TokenKind::kQuantSpecOpen ||
            kind == TokenKind::kHash) {
          hash.add(text(unit, token, token + nodes[i].count()));
        }
        break;
      }
      default:
        break;
    }
  }
  end_op(static_cast<std::uint32_t>(unit.tokens().size()));
  for (const std::uint64_t each : extents) hash.add(each);
  for (const NodeRange& part : repeated_parts(tree_, unit, *body)) {
    hash.add(text(unit, part.first_token, part.end_token));
  }
  return hash.value() == kUnknown ? kUnknown + 1 : hash.value();
}

}  // namespace

// -- the last analysis ----------------------------------------------------------------------------

void LastAnalysis::set_findings(std::vector<Diagnostic> findings, bool is_whole) {
  take_findings(is_whole);
  findings_ = std::move(findings);
  std::erase_if(findings_, [](const Diagnostic& each) { return each.code < kFirstOfResolve; });
}

std::vector<Diagnostic> LastAnalysis::take_findings(bool is_whole) {
  if (is_whole) {
    whole_findings_.reset();
  } else if (!whole_findings_) {
    whole_findings_ = findings_;
  }
  return std::exchange(findings_, {});
}

void LastAnalysis::forget() {
  interfaces_.clear();
  modules_.clear();
  changes_.clear();
  has_file_finding_ = false;
}

void LastAnalysis::edit(Span replaced, std::uint32_t inserted) {
  if (whole_findings_) move_findings(*whole_findings_, replaced, inserted);
  if (!move_findings(findings_, replaced, inserted)) forget();
}

/// Returns false if the findings of other graphs may change, too.
bool LastAnalysis::move_findings(std::vector<Diagnostic>& findings, Span replaced,
                                 std::uint32_t inserted) {
  const auto is_touched = [&](Span span) {
    return span.begin < replaced.end && replaced.begin < span.end;
  };
  const auto moved = [&](SourcePos at) {
    if (at <= replaced.begin) return at;
    return at >= replaced.end ? at - replaced.end + replaced.begin + inserted : replaced.begin;
  };
  const auto move = [&](Span& span) {
    if (span.known()) span = {moved(span.begin), moved(span.end)};
  };
  // Text that is inserted at the begin of a place may be before the place or part of it.
  const auto is_unclear = [&](const auto& each) {
    return replaced.begin == replaced.end && each.at.begin == replaced.begin;
  };
  bool is_lost = false;
  std::erase_if(findings, [&](const Diagnostic& each) {
    const bool goes = is_touched(each.at);
    const bool is_by_interfaces = scope_of(each.code) == CheckScope::kInterfaces;
    is_lost = is_lost || (is_by_interfaces && (goes || is_unclear(each))) ||
              std::ranges::any_of(each.notes, is_unclear);
    return goes;
  });
  for (Diagnostic& each : findings) {
    move(each.at);
    for (Note& note : each.notes) move(note.at);
    for (std::vector<FixIt>* fixes : {&each.fixes, &each.proposals}) {
      // Edits of text that is gone.
      const auto is_gone = [&](const FixIt& fix) { return is_touched(fix.at); };
      if (std::ranges::any_of(*fixes, is_gone)) fixes->clear();
      for (FixIt& fix : *fixes) move(fix.at);
    }
  }
  return !is_lost;
}

void LastAnalysis::begin(const SyntaxTree& tree, std::span<const Diagnostic> findings,
                         IRContext& context) {
  forget();
  is_whole_ = std::ranges::none_of(
      findings, [](const Diagnostic& each) { return each.code < kFirstOfResolve; });
  InterfaceReader reader(tree, context);
  modules_.push_back({});  // of aliases before all modules
  auto next = findings.begin();
  for (const Unit& unit : tree.units()) {
    if (ends_with_node(unit, NodeKind::kModuleBegin)) {
      modules_.push_back({.head = interfaces_.size()});
      reader.begin_module();
    }
    interfaces_.push_back(is_whole_ ? reader.of(unit) : kUnknown);
    ModuleFacts& module = modules_.back();
    const SourcePos end = unit.span(static_cast<std::uint32_t>(unit.tokens().size()) - 1).end;
    for (; next != findings.end() && next->at.begin < end; ++next) {
      module.errors |= class_of_error(*next);
      module.has_wide_finding = module.has_wide_finding || is_wide(*next);
      has_file_finding_ = has_file_finding_ || next->code == diag::kUnknownAlias;
    }
    if (ends_with_node(unit, NodeKind::kModuleEnd) && reader.has_frees()) {
      std::fill(interfaces_.begin() + static_cast<std::ptrdiff_t>(module.head), interfaces_.end(),
                kUnknown);
    }
  }
}

void LastAnalysis::follow(const UnitChange& change) {
  if (!is_known()) return;
  std::vector<ChangedUnits> runs;
  std::size_t begin = change.first, end = change.first + change.removed;  // in the tree before
  std::size_t removed = 0, added = 0;  // by runs that the change meets
  std::ptrdiff_t before = 0;           // what runs before it lead back by
  const auto shift = static_cast<std::ptrdiff_t>(change.added - change.removed);
  std::size_t place = 0;  // of the new run
  for (const ChangedUnits& run : changes_) {
    if (run.first + run.count < change.first) {
      before += static_cast<std::ptrdiff_t>(run.removed) - static_cast<std::ptrdiff_t>(run.count);
      runs.push_back(run);
      place = runs.size();
    } else if (run.first > change.first + change.removed) {
      runs.push_back(run);
      runs.back().first += static_cast<std::size_t>(shift);
    } else {
      begin = std::min(begin, run.first);
      end = std::max(end, run.first + run.count);
      removed += run.removed;
      added += run.count;
    }
  }
  const ChangedUnits joined{begin, end - begin + static_cast<std::size_t>(shift),
                            begin + static_cast<std::size_t>(before),
                            end - begin - added + removed};
  if (joined.count != 0 || joined.removed != 0) {
    runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(place), joined);
  }
  changes_ = std::move(runs);
}

bool LastAnalysis::keep_interfaces(const SyntaxTree& tree, const ChangedUnits& changed,
                                   IRContext& context) const {
  if (!is_whole_ || changed.count != changed.removed) return false;
  InterfaceReader reader(tree, context);
  for (std::size_t i = 0; i < changed.count; ++i) {
    const std::uint64_t interface = interfaces_[changed.before + i];
    if (interface == kUnknown || reader.of(tree.units()[changed.first + i]) != interface) {
      return false;
    }
  }
  return true;
}

const LastAnalysis::ModuleFacts& LastAnalysis::module_around(const ChangedUnits& changed) const {
  return *std::prev(std::ranges::upper_bound(modules_, changed.before, {}, &ModuleFacts::head));
}

unsigned LastAnalysis::errors_around(const ChangedUnits& changed) const {
  return module_around(changed).errors;
}

bool LastAnalysis::had_wide_finding(const ChangedUnits& changed) const {
  return has_file_finding_ || module_around(changed).has_wide_finding;
}

// -- analysis -------------------------------------------------------------------------------------

namespace {

/// Range of the units of a run and what is between them.
Span range_of(const SyntaxTree& tree, const ChangedUnits& changed) {
  const auto units = tree.units();
  const Unit& last = units[changed.first + changed.count - 1];
  return {units[changed.first].base(),
          last.span(static_cast<std::uint32_t>(last.tokens().size()) - 1).end};
}

Span module_around(const SyntaxTree& tree, std::size_t unit) {
  const auto units = tree.units();
  std::size_t begin = unit, end = unit;
  while (begin != 0 && !ends_with_node(units[begin], NodeKind::kModuleBegin)) --begin;
  while (end + 1 != units.size() && !ends_with_node(units[end], NodeKind::kModuleEnd)) ++end;
  return {units[begin].base(), units[end].base() + 1};
}

/// Findings of one run of changed units.
class RunAnalysis {
 public:
  RunAnalysis(const SyntaxTree& tree, const ChangedUnits& changed)
      : tree_(tree), changed_(changed), range_(range_of(tree, changed)) {}

  Span range() const { return range_; }

  /// Returns false if no excerpt tells enough.
  bool run(std::span<const Diagnostic> syntax_errors, const LastAnalysis& last,
           IRContext& context) {
    auto excerpt = Excerpt::of(tree_, {range_.begin, range_.end - 1});
    if (!excerpt) return false;
    std::vector<Diagnostic> old;
    bool has_error = !syntax_errors.empty();  // of reading, anywhere: decides how all is verified
    for (const Diagnostic& each : last.findings()) {
      const bool is_here = is_inside(each.at.begin, range_);
      has_error = has_error || (!is_here && is_of_reading(each));
      if (is_here && is_by_interfaces(each)) old.push_back(each);
    }
    Diagnostics diagnostics(0);
    for (const Diagnostic& each : syntax_errors) {
      if (is_inside(each.at.begin, range_)) diagnostics.error(each.code, each.at, {}) = each;
    }
    const bool is_whole = !diagnostics.has_errors();
    const std::vector<Module*> modules = resolve(excerpt->tree(), context, diagnostics);
    if (has_error || diagnostics.has_errors()) {
      std::vector<Diagnostic> kept;
      for (const Diagnostic& each : last.whole_findings()) {
        if (!is_whole && is_inside(each.at.begin, range_)) kept.push_back(each);
      }
      verify_unsound(modules, diagnostics, {.findings_per_code = 0}, kept);
    } else {
      for (const Module* module : modules) verify(*module, diagnostics, {.findings_per_code = 0});
    }
    for (Module* module : modules) context.release(*module);
    for (Diagnostic& each : std::move(diagnostics).sorted()) {
      if (each.code >= kFirstOfResolve && !is_by_interfaces(each) &&
          is_inside(each.at.begin, range_)) {
        found_.push_back(std::move(each));
      }
    }
    std::ranges::move(old, std::back_inserter(found_));
    return true;
  }

  /// True if the findings elsewhere are those of a whole analysis.
  bool is_certain(const LastAnalysis& last) const {
    if (last.had_wide_finding(changed_) || std::ranges::any_of(found_, is_wide)) return false;
    const Span module = module_around(tree_, changed_.first);
    unsigned errors = 0;
    std::size_t count = found_.size();
    for (const Diagnostic& each : found_) errors |= class_of_error(each);
    for (const Diagnostic& each : last.findings()) {
      if (is_inside(each.at.begin, range_)) continue;
      count += each.severity == Severity::kError ? 1 : 0;
      if (is_inside(each.at.begin, module)) errors |= class_of_error(each);
    }
    return errors == last.errors_around(changed_) && count < kMostUnsoundErrors;
  }

  std::vector<Diagnostic> take_findings() { return std::move(found_); }

 private:
  static bool is_by_interfaces(const Diagnostic& each) {
    return scope_of(each.code) == CheckScope::kInterfaces;
  }

  const SyntaxTree& tree_;
  ChangedUnits changed_;
  Span range_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::optional<PartialAnalysis> analyse_changes(const SyntaxTree& tree,
                                               std::span<const Diagnostic> syntax_errors,
                                               LastAnalysis& last, IRContext& context) {
  constexpr std::size_t kMostRuns = 4;
  const auto changes = last.changes();
  if (!last.is_known() || changes.size() > kMostRuns) return std::nullopt;
  PartialAnalysis result;
  result.is_certain = syntax_errors.empty();
  std::vector<Span> ranges;
  std::vector<Diagnostic> found;
  for (const ChangedUnits& changed : changes) {
    if (changed.count == 0) {
      result.is_certain = false;
      continue;
    }
    // An op of the body of a module is a unit of its own, which others of the body depend on.
    const auto changed_units = tree.units().subspan(changed.first, changed.count);
    const auto is_graph = [&](const Unit& unit) { return body_of_graph(tree, unit).has_value(); };
    if (!syntax_errors.empty() && !std::ranges::all_of(changed_units, is_graph))
      return std::nullopt;
    RunAnalysis run(tree, changed);
    if (!run.run(syntax_errors, last, context)) return std::nullopt;
    result.is_certain =
        result.is_certain && last.keep_interfaces(tree, changed, context) && run.is_certain(last);
    ranges.push_back(run.range());
    std::ranges::move(run.take_findings(), std::back_inserter(found));
  }
  const auto is_changed = [&](SourcePos place) {
    return std::ranges::any_of(ranges, [&](Span range) { return is_inside(place, range); });
  };
  result.findings = last.take_findings(syntax_errors.empty());
  std::erase_if(result.findings, [&](const Diagnostic& each) { return is_changed(each.at.begin); });
  std::ranges::copy(syntax_errors, std::back_inserter(result.findings));
  std::ranges::move(found, std::back_inserter(result.findings));
  std::ranges::stable_sort(result.findings, {},
                           [](const Diagnostic& each) { return each.at.begin; });
  return result;
}

}  // namespace mir::lsp
