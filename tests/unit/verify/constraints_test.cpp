// Constraint ids: the table, the documents and the names of tests say the same.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../project_files.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "support/catalogue_files.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "verify/constraint.hpp"

using namespace mir;
using mir::test::kRoot;
using mir::test::read_whole;
namespace fs = std::filesystem;

namespace {

/// Names of the cases that hold the verifier and the checks that it calls.
std::string test_names() {
  std::string names;
  std::vector<fs::directory_entry> entries;
  for (const std::string_view folder :
       {"tests/unit/verify", "tests/unit/patterns", "tests/unit/declare"}) {
    std::ranges::copy(fs::directory_iterator(kRoot / folder), std::back_inserter(entries));
  }
  for (const auto& entry : entries) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_whole(entry.path());
    const std::string open = "TEST_CASE(\"";
    for (auto at = text.find(open); at != text.npos; at = text.find(open, at)) {
      at += open.size();
      names += text.substr(at, text.find("\")", at) - at) + "\n";
    }
  }
  return names;
}

/// The anchor of a heading, as GitHub makes it.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_') anchor += static_cast<char>(std::tolower(byte));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

/// The section that the citation of a constraint names; empty if there is none.
std::string cited_section(std::string_view id) {
  const std::string cited = cite_constraint(id);
  const auto page = cited.find(": docs/"), anchor = cited.find('#');
  if (page == cited.npos || anchor == cited.npos) return "";
  std::istringstream lines(read_whole(kRoot / cited.substr(page + 2, anchor - page - 2)));
  std::string section;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      const std::string heading = line.substr(line.find(' ') + 1);
      is_inside = anchor_of(heading) == cited.substr(anchor + 1);
    }
    if (is_inside) section += line + "\n";
  }
  return section;
}

bool mentions(const std::string& text, std::string_view id) {
  for (auto at = text.find(id); at != text.npos; at = text.find(id, at + 1)) {
    const char next = at + id.size() < text.size() ? text[at + id.size()] : ' ';
    const char before = at == 0 ? ' ' : text[at - 1];
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    if (!is_word(next) && !is_word(before)) return true;
  }
  return false;
}

}  // namespace

TEST_SUITE("constraints") {
  TEST_CASE("every constraint of the verifier is explained in the section that it cites") {
    std::set<std::string_view> ids;
    for (const Constraint& constraint : constraints()) {
      CAPTURE(constraint.id);
      CHECK(ids.insert(constraint.id).second);
      const std::string section = cited_section(constraint.id);
      const std::string start = "\n- `" + std::string(constraint.id) + "` ";
      const auto at = section.find(start);
      REQUIRE(at != section.npos);
      const std::string entry = section.substr(at, section.find("\n\n", at) - at);
      const std::string own = entry.substr(0, entry.find("\n- `", 1));
      CHECK(own == test::Part{spelling(constraint.code)});
    }
  }

  TEST_CASE(
      "every constraint of a page, those of shape rules among them, is explained in its section") {
    CHECK(constraint_pages().size() > 200);
    for (const ConstraintPage& each : constraint_pages()) {
      CAPTURE(each.id);
      CHECK(cited_section(each.id) == test::Part{"\n- `" + std::string(each.id) + "` "});
    }
    CHECK(cite_constraint("linear_c2") == "linear_c2: docs/ops/linear.md#linear");
    CHECK(cite_constraint("of_a_plugin_c1") == "of_a_plugin_c1");
  }

  TEST_CASE("every constraint of the verifier is named in the explanation of its code") {
    for (const Constraint& constraint : constraints()) {
      CAPTURE(constraint.id);
      const std::string text = explain(constraint.code);
      const auto list = text.find("\nConstraints:\n");
      REQUIRE(list != text.npos);
      CHECK(mentions(text.substr(list), constraint.id));
    }
    // Those of shape rules, too; texts are whole and end without codes.
    CHECK(
        explain(diag::kShapeMismatch)
            .find("    linear_c2 (docs/ops/linear.md#linear): `in_channels` agrees with the last\n"
                  "    extent of x.\n") != std::string::npos);
  }

  TEST_CASE("every constraint of the verifier is in the name of a test") {
    const std::string names = test_names();
    for (const Constraint& constraint : constraints()) {
      CAPTURE(constraint.id);
      CHECK(mentions(names, constraint.id));
    }
  }

  TEST_CASE("docs/verification.md explains no constraint that is not checked") {
    const std::string page = read_whole(kRoot / "docs/verification.md");
    std::size_t found = 0;
    for (auto at = page.find("\n- `"); at != page.npos; at = page.find("\n- `", at + 1)) {
      const std::string id = page.substr(at + 4, page.find('`', at + 4) - at - 4);
      if (id.find("_c") == id.npos) continue;
      CAPTURE(id);
      CHECK(std::ranges::find(constraints(), id, &Constraint::id) != constraints().end());
      ++found;
    }
    CHECK(found > 30);
  }

  TEST_CASE("the tables of docs/ops cite constraints that are checked") {
    std::size_t cited = 0;
    for (const char* name : {"docs/ops/structure.md", "docs/ops/program.md"}) {
      std::istringstream page(read_whole(kRoot / name));
      for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| ")) continue;
        for (auto at = line.find('`'); at != line.npos; at = line.find('`', at + 1)) {
          const auto end = line.find('`', at + 1);
          REQUIRE(end != line.npos);
          const std::string id = line.substr(at + 1, end - at - 1);
          at = end;
          if (id.find("_c") == id.npos || !std::isdigit(static_cast<unsigned char>(id.back()))) {
            continue;
          }
          CAPTURE(id);
          CHECK(std::ranges::find(constraints(), id, &Constraint::id) != constraints().end());
          ++cited;
        }
      }
    }
    CHECK(cited > 100);
  }

  TEST_CASE("groups have names, and portable is never milder than dump") {
    CHECK(check_group_names().size() == 11);
    for (const Constraint& constraint : constraints()) {
      CAPTURE(constraint.id);
      CHECK(static_cast<int>(constraint.in_portable) >= static_cast<int>(constraint.in_dump));
      // What is neither right nor wrong is reported on request alone.
      const bool is_off = constraint.in_portable == Verdict::kOff;
      CHECK(is_off == (constraint.code == diag::kExtentUnproven));
    }
  }
}
