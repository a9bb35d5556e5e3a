// What is printed of the catalogue of diagnostics.
#include "support/diagnostic_catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "mir/codes/shapes.hpp"
#include "mir/diagnostic.hpp"

using namespace mir;

namespace diagnostic_catalogue_test {

namespace {

/// The paragraphs of an explanation that are not indented, which are no examples.
std::string headings_of(DiagCode code) {
  std::istringstream lines(explain(code));
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with("    ")) all += line + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("the page of all diagnostics has a section for each code, in their order") {
  const std::string page = diagnostics_page();
  std::size_t at = 0;
  for (const DiagCodeInfo& info : diagnostic_codes()) {
    CAPTURE(spelling(info.code));
    const auto section = page.find("\n### " + spelling(info.code) + "\n\n*", at);
    REQUIRE(section != page.npos);
    at = section + 1;
  }
  CHECK(page.find("\n### ", at) == page.npos);
  CHECK(page.find("[linear_c2](ops/linear.md#linear)") != page.npos);
}

TEST_CASE("a code is explained by its cause, a refused example, the fix and an accepted one") {
  CHECK(headings_of(diag::kAttributeOutOfRange) ==
        "MIR0504: an attribute has a value that the operation does not accept\n"
        "Cause: The value has the right kind, but is outside the range of the attribute.\n"
        "Refused:\n"
        "Fix: Choose a value from the range in the message.\n"
        "Accepted:\n"
        "Constraints:\n");
  for (const DiagCodeInfo& info : diagnostic_codes()) {
    CAPTURE(spelling(info.code));
    const auto entry = catalogue_entry(info.code);
    REQUIRE(entry);
    const std::string text = explain(info.code);
    CHECK(text.starts_with(spelling(info.code) + ": "));
    CHECK_FALSE(entry->cause.empty());
    CHECK(entry->cause.find('\n') == std::string::npos);
    CHECK_FALSE(entry->cause.starts_with("Cause"));
    CHECK_FALSE(entry->fix.empty());
    CHECK_FALSE(entry->refused.empty());
    CHECK_FALSE(entry->accepted.empty());
    CHECK(text.ends_with('\n'));
    CHECK_FALSE(text.ends_with("\n\n"));
  }
}

}  // namespace diagnostic_catalogue_test
