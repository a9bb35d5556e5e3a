// The edits that each reduction step offers, and the text that each of them leaves, as
// testdata/unit/reduce/steps.txt stores them.
#include "reduce/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "../passes/known_passes.hpp"
#include "../short_types.hpp"
#include "../stored_lines.hpp"
#include "support/alignment.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;

namespace steps_test {

namespace {

Lines lines_without_indent(const std::string& text) {
  Lines lines = test::split_lines(text);
  for (std::string& line : lines) line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  return lines;
}

/// The lines that one text alone has: "-" and the number of those of `before`, "+" and each of
/// `after`.
std::string difference(const std::string& before, const std::string& after) {
  const Lines from = lines_without_indent(before), to = lines_without_indent(after);
  Lines known;
  const auto ids = [&](const Lines& lines) {
    std::vector<std::uint32_t> list;
    for (const std::string& line : lines) {
      const auto at = std::ranges::find(known, line);
      list.push_back(static_cast<std::uint32_t>(at - known.begin()));
      if (at == known.end()) known.push_back(line);
    }
    return list;
  };
  std::string text;
  std::size_t i = 0, j = 0;
  const auto until = [&](std::size_t x, std::size_t y) {
    if (i < x) text += fmt::format("-{}\n", x - i);
    i = x;
    for (; j < y; ++j) text += fmt::format("+{}\n", test::with_short_types(to[j]));
  };
  const auto one = ids(from), other = ids(to);
  for (const AlignedPair& each : align(one, other)) {
    until(static_cast<std::size_t>(each.before), static_cast<std::size_t>(each.after));
    ++i, ++j;
  }
  until(from.size(), to.size());
  return text;
}

const reduce::Step& step_named(std::string_view name) {
  const auto steps = reduce::all_steps();
  const auto found = std::ranges::find(steps, name, &reduce::Step::name);
  REQUIRE(found != steps.end());
  return *found;
}

/// The difference that the edits [first, last) of a step, applied together, make to a text.
std::string edited(const reduce::Step& step, const std::string& text, std::size_t first,
                   std::size_t last) {
  const Passes passes;
  Diagnostics found;
  const auto draft = reduce::Draft::read(text, passes.registry, found);
  REQUIRE(draft != nullptr);
  const std::string before = draft->text();
  const reduce::Edits edits = step.offer(*draft);
  for (std::size_t i = first; i < last; ++i) edits.list[i]();
  if (edits.finish) edits.finish();
  if (draft->has_failed()) return "fails\n";
  const std::string change = difference(before, draft->text());
  return change.empty() ? "nothing\n" : change;
}

std::size_t count_of(const reduce::Step& step, const std::string& text) {
  const Passes passes;
  Diagnostics found;
  const auto draft = reduce::Draft::read(text, passes.registry, found);
  REQUIRE(draft != nullptr);
  return step.offer(*draft).list.size();
}

/// The differences that each edit of a step makes on its own, in the order of the edits.
std::string each_edit(const reduce::Step& step, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count_of(step, text); ++i) {
    all += fmt::format("{}:\n{}", i, edited(step, text, i, i + 1));
  }
  return all;
}

}  // namespace

TEST_CASE("steps of reductions offer the stored edits") {
  std::map<std::string, std::string> texts;
  test::check_stored_cases("testdata/unit/reduce/steps.txt", [&](const test::StoredCase& each) {
    const std::size_t last = each.name.rfind(": "), first = each.name.find(": ");
    REQUIRE(last != each.name.npos);
    const std::string text = each.name.substr(last + 2);
    if (first == last) {
      texts[text] = each.input;
      return std::string();
    }
    const reduce::Step& step = step_named(each.name.substr(first + 2, last - first - 2));
    if (each.name.starts_with("each edit: ")) return each_edit(step, texts.at(text));
    return edited(step, texts.at(text), 0, count_of(step, texts.at(text)));
  });
}

}  // namespace steps_test
