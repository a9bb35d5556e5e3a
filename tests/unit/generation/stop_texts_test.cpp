// Stop texts across pieces.
#include "generation/stop_texts.hpp"

#include <doctest/doctest.h>

#include <random>

namespace stop_texts_test {
namespace {

using mir::generation::StopTexts;

TEST_CASE("text before the first stop text is returned, however it is cut") {
  const std::string text = "one two end three ene end";
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    StopTexts stops({"three", "end t", ""});
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 5;
      shown += stops.add(text.substr(at, size));
      at += size;
    }
    CHECK(stops.is_found());
    CHECK(shown == "one two ");
    CHECK(stops.finish().empty());
  }
}

TEST_CASE("text that could begin a stop text is held back until it cannot") {
  StopTexts stops({"<end>"});
  CHECK(stops.add("a<e") == "a");
  CHECK(stops.add("n") == "");
  CHECK(stops.add("x<") == "<enx");
  CHECK(stops.finish() == "<");
  CHECK_FALSE(stops.is_found());
}

}  // namespace
}  // namespace stop_texts_test
