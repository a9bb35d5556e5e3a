#include "mir/interner.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using mir::StringInterner;
using mir::Symbol;

TEST_CASE("equal text has one handle and other text another") {
  StringInterner strings;
  std::string name = "model.layers.0";
  const Symbol first = strings.intern(name);
  name.back() = '1';
  const Symbol second = strings.intern(name);
  CHECK(first != second);
  CHECK(strings.intern("model.layers.0") == first);
  CHECK(strings.text(first) == "model.layers.0");
  CHECK(strings.text(second) == "model.layers.1");
}

TEST_CASE("handle 0 is the empty string") {
  StringInterner strings;
  CHECK(strings.intern("") == Symbol{});
  CHECK(strings.intern(std::string_view()) == Symbol{});
  CHECK(strings.text(Symbol{}).empty());
  CHECK_FALSE(Symbol{});
}

TEST_CASE("find neither adds a string nor invents a handle") {
  StringInterner strings;
  CHECK(strings.find("x") == Symbol{});
  CHECK(strings.find("") == Symbol{});
  const Symbol x = strings.intern("x");
  CHECK(x.id == 1);
  CHECK(strings.find("x") == x);
  CHECK(strings.find("y") == Symbol{});
}

TEST_CASE("text may hold any byte and any length") {
  StringInterner strings;
  using namespace std::string_view_literals;
  const Symbol with_nul = strings.intern("a\0b"sv);
  CHECK(with_nul != strings.intern("a"));
  CHECK(strings.text(with_nul) == "a\0b"sv);
  const std::string megabytes(std::size_t{5} << 20, 'x');
  CHECK(strings.text(strings.intern(megabytes)) == megabytes);
}

TEST_CASE("handles are dense and survive growth") {
  StringInterner strings;
  constexpr std::uint32_t kCount = 100'000;
  const char* first_text = strings.text(strings.intern("0")).data();
  for (std::uint32_t i = 0; i < kCount; ++i) {
    REQUIRE(strings.intern(std::to_string(i)).id == i + 1);
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    REQUIRE(strings.text(Symbol{i + 1}) == std::to_string(i));
    REQUIRE(strings.find(std::to_string(i)).id == i + 1);
  }
  CHECK(strings.text(Symbol{1}).data() == first_text);
}

TEST_CASE("threads that intern the same strings agree on every handle") {
  StringInterner strings;
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kCount = 20'000;
  std::vector<std::vector<Symbol>> seen(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&strings, &mine = seen[t]] {
      for (std::size_t i = 0; i < kCount; ++i) {
        const std::string text = "name" + std::to_string(i);
        mine.push_back(strings.intern(text));
        if (strings.text(mine.back()) != text) mine.back() = {};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 1; t < kThreads; ++t) CHECK(seen[t] == seen[0]);
  CHECK(strings.intern("one more").id == kCount + 1);
}
