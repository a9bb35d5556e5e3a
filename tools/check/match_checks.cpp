// Matches check lines against an output, block by block between labels.
#include "match_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "mir/codes/checks.hpp"
#include "nearest_line.hpp"

namespace mir::tools {

namespace {

using Position = OutputText::Position;
using Region = OutputText::Region;

bool meet(const Region& a, const Region& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// The part of `rest`, which begins at the last match, that a check is about.
Region region_for(CheckKind kind, Region rest) {
  const std::size_t line = rest.begin.line;
  if (kind == CheckKind::kSame) rest.end = std::min(rest.end, Position{line + 1, 0});
  if (kind == CheckKind::kNext || kind == CheckKind::kEmpty) {
    rest.begin = std::min(rest.end, Position{line + 1, 0});
    rest.end = std::min(rest.end, Position{line + 2, 0});
  }
  return rest;
}

/// One run of all checks over one output.
class CheckMatcher {
 public:
  CheckMatcher(const OutputText& output, Diagnostics& diagnostics)
      : output_(output), diagnostics_(diagnostics) {}

  void match(std::span<const Check> checks);

 private:
  void match_block(std::span<const Check> checks, Region rest);
  std::optional<Region> match_in_order(const Check& check, Region rest);
  std::optional<Region> match_in_any_order(std::span<const Check> group, Region rest);
  bool are_absent(std::span<const Check> forbidden, Region where, CheckVariables variables);

  std::optional<Region> find(const Check& check, Region where);
  std::optional<Region> look_up(const Check& check, Region where, CheckVariables& variables);
  void report(const Check& check, Region where, std::string message);
  void add_notes(const Check& check, Region where, Diagnostic& diagnostic);
  std::string values_in(const Check& check) const;

  const OutputText& output_;
  Diagnostics& diagnostics_;
  CheckVariables variables_;
  bool given_up_ = false;  // a search had no answer, which is reported
};

// -- matching -------------------------------------------------------------------------------------

/// Labels are found first; they cut checks and output into blocks that are matched apart.
void CheckMatcher::match(std::span<const Check> checks) {
  struct Label {
    std::size_t index;
    Region at;
  };
  const Region whole = output_.whole();
  if (output_.lines().empty() && !checks.empty()) {
    diagnostics_.error(diag::kCheckNotMet, checks.front().at, "the output is empty");
    return;
  }
  std::vector<Label> labels;
  Region rest = whole;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].kind != CheckKind::kLabel) continue;
    const auto match = match_in_order(checks[i], rest);
    if (!match) return;
    labels.push_back({i, *match});
    rest.begin = match->end;
  }
  labels.push_back({checks.size(), {whole.end, whole.end}});
  std::size_t first = 0;
  Position from = whole.begin;
  for (const Label& label : labels) {
    match_block(checks.subspan(first, label.index - first), {from, label.at.begin});
    first = label.index + 1;
    from = label.at.end;
  }
}

void CheckMatcher::match_block(std::span<const Check> checks, Region rest) {
  const auto run_of = [&](CheckKind kind) {
    const auto end = std::ranges::find_if(checks, [&](const Check& c) { return c.kind != kind; });
    const auto run = checks.first(static_cast<std::size_t>(end - checks.begin()));
    checks = checks.subspan(run.size());
    return run;
  };
  while (!given_up_) {
    const auto forbidden = run_of(CheckKind::kNot);
    const CheckVariables before = variables_;
    if (checks.empty()) {
      are_absent(forbidden, rest, before);
      return;
    }
    std::optional<Region> match;
    if (const auto group = run_of(CheckKind::kDag); !group.empty()) {
      match = match_in_any_order(group, rest);
    } else {
      match = match_in_order(checks.front(), rest);
      checks = checks.subspan(1);
    }
    if (!match || !are_absent(forbidden, {rest.begin, match->begin}, before)) return;
    rest.begin = match->end;
  }
}

/// From the beginning of a check's first match to the end of its last.
std::optional<Region> CheckMatcher::match_in_order(const Check& check, Region rest) {
  Region where = region_for(check.kind, rest);
  std::optional<Region> all;
  for (std::uint32_t count = 0; count < check.count; ++count) {
    const auto match = find(check, where);
    if (!match) {
      if (check.kind == CheckKind::kCount) {
        report(check, where,
               fmt::format("the text is found {} times, expected {}", count, check.count));
      } else {
        report(check, where, "");
      }
      return std::nullopt;
    }
    all = {all ? all->begin : match->begin, match->end};
    where.begin = match->end;
  }
  return all;
}

