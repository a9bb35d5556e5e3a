#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../weights/temporary.hpp"
#include "tools/weights/conversion.hpp"
#include "weights/name_pattern.hpp"
#include "weights/statistics.hpp"
#include "weights/type_rules.hpp"

using namespace mir;
using namespace mir::test;
using namespace mir::tools;

TEST_CASE("stars of a pattern take as little as they can, the last one the rest") {
  const auto taken = [](std::string_view pattern, std::string_view name) {
    const auto captures = NamePattern(pattern).captures(name);
    std::string text;
    for (const auto each : captures.value_or(std::vector<std::string_view>{"no match"}))
      text += "<" + std::string(each) + ">";
    return text;
  };
  CHECK(taken("a.b", "a.b").empty());
  CHECK(taken("a.b", "a.bc") == "<no match>");
  CHECK(taken("*", "") == "<>");
  CHECK(taken("*.weight", "a.b.weight") == "<a.b>");
  CHECK(taken("a.*.w", "a.w") == "<no match>");
  CHECK(taken("*.*", "a.b.c") == "<a><b.c>");
  CHECK(taken("x*y*z", "xaybycz") == "<a><byc>");
  CHECK(taken("ab*ba", "aba") == "<no match>");
  CHECK(taken("**", "ab") == "<><ab>");
}

TEST_CASE("a renaming puts what stars took in the places of its own") {
  const auto renamed = [](std::string_view rule, std::string_view name) {
    const auto renaming = Renaming::parse(rule);
    REQUIRE(renaming);
    return renaming->apply(name).value_or("no match");
  };
  CHECK(renamed("model.*=*", "model.norm.weight") == "norm.weight");
  CHECK(renamed("*.q.*=*.query.*", "l.0.q.bias") == "l.0.query.bias");
  CHECK(renamed("*.*=x.*", "a.b") == "x.a");
  CHECK(renamed("a=", "a").empty());
  CHECK(renamed("a=b=c", "a") == "b=c");
  CHECK(renamed("a*=b", "c") == "no match");
  CHECK_FALSE(Renaming::parse("a*"));
  CHECK_FALSE(Renaming::parse("a=*"));
}

TEST_CASE("statistics leave out what is not finite and count it") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto result = statistics(
      tensor_of<float>(DType::kFloat32, {6}, {1, 0, -3, kInfinity, -kInfinity, std::nanf("")}));
  CHECK(result.elements == 6);
  CHECK(result.nans == 1);
  CHECK(result.infinities == 2);
  CHECK(result.zeros == 1);
  CHECK(result.minimum == -3);
  CHECK(result.maximum == 1);
  CHECK(result.mean == doctest::Approx(-2.0 / 3));
  CHECK(result.deviation == doctest::Approx(std::sqrt(26.0 / 9)));
  CHECK(statistics(tensor_of<float>(DType::kFloat32, {0}, {})).maximum == 0);
}

TEST_CASE("statistics of many elements are those of the elements one by one") {
  for (const std::int64_t count : {1, 3, 4, 1023, 1024, 1025, 5000}) {
    for (const bool odd : {false, true}) {
      auto tensor = *Tensor::allocate(DType::kFloat32, {count});
      auto values = tensor.as_mutable<float>();
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 40) / 8 + 100;
      if (odd) values[values.size() / 2] = std::nanf("");
      if (odd && count > 2000) values[1500] = -std::numeric_limits<float>::infinity();
      double sum = 0, low = 1e9, high = -1e9, finite = 0, squares = 0;
      for (const float value : values) {
        if (!std::isfinite(value)) continue;
        sum += value, ++finite;
        low = std::min<double>(low, value), high = std::max<double>(high, value);
      }
      for (const float value : values)
        if (std::isfinite(value)) squares += (value - sum / finite) * (value - sum / finite);
      const auto result = statistics(tensor);
      CAPTURE(count);
      CHECK(result.nans + result.infinities == count - static_cast<std::int64_t>(finite));
      CHECK(result.zeros == 0);
      if (finite == 0) continue;
      CHECK(result.minimum == low);
      CHECK(result.maximum == high);
      CHECK(result.mean == doctest::Approx(sum / finite).epsilon(1e-12));
      CHECK(result.deviation == doctest::Approx(std::sqrt(squares / finite)).epsilon(1e-9));
    }
  }
}

TEST_CASE("interleaved rows whose width is not stated have no numbers") {
  const auto rows = Tensor::allocate(DType::kGgufQ4_0x4, {8, 96});
  const auto flat = Tensor::allocate(DType::kGgufQ4_0x4, {768});
  REQUIRE(as_reals(*rows));
  CHECK(as_reals(*rows)->has_value());
  REQUIRE(as_reals(*flat));
  CHECK_FALSE(as_reals(*flat)->has_value());
}

TEST_CASE("accuracy is the largest, the RMS and the relative error") {
  const auto before = tensor_of<float>(DType::kFloat32, {4}, {3, 0, -4, 0});
  const auto after = tensor_of<float>(DType::kFloat32, {4}, {3, 1, -4, 0});
  const auto result = accuracy(before, after);
  CHECK(result.max_error == 1);
  CHECK(result.rms_error == 0.5);
  CHECK(result.relative == 0.2);
  const auto none = tensor_of<float>(DType::kFloat32, {2}, {std::nanf(""), 0});
  CHECK(accuracy(none, none).max_error == 0);
  CHECK(accuracy(none, none).relative == 0);
  const auto broken = accuracy(tensor_of<float>(DType::kFloat32, {2}, {1, 1}), none);
  CHECK(std::isnan(broken.rms_error));
}

