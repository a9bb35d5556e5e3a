#include "support/strict_json.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "mir/codes/usage.hpp"

using namespace mir;

namespace {

/// The message that refuses a text, or "".
std::string problem(std::string_view text, std::size_t max_depth = 3, std::size_t max_bytes = 100) {
  const auto document = parse_strict_json(
      text, {.max_bytes = max_bytes, .max_depth = max_depth, .malformed = diag::kUsage});
  if (document) return "";
  CHECK(document.error().code == diag::kUsage);
  return document.error().message;
}

}  // namespace

TEST_CASE("a document has the most bytes and the deepest nesting of its rules") {
  CHECK(problem("[1]", 3, 3) == "");
  CHECK(problem("[1] ", 3, 3) == "4 bytes, at most 3 are read");
  CHECK(problem("[[[]]]") == "");
  CHECK(problem("[[[1],[2],[3]],{\"a\":{}}]") == "");
  CHECK(problem("[[[[]]]]") == "nested over 3 deep");
  CHECK(problem("[[[{}]]]") == "nested over 3 deep");
  CHECK(problem("1", 0) == "");
  CHECK(problem("[]", 0) == "nested over 0 deep");
}

TEST_CASE("brackets in strings nest nothing") {
  CHECK(problem(R"(["[[[[", "{{{{"])") == "");
  CHECK(problem(R"(["\"[[[["])") == "");
  CHECK(problem(R"(["\\", [[[]]]])") == "nested over 3 deep");
  CHECK(problem(R"(["]]]]", [[[]]]])") == "nested over 3 deep");
}

TEST_CASE("a key occurs once in its object") {
  const std::string twice = "a key occurs twice in an object";
  CHECK(problem(R"({"a":1,"b":2})") == "");
  CHECK(problem(R"({"a":1,"a":2})") == twice);
  CHECK(problem(R"({"a":1,"\u0061":2})") == twice);
  CHECK(problem(R"({"a":{"a":{"a":1}}})") == "");
  CHECK(problem(R"([{"a":1},{"a":1}])") == "");
  CHECK(problem(R"({"a":{"b":1},"c":{"b":1}})") == "");
  CHECK(problem(R"({"a":{"b":1},"a":1})") == twice);
  CHECK(problem(R"({"a":{"b":1,"b":1}})") == twice);
  CHECK(problem(R"({"a":1,"a":1,"b":1})") == twice);
}

TEST_CASE("what is no JSON is refused") {
  for (const char* text : {"", "[", "]", "[1,]", "{\"a\"}", "1 2", "nul", "'a'", "\"\xff\""}) {
    CAPTURE(text);
    CHECK(problem(text) == "it is not JSON");
  }
  CHECK(problem(std::string_view("[1]\0", 4)) == "it has a NUL byte");
}
