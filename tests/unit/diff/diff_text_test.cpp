// How differences are shown: which are shown once with their number, and the counts of graphs.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "diff/module_diff.hpp"

namespace mir::test {

namespace {

DiffEntry added(const std::string& line) {
  DiffEntry entry;
  entry.kind = DiffEntry::Kind::kAdded;
  entry.module = "main";
  entry.after = line;
  return entry;
}

DiffEntry changed(const std::string& op, const std::string& field, const std::string& before,
                  const std::string& after) {
  DiffEntry entry = added(after);
  entry.kind = DiffEntry::Kind::kChanged;
  entry.op = op;
  entry.field = field;
  entry.before = before;
  return entry;
}

std::string text_of(const ModuleDiff& diff, bool each = false) {
  const IRContext context;
  return diff_text(diff, context,
                   {.before_name = "a", .after_name = "b", .colour = false, .each = each});
}

/// True if two added lines are shown once.
bool alike(const std::string& one, const std::string& other) {
  return text_of({{added(one), added(other)}}) ==
         "--- a\n+++ b\n@@ @main @@\n+" + one + " and 1 alike, the last \n";
}

}  // namespace

TEST_CASE("changes are alike if only numbers between dots of their names differ") {
  CHECK(alike("op 'm.0.up'", "op 'm.1.up'"));
  CHECK(alike("op 'm.9.up'", "op 'm.10.up'"));
  CHECK(alike("op '0.up'", "op '1.up'"));
  CHECK(alike("op 'm.0'", "op 'm.1'"));
  CHECK(alike("call @m.0.up", "call @m.1.up"));
  CHECK(alike("call @m.0", "call @m.1"));
  CHECK(alike("call @0", "call @1"));
  for (const std::string end : {" ", ",", ")", "]"}) {
    CAPTURE(end);
    CHECK(alike("call @m.0" + end + "x", "call @m.1" + end + "x"));
    // There the symbol ends.
    CHECK_FALSE(alike("call @m" + end + ".0", "call @m" + end + ".1"));
  }
  CHECK_FALSE(alike("op 'm0.up'", "op 'm1.up'"));
  CHECK_FALSE(alike("op 'm.0a'", "op 'm.1a'"));
  CHECK_FALSE(alike("op 'm.x.up'", "op 'm.y.up'"));
  CHECK_FALSE(alike("op m.0.up", "op m.1.up"));
  CHECK_FALSE(alike("op 'm' .0.up", "op 'm' .1.up"));
  CHECK_FALSE(alike("op 'm.0.up'", "op 'n.1.up'"));
  CHECK_FALSE(alike("call @m0", "call @m1"));
}

TEST_CASE("changes of fields are alike only if their ops, fields and values are") {
  const auto are_alike = [](const DiffEntry& one, const DiffEntry& other) {
    return text_of({{one, other}}).find("alike") != std::string::npos;
  };
  const DiffEntry first = changed("op 'm.0'", "axis", "1", "2");
  CHECK(are_alike(first, changed("op 'm.1'", "axis", "1", "2")));
  CHECK_FALSE(are_alike(first, changed("op 'n.1'", "axis", "1", "2")));
  CHECK_FALSE(are_alike(first, changed("op 'm.1'", "dim", "1", "2")));
  CHECK_FALSE(are_alike(first, changed("op 'm.1'", "axis", "0", "2")));
  CHECK_FALSE(are_alike(first, changed("op 'm.1'", "axis", "1", "3")));
  DiffEntry other = changed("op 'm.1'", "axis", "1", "2");
  other.kind = DiffEntry::Kind::kAdded;
  CHECK_FALSE(are_alike(first, other));
}

TEST_CASE("changes are alike only if equal numbers are equal in both") {
  CHECK(alike("'m.0' 'n.0'", "'m.1' 'n.1'"));
  CHECK(alike("'m.0' 'n.1'", "'m.1' 'n.0'"));
  CHECK(alike("'m.0' 'n.1'", "'m.3' 'n.7'"));
  CHECK_FALSE(alike("'m.0' 'n.0'", "'m.0' 'n.1'"));
  CHECK_FALSE(alike("'m.0' 'n.1'", "'m.1' 'n.1'"));
}

TEST_CASE("ids of quantisation specs are no difference between changes") {
  CHECK(alike("uuid=3", "uuid=14"));
  CHECK(alike("uuid=3)", "uuid=14)"));
  CHECK(alike("uuid=3, uuid=3", "uuid=4, uuid=4"));
  CHECK_FALSE(alike("uuid=3, uuid=3", "uuid=4, uuid=5"));
  CHECK_FALSE(alike("id=3", "id=4"));
}

TEST_CASE("changes of another kind, graph, op or field are not alike") {
  const DiffEntry one = changed("op 'm.0'", "name", "x", "y");
  const auto count = [&](DiffEntry other) {
    const std::string text = text_of({{one, added("-"), std::move(other)}});
    return text.find(" and 1 alike, the last op 'm.1'\n") == text.npos ? 2 : 1;
  };
  CHECK(count(changed("op 'm.1'", "name", "x", "y")) == 1);
  CHECK(count(changed("of 'm.1'", "name", "x", "y")) == 2);
  CHECK(count(changed("op 'm.1'", "type", "x", "y")) == 2);
  CHECK(count(changed("op 'm.1'", "name", "z", "y")) == 2);
  CHECK(count(changed("op 'm.1'", "name", "x", "z")) == 2);
  DiffEntry other = changed("op 'm.1'", "name", "x", "y");
  other.graph = "g";
  CHECK(count(other) == 2);
  other = changed("op 'm.1'", "name", "x", "y");
  other.kind = DiffEntry::Kind::kRemoved;
  CHECK(count(other) == 2);
}

TEST_CASE("fields of one op are one change, and each is shown if asked for") {
  const ModuleDiff diff{{changed("op 'm.0'", "name", "x", ""), changed("op 'm.0'", "type", "", "t"),
                         changed("op 'm.1'", "name", "x", ""), changed("op 'm.1'", "type", "", "t"),
                         changed("op 'm.2'", "name", "x", ""),
                         changed("op 'm.2'", "type", "", "t")}};
  const std::string fields = "-    name: x\n+    name: (none)\n-    type: (none)\n+    type: t\n";
  const std::string head = "--- a\n+++ b\n@@ @main @@\n";
  CHECK(text_of(diff) == head + " op 'm.0' and 2 alike, the last op 'm.2'\n" + fields);
  CHECK(text_of(diff, true) ==
        head + " op 'm.0'\n" + fields + " op 'm.1'\n" + fields + " op 'm.2'\n" + fields);
  CHECK(text_of({}).empty());
}

TEST_CASE("each graph has its counts, in columns, and all have sums") {
  ModuleDiff diff{{changed("op", "name", "x", "y"), added("a"), added("b"), added("c")}};
  diff.entries[3].kind = DiffEntry::Kind::kRemoved;
  diff.entries[1].graph = diff.entries[2].graph = "graph";
  const auto stat = [&](bool colour) {
    return diff_stat(diff,
                     {.before_name = "a", .after_name = "b", .colour = colour, .each = false});
  };
  const std::string sums = " 2 graphs differ: 1 fields changed, 2 operations added, 1 removed\n";
  CHECK(stat(false) ==
        " @main          | 1 changed, +0, -1\n @main / @graph | 0 changed, +2, -0\n" + sums);
  CHECK(stat(true) ==
        " @main          | 1 changed, +0, \x1b[31m-1\x1b[0m\n"
        " @main / @graph | 0 changed, \x1b[32m+2\x1b[0m, -0\n" +
            sums);
  CHECK(diff.count(DiffEntry::Kind::kChanged) == 1);
  CHECK(diff.count(DiffEntry::Kind::kAdded) == 2);
  CHECK(diff.count(DiffEntry::Kind::kRemoved) == 1);
}

TEST_CASE("the counts of changes, additions and removals are told apart") {
  ModuleDiff diff;
  for (const DiffEntry::Kind kind :
       {DiffEntry::Kind::kChanged, DiffEntry::Kind::kAdded, DiffEntry::Kind::kAdded,
        DiffEntry::Kind::kRemoved, DiffEntry::Kind::kRemoved, DiffEntry::Kind::kRemoved}) {
    diff.entries.push_back(added("op"));
    diff.entries.back().kind = kind;
  }
  CHECK(diff_stat(diff, {.before_name = "a", .after_name = "b", .colour = false, .each = false}) ==
        " @main | 1 changed, +2, -3\n"
        " 1 graphs differ: 1 fields changed, 2 operations added, 3 removed\n");
  const IRContext context;
  CHECK(diff_json(diff, context,
                  {.before_name = "a", .after_name = "b", .colour = false, .each = false})
            .find("\"changed\": 1,\n  \"added\": 2,\n  \"removed\": 3,") != std::string::npos);
}

}  // namespace mir::test
