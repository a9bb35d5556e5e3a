// Reading what was printed gives the same module.
#include <fstream>
#include <iterator>

#include "../ir/isomorphic.hpp"
#include "../ir/random_module.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "../syntax/corpus.hpp"

using namespace mir;
using mir::test::corpus;
using mir::test::Isomorphism;
using mir::test::RandomModule;
using mir::test::Reading;

namespace round_trip_test {

namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What goes wrong when `text` is read and compared with `module`; empty: nothing.
std::string reread(const Module& module, const std::string& text) {
  Reading again(text);
  for (const std::string& error : again.errors()) return error;
  if (again.modules.size() != 1) return "not one module";
  return Isomorphism(module, *again.modules.front()).difference();
}

}  // namespace

TEST_SUITE("round trip") {
  TEST_CASE("every dump reads back from its print as the same modules, and prints the same again") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (mir::test::is_ambiguous(path)) continue;
      Reading first(file_text(path));
      REQUIRE(first.errors() == std::vector<std::string>{});
      REQUIRE_FALSE(first.modules.empty());
      const std::string text = print(first.context);
      Reading second(text);
      REQUIRE(second.errors() == std::vector<std::string>{});
      REQUIRE(second.modules.size() == first.modules.size());
      for (std::size_t i = 0; i < first.modules.size(); ++i) {
        CHECK(Isomorphism(*first.modules[i], *second.modules[i]).difference() == "");
      }
      CHECK(print(second.context) == text);
    }
  }

  TEST_CASE("modules of any shape read back from their print") {
    for (const bool portable : {false, true}) {
      for (const std::uint64_t seed : test::seeds_of(1500)) {
        IRContext context;
        register_builtin_dialects(context);
        const Module& module = RandomModule(context, seed, portable).module();
        const std::string text = print(module);
        CAPTURE(portable);
        CAPTURE(seed);
        CAPTURE(text);
        REQUIRE(print(module) == text);
        REQUIRE(reread(module, text) == "");
      }
    }
  }

  TEST_CASE("modules that differ in one place are told apart") {
    const std::string text =
        "@main () -> () {\n"
        "    a.b [k:1] (%0:tensor<[2], F, D>, %1:tensor<[2], F, D>) -> (%2:tensor<[2], F, D>)\n"
        "    a.c (%2:tensor<[2], F, D>, %0:tensor<[2], F, D>) -> () {\n"
        "    ^x(%3:tensor<[2], F, D>):\n"
        "        a.d (%3:tensor<[2], F, D>) -> ()\n"
        "    }\n"
        "}\n";
    Reading reading(text);
    CHECK(reread(reading.module(), text) == "");
    const auto changed = [&](std::string_view from, std::string_view to) {
      std::string other = text;
      other.replace(other.find(from), from.size(), to);
      return reread(reading.module(), other);
    };
    CHECK(changed("main", "other") != "");
    CHECK(changed("k:1", "k:2") != "");
    CHECK(changed("k:1", "k:1.0") != "");
    CHECK(changed("k:1", "l:1") != "");
    CHECK(changed("a.b", "a.e") != "");
    CHECK(changed("(%2:tensor<[2], F, D>, %0", "(%0:tensor<[2], F, D>, %2") != "");
    CHECK(changed("(%2:tensor<[2], F, D>, %0", "(%2:tensor<[2], F, D>, %1") != "");
    CHECK(changed("(%2:tensor<[2]", "(%2:tensor<[3]") != "");
    CHECK(changed("a.d (%3", "a.d (%2") != "");
    CHECK(changed("^x", "^y") != "");
    CHECK(changed("a.d (%3:tensor<[2], F, D>) -> ()", "") != "");
  }
}

}  // namespace round_trip_test
