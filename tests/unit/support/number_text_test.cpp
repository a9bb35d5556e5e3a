#include "support/number_text.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace mir;

TEST_SUITE("numbers in text") {
  TEST_CASE("decimal numbers are the same without rounding, zeros with their sign") {
    const auto same = [](std::string_view a, std::string_view b) {
      return Decimal::read(a).value() == Decimal::read(b).value();
    };
    CHECK(same("0.5", "5e-1"));
    CHECK(same("0.50", ".5"));
    CHECK(same("-100", "-1E+2"));
    CHECK(same("0e5", "0.000"));
    CHECK_FALSE(same("0.0", "-0.0"));
    CHECK_FALSE(same("0.0", "1e-400"));
    CHECK_FALSE(same("9007199254740993.0", "9007199254740992.0"));
    for (const std::string_view text :
         {"inf", "nan", "", "-", ".", "e5", "1e", "1.2.3", "0x1", "+1"}) {
      CAPTURE(text);
      CHECK_FALSE(Decimal::read(text));
    }
  }

  TEST_CASE("decimal numbers are ordered by value") {
    const char* const ascending[] = {"-1e400", "-2",   "-1.5", "-1e-400", "-0.0", "1e-400",
                                     "0.1",    "0.12", "9",    "10",      "1e400"};
    for (std::size_t i = 0; i < std::size(ascending); ++i) {
      for (std::size_t k = 0; k < std::size(ascending); ++k) {
        CHECK(order_of(*Decimal::read(ascending[i]), *Decimal::read(ascending[k])) == (i <=> k));
      }
    }
    CHECK(order_of(*Decimal::read("0"), *Decimal::read("-0.0")) == 0);
  }

  TEST_CASE("a whole part is rounded toward zero") {
    CHECK(Decimal::read("-2.9")->whole_part() == 2);
    CHECK(Decimal::read("0.9")->whole_part() == 0);
    CHECK(Decimal::read("1.8446744073709551615e19")->whole_part() == ~std::uint64_t{0});
    CHECK_FALSE(Decimal::read("18446744073709551616")->whole_part());
    CHECK_FALSE(Decimal::read("1e99999999999999999999")->whole_part());
    CHECK(Decimal::read("3e2")->is_whole());
    CHECK_FALSE(Decimal::read("3e-2")->is_whole());
  }

  TEST_CASE("a number that no double is near is zero or infinite") {
    CHECK(read_number("1e-400") == 0.0);
    CHECK(std::signbit(*read_number("-1e-400")));
    CHECK(read_number("-1e400") == -HUGE_VAL);
    CHECK(read_number("1e-99999999999999999999") == 0.0);
    CHECK_FALSE(read_number("1x"));
  }
}
