// Places in JSON documents.
#include "support/json_offset.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mir;

TEST_CASE("an object or array of a JSON document is found by its pointer") {
  const std::string text = R"({"a":[1, {"b":2}, [true, {}]], "c":{"a":["x", {"d":null}]}})";
  const auto at = [&](const char* pointer) {
    const auto offset = json_offset(text, pointer);
    return offset ? text.substr(*offset, 6) : std::string("none");
  };
  CHECK(at("/a") == "[1, {\"");
  CHECK(at("/a/1") == "{\"b\":2");
  CHECK(at("/a/2/1") == "{}]], ");
  CHECK(at("/c/a/1") == "{\"d\":n");
  CHECK(at("/a/0") == "none");
  CHECK(at("/d") == "none");
  CHECK(json_offset(text, "") == 0);
}

TEST_CASE("the first error of a text that is not JSON is found by a pointer that nothing has") {
  CHECK(json_offset(R"({"a":[1,,2]})", "none") == 8);
  CHECK(json_offset("", "none").has_value());
  CHECK_FALSE(json_offset("[1]", "none"));
  CHECK(json_offset(std::string(100000, '['), "none") == 100000);
}
