#include "mir/format.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "../seeds.hpp"
#include "../stored_lines.hpp"
#include "corpus.hpp"
#include "formatted.hpp"
#include "respace.hpp"
#include "support/file_io.hpp"
#include "syntax/damage.hpp"
#include "syntax/layout.hpp"
#include "syntax/listing.hpp"

using namespace mir;
using mir::test::formatted;
using mir::test::Parsed;
using mir::test::without_space;

namespace {

/// What holds for every text that parses.
void check_format(const Parsed& parsed) {
  REQUIRE(parsed.tree);
  const std::string_view source = parsed.file.text();
  const std::string text = format(*parsed.tree);
  // Only white space changes.
  CHECK(without_space(text) == without_space(source));
  const Parsed again(text);
  REQUIRE_MESSAGE(again.tree, again.errors);
  CHECK(list_syntax(*again.tree) == list_syntax(*parsed.tree));
  // Formatting is a fixed point.
  CHECK(format(*again.tree) == text);
  CHECK(text != test::Part{" \n"});
  CHECK(text != test::Part{"\r"});
  CHECK(text.ends_with('\n'));
  CHECK_FALSE(text.ends_with("\n\n"));
  CHECK(exact_text(*parsed.tree) == source);
}

void check_respaced(const Parsed& parsed, std::uint32_t seed) {
  CAPTURE(seed);
  REQUIRE(parsed.tree);
  const std::string respaced = test::Respacer(seed)(*parsed.tree);
  const Parsed other(respaced);
  REQUIRE_MESSAGE(other.tree, other.errors);
  CHECK(format(*other.tree) == format(*parsed.tree));
}

/// The dumps that parse and are at most `limit` bytes long.
template <class Check>
void for_each_dump(std::uint64_t limit, Check check) {
  for (const std::string& path : test::corpus()) {
    if (std::filesystem::file_size(path) > limit) continue;
    CAPTURE(path);
    auto text = read_file(path, limit);
    REQUIRE(text);
    const Parsed parsed(std::move(*text));
    if (parsed.tree) check(parsed);
  }
}

}  // namespace

TEST_CASE("formatting every construct changes white space only and is a fixed point") {
  check_format(Parsed(std::string(test::kEveryConstruct)));
}

TEST_CASE("the tokens and the tree of every construct are those stored") {
  const Parsed parsed{std::string(test::kEveryConstruct)};
  REQUIRE(parsed.tree);
  std::vector<std::string> found;
  std::istringstream lists(list_tokens(*parsed.tree) + list_syntax(*parsed.tree));
  for (std::string line; std::getline(lists, line);) found.push_back(line);
  REQUIRE(found.size() > 500);
  CHECK(found == test::stored_lines("testdata/unit/syntax/every_construct.txt", found));
}

TEST_CASE("a text is formatted without its tree as with it, and not if it has an error") {
  SourceManager sources;
  Diagnostics diagnostics;
  const SourceFile* file = sources.add("f", std::string(test::kEveryConstruct));
  std::size_t units = 0;
  const auto text = format(*file, diagnostics, [&](const Unit&) { ++units; });
  const auto tree = parse(*file, diagnostics);
  REQUIRE(tree);
  CHECK(text == format(*tree));
  CHECK(units == tree->units().size());
  CHECK_FALSE(format(*sources.add("g", "@m () -> () {\n a.b (\n}\n"), diagnostics));
  CHECK(diagnostics.error_count() == 1);
}

TEST_CASE("the spacing of the source decides nothing") {
  const Parsed parsed{std::string(test::kEveryConstruct)};
  for (std::uint32_t seed = 0; seed < test::seed_count(200); ++seed) check_respaced(parsed, seed);
}

TEST_CASE("a byte order mark and carriage returns go") {
  CHECK(formatted("\xef\xbb\xbf@main () -> () {\r\n  prog.ret // c\r\n}\r\n") ==
        "@main () -> () {\n    prog.ret  // c\n}\n");
}

TEST_CASE("the exact text has every byte of the source") {
  const std::string text =
      "\xef\xbb\xbf  // c\r\n\n@main () -> () {\t\r\n\n prog.ret // d \n} \n\n ";
  const Parsed parsed(text);
  REQUIRE(parsed.tree);
  CHECK(exact_text(*parsed.tree) == text);
}

TEST_CASE("modules follow each other with nothing but a line end") {
  CHECK(formatted("@a () -> () {prog.ret}\n\n\n@b () -> () {prog.ret}") ==
        "@a () -> () {\n    prog.ret\n}\n@b () -> () {\n    prog.ret\n}\n");
}

// -- ranges of lines ------------------------------------------------------------------------------

