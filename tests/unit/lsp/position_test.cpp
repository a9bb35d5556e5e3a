#include "lsp/position.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace mir::lsp;

namespace {
// A letter, one of two bytes, one of three, one beyond the basic plane.
const std::string kMixed = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\r\nb\rc\n";
}  // namespace

TEST_SUITE("positions") {
  TEST_CASE("columns count the units of each encoding") {
    const LineIndex lines(kMixed);
    CHECK(lines.line_count() == 4);
    const auto column = [&](PositionEncoding encoding) {
      return lines.position_of(kMixed, 10, encoding).column;  // of 'z'
    };
    CHECK(column(PositionEncoding::kUtf8) == 10);
    CHECK(column(PositionEncoding::kUtf16) == 5);
    CHECK(column(PositionEncoding::kUtf32) == 4);
  }

  TEST_CASE("each character's position leads back to it") {
    const LineIndex lines(kMixed);
    for (const auto encoding :
         {PositionEncoding::kUtf8, PositionEncoding::kUtf16, PositionEncoding::kUtf32}) {
      for (const std::uint32_t offset : {0u, 1u, 3u, 6u, 10u, 11u, 13u, 14u, 15u, 16u, 17u}) {
        CHECK(lines.offset_of(kMixed, lines.position_of(kMixed, offset, encoding), encoding) ==
              offset);
      }
    }
  }

  TEST_CASE("positions beyond a line, beyond the text and inside a character are moved to one") {
    const LineIndex lines(kMixed);
    const auto offset = [&](std::uint32_t line, std::uint32_t column) {
      return lines.offset_of(kMixed, {line, column}, PositionEncoding::kUtf16);
    };
    CHECK(offset(0, 100) == 11);  // before CR LF
    CHECK(offset(1, 9) == 14);    // before CR
    CHECK(offset(0, 4) == 6);     // between surrogates
    CHECK(offset(99, 0) == kMixed.size());
    CHECK(offset(0xffff'ffff, 0xffff'ffff) == kMixed.size());
  }

  TEST_CASE("an index that follows edits is that of the text from scratch") {
    std::mt19937 random(7);
    std::string text;
    LineIndex lines(text);
    constexpr std::string_view kParts[] = {"a", "\n", "\r", "\r\n", "bc", "\n\n", "\r\r", ""};
    for (int i = 0; i < 20000; ++i) {
      const auto begin = static_cast<std::uint32_t>(random() % (text.size() + 1));
      const auto end = static_cast<std::uint32_t>(
          begin + random() % (std::min<std::size_t>(text.size() - begin, 4) + 1));
      std::string put(kParts[random() % std::size(kParts)]);
      if (text.size() < 30) put += kParts[random() % std::size(kParts)];
      text.replace(begin, end - begin, put);
      lines.edit(text, begin, end, static_cast<std::uint32_t>(put.size()));
      const LineIndex scratch(text);
      REQUIRE(lines.line_count() == scratch.line_count());
      for (std::uint32_t line = 0; line < lines.line_count(); ++line) {
        REQUIRE(lines.line_start(line) == scratch.line_start(line));
      }
    }
  }
}
