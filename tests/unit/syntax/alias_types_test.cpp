// Names for types that a text repeats.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formatted.hpp"
#include "syntax/alias_names.hpp"
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
    const Aliased result = aliased(module_of(
        "m", "a.b (%0:" + kLong + ", %1:" + kOther + ", %3:" + kLong + ") -> (%2:" + kLong + ")"));
    CHECK(result.text == formatted("!f32_1x2x3 = " + kLong + "\n" +
                                   module_of("m", "a.b (%0:!f32_1x2x3, %1:" + kOther +
                                                      ", %3:!f32_1x2x3) -> (%2:!f32_1x2x3)")));
    CHECK(result.changed == std::vector{true});
  }

  TEST_CASE("types that differ in little else get names of their own that the text does not have") {
    const std::string sum = "tensor<[$A+2, 3], Float32, CPU>";
    const std::string product = "tensor<[$A*2, 3], Float32, CPU>";
    const std::string both = "a.b (%0:" + sum + ") -> (%1:" + product + ")\n";
    const std::string given = "!f32_A_2x3 = tensor<[9], Float32, CPU>\n";
    const std::string used = "a.c () -> (%9:!f32_A_2x3)\n";
    const Aliased result = aliased(given + module_of("m", used + both + both + both));
    const std::string named = "a.b (%0:!f32_A_2x3_2) -> (%1:!f32_A_2x3_3)\n";
    CHECK(result.text == formatted(given + "!f32_A_2x3_2 = " + sum + "\n!f32_A_2x3_3 = " + product +
                                   "\n" + module_of("m", used + named + named + named)));
  }

  TEST_CASE("the name of a type follows from it, so an op more changes no names") {
    CHECK(alias_of_type("tensor<[1, 32, 1024], UInt16PerTensor, CPU>") == "!u16pt_1x32x1024");
    CHECK(alias_of_type("tensor<[], Float32, CPU>") == "!f32");
    CHECK(alias_of_type("tensor<[1, $S, 64], BFloat16, QNN>") == "!bf16_1xSx64_QNN");
    CHECK(alias_of_type("tensor<[?, $past+$S, 4], Float32, CPU, #e>") == "!f32_uxpast_Sx4");
    CHECK(alias_of_type("tensor < [2,3],  GGUF_Q4_0 , CPU >") == "!gguf_q4_0_2x3");
    CHECK(alias_of_type("tensor<[2], 4-bit, CPU>") == "!_4_bit_2");
    CHECK(alias_of_type("tensor<x>") == "!_");
    const std::string begin = "QuantSpec(AsymPerTensor(quant_min: 0, quant_to_type: UInt16), ";
    CHECK(alias_of_quant_spec(begin + "uuid=2832, solved=1)") == "#q_u16_asym_2832");
    CHECK(alias_of_quant_spec("QuantSpec(Raw(type: Int32), uuid=0)") == "#q_i32_raw_0");
    CHECK(alias_of_quant_spec("QuantSpec(SymPerChannel(quant_to_type: Int8), uuid=-1)") ==
          "#q_i8_sympc");
    CHECK(alias_of_quant_spec("QuantSpec(Cubic(a: b))") == "#q_cubic");
  }

  TEST_CASE("a name is made only where the text gets shorter") {
    const auto names_type = [](const std::string& type, int uses) {
      std::string ops;
      for (int i = 0; i < uses; ++i) ops += fmt::format("a.b () -> (%{}:{})\n", i, type);
      return aliased(module_of("m", ops)).text.find(" = " + type) != std::string::npos;
    };
    // `!q_1` in two uses and a definition takes three bytes less than the type twice.
    CHECK_FALSE(names_type("tensor<[1], Q, CPU>", 1));
    CHECK(names_type("tensor<[1], Q, CPU>", 2));
    // `!q_1_A` takes five bytes more.
    CHECK_FALSE(names_type("tensor<[1], Q, A>", 2));
    CHECK(names_type("tensor<[1], Q, A>", 3));
  }

  TEST_CASE("modules that keep their types neither count nor change") {
    const std::string op = "a.b (%0:" + kLong + ", %2:" + kLong + ") -> (%1:" + kLong + ")";
    const std::string nested = "a.r { () -> () { " + op + " } }";
    const std::string text =
        module_of("m", nested) + module_of("n", op) + module_of("o", "a.b () -> ()");
    const std::string named = "a.b (%0:!f32_1x2x3, %2:!f32_1x2x3) -> (%1:!f32_1x2x3)";
    const std::string line = "!f32_1x2x3 = " + kLong + "\n";
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