namespace {

constexpr std::string_view kLoose =
    "@main () -> (){\n"            // 1
    "  x.y ( %0 ) -> ( ) {\n"      // 2
    "    a.b( %0 ) -> ()  // c\n"  // 3
    "\n"                           // 4
    " // own\n"                    // 5
    "    a.c( %0,\n"               // 6
    " %1 ) -> ()\n"                // 7
    "  }\n"                        // 8
    "  x.z {  }\n"                 // 9
    "}\n \n";                      // 10

std::string lines(std::uint32_t first, std::uint32_t last) {
  const Parsed parsed{std::string(kLoose)};
  REQUIRE(parsed.tree);
  return format_lines(*parsed.tree, first, last);
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kLoose);
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("formatted parts follow one another and are the formatted text") {
  constexpr int kCopies = 2000;
  constexpr std::size_t kPart = std::size_t{1} << 16;
  std::string text;
  for (int i = 0; i < kCopies; ++i) text += kLoose;
  const Parsed parsed(text);
  REQUIRE(parsed.tree);
  std::string all;
  std::size_t end = 0, parts = 0;
  format_in_parts(*parsed.tree, [&](const FormattedPart& each) {
    CHECK(each.begin == end);
    CHECK(each.text.size() < 2 * kPart);
    end = each.end;
    all += each.text;
    ++parts;
  });
  CHECK(end == text.size());
  CHECK(all == format(*parsed.tree));
  CHECK(parts >= text.size() / kPart);
}

TEST_CASE("only the lines asked for are formatted") {
  CHECK(lines(2, 2) == replaced("  x.y ( %0 ) -> ( ) {", "    x.y(%0) -> () {"));
  CHECK(lines(3, 3) == replaced("    a.b( %0 ) -> ()", "        a.b(%0) -> ()"));
  CHECK(lines(7, 7) == replaced("\n // own\n    a.c( %0,\n %1 ) -> ()",
                                "        // own\n        a.c(%0, %1) -> ()"));
  CHECK(lines(8, 8) == replaced("  }\n  x", "    }\n  x"));
  CHECK(lines(9, 9) == replaced("  x.z {  }", "    x.z {\n\n    }"));
}

TEST_CASE("lines that hold nothing change nothing and all lines change all") {
  CHECK(lines(11, 99) == kLoose);
  CHECK(lines(1, 99) == formatted(std::string(kLoose)));
}

TEST_CASE("a splice of lines covers what is formatted and the blanks before it") {
  const Parsed parsed{std::string(kLoose)};
  REQUIRE(parsed.tree);
  const std::string_view rest = kLoose;
  const TextSplice third = format_lines_splice(*parsed.tree, 3, 3);
  CHECK(third.begin == rest.find("\n    a.b"));
  CHECK(third.end == rest.find("  // c"));
  CHECK(third.text == "\n        a.b(%0) -> ()");
  const TextSplice last = format_lines_splice(*parsed.tree, 10, 10);
  CHECK(last.begin == rest.find("\n}\n \n"));
  CHECK(last.end == rest.size());
  CHECK(last.text == "\n}\n");
  const TextSplice none = format_lines_splice(*parsed.tree, 11, 99);
  CHECK(none.begin == none.end);
  CHECK(none.text.empty());
}

TEST_CASE("layout keeps ops that cannot be read") {
  constexpr std::string_view kDamaged = "@m () -> () {\n a.b( %0 ) -> ()\n a.c ( ( x\n a.d\n}\n";
  SourceManager sources;
  Diagnostics found;
  const SyntaxTree tree = parse_damaged(*sources.add("x.mir", std::string(kDamaged)), found);
  REQUIRE(found.has_errors());
  CHECK(format(tree) == "@m () -> () {\n    a.b(%0) -> ()\n    a.c ( ( x\n    a.d\n}\n");
  CHECK(format_lines(tree, 3, 3) == "@m () -> () {\n a.b( %0 ) -> ()\n    a.c ( ( x\n a.d\n}\n");
}

TEST_CASE("a range of lines may begin inside an operation") {
  const Parsed parsed("@m () -> () {\n  a.b(%0, // c\n // own\n  %1) -> ()\n  a.c\n}\n");
  REQUIRE(parsed.tree);
  CHECK(format_lines(*parsed.tree, 4, 4) ==
        "@m () -> () {\n    a.b(%0,  // c\n            // own\n            %1) -> ()\n  a.c\n}\n");
}

TEST_CASE("formatting line by line in any order gives the whole") {
  std::string text(kLoose);
  for (const std::uint32_t line : {9u, 3u, 1u, 6u, 8u, 2u, 5u, 4u}) {
    const Parsed parsed(text);
    REQUIRE(parsed.tree);
    text = format_lines(*parsed.tree, line, line);
  }
  CHECK(formatted(text) == formatted(std::string(kLoose)));
  CHECK(without_space(text) == without_space(kLoose));
}

// -- real dumps -----------------------------------------------------------------------------------

TEST_CASE("formatting a dump changes white space only and is a fixed point" *
          doctest::skip(test::corpus().empty())) {
  for_each_dump(std::uint64_t{1} << 24, check_format);
}

TEST_CASE("the spacing of a dump decides nothing" * doctest::skip(test::corpus().empty())) {
  std::uint32_t seed = 0;
  for_each_dump(200'000, [&](const Parsed& parsed) { check_respaced(parsed, ++seed); });
}
