#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "mir/diagnostic.hpp"

using mir::LineColumn;
using mir::SourceFile;
using mir::SourceManager;

namespace {

/// The same answers as SourceFile, one byte after another.
LineColumn counted(std::string_view text, std::size_t offset) {
  LineColumn at{1, 1};
  for (const char byte : text.substr(0, offset)) {
    if (byte == '\n') {
      at = {at.line + 1, 1};
    } else if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) {
      ++at.column;
    }
  }
  return at;
}

}  // namespace

TEST_CASE("lines end in LF or CRLF and a lone CR belongs to its line") {
  const SourceFile file("f", "a\nbc\r\n\nd\re\n", 1);
  CHECK(file.line(1) == "a");
  CHECK(file.line(2) == "bc");
  CHECK(file.line(3) == "");
  CHECK(file.line(4) == "d\re");
  CHECK(file.line(5) == "");
}

TEST_CASE("a text that is taken out of its manager is not copied") {
  SourceManager sources;
  const SourceFile& first = *sources.add("a", "x");
  const SourceFile& second = *sources.add("b", std::string(100, 'y'));
  const char* const begin = second.text().data();
  const std::string taken = sources.take_text(second);
  CHECK(taken == std::string(100, 'y'));
  CHECK(taken.data() == begin);
  CHECK(first.text() == "x");
  CHECK(sources.take_text(first) == "x");
}

TEST_CASE("a line that does not exist is empty") {
  const SourceFile file("f", "abc", 1);
  CHECK(file.line(0) == "");
  CHECK(file.line(2) == "");
  CHECK(file.line(0xFFFFFFFF) == "");
  CHECK(SourceFile("e", "", 1).line(1) == "");
}

TEST_CASE("columns count code points") {
  const SourceFile file("f", "x\n\xE4\xB8\xAD\xF0\x9F\x98\x80 z", 10);
  CHECK(file.line_column(10).line == 1);
  CHECK(file.line_column(12).line == 2);
  CHECK(file.line_column(12).column == 1);
  CHECK(file.line_column(15).column == 2);
  CHECK(file.line_column(19).column == 3);
  CHECK(file.line_column(20).column == 4);
  CHECK(file.offset_in_line(20) == 8);
}

TEST_CASE("every position of a text with short and very long lines is where counting says") {
  std::string text;
  for (std::size_t length : {0, 1, 1022, 1023, 1024, 1025, 5000, 0, 0, 3}) {
    for (std::size_t i = 0; i < length; ++i) text += i % 7 == 3 ? "\xC3\xA4" : "x";
    text += '\n';
  }
  const SourceFile file("f", text, 1);
  for (std::uint32_t offset = 0; offset <= text.size(); ++offset) {
    const LineColumn expected = counted(text, offset);
    const LineColumn found = file.line_column(1 + offset);
    CAPTURE(offset);
    REQUIRE(found.line == expected.line);
    REQUIRE(found.column == expected.column);
    const auto newline = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
    const auto start = newline == std::string::npos ? 0 : newline + 1;
    REQUIRE(file.offset_in_line(1 + offset) == offset - start);
    const auto end = std::min(text.find('\n', start), text.size());
    REQUIRE(file.line(found.line) == text.substr(start, end - start));
  }
}

TEST_CASE("texts follow each other and each owns the position after its last byte") {
  SourceManager sources;
  const SourceFile* first = sources.add("first", "abc");
  const SourceFile* empty = sources.add("empty", "");
  const SourceFile* last = sources.add("last", "de");
  CHECK(first->base() == 1);
  CHECK(sources.file_of(0) == nullptr);
  CHECK(sources.file_of(1) == first);
  CHECK(sources.file_of(4) == first);
  CHECK(sources.file_of(5) == empty);
  CHECK(sources.file_of(6) == last);
  CHECK(sources.file_of(8) == last);
  CHECK(sources.file_of(9) == nullptr);
  CHECK(last->slice({7, 8}) == "e");
  CHECK(last->position_of(last->text().data() + 1) == 7);
}

TEST_CASE("threads may ask one text for lines at the same time") {
  const SourceFile file("f", std::string(10'000, '\n'), 1);
  std::vector<std::uint32_t> lines(4);
  std::vector<std::thread> threads;
  for (std::uint32_t& line : lines) {
    threads.emplace_back([&] { line = file.line_column(5001).line; });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(lines == std::vector<std::uint32_t>(4, 5001));
}

TEST_CASE("a part of a file counts its lines from its place in the file") {
  const SourceFile file("f", "a\nbc\n", 1, 40);
  CHECK(file.first_line() == 40);
  CHECK(file.line_column(1).line == 40);
  CHECK(file.line_column(4).line == 41);
  CHECK(file.line_column(4).column == 2);
  CHECK(file.line(39) == "");
  CHECK(file.line(40) == "a");
  CHECK(file.line(41) == "bc");
  CHECK(file.line(42) == "");
  CHECK(file.offset_in_line(4) == 1);
}
