// Names for types that a text repeats.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formatted.hpp"
#include "syntax/token_stream.hpp"

using namespace mir;
using mir::test::formatted;
using mir::test::Parsed;

namespace alias_types_test {

namespace {

struct Aliased {
  std::string text;
  std::vector<bool> changed;
};

Aliased aliased(const std::string& text, const std::vector<bool>& keeps_types = {}) {
  const Parsed parsed(text);
  REQUIRE_MESSAGE(parsed.tree, parsed.errors);
  TokenStream stream(*parsed.tree);
  Aliased result;
  result.changed = alias_types(stream, keeps_types);
  result.text = stream.print();
  return result;
}

const std::string kLong = "tensor<[1, 2, 3], Float32, CPU>", kOther = "tensor<[4], Float32, CPU>";

std::string module_of(const std::string& name, const std::string& ops) {
  return "@" + name + " () -> () {\n" + ops + "\n}\n";
}

}  // namespace

TEST_SUITE("aliases of types") {
  TEST_CASE("a type that is repeated gets a name before the first module") {
    const Aliased result =
        aliased(module_of("m", "a.b (%0:" + kLong + ", %1:" + kOther + ") -> (%2:" + kLong + ")"));
    CHECK(result.text == formatted("!t0 = " + kLong + "\n" +
                                   module_of("m", "a.b (%0:!t0, %1:" + kOther + ") -> (%2:!t0)")));
    CHECK(result.changed == std::vector{true});
  }

  TEST_CASE("each repeated type has a number of its own that no name of the text has") {
    const std::string both = "a.b (%0:" + kLong + ") -> (%1:" + kOther + ")\n";
    const std::string given = "!t0 = tensor<[9], Float32, CPU>\n";
    const std::string used = "a.c () -> (%9:!t0)\n";
    const Aliased result = aliased(given + module_of("m", used + both + both));
    const std::string named = "a.b (%0:!t1) -> (%1:!t2)\n";
    CHECK(result.text == formatted(given + "!t1 = " + kLong + "\n!t2 = " + kOther + "\n" +
                                   module_of("m", used + named + named)));
  }

  TEST_CASE("a name is made only where the text gets shorter") {
    // `!t9` in two uses and a definition takes three bytes less than the type twice, `!t10` as
    // many.
    const auto twice = [](const std::string& type) {
      return "a.b (%0:" + type + ") -> (%1:" + type + ")\n";
    };
    const auto names_type = [](const std::string& ops, const std::string& type) {
      return aliased(module_of("m", ops)).text.find(" = " + type) != std::string::npos;
    };
    const std::string small = "tensor<[], A, B>";
    for (const int others : {0, 9, 10}) {
      std::string ops;
      for (int i = 0; i < others; ++i) ops += twice(fmt::format("tensor<[{}], Float32, CPU>", i));
      CAPTURE(others);
      CHECK(names_type(ops + twice(small), small) == (others < 10));
      CHECK_FALSE(names_type(ops + "a.b (%0:" + small + ") -> ()", small));
    }
  }

  TEST_CASE("modules that keep their types neither count nor change") {
    const std::string op = "a.b (%0:" + kLong + ") -> (%1:" + kLong + ")";
    const std::string nested = "a.r { () -> () { " + op + " } }";
    const std::string text =
        module_of("m", nested) + module_of("n", op) + module_of("o", "a.b () -> ()");
    const std::string named = "a.b (%0:!t0) -> (%1:!t0)", line = "!t0 = " + kLong + "\n";
    const std::string last = module_of("o", "a.b () -> ()");

    const Aliased first = aliased(text, {true});
    CHECK(first.text == formatted(line + module_of("m", nested) + module_of("n", named) + last));
    CHECK(first.changed == std::vector{false, true, false});

    const Aliased second = aliased(text, {false, true});
    CHECK(second.text == formatted(line + module_of("m", "a.r { () -> () { " + named + " } }") +
                                   module_of("n", op) + last));
    CHECK(second.changed == std::vector{true, false, false});

    const Aliased none = aliased(text, {true, true});
    CHECK(none.text == formatted(text));
    CHECK(none.changed == std::vector{false, false, false});
  }
}

}  // namespace alias_types_test
