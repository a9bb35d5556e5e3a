// Reparses only the units that an edit touches and reuses the others.
#include "syntax/reparse.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "mir/codes/syntax.hpp"
#include "syntax/damage.hpp"
#include "syntax/tree_builder.hpp"

// note [where parsing stops]
// Between two top-level ops the scanner and the parser have one state only. So once a unit without
// errors begins where an old one does, the rest of the text parses as before. Errors at braces and
// at the end of the text depend on all of the text, and are left to a whole parse. So is an edit
// inside or below a bracketed token with an error, which may span any number of lines.

namespace mir {

namespace {

bool is_op_unit(const Unit& unit) {
  return unit.nodes().back().kind() == NodeKind::kOpEnd;
}

bool is_whole_unit(const Unit& unit) {
  return std::ranges::none_of(unit.tokens(),
                              [](const Token& each) { return each.kind() == TokenKind::kError; });
}

/// True if the error does not depend on the position of its unit.
bool is_local(const Diagnostic& error) {
  return error.notes.empty() && error.code != diag::kTrailingText &&
         error.code != diag::kMissingBrace && error.code != diag::kEmptyFile &&
         error.code != diag::kNestingTooDeep;
}

bool has_comments_only(std::string_view gap) {
  while (true) {
    const auto at = gap.find_first_not_of(" \t\r\n");
    if (at == gap.npos) return true;
    if (gap.substr(at, 2) != "//") return false;
    gap.remove_prefix(std::min(gap.find('\n', at), gap.size()));
  }
}

Diagnostic moved_by(Diagnostic error, std::uint32_t by) {
  const auto move = [&](Span& span) { span = {span.begin + by, span.end + by}; };
  move(error.at);
  for (FixIt& each : error.fixes) move(each.at);
  return error;
}

class Reparser {
 public:
  Reparser(std::vector<Unit> old, const TextEdit& edit, const SourceFile& file)
      : old_(std::move(old)),
        edit_(edit),
        file_(file),
        shift_(edit.inserted - (edit.end - edit.begin)) {}

  std::optional<Reparsed> run(std::span<const Diagnostic> old_errors) {
    const bool is_sound =
        has_sound_modules(old_errors) && std::ranges::all_of(old_errors, is_local);
    if (!is_sound || !find_first() || missing_brace(file_.text())) return std::nullopt;
    const auto reaches_edit = [&](const Diagnostic& error) {
      return error.at.begin < start_ && (error.at.end > start_ || is_open_bracket(error));
    };
    if (std::ranges::any_of(old_errors, reaches_edit)) return std::nullopt;
    Diagnostics found(0);
    const std::function<bool(Unit &&)> deliver = [&](Unit&& unit) {
      return take(std::move(unit), found);
    };
    TreeBuilder builder(file_, found, deliver, false, start_ - file_.base());
    builder.begin_in_module();
    grammar::parse(builder);  // until next_ is known, which may be at the end of the module
    if (!next_ || !std::ranges::all_of(errors_, is_local)) return std::nullopt;
    return result(old_errors);
  }

 private:
  /// True for a bracket whose end was looked for in the lines that follow: up to the end of the
  /// text, or to a string there that is not closed.
  bool is_open_bracket(const Diagnostic& error) const {
    return error.code == diag::kUnbalancedBracket ||
           (error.code == diag::kUnterminatedString &&
            file_.slice({error.at.begin, error.at.begin + 1}) != "\"");
  }

  /// True if all modules have heads and ends, and there is nothing between them. Errors there are
  /// reported or not, depending on errors elsewhere. So are braces too many between ops: there may
  /// be none either if the text has errors.
  bool has_sound_modules(std::span<const Diagnostic> errors) const {
    bool in_module = false;
    SourcePos end = file_.base();
    for (const Unit& unit : old_) {
      const bool was_in_module = in_module;
      const NodeKind last = unit.nodes().back().kind();
      if (last == NodeKind::kModuleBegin) in_module = true;
      if (last == NodeKind::kModuleEnd) in_module = false;
      const bool has_text =
          last == NodeKind::kOpEnd || (is_whole_unit(unit) && unit.tokens().back().length() != 0);
      const Span gap{end, unit.base()};
      if (!has_text || (!was_in_module && !is_empty_gap(gap))) return false;
      if (!errors.empty() && was_in_module && !is_touched(gap) && !is_empty_gap(gap)) return false;
      if (has_hidden_error(unit, errors)) return false;
      end = unit.span(static_cast<std::uint32_t>(unit.tokens().size()) - 1).end;
    }
    return !in_module && is_empty_gap({end, file_.base() + file_.size() - shift_});
  }

  /// True if the unit begins or ends with text that cannot be read, and no error tells so: it is
  /// taken to follow from another one.
  static bool has_hidden_error(const Unit& unit, std::span<const Diagnostic> errors) {
    const auto is_hidden = [&](std::uint32_t token) {
      const Span at = unit.span(token);
      return unit.tokens()[token].kind() == TokenKind::kError &&
             std::ranges::none_of(errors, [&](const Diagnostic& error) {
               return at.begin <= error.at.begin && error.at.begin <= at.end;
             });
    };
    return is_hidden(0) || is_hidden(static_cast<std::uint32_t>(unit.tokens().size()) - 1);
  }

