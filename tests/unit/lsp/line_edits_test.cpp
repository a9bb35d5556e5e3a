#include "lsp/line_edits.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <random>
#include <string>

using namespace mir;
using mir::lsp::line_edits;

namespace line_edits_test {

namespace {

/// The text after the edits, which are in order and do not overlap.
std::string applied(const std::string& old, const std::vector<TextSplice>& edits) {
  std::string text;
  std::size_t done = 0;
  for (const TextSplice& edit : edits) {
    REQUIRE(edit.begin >= done);
    REQUIRE(edit.end >= edit.begin);
    text += old.substr(done, edit.begin - done) + edit.text;
    done = edit.end;
  }
  return text + old.substr(done);
}

bool is_inside(const std::string& text, std::size_t at) {
  if (at == 0 || at >= text.size()) return false;
  return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80 ||
         (text[at] == '\n' && text[at - 1] == '\r');
}

}  // namespace

TEST_SUITE("lsp: edits of lines") {
  TEST_CASE("each place that changes has an edit of its own") {
    const auto edits = line_edits("a 1\nb\nc\n d\ne\n", "a 2\nb\nc\nd\nnew\ne\n");
    REQUIRE(edits.size() == 2);
    CHECK(edits[0].begin == 2);
    CHECK(edits[0].end == 3);
    CHECK(edits[0].text == "2");
    CHECK(applied("a 1\nb\nc\n d\ne\n", edits) == "a 2\nb\nc\nd\nnew\ne\n");
  }

  TEST_CASE("as many lines in place of others are changed line by line") {
    const auto edits = line_edits("  a\n  b\n  c\n", "a\nb\nc\n");
    REQUIRE(edits.size() == 3);
    for (const TextSplice& edit : edits) {
      CHECK(edit.end - edit.begin == 2);
      CHECK(edit.text.empty());
    }
  }

  TEST_CASE("edits make the new text, and cut neither characters nor line ends") {
    const std::string pieces[] = {"a", "b", "ä", "ö", "\U0001F600", "\n", "\r\n", " "};
    for (unsigned seed = 0; seed < 2000; ++seed) {
      CAPTURE(seed);
      std::mt19937 bits(seed);
      const auto piece = [&] { return pieces[bits() % std::size(pieces)]; };
      std::string old, now;
      for (auto i = bits() % 40; i > 0; --i) {
        const std::string next = piece();
        if (bits() % 8 != 0) old += next;
        if (bits() % 8 != 0) now += next;
      }
      const auto edits = line_edits(old, now);
      CHECK(applied(old, edits) == now);
      CHECK(edits.empty() == (old == now));
      for (const TextSplice& edit : edits) {
        CHECK_FALSE(is_inside(old, edit.begin));
        CHECK_FALSE(is_inside(old, edit.end));
      }
    }
  }
}

}  // namespace line_edits_test
