// Long lines of canonical text, broken at lists.
#include "syntax/wrap_lines.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "mir/format.hpp"
#include "mir/parse.hpp"

using namespace mir;

namespace wrap_lines_test {

namespace {

/// The canonical text; none if it cannot be parsed.
std::optional<std::string> canonical(std::string text) {
  SourceManager sources;
  const SourceFile* file = sources.add("test.mir", std::move(text));
  Diagnostics diagnostics;
  if (file == nullptr) return std::nullopt;
  const auto tree = parse(*file, diagnostics);
  if (!tree || diagnostics.has_errors()) return std::nullopt;
  return format(*tree);
}

std::string wrapped(const std::string& text, std::uint32_t columns) {
  SourceManager sources;
  return wrap_lines(*sources.add("test.mir", text), columns);
}

}  // namespace

TEST_SUITE("wrapped lines") {
  TEST_CASE("a line breaks before an unquoted text and not behind it") {
    CHECK(wrapped("@m () -> () {\n    a.b [x:1, word:a b c, y:2, z:3] () -> ()\n}\n", 16) ==
          "@m () -> () {\n"
          "    a.b [x:1,\n"
          "            word:a b c, y:2,\n"
          "            z:3] ()\n"
          "            -> ()\n"
          "}\n");
  }

  TEST_CASE("lists break behind commas and before the arrow, eight blanks deeper") {
    CHECK(wrapped("@main () -> () {\n"
                  "    a.b (%first, %second, %third) -> (%fourth)[key:[10, 20, 30], other:1]\n"
                  "}\n",
                  40) ==
          "@main () -> () {\n"
          "    a.b (%first, %second, %third)\n"
          "            -> (%fourth)[key:[10, 20,\n"
          "            30], other:1]\n"
          "}\n");
  }

  TEST_CASE("a comma behind an unquoted text is no place to break") {
    const std::string text =
        "@main () -> () {\n"
        "    some.CPU.op() -> ()[key:some unquoted text that is long, other:and another one]\n"
        "}\n";
    CHECK(wrapped(text, 24) ==
          "@main () -> () {\n"
          "    some.CPU.op()\n"
          "            -> ()[key:some unquoted text that is long, other:and another one]\n"
          "}\n");
    CHECK(canonical(wrapped(text, 24)) == text);
  }

  TEST_CASE("characters count, not bytes, and a comment stays at the end") {
    const std::string text = "@main () -> () {\n    a.b (%x, %y)[k:\"äöüäöü\"] -> ()  // äöü\n}\n";
    CHECK(wrapped(text, 47) == text);
  }

  TEST_CASE("formatting a wrapped text gives the canonical text again") {
    std::size_t broken = 0;
    const std::filesystem::path root = MIR_SOURCE_ROOT "/testdata";
    for (const auto& each : std::filesystem::recursive_directory_iterator(root)) {
      if (each.path().extension() != ".mir") continue;
      CAPTURE(each.path().string());
      std::ifstream in(each.path(), std::ios::binary);
      const auto text = canonical({std::istreambuf_iterator<char>(in), {}});
      if (!text || text->size() > 200'000) continue;
      for (const std::uint32_t columns : {20u, 60u, 100u}) {
        const std::string narrow = wrapped(*text, columns);
        broken += narrow != *text ? 1 : 0;
        CHECK(canonical(narrow) == *text);
      }
    }
    CHECK(broken > 50);
  }
}

}  // namespace wrap_lines_test
