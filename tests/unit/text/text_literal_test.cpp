#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "mir/context.hpp"
#include "mir/parse.hpp"

using namespace mir;

namespace {

/// What a quoted text means; "<none>" where it is malformed.
std::string meaning(std::string_view quoted) {
  IRContext context;
  const Attr* value = context.scalar(AttrKind::kString, quoted);
  return value == nullptr ? "<none>" : std::string(value->text());
}

double value_of(std::string_view text) {
  IRContext context;
  const Attr* value = context.scalar(AttrKind::kFloat, text);
  REQUIRE(value != nullptr);
  return value->number();
}

}  // namespace

TEST_SUITE("text literals") {
  TEST_CASE("a quoted text means its JSON value") {
    CHECK(meaning("\"\"") == "");
    CHECK(meaning("\"a b\"") == "a b");
    CHECK(meaning(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
    CHECK(meaning(R"("\u0041\u00b5\u20ac")") == "A\xc2\xb5\xe2\x82\xac");
    CHECK(meaning(R"("\u007f\u0080")") == "\x7f\xc2\x80");
    CHECK(meaning(R"("\u07ff\u0800")") == "\xdf\xbf\xe0\xa0\x80");
    CHECK(meaning(R"("\uffff\ud800\udc00")") == "\xef\xbf\xbf\xf0\x90\x80\x80");
    CHECK(meaning(R"("\ud83d\ude00")") == "\xf0\x9f\x98\x80");
    CHECK(meaning(R"("\u0000")") == std::string(1, '\0'));
  }

  TEST_CASE("malformed escapes mean nothing") {
    for (const char* text :
         {R"("\q")", R"("\")", R"("\u12")", R"("\u12g4")", R"("\ud83d")", R"("\ude00")",
          R"("\ud83d\u0041")", R"("\ud83dx")", R"("\u+123")", R"("\u-123")", "\"a", "a\"", "\""}) {
      CAPTURE(text);
      if (text[0] != '"') continue;
      CHECK(meaning(text) == "<none>");
    }
  }

  TEST_CASE("every text survives quoting") {
    IRContext context;
    std::mt19937 engine(7);
    for (int i = 0; i < 500; ++i) {
      std::string text;
      for (auto n = engine() % 12; n != 0; --n) text += static_cast<char>(engine() % 128);
      CAPTURE(text);
      const Attr* attribute = context.string(text);
      CHECK(attribute->text() == text);
      CHECK(meaning(attribute->spelling()) == text);
      for (const char c : attribute->spelling()) CHECK(static_cast<unsigned char>(c) >= ' ');
    }
  }

  TEST_CASE("every number survives its text, and never looks like an integer") {
    IRContext context;
    std::mt19937_64 engine(7);
    for (int i = 0; i < 2000; ++i) {
      const auto bits = engine();
      double value;
      static_assert(sizeof value == sizeof bits);
      std::memcpy(&value, &bits, sizeof value);
      if (std::isnan(value)) continue;
      const std::string text(context.number(value)->spelling());
      CAPTURE(text);
      CHECK(value_of(text) == value);
      CHECK(text.find_first_of(".en") != text.npos);
    }
    CHECK(context.number(0)->spelling() == "0.0");
    CHECK(std::signbit(value_of(context.number(-0.0)->spelling())));
    CHECK(context.number(std::numeric_limits<double>::infinity())->spelling() == "inf");
    CHECK(std::isnan(value_of(context.number(std::nan(""))->spelling())));
  }

  TEST_CASE("numbers out of range saturate") {
    CHECK(value_of("1e400") == HUGE_VAL);
    CHECK(value_of("-1e400") == -HUGE_VAL);
    CHECK(value_of("1e-400") == 0);
    CHECK(std::signbit(value_of("-1e-400")));
    CHECK(value_of("-inf") == -HUGE_VAL);
    CHECK(value_of(std::string(400, '9') + ".0") == HUGE_VAL);
    CHECK(value_of("0." + std::string(400, '0') + "1") == 0);
    CHECK(value_of("0." + std::string(400, '0') + "1e+5") == 0);
    CHECK(value_of("0." + std::string(400, '0') + "1e+800") == HUGE_VAL);
  }

  TEST_CASE("a bare word is what reads back as a string everywhere") {
    for (const char* word :
         {"a", "_", "model.layers.0", "a/b-c", "SiLU", "e5", "infinite", "nano", "True"})
      CHECK(is_bare_word(word));
    for (const char* other : {"", "0a", "-a", ".a", "/a", "true", "false", "null", "inf", "nan",
                              "a b", "a//b", "a:b", "a,b", "a]", "\xc2\xb5", "a\"", "a$"}) {
      CAPTURE(other);
      CHECK_FALSE(is_bare_word(other));
    }
  }
}