TEST_CASE("packed bytes and complex numbers are no real numbers, blocks are") {
  CHECK_FALSE(as_reals(tensor_of<std::uint8_t>(DType::kByte, {1}, {1}))->has_value());
  CHECK_FALSE(as_reals(tensor_of<float>(DType::kComplexFP32, {1}, {1, 2}))->has_value());
  const auto blocks = as_reals(*Tensor::allocate(DType::kGgufQ4K, {256}));
  CHECK((*blocks)->dtype() == DType::kFloat32);
  CHECK(as_reals(tensor_of<std::int8_t>(DType::kInt8PerTensor, {1}, {1}))->has_value());
}

TEST_CASE("a rule for packed weights has a pattern, a layout and two extents") {
  const auto rule = UnpackRule::parse("*.q=x=KaiLinear_f32_qai8dxp_qsi4c32p_qsi4c32p8x4_1:96x64");
  REQUIRE(rule);
  CHECK(rule->pattern.matches("a.q=x"));
  CHECK(rule->layout.rows == 8);
  CHECK(rule->layout.run == 4);
  CHECK(rule->rows == 96);
  CHECK(rule->columns == 64);
  for (const char* text :
       {"", "a", "a=qsi4c32p4x8", "a:4x4", "a=GGUF:4x4", "a=fp16p:4", "a=fp16p:4x", "a=fp16p:4x4x",
        "a=fp16p:x4", "a=fp16p:4x99999999999999999999"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(UnpackRule::parse(text));
  }
}

TEST_CASE("the last rule that matches chooses the type of a tensor") {
  std::vector<TypeRule> rules;
  for (const char* text : {"q8_0", "*.k=q4_k", "a=b*=f16"}) rules.push_back(*TypeRule::parse(text));
  const auto chosen = [&](std::string_view name, DType dtype, const Shape& shape) {
    return chosen_type(rules, name, dtype, shape);
  };
  CHECK(chosen("x", DType::kFloat32, {2, 32}).dtype == DType::kGgufQ8_0);
  CHECK(chosen("x.k", DType::kBFloat16, {2, 256}).dtype == DType::kGgufQ4K);
  CHECK(chosen("x.k", DType::kGgufQ8_0, {2, 256}).dtype == DType::kGgufQ4K);
  CHECK(chosen("a=b.k", DType::kFloat32, {2, 256}).dtype == DType::kFloat16);
  // A rule that cannot be applied does not make way for the one before it.
  const ChosenType narrow = chosen("x.k", DType::kFloat32, {2, 32});
  CHECK(narrow.dtype == DType::kFloat32);
  CHECK(narrow.obstacle == "with rows that are not whole blocks");
  CHECK(chosen("x", DType::kFloat32, {64}).obstacle == "with fewer than two dimensions");
  CHECK(chosen("x", DType::kInt32, {2, 32}).obstacle == "with values that cannot be rounded");
  CHECK_FALSE(TypeRule::parse("x=q9"));
  CHECK_FALSE(TypeRule::parse("x=q8_0/"));
  CHECK_FALSE(TypeRule::parse("x=q8_0/q9"));
  CHECK_FALSE(TypeRule::parse("x="));
}

TEST_CASE("a rule's other type is for tensors that its first type does not fit") {
  const std::vector<TypeRule> rules = {*TypeRule::parse("q4_k/q8_0"),
                                       *TypeRule::parse("n.*=q8_0/f16")};
  const auto chosen = [&](std::string_view name, const Shape& shape) {
    return chosen_type(rules, name, DType::kFloat32, shape);
  };
  CHECK(chosen("x", {2, 256}).dtype == DType::kGgufQ4K);
  CHECK(chosen("x", {2, 32}).dtype == DType::kGgufQ8_0);
  CHECK(chosen("x", {2, 33}).dtype == DType::kFloat32);
  CHECK(chosen("x", {2, 33}).obstacle == "with rows that are not whole blocks");
  CHECK(chosen("n.x", {33}).dtype == DType::kFloat16);
}

TEST_CASE("tensors that keep their types are counted by the reason") {
  KeptTypes kept;
  CHECK(kept.is_empty());
  kept.add("a", "with fewer than two dimensions");
  CHECK(kept.text("tensor") == "tensor 'a' with fewer than two dimensions keeps its type");
  kept.add("b", "with rows that are not whole blocks");
  kept.add("c", "with fewer than two dimensions");
  CHECK(kept.text("tensor") ==
        "3 tensors keep their types: 2 with fewer than two dimensions, such as 'a'; 'b' with rows "
        "that are not whole blocks");
}

TEST_CASE("formats and types have the names that the help states") {
  CHECK(target_type("Q8_0") == DType::kGgufQ8_0);
  CHECK(target_type("GGUF_Q4_0") == DType::kGgufQ4_0);
  CHECK(target_type("bf16") == DType::kBFloat16);
  CHECK(target_type("q4_a32") == DType::kMirQ4A32);
  CHECK(target_type("q4_k") == DType::kGgufQ4K);
  CHECK_FALSE(target_type("GGUF_Q6_K"));
  CHECK_FALSE(target_type("Int8"));
  CHECK(format_of_path("a/b.gguf") == TensorFormat::kGguf);
  CHECK(format_of_path("b.mllm") == TensorFormat::kMllm2);
  CHECK_FALSE(format_of_path("gguf"));
  CHECK_FALSE(format_of_path("a.bin"));
}