/// Like match_in_order(), for a group whose matches may come in any order and lie apart.
std::optional<Region> CheckMatcher::match_in_any_order(std::span<const Check> group, Region rest) {
  std::vector<Region> found;
  for (const Check& check : group) {
    Region where = rest;
    auto match = find(check, where);
    const auto taken = [&](const Region& other) { return meet(*match, other); };
    while (match && std::ranges::any_of(found, taken)) {
      where.begin = match->end;
      match = find(check, where);
    }
    if (!match) {
      report(check, rest, "");
      return std::nullopt;
    }
    found.push_back(*match);
  }
  return Region{std::ranges::min(found, {}, &Region::begin).begin,
                std::ranges::max(found, {}, &Region::end).end};
}

bool CheckMatcher::are_absent(std::span<const Check> forbidden, Region where,
                              CheckVariables variables) {
  bool absent = true;
  for (const Check& check : forbidden) {
    CheckVariables own = variables;
    const auto match = look_up(check, where, own);
    if (match) {
      diagnostics_.error(diag::kForbiddenText, check.at, "the text is found, and must not be here")
          .note(output_.span_of(*match), "it is here");
    }
    absent = absent && !match;
  }
  return absent && !given_up_;
}

std::optional<Region> CheckMatcher::find(const Check& check, Region where) {
  return look_up(check, where, variables_);
}

std::optional<Region> CheckMatcher::look_up(const Check& check, Region where,
                                            CheckVariables& variables) {
  if (given_up_) return std::nullopt;
  auto match = output_.search(check.pattern, where, variables);
  if (match) return *match;
  given_up_ = true;
  diagnostics_.error(match.error().code, check.at, match.error().message);
  return std::nullopt;
}

// -- reports --------------------------------------------------------------------------------------

/// That a check is not met in `where`; an empty message means the kind's own.
void CheckMatcher::report(const Check& check, Region where, std::string message) {
  if (given_up_) return;
  if (message.empty()) {
    message =
        check.kind == CheckKind::kNext    ? "the text is not found on the line after the last match"
        : check.kind == CheckKind::kSame  ? "the text is not found after the last match on its line"
        : check.kind == CheckKind::kEmpty ? "the line after the last match is not empty"
        : where.begin == Position{}       ? "the text is not found in the output"
                                          : "the text is not found after the last match";
  }
  // Looking for the text elsewhere may give up and report that.
  Diagnostic places;
  add_notes(check, where, places);
  if (given_up_) return;
  Diagnostic& added = diagnostics_.error(diag::kCheckNotMet, check.at, std::move(message));
  added.notes = std::move(places.notes);
  added.hint = values_in(check);
}

void CheckMatcher::add_notes(const Check& check, Region where, Diagnostic& diagnostic) {
  const Region whole = output_.whole();
  const auto mark = [&](Region region, const char* text) {
    diagnostic.note(output_.span_of(region), text);
  };
  if (where.begin != whole.begin) mark({where.begin, where.begin}, "the search begins here");
  const bool to_label = where.end != whole.end && where.end.column != 0;
  if (to_label) mark({where.end, where.end}, "the search ends here");
  if (check.kind == CheckKind::kEmpty) return;
  CheckVariables variables = variables_;
  const auto above = look_up(check, {whole.begin, where.begin}, variables);
  const auto below = look_up(check, {where.end, whole.end}, variables);
  if (below) return mark(*below, "the text is found here, after the end of the search");
  if (above) return mark(*above, "the text is found here, before the search begins");
  const std::size_t first = where.begin.line;
  const std::size_t last = where.end.line + (where.end.column != 0 ? 1 : 0);
  const auto lines = output_.lines().subspan(first, last - first);
  const auto nearest = nearest_line(check.pattern.plain_text(), lines);
  if (!nearest) return;
  const std::size_t line = first + *nearest;
  const bool is_shown = line == first && where.begin != whole.begin;
  if (is_shown) return;
  mark({{line, 0}, {line, output_.lines()[line].size()}}, "the nearest line is this");
}

/// The values in this check of variables that other checks set.
std::string CheckMatcher::values_in(const Check& check) const {
  std::string values;
  for (const std::string_view name : check.pattern.used_names()) {
    const auto value = variables_.find(name);
    if (value == variables_.end()) continue;
    values += fmt::format("{}'{}' is '{}'", values.empty() ? "" : ", ", name, value->second);
  }
  return values;
}

}  // namespace

void match_checks(std::span<const Check> checks, const OutputText& output,
                  Diagnostics& diagnostics) {
  CheckMatcher(output, diagnostics).match(checks);
}

}  // namespace mir::tools
