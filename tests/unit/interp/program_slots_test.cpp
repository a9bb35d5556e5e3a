// Slices that have the id of what they are a slice of, and what is stored into them.
#include <string>
#include <vector>

#include "program.hpp"

namespace mir::test::program_slots_test {

namespace {

std::string t(const std::string& dims) {
  return "tensor<[" + dims + "], Float32, CPU>";
}

std::string slice(const std::string& id, const std::string& dims, int start, int end) {
  const std::string value = "%" + id + ":" + t(dims);
  return "prog.kernel_launch(" + value + ") -> (" + value + ")[op_type:Slice, op_options:{" +
         "\"indices\":[{\"start\":" + std::to_string(start) + ",\"end\":" + std::to_string(end) +
         ",\"step\":1},{}]}]\n";
}

std::string launch(const std::string& type, const std::string& in, const std::string& out) {
  return "prog.kernel_launch(" + in + ") -> (" + out + ")[op_type:" + type + ", op_options:null]\n";
}

std::string bind(int type, const std::string& id, int position) {
  return "prog.bind[type:" + std::to_string(type) + ", program_uuid:" + id +
         ", input_pos:" + std::to_string(position) + "]\n";
}

const std::string kExit = "prog.exit() -> ()\n";

void check(const std::string& text, const std::vector<Tensor>& inputs,
           const std::vector<std::vector<double>>& expected) {
  Program ran(text);
  const auto outputs = ran.run(inputs);
  REQUIRE(outputs.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(values_of(outputs[i]) == expected[i]);
}

}  // namespace

TEST_CASE("a product that is stored into a slice of a cache is in the cache, which is an output") {
  const std::string cache = "%9:" + t("4, 2"), x = "%1:" + t("2, 2");
  const std::string text = program(
      bind(0, "1", 0) + "prog.jump f.__entry\n" + bind(1, "3", 0) + kExit +
          "prog.label[symbol:f.__entry]\n" + slice("9", "4, 2", 1, 3) + "prog.kernel_launch(" + x +
          ", " + cache + ") -> (" + cache +
          ")[symbol_name:fc, op_type:Linear, op_options:{\"bias\":false,\"impl_type\":\"Default\","
          "\"in_channels\":2,\"out_channels\":2}]\n" +
          "prog.kernel_launch(" + cache + ") -> (%9:" + t("2, 2") +
          ")[op_type:View, op_options:{\"to_shape\":[2,2]}]\n" +
          launch("Neg", "%9:" + t("2, 2"), "%9:" + t("2, 2")) + slice("9", "2, 2", 0, 2) +
          launch("Add", x + ", %9:" + t("2, 2"), "%3:" + t("2, 2")) + "prog.free(" + cache +
          ") -> ()\nprog.ret\n",
      "prog.value_symbol() -> (%5:" + t("2, 2") + "[@fc.weight])[symbol:fc.weight]\n");
  Program ran(text);
  const std::vector<Tensor> inputs{floats({2, 2}, {1, 2, 3, 4}),
                                   floats({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80})};
  const auto outputs = ran.run(inputs);
  REQUIRE(outputs.size() == 2);
  const auto kept = values_of(outputs[1]), sums = values_of(outputs[0]);
  REQUIRE(kept.size() == 8);
  CHECK(std::vector<double>{kept[0], kept[1], kept[6], kept[7]} ==
        std::vector<double>{10, 20, 70, 80});
  CHECK(kept[2] != 30);
  // The second slice reads what was stored.
  CHECK(sums[2] == doctest::Approx(3 + kept[2]));
}

TEST_CASE("a copy into a slice replaces that part") {
  check(program(bind(0, "1", 0) + bind(0, "9", 1) + slice("9", "4, 2", 1, 3) +
                "prog.kernel_launch(%1:" + t("2, 2") + ", %9:" + t("4, 2") +
                ") -> ()[op_type:Copy, op_options:null]\n" +
                launch("Neg", "%9:" + t("4, 2"), "%3:" + t("4, 2")) + bind(1, "3", 0) + kExit),
        {floats({2, 2}, {1, 2, 3, 4}), floats({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80})},
        {{-10, -20, -1, -2, -3, -4, -70, -80}, {10, 20, 1, 2, 3, 4, 70, 80}});
}

TEST_CASE("the halves of a rotation: the second is negated, the first is joined after it") {
  const std::string x = "%1:" + t("4, 1");
  check(
      program(bind(0, "1", 0) + slice("1", "4, 1", 0, 2) + slice("1", "4, 1", 2, 4) +
              launch("Neg", x, "%2:" + t("2, 1")) + "prog.kernel_launch(%2:" + t("2, 1") + ", " +
              x + ") -> (%3:" + t("4, 1") + ")[op_type:Concat, op_options:{\"dim\":0}]\n" +
              launch("Add", x + ", %3:" + t("4, 1"), "%4:" + t("4, 1")) + bind(1, "4", 0) + kExit),
      {floats({4, 1}, {1, 2, 3, 4})}, {{-2, -2, 4, 6}});
}

TEST_CASE("what a caller cut is whole for a body, and cut again when it returns") {
  const std::string x = "%1:" + t("4, 1");
  check(program(bind(0, "1", 0) + slice("1", "4, 1", 0, 2) + "prog.jump f.__entry\n" +
                slice("1", "4, 1", 2, 4) + launch("Exp", "%7:" + t("1, 1"), "%8:" + t("1, 1")) +
                launch("Neg", x, "%3:" + t("2, 1")) + launch("Neg", x, "%4:" + t("2, 1")) +
                bind(1, "2", 0) + bind(1, "3", 1) + bind(1, "4", 2) + kExit +
                "prog.label[symbol:f.__entry]\n" + launch("Neg", x, "%2:" + t("2, 1")) +
                "prog.ret\n"),
        {floats({4, 1}, {1, 2, 3, 4}), floats({1, 1}, {0})}, {{-1, -2}, {-1, -2}, {-3, -4}});
}

TEST_CASE("a product that does not fill its slot is refused") {
  Program ran(
      program(bind(0, "1", 0) + bind(0, "9", 1) + "prog.kernel_launch(%1:" + t("2, 2") +
                  ", %9:" + t("3, 2") + ") -> (%9:" + t("3, 2") +
                  ")[symbol_name:fc, op_type:Linear, op_options:{\"bias\":false,\"in_channels\":2,"
                  "\"out_channels\":2}]\n" +
                  bind(1, "9", 0) + kExit,
              "prog.value_symbol() -> (%5:" + t("2, 2") + "[@fc.weight])[symbol:fc.weight]\n"));
  CHECK(
      ran.error({floats({2, 2}, {1, 2, 3, 4}), floats({3, 2}, {0, 0, 0, 0, 0, 0})}) ==
      "700 linalg.LinearOp 'fc': extents of the result is lost: it is stored into a larger tensor");
}

}  // namespace mir::test::program_slots_test
