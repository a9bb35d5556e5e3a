#include "lsp/message.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

using mir::lsp::parse_message;
using Json = nlohmann::json;

namespace {

constexpr std::size_t kLong = 100'000;

/// A body with a string that is long because of what is repeated in it, as JSON text.
std::string body_with(const std::string& repeated, const std::string& once = "") {
  std::string text = once;
  while (text.size() < kLong) text += repeated;
  return R"({"a":["x\"\\",1.5,{"k\"":"v"}], "text" : ")" + text + R"(" ,"b":null,"c":""})";
}

bool parses_alike(const std::string& body) {
  const Json expected = Json::parse(body, nullptr, false);
  const Json found = parse_message(body);
  return expected.is_discarded() ? found.is_discarded() : found == expected;
}

}  // namespace

TEST_SUITE("messages") {
  TEST_CASE("a long string is the one that the parser of JSON reads") {
    for (const std::string repeated : {"plain ", R"(line\n)", R"(\\)", R"(\"quoted\" )", "\u00e4 ",
                                       R"(\u00e4\ud83d\ude00 \ud83d\ude00)", R"(\/\b\f\r\t)"}) {
      CAPTURE(repeated);
      CHECK(parses_alike(body_with(repeated)));
      CHECK(parse_message(body_with(repeated)).at("text").get_ref<const std::string&>().size() > 0);
    }
  }

  TEST_CASE("a long string that is not well-formed makes the body no JSON") {
    for (const std::string once : {R"(\x)", R"(\ud83d)", R"(\u12)", "\n", "\xff", R"(\ud83dx)"}) {
      CAPTURE(once);
      CHECK(parse_message(body_with("plain ", once)).is_discarded());
      CHECK(parses_alike(body_with("plain ", once)));
    }
  }

  TEST_CASE("what is around a long string decides as well") {
    const std::string body = body_with("plain ");
    CHECK(parses_alike(body + "}"));
    CHECK(parses_alike(body.substr(0, body.size() - 1)));
    CHECK(parses_alike(body.substr(0, body.size() / 2)));
    const std::string text(kLong, 't');
    CHECK(parses_alike('"' + text + '"'));
    CHECK(parses_alike("{\"" + text + "\" : 1}"));
    CHECK(parses_alike("[\"" + text + "\",\"" + text + "t\",\"" + text + "\"]"));
  }

  TEST_CASE("a long string takes the memory of the body") {
    std::string body = body_with(R"(line\n)");
    const char* const memory = body.data();
    const Json message = parse_message(std::move(body));
    CHECK(message.at("text").get_ref<const std::string&>().data() == memory);
  }
}