  /// True if the edit touches a gap of the old text.
  bool is_touched(Span gap) const {
    return gap.end > file_.base() + edit_.begin && gap.begin < file_.base() + edit_.end;
  }

  /// True if a gap of the old text has comments only, and the edit does not touch it.
  bool is_empty_gap(Span gap) const {
    if (gap.end <= file_.base() + edit_.begin) return has_comments_only(file_.slice(gap));
    if (is_touched(gap)) return false;
    return has_comments_only(file_.slice({gap.begin + shift_, gap.end + shift_}));
  }

  /// The unit before the first that the edit touches, because what follows a unit may belong to it.
  bool find_first() {
    const SourcePos begin = file_.base() + edit_.begin;
    const auto after = std::ranges::upper_bound(old_, begin, {}, &Unit::base);
    const auto touched = static_cast<std::size_t>(after - old_.begin());
    if (touched < 2) return false;
    if (!is_op_unit(old_[touched - 1])) return false;
    first_ = touched - 2;
    if (old_[first_].nodes().back().kind() == NodeKind::kModuleBegin) ++first_;
    if (!is_op_unit(old_[first_])) return false;
    // Messages may look at the comments before an op, as far as a whole unit before them.
    while (first_ != 0 && is_op_unit(old_[first_ - 1]) && !is_whole_unit(old_[first_ - 1]))
      --first_;
    const Unit& before = old_[first_ - 1];
    start_ = before.span(static_cast<std::uint32_t>(before.tokens().size()) - 1).end;
    return true;
  }

  bool take(Unit&& unit, const Diagnostics& found) {
    if (next_) return false;
    if (unit.nodes().back().kind() == NodeKind::kModuleBegin && !began_) {
      began_ = true;  // the head that is not in the text
      return true;
    }
    if (is_lost_ || !is_op_unit(unit)) return !(is_lost_ = true);
    const SourcePos old_base = unit.base() - shift_;
    const auto same = std::ranges::lower_bound(old_, old_base, {}, &Unit::base);
    const bool is_behind = unit.base() > file_.base() + edit_.begin + edit_.inserted;
    if (is_behind && same != old_.end() && same->base() == old_base && is_op_unit(*same) &&
        is_whole_unit(*same) && is_whole_unit(unit) && found.error_count() == errors_.size()) {
      next_ = static_cast<std::size_t>(same - old_.begin());
      return false;
    }
    errors_ = found.sorted();
    if (errors_.size() != found.error_count()) return !(is_lost_ = true);
    units_.push_back(std::move(unit));
    return true;
  }

  /// True if a unit that was parsed again because it is beside the edit is the old one.
  bool is_same(const Unit& unit, const Unit& old) const {
    const SourcePos end = unit.span(static_cast<std::uint32_t>(unit.tokens().size()) - 1).end;
    return end < file_.base() + edit_.begin && unit.base() == old.base() &&
           unit.tokens().size() == old.tokens().size();
  }

  UnitChange change() const {
    UnitChange change{first_, *next_ - first_, units_.size()};
    for (const Unit& unit : units_) {
      if (change.removed == 0 || !is_same(unit, old_[change.first])) break;
      change = {change.first + 1, change.removed - 1, change.added - 1};
    }
    return change;
  }

  Reparsed result(std::span<const Diagnostic> old_errors) {
    const SourcePos begin = start_;
    const SourcePos end = old_[*next_].base();
    const UnitChange changed = change();
    std::vector<Unit> units;
    units.reserve(first_ + units_.size() + old_.size() - *next_);
    std::move(old_.begin(), old_.begin() + first_, std::back_inserter(units));
    std::ranges::move(units_, std::back_inserter(units));
    for (std::size_t i = *next_; i < old_.size(); ++i) {
      old_[i].move_to(old_[i].base() + shift_);
      units.push_back(std::move(old_[i]));
    }
    Reparsed made{SyntaxTree(file_, std::move(units)), {}, changed};
    for (const Diagnostic& each : old_errors) {
      if (each.at.begin < begin) made.errors.push_back(each);
    }
    made.errors.insert(made.errors.end(), errors_.begin(), errors_.end());
    for (const Diagnostic& each : old_errors) {
      if (each.at.begin >= end) made.errors.push_back(moved_by(each, shift_));
    }
    return made;
  }

  std::vector<Unit> old_;
  const TextEdit& edit_;
  const SourceFile& file_;
  std::uint32_t shift_;  // of what follows the edit, modulo 2^32
  std::size_t first_ = 0;
  SourcePos start_ = 0;  // of what is parsed
  bool began_ = false;
  bool is_lost_ = false;  // a whole parse is needed
  std::vector<Unit> units_;
  std::vector<Diagnostic> errors_;
  std::optional<std::size_t> next_;
};

}  // namespace

std::optional<Reparsed> reparse(std::vector<Unit> old, std::span<const Diagnostic> old_errors,
                                const TextEdit& edit, const SourceFile& file) {
  return Reparser(std::move(old), edit, file).run(old_errors);
}

}  // namespace mir
