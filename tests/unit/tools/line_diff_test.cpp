#include "line_diff.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <random>
#include <vector>

using mir::tools::unified_diff;

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// What `diff` makes of `before`; it must fit.
std::string applied(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old_lines = split(before);
  const std::vector<std::string> diff_lines = split(diff);
  std::size_t at = 0;
  std::string result;
  for (std::size_t i = 2; i < diff_lines.size(); ++i) {
    std::string line = diff_lines[i];
    const char mark = line[0];
    if (mark == '@') {
      std::size_t first = 0;
      std::size_t count = 0;
      const auto number = std::from_chars(line.data() + 4, line.data() + line.size(), first);
      std::from_chars(number.ptr + 1, line.data() + line.size(), count);
      for (const std::size_t until = count == 0 ? first : first - 1; at < until; ++at)
        result += old_lines[at];
      continue;
    }
    if (i + 1 < diff_lines.size() && diff_lines[i + 1].starts_with('\\')) line.pop_back();
    if (mark == '\\') continue;
    if (mark != '+') {
      REQUIRE(at < old_lines.size());
      REQUIRE(old_lines[at] == line.substr(1));
      ++at;
    }
    if (mark != '-') result += line.substr(1);
  }
  for (; at < old_lines.size(); ++at) result += old_lines[at];
  return result;
}

std::string random_text(std::mt19937& random, std::size_t lines, std::uint32_t alphabet) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += std::to_string(random() % alphabet) + "\n";
  return text;
}

}  // namespace

TEST_CASE("equal texts have no difference") {
  CHECK(unified_diff("a\nb\n", "a\nb\n", "x", "y", false).empty());
  CHECK(unified_diff("", "", "x", "y", false).empty());
}

TEST_CASE("a difference is shown with three lines of context") {
  CHECK(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "x", "y",
                     false) ==
        "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("differences far apart have hunks of their own") {
  const std::string middle = "2\n3\n4\n5\n6\n7\n8\n9\n";
  CHECK(unified_diff("a\n" + middle + "b\n", "A\n" + middle + "B\n", "x", "y", false) ==
        "--- x\n+++ y\n@@ -1,4 +1,4 @@\n-a\n+A\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-b\n+B\n");
}

TEST_CASE("a missing line end is a difference") {
  CHECK(unified_diff("a\n", "a", "x", "y", false) ==
        "--- x\n+++ y\n@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n");
  CHECK(unified_diff("", "a\n", "x", "y", false) == "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n");
}

TEST_CASE("colours enclose lines without their ends") {
  CHECK(unified_diff("a\n", "b\n", "x", "y", true) ==
        "\x1b[1m--- x\x1b[0m\n\x1b[1m+++ y\x1b[0m\n\x1b[36m@@ -1,1 +1,1 @@\x1b[0m\n"
        "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n");
}

TEST_CASE("applying a difference gives the other text, whatever the two are") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t lines = seed % 50 == 0 ? 3000 : random() % 60;
    const std::uint32_t alphabet = 1 + static_cast<std::uint32_t>(random() % 40);
    std::string before = random_text(random, lines, alphabet);
    std::string after = random_text(random, lines + random() % 5, alphabet);
    if (seed % 3 == 0) after = before + after;
    if (seed % 5 == 0 && !after.empty()) after.pop_back();
    if (seed % 7 == 0 && !before.empty()) before.pop_back();
    CHECK(applied(before, unified_diff(before, after, "x", "y", false)) == after);
  }
}
