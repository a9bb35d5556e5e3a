// Complete outputs of comparing modules, as testdata/unit/diff stores them: every field of each
// entry in both directions, and normal forms.
#include <fmt/format.h>

#include <algorithm>

#include "../ir/read.hpp"
#include "../short_types.hpp"
#include "../stored_lines.hpp"
#include "diff/module_diff.hpp"
#include "diff/normal_form.hpp"
#include "diff/op_text.hpp"
#include "diff/same_ids.hpp"

using namespace mir;
using mir::test::Reading;
using mir::test::StoredCase;

namespace whole_diff_test {

namespace {

/// An entry as `kind module/graph op: field: before -> after (place, place)`.
std::string text_of(const IRContext& context, const DiffEntry& entry) {
  return test::with_short_types(
      fmt::format("{} {}/{} {}: {}: {} -> {} ({}, {})", "~-+"[static_cast<std::size_t>(entry.kind)],
                  entry.module, entry.graph, entry.op, entry.field, entry.before, entry.after,
                  place_text(context, entry.at_before), place_text(context, entry.at_after)));
}

/// The entry of a comparison the other way.
DiffEntry mirrored(DiffEntry entry) {
  constexpr DiffEntry::Kind kKinds[] = {DiffEntry::Kind::kChanged, DiffEntry::Kind::kAdded,
                                        DiffEntry::Kind::kRemoved};
  entry.kind = kKinds[static_cast<std::size_t>(entry.kind)];
  std::swap(entry.before, entry.after);
  std::swap(entry.at_before, entry.at_after);
  return entry;
}

/// Each entry of a comparison as text; mirrored if `is_mirrored`.
std::vector<std::string> entries_of(const std::string& before, const std::string& after,
                                    bool is_mirrored = false) {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics(0);
  const auto read = [&](const std::string& name, const std::string& text) {
    return read_modules(*context.sources().add(name, text), context, diagnostics);
  };
  const auto first = read("before", before), second = read("after", after);
  std::string problems;
  for (const std::string& line : mir::test::lines_of(diagnostics, context)) problems += line + "\n";
  REQUIRE_MESSAGE(problems.empty(), problems);
  std::vector<std::string> all;
  for (const DiffEntry& entry : diff_modules(first, second).entries) {
    all.push_back(text_of(context, is_mirrored ? mirrored(entry) : entry));
  }
  return all;
}

/// The differences of two texts. Those of a comparison the other way follow after `back:` if they
/// are not the mirror image.
std::string differences(const std::string& text) {
  constexpr std::string_view kSplit = "// -----\n";
  const std::size_t split = text.find(kSplit);
  REQUIRE(split != text.npos);
  const std::string before = text.substr(0, split), after = text.substr(split + kSplit.size());
  CHECK(entries_of(before, before).empty());
  CHECK(entries_of(after, after).empty());
  const auto joined = [](const std::vector<std::string>& lines) {
    return lines.empty() ? "" : fmt::format("{}\n", fmt::join(lines, "\n"));
  };
  std::vector<std::string> forth = entries_of(before, after);
  const std::string text_forth = joined(forth);
  std::vector<std::string> mirror = entries_of(after, before, true);
  std::ranges::sort(forth);
  std::ranges::sort(mirror);
  return text_forth + (forth == mirror ? "" : "back:\n" + joined(entries_of(after, before)));
}

std::string normal(const std::string& text) {
  Reading reading(text);
  REQUIRE(reading.errors() == std::vector<std::string>{});
  const std::string once = normal_form(reading.modules).value();
  Reading again(once);
  CHECK(again.errors() == std::vector<std::string>{});
  CHECK(normal_form(again.modules).value() == once);
  return test::with_short_types(once);
}

}  // namespace

TEST_SUITE("whole differences") {
  TEST_CASE("every entry has its kind, place, op, field and both texts") {
    test::check_stored_cases("testdata/unit/diff/differences.txt",
                             [](const StoredCase& each) { return differences(each.input); });
  }

  TEST_CASE("ids are paired once, in both directions, until they are paired anew") {
    PairedIds ids;
    CHECK(ids.pair("a", "x"));
    CHECK(ids.pair("a", "x"));
    CHECK_FALSE(ids.pair("a", "y"));
    CHECK_FALSE(ids.pair("b", "x"));
    CHECK(ids.pair("b", "y"));
    ids.pair_anew("a", "y");
    CHECK(ids.pair("a", "y"));
    CHECK_FALSE(ids.pair("b", "y"));
    CHECK_FALSE(ids.pair("a", "x"));
    // Both former partners are free again.
    CHECK(ids.pair("b", "x"));
    CHECK(ids.pair("c", "z"));
    ids.pair_anew("d", "z");
    CHECK(ids.pair("c", "w"));
  }

  TEST_CASE("the normal form sorts attributes and numbers values in order") {
    test::check_stored_cases("testdata/unit/diff/normal_forms.txt",
                             [](const StoredCase& each) { return normal(each.input); });
  }
}

}  // namespace whole_diff_test
