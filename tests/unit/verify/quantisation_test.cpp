#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// `[quant_recipe:QuantSpec(...)]`.
std::string recipe(const std::string& spec, int uuid = 1) {
  return "[quant_recipe:QuantSpec(" + spec + ", uuid=" + std::to_string(uuid) + ", solved=0)]";
}

std::string per_tensor(const std::string& low, const std::string& high, const std::string& type) {
  return "AsymPerTensor(quant_min: " + low + ", quant_max: " + high + ", quant_to_type: " + type +
         ", scale_type: Float32, zero_point_type: Int32)";
}

/// What a dump reports whose one op has a result of this type with this spec.
Lines of_result(const std::string& type, const std::string& attributes) {
  return verified("@main () -> () {\nmy.Op () -> (%1:" + type + attributes + ")\n}\n", [] {
    VerifyOptions options;
    CHECK(options.policy.allow("op_c1"));
    return options;
  }());
}

const std::string kWide = "tensor<[4, 64], UInt16PerTensor, CPU>";
const std::string kPlain = "tensor<[4, 64], Float32, CPU>";

}  // namespace

TEST_SUITE("quantisation") {
  TEST_CASE("quant_c2: MIR0460 a range that its type cannot hold") {
    CHECK(of_result(kWide, recipe(per_tensor("0", "65535", "UInt16"))) == Lines{});
    CHECK(of_result(kWide, recipe(per_tensor("0", "65536", "UInt16"))) ==
          Lines{"2:1 MIR0460 warning quantised range 0 to 65536 does not fit UInt16, which holds 0 "
                "to 65535"});
    CHECK(of_result(kPlain, recipe(per_tensor("5", "4", "Int8"))).size() == 1);
    CHECK(of_result(kPlain, recipe("SymPerTensor(quant_min: -129, quant_max: 0, quant_to_type: "
                                   "Int8, scale_type: Float32)"))
              .size() == 1);
  }

  TEST_CASE("quant_c2: MIR0460 codes of LPBQ count, their sign does not") {
    const auto lpbq = [](const std::string& low, const std::string& high) {
      return recipe("LPBQ(quant_min: " + low + ", quant_max: " + high +
                    ", block_size: 32, ch_axis: 0, scale_level_0_bitwidth: 4, quant_to_type: "
                    "UInt4, scale_1_type: Float32)");
    };
    CHECK(of_result(kPlain, lpbq("-8", "7")) == Lines{});
    CHECK(of_result(kPlain, lpbq("-8", "8")).size() == 1);
    CHECK(of_result(kPlain, lpbq("-9223372036854775808", "9223372036854775807")).size() == 1);
  }

  TEST_CASE("quant_c1: MIR0465 a spec of an unknown kind or without a field") {
    CHECK(of_result(kPlain, recipe("Cubic(quant_min: 0)")) ==
          Lines{"2:1 MIR0465 warning quantisation 'Cubic' is of no known kind"});
    CHECK(of_result(kPlain, recipe("SymPerTensor(quant_min: 0, quant_to_type: Int8)")) ==
          Lines{"2:1 MIR0465 warning quantisation 'SymPerTensor' states no quant_min or no "
                "quant_max"});
    CHECK(of_result(kPlain, recipe("Raw(type: Float32)")) == Lines{});
  }

  const auto blocks = [](const std::string& size, const std::string& axis) {
    return recipe("LPBQ(quant_min: -8, quant_max: 7, block_size: " + size + ", ch_axis: " + axis +
                  ", scale_level_0_bitwidth: 4, quant_to_type: Int4, scale_1_type: Float32)");
  };

  TEST_CASE("quant_c3: MIR0461 a block that does not divide a channel") {
    CHECK(of_result(kPlain, blocks("32", "0")) == Lines{});
    CHECK(of_result(kPlain, blocks("48", "0")) ==
          Lines{"2:1 MIR0461 warning block_size 48 does not divide the channels of tensor<[4, 64], "
                "Float32, CPU>"});
    CHECK(of_result(kPlain, blocks("0", "0")).size() == 1);
  }

  TEST_CASE("quant_c4: MIR0462 an axis that the tensor does not have") {
    CHECK(of_result(kPlain, blocks("32", "2")) ==
          Lines{"2:1 MIR0462 warning ch_axis 2 is no dimension of tensor<[4, 64], Float32, CPU>"});
    CHECK(of_result(kPlain, blocks("4", "-1")) == Lines{});
    // Flattened parameters of dumps have lost their dimensions.
    CHECK(of_result("tensor<[256], Int8, CPU>", blocks("32", "3")) == Lines{});
  }

  TEST_CASE("quant_c5: MIR0463 two quantisations under one uuid") {
    const auto two = [&](int second) {
      return verified("@main () -> () {\ntensor.CPU.alloc () -> (%1:" + kPlain +
                      recipe("Raw(type: Float32)", 1) + ")\ntensor.CPU.alloc () -> (%2:" + kPlain +
                      recipe("Raw(type: Int8)", second) + ")\n}\n");
    };
    CHECK(two(2) == Lines{});
    CHECK(two(1) == Lines{"3:1 MIR0463 warning uuid 1 names two different quantisations"});
  }

  TEST_CASE("quant_c6: MIR0464 an annotation that differs from its values") {
    const auto annotated = [&](const std::string& slots, int uuid) {
      const std::string x = ":" + kPlain + recipe("Raw(type: Float32)", uuid);
      return verified("@main () -> () {\nlinalg.CPU.SiLUOp [quant_recipe:QuantAnnotation(" + slots +
                      ", )] (%1" + x + ") -> (%2" + x + ")\n}\n");
    };
    const std::string spec = ":QuantSpec(Raw(type: Float32), uuid=4, solved=0)";
    CHECK(annotated("inputs_0" + spec + ", outputs_0" + spec, 4) == Lines{});
    // Older dumps say `solved` in annotations alone.
    CHECK(annotated("inputs_0:QuantSpec(Raw(type: Float32), uuid=4)", 4) == Lines{});
    CHECK(annotated("inputs_0" + spec, 5) ==
          Lines{"2:49 MIR0464 warning annotation entry 'inputs_0' differs from the quantisation of "
                "the value"});
    CHECK(annotated("inputs_1" + spec, 4) ==
          Lines{"2:49 MIR0464 warning annotation has an entry 'inputs_1', 'linalg.SiLUOp' has 1 "
                "operands"});
  }

  TEST_CASE("quant_c7: MIR0466 a quantisation to another type than the tensor's") {
    CHECK(of_result(kWide, recipe(per_tensor("0", "255", "UInt8"))) ==
          Lines{"2:1 MIR0466 warning quantisation is to UInt8, the tensor is tensor<[4, 64], "
                "UInt16PerTensor, CPU>"});
    CHECK(of_result(kPlain, recipe(per_tensor("0", "255", "UInt8"))) == Lines{});
  }

  TEST_CASE("quant_c9: MIR0467 a quantised result that nothing describes") {
    const std::string scheme = per_tensor("0", "65535", "UInt16");
    const auto activation = [&](const std::string& annotation, const std::string& stated) {
      return verified("@main () -> () {\nlinalg.CPU.SiLUOp " + annotation + "(%1:" + kWide +
                      stated + ") -> (%2:" + kWide + ")\nlinalg.CPU.SiLUOp (%2:" + kWide +
                      ") -> (%3:" + kWide + recipe(scheme, 2) + ")\n}\n");
    };
    const std::string missing =
        " MIR0467 warning result %2 is quantised, tensor<[4, 64], UInt16PerTensor, CPU>, and "
        "nothing states how";
    const auto annotated = [&](const std::string& entry) {
      return "[quant_recipe:QuantAnnotation(" + entry + ":QuantSpec(" + scheme +
             ", uuid=1, solved=0), )] ";
    };
    CHECK(activation("", "") == Lines{"2:1" + missing});
    CHECK(
        activation(annotated("inputs_0"), recipe(scheme)) ==
        Lines{"2:1 MIR0467 warning annotation of 'linalg.SiLUOp' has no entry 'outputs_0' for %2, "
              "tensor<[4, 64], UInt16PerTensor, CPU>"});
    CHECK(activation(annotated("outputs_0"), "") == Lines{});
    // A dump without any quantisation says nothing of it, and ops without operands have parameters.
    CHECK(verified("@main () -> () {\nlinalg.CPU.SiLUOp (%1:" + kWide + ") -> (%2:" + kWide +
                   ")\n}\n") == Lines{});
    CHECK(verified("@main () -> () {\ntensor.CPU.alloc () -> (%1:" + kWide +
                   ")\ntensor.CPU.alloc () -> (%2:" + kWide + recipe(scheme) + ")\n}\n") ==
          Lines{});
  }
}
