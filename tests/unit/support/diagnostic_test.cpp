#include "mir/diagnostic.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>

#include "../project_files.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/syntax.hpp"

using mir::DiagCode;
namespace diag = mir::diag;
using mir::Diagnostics;
using mir::Severity;

namespace {

std::string messages(const Diagnostics& diagnostics) {
  std::string all;
  for (const auto& diagnostic : diagnostics.sorted()) all += diagnostic.message + ' ';
  return all;
}

}  // namespace

TEST_CASE("errors over the limit are counted and not kept, warnings are kept") {
  Diagnostics diagnostics(2);
  diagnostics.error(diag::kUnexpectedToken, {1, 2}, "a");
  CHECK_FALSE(diagnostics.is_full());
  diagnostics.error(diag::kUnexpectedToken, {2, 3}, "b");
  CHECK(diagnostics.is_full());
  diagnostics.error(diag::kUnexpectedToken, {3, 4}, "c").note({1, 2}, "goes nowhere");
  diagnostics.warning(diag::kTrailingText, {4, 5}, "w");
  CHECK(diagnostics.error_count() == 3);
  CHECK(diagnostics.dropped_error_count() == 1);
  CHECK(diagnostics.warning_count() == 1);
  CHECK(messages(diagnostics) == "a b w ");
}

TEST_CASE("a limit of 0 keeps every error") {
  Diagnostics diagnostics(0);
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    diagnostics.error(diag::kUnexpectedToken, {i, i}, "e");
  }
  CHECK_FALSE(diagnostics.is_full());
  CHECK(diagnostics.sorted().size() == 1000);
}

TEST_CASE("order is by position, unknown first, then by arrival") {
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, {9, 9}, "late");
  diagnostics.warning(diag::kTrailingText, {5, 9}, "first");
  diagnostics.error(diag::kUnexpectedToken, {5, 6}, "second");
  diagnostics.error(diag::kFileNotReadable, {}, "nowhere");
  CHECK(messages(diagnostics) == "nowhere first second late ");
}

TEST_CASE("only exact repetitions are left out") {
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, {5, 6}, "same");
  diagnostics.error(diag::kUnexpectedToken, {5, 7}, "same");
  diagnostics.error(diag::kUnexpectedToken, {5, 6}, "same");
  diagnostics.error(diag::kUnexpectedToken, {5, 6}, "same").note({1, 2}, "but noted");
  diagnostics.warning(diag::kUnexpectedToken, {5, 6}, "same");
  const auto kept = diagnostics.sorted();
  CHECK(kept.size() == 4);
  CHECK(diagnostics.error_count() == 4);
  CHECK(std::move(diagnostics).sorted() == kept);
  CHECK(diagnostics.sorted().empty());  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("appending keeps order, counts and the limit of the receiver") {
  Diagnostics all(2);
  Diagnostics part(2);
  all.error(diag::kUnexpectedToken, {1, 1}, "a");
  part.warning(diag::kTrailingText, {1, 1}, "w");
  part.error(diag::kUnexpectedToken, {1, 1}, "b").hint = "try";
  part.error(diag::kUnexpectedToken, {1, 1}, "c");
  part.error(diag::kUnexpectedToken, {1, 1}, "d");
  all.append(std::move(part));
  CHECK(messages(all) == "a w b ");
  CHECK(all.sorted()[2].hint == "try");
  CHECK(all.error_count() == 4);
  CHECK(all.dropped_error_count() == 2);
  CHECK(all.warning_count() == 1);
}

TEST_CASE("every code that a header declares is in the catalogue") {
  const std::regex row("CODE\\(([0-9]+), (k[A-Za-z0-9]+),");
  std::size_t declared = 0;
  for (const auto& header :
       std::filesystem::directory_iterator(mir::test::kRoot / "include/mir/codes")) {
    const std::string text = mir::test::read_whole(header.path());
    for (std::sregex_iterator each(text.begin(), text.end(), row), end; each != end; ++each) {
      CAPTURE(each->str());
      const DiagCode code{static_cast<std::uint16_t>(std::stoi((*each)[1]))};
      CHECK(mir::diagnostic_info(code).name == (*each)[2].str());
      ++declared;
    }
  }
  CHECK(declared == mir::diagnostic_codes().size());
}

TEST_CASE("every code has its row and its spelling") {
  for (const auto& row : mir::diagnostic_codes()) {
    CAPTURE(row.name);
    CHECK(&mir::diagnostic_info(row.code) == &row);
    CHECK(row.name.starts_with('k'));
    CHECK_FALSE(row.summary.empty());
    CHECK(mir::spelling(row.code).size() == 7);
  }
  CHECK(mir::spelling(diag::kUnexpectedToken) == "MIR0201");
  CHECK(mir::diagnostic_info(diag::kUnexpectedToken).name == "kUnexpectedToken");
  CHECK(mir::diagnostic_info(DiagCode{}).name.empty());
  CHECK(mir::diagnostic_info(DiagCode{65535}).name.empty());
}
