// What the specs of quantised values mean.
#include "eval/quantisation.hpp"

#include <fmt/format.h>

#include "../ir/read.hpp"

using namespace mir;

namespace quantisation_test {

namespace {

/// The recipe of a value of extents [4, 6], or why there is none.
std::string recipe_of(const std::string& type, const std::string& spec) {
  test::Reading reading("@main [mir_version:2] (%x:tensor<[4, 6], " + type + ", CPU>" +
                        (spec.empty() ? "" : "[quant_recipe:QuantSpec(" + spec + ")]") +
                        ") -> () {\ncf.ReturnOp () -> ()\n}\n");
  const Value& value = reading.module().body().entry_arguments()[0];
  const auto found =
      quant_recipe(*value.tensor_type(), value.attribute(reading.context.intern("quant_recipe")));
  if (!found) {
    const std::string& message = found.error().message;
    return message.substr(message.rfind(": ") + 2);
  }
  if (!*found) return "none";
  const QuantRecipe& recipe = **found;
  std::string text = fmt::format("{}..{}", recipe.codes.low, recipe.codes.high);
  if (recipe.codes.axis) text += fmt::format(" axis {}", *recipe.codes.axis);
  text += fmt::format(" block {} bits {} zero {}", recipe.codes.block, recipe.codes.code_bits,
                      recipe.default_zero);
  if (recipe.is_asymmetric) text += " asymmetric";
  if (recipe.has_two_levels) text += " two levels";
  if (recipe.uuid) text += fmt::format(" uuid {}", *recipe.uuid);
  return text;
}

}  // namespace

TEST_SUITE("quantisation") {
  TEST_CASE("the recipe of a value has the fields of its spec") {
    struct Case {
      const char *type, *spec, *found;
    };
    const Case cases[] = {
        {"Float32", "", "none"},
        {"Int8PerTensor", "", "-128..127 block 0 bits 0 zero 0"},
        {"UInt8PerTensor", "", "0..255 block 0 bits 0 zero 128"},
        {"Int8PerTensor",
         "SymPerTensor(quant_min: -127, quant_max: 127, quant_to_type: Int8, scale_type: Float32), "
         "uuid=3, solved=1",
         "-127..127 block 0 bits 0 zero 0 uuid 3"},
        {"UInt8PerTensor",
         "SymPerTensor(quant_min: 0, quant_max: 255, quant_to_type: UInt8, scale_type: Float32), "
         "uuid=3, solved=1",
         "0..255 block 0 bits 0 zero 128 uuid 3"},
        {"UInt8PerTensor",
         "SymPerTensor(quant_min: 1, quant_max: 255, quant_to_type: UInt8, scale_type: Float32), "
         "uuid=3, solved=1",
         "1..255 block 0 bits 0 zero 128 uuid 3"},
        {"Int8PerTensor",
         "SymPerTensor(quant_min: 5, quant_max: 4, quant_to_type: Int8, scale_type: Float32), "
         "uuid=3, solved=1",
         "it states no range of codes"},
        {"Int8PerTensor",
         "SymPerTensor(quant_min: 4, quant_max: 4, quant_to_type: Int8, scale_type: Float32), "
         "uuid=3, solved=1",
         "4..4 block 0 bits 0 zero 4 uuid 3"},
        {"UInt16PerTensor",
         "AsymPerTensor(quant_min: 0, quant_max: 65536, quant_to_type: UInt16, scale_type: "
         "Float32, zero_point_type: Int32), uuid=4, solved=1",
         "0..65535 block 0 bits 0 zero 0 asymmetric uuid 4"},
        {"Int8",
         "SymPerChannel(quant_min: -128, quant_max: 127, ch_axis: 0, quant_to_type: Int8, "
         "scale_type: Float32), uuid=5, solved=1",
         "-128..127 axis 0 block 0 bits 0 zero 0 uuid 5"},
        {"Int8",
         "SymPerChannel(quant_min: -128, quant_max: 127, ch_axis: 1, quant_to_type: Int8, "
         "scale_type: Float32), uuid=5, solved=1",
         "-128..127 axis 1 block 0 bits 0 zero 0 uuid 5"},
        {"Int8",
         "SymPerChannel(quant_min: -128, quant_max: 127, ch_axis: 2, quant_to_type: Int8, "
         "scale_type: Float32), uuid=5, solved=1",
         "ch_axis is no dimension of a tensor of rank 2"},
        {"Int8",
         "SymPerChannel(quant_min: -128, quant_max: 127, ch_axis: -1, quant_to_type: Int8, "
         "scale_type: Float32), uuid=5, solved=1",
         "-128..127 axis 1 block 0 bits 0 zero 0 uuid 5"},
        {"Int8",
         "SymPerChannel(quant_min: -128, quant_max: 127, ch_axis: -2, quant_to_type: Int8, "
         "scale_type: Float32), uuid=5, solved=1",
         "-128..127 axis 0 block 0 bits 0 zero 0 uuid 5"},
        {"Int8",
         "SymPerChannel(quant_min: -128, quant_max: 127, ch_axis: -3, quant_to_type: Int8, "
         "scale_type: Float32), uuid=5, solved=1",
         "ch_axis is no dimension of a tensor of rank 2"},
        {"Int8",
         "LPBQ(quant_min: -8, quant_max: 7, block_size: 2, ch_axis: 1, scale_level_0_bitwidth: 4, "
         "quant_to_type: Int4, scale_1_type: Float32), uuid=6, solved=1",
         "-8..7 axis 1 block 2 bits 4 zero 0 two levels uuid 6"},
        {"Int8",
         "LPBQ(quant_min: -8, quant_max: 8, block_size: 1, ch_axis: 1, scale_level_0_bitwidth: 4, "
         "quant_to_type: Int4, scale_1_type: Float32), uuid=6, solved=1",
         "-8..8 axis 1 block 1 bits 5 zero 0 two levels uuid 6"},
        {"Int8",
         "LPBQ(quant_min: -7, quant_max: 7, block_size: 0, ch_axis: 1, scale_level_0_bitwidth: 4, "
         "quant_to_type: Int4, scale_1_type: Float32), uuid=6, solved=1",
         "block_size is not 1 or more"},
        {"Int8", "Raw(type: Int8), uuid=7, solved=1", "none"},
        {"Int8", "Odd(quant_min: 0, quant_max: 1), uuid=7, solved=1", "no such kind is known"},
        {"Float32",
         "SymPerTensor(quant_min: -127, quant_max: 127, quant_to_type: Int8, scale_type: Float32), "
         "uuid=3, solved=1",
         "none"},
    };
    for (const Case& each : cases) {
      CAPTURE(each.spec);
      CHECK(recipe_of(each.type, each.spec) == each.found);
    }
  }
}

}  // namespace quantisation_test
