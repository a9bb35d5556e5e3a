// Texts of others on a terminal.
#include "support/terminal_text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace mir;

namespace {

const std::string kReplaced = "\xEF\xBF\xBD";

std::string utf8(char32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace

TEST_CASE("every code point is kept or escaped, and steps over it have its width") {
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x3200 || c > 0xF8F0 ? 1 : 0x1F) {
    if (c > 0x20100 && c < 0xE0000 - 0x100) c = 0xE0000 - 0x100;
    if (c > 0xE0100 && c < 0x10FFF0) c = 0x10FFF0;
    if (c >= 0xD800 && c <= 0xDFFF) c = 0xE000;
    const std::string text = utf8(c);
    std::string out;
    const std::uint32_t columns = append_visible(out, text);
    const std::string escaped = c < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                                         : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
    const bool is_control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    if (c == '\t') {
      REQUIRE(out == "    ");
    } else if (is_control) {
      REQUIRE(out == escaped);
    } else {
      const bool is_kept = out == text, is_escaped = out == escaped;
      REQUIRE((is_kept || is_escaped));
    }
    if (out != text) REQUIRE(columns == out.size());
    const TextStep forward = step_forward(text + "a", 0, columns);
    const TextStep back = step_back("a" + text, 1 + text.size(), columns);
    if (columns == 0 || columns * 8 < text.size()) continue;
    REQUIRE(forward.offset == text.size());
    REQUIRE(forward.columns == columns);
    REQUIRE(back.offset == 1);
    REQUIRE(back.columns == columns);
    REQUIRE(step_forward(text, 0, columns - 1).offset == 0);
  }
}

TEST_CASE("marks that hide or reorder text are escaped, their neighbours are kept") {
  const std::vector<std::pair<char32_t, char32_t>> ranges = {
      {0x61C, 0x61C},   {0x200B, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F},
      {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  for (const auto& range : ranges) {
    CAPTURE(range.first);
    for (char32_t c = range.first; c <= range.second; ++c) CHECK(visible(utf8(c)) != utf8(c));
    CHECK(visible(utf8(range.first - 1)) == utf8(range.first - 1));
    CHECK(visible(utf8(range.second + 1)) == utf8(range.second + 1));
  }
}

TEST_CASE("wide characters take two columns, combining ones none") {
  const auto columns = [](char32_t c) {
    std::string out;
    return append_visible(out, utf8(c));
  };
  for (const char32_t wide : {0x1100, 0x115F, 0x2E80, 0x3042, 0x4E2D, 0xAC00, 0xD7A3, 0xF900,
                              0xFF01, 0xFF60, 0xFFE0, 0x1F600, 0x1F923, 0x20000, 0x3FFFD}) {
    CAPTURE(wide);
    CHECK(columns(wide) == 2);
  }
  for (const char32_t none : {0x300, 0x36F, 0x20D0, 0x20FF, 0xFE00, 0xFE0F})
    CHECK(columns(none) == 0);
  for (const char32_t narrow : {0x2FF, 0x370, 0xE9, 0x10FF, 0x1160, 0xFF61, 0x1F650})
    CHECK(columns(narrow) == 1);
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
  const auto bytes = [](std::initializer_list<int> list) {
    std::string text;
    for (const int each : list) text += static_cast<char>(each);
    return text;
  };
  CHECK(visible(bytes({0x80})) == kReplaced);
  CHECK(visible(bytes({0xC1, 0xBF})) == kReplaced + kReplaced);  // overlong
  CHECK(visible(bytes({0xC2, 0x41})) == kReplaced + "A");        // cut short
  CHECK(visible(bytes({0xE0, 0x9F, 0xBF})) == kReplaced + kReplaced + kReplaced);
  CHECK(visible(bytes({0xE0, 0xA0, 0x80})) == bytes({0xE0, 0xA0, 0x80}));
  CHECK(visible(bytes({0xED, 0x9F, 0xBF})) == bytes({0xED, 0x9F, 0xBF}));
  CHECK(visible(bytes({0xED, 0xA0, 0x80})) == kReplaced + kReplaced + kReplaced);  // surrogates
  CHECK(visible(bytes({0xED, 0xBF, 0xBF})) == kReplaced + kReplaced + kReplaced);
  CHECK(visible(bytes({0xEE, 0x80, 0x80})) == bytes({0xEE, 0x80, 0x80}));
  CHECK(visible(bytes({0xF0, 0x8F, 0xBF, 0xBF})).size() == 4 * 3);
  CHECK(visible(bytes({0xF0, 0x90, 0x80, 0x80})) == bytes({0xF0, 0x90, 0x80, 0x80}));
  CHECK(visible(bytes({0xF4, 0x8F, 0xBF, 0xBF})) == bytes({0xF4, 0x8F, 0xBF, 0xBF}));
  CHECK(visible(bytes({0xF4, 0x90, 0x80, 0x80})).size() == 4 * 3);
  CHECK(visible(bytes({0xF5, 0x80, 0x80, 0x80})).size() == 4 * 3);
  CHECK(visible(bytes({0xE4, 0xB8})) == kReplaced + kReplaced);
  const std::string text = "a" + bytes({0x80});
  CHECK(step_back(text, 2, 1).offset == 1);
  CHECK(step_back(text, 2, 2).offset == 0);
}

TEST_CASE("lines keep their ends and tabs, and long texts are cut between code points") {
  CHECK(visible_lines("a\tb\nc\x1b\n") == "a\tb\nc\\x1b\n");
  CHECK(visible_lines("\n\n") == "\n\n");
  CHECK(visible("a\nb") == "a\\x0ab");
  const std::string most(2000, 'x');
  CHECK(clipped(most) == most);
  CHECK(clipped(most + "y") == most + "...");
  // No code point has more than four bytes.
  for (const std::size_t before : {1990, 1995, 1996, 1997, 1998, 1999, 2000}) {
    const std::string tails = std::string(before, 'x') + std::string(30, '\x80');
    CHECK(clipped(tails) == tails.substr(0, std::max<std::size_t>(before - 1, 1996)) + "...");
  }
  for (const char32_t wide : {0xE9, 0x4E2D, 0x1F600}) {
    const std::string c = utf8(wide);
    for (std::size_t before = 2000 - c.size(); before <= 2000; ++before) {
      const std::string start(before, 'x');
      const std::string expected = before + c.size() <= 2000 ? start + c : start;
      CHECK(clipped(start + c + "yyyyy") ==
            expected + std::string(before + c.size() < 2000 ? 2000 - before - c.size() : 0, 'y') +
                "...");
    }
  }
}

TEST_CASE("steps stay within their columns and eight bytes a column") {
  CHECK(step_forward("abc", 1, 1).offset == 2);
  CHECK(step_forward("abc", 1, 5).offset == 3);
  CHECK(step_forward("abc", 1, 5).columns == 2);
  CHECK(step_back("abc", 2, 1).offset == 1);
  CHECK(step_back("abc", 2, 5).columns == 2);
  CHECK(step_forward("a\tb", 0, 4).offset == 1);
  CHECK(step_forward("a\tb", 0, 5).offset == 2);
  CHECK(step_back("\tb", 2, 4).offset == 1);
  std::string marks = "a";
  for (int i = 0; i < 40; ++i) marks += utf8(0x300);
  CHECK(step_forward(marks, 0, 1).offset == 9);
  CHECK(step_back(marks, marks.size(), 1).offset == marks.size() - 8);
}
