// Values on which programs are compared, and the comparison.
#include "validate/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "../ir/read.hpp"
#include "../stored_lines.hpp"
#include "weights/elements.hpp"

using namespace mir;
using namespace mir::validate;

namespace values_test {

namespace {

Tensor tensor_of(DType dtype, std::initializer_list<double> values) {
  auto tensor = Tensor::allocate(dtype, {static_cast<std::int64_t>(values.size())});
  REQUIRE(tensor);
  std::size_t at = 0;
  for (const double value : values) {
    const auto bits = encode_element(dtype, value);
    REQUIRE(bits);
    std::memcpy(tensor->mutable_bytes() + at, &*bits, info(dtype).unit_bytes);
    at += info(dtype).unit_bytes;
  }
  return *tensor;
}

/// The text of the difference, or "".
std::string found(std::initializer_list<double> before, std::initializer_list<double> after,
                  const RewriteClaim& claim, DType dtype = DType::kFloat32) {
  const Tensor a = tensor_of(dtype, before), b = tensor_of(dtype, after);
  const auto difference = validate::difference({&a, 1}, {&b, 1}, claim);
  return difference ? difference->text : "";
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_SUITE("values of a validation") {
  TEST_CASE("bits: every bit counts") {
    const RewriteClaim bits;
    CHECK(found({1, -0.0, kNaN}, {1, -0.0, kNaN}, bits) == "");
    CHECK(found({1, -0.0}, {1, 0.0}, bits) == "result 0, element 1: -0 before, 0 after");
    CHECK(found({kNaN}, {-kNaN}, bits) != "");
    CHECK(found({1, 2}, {1, 3}, bits, DType::kInt8) == "result 0, element 1: 2 before, 3 after");
  }

  TEST_CASE("value: any NaN is a NaN, zeros have signs") {
    const RewriteClaim value{.kind = RewriteClaim::Kind::kValue};
    CHECK(found({kNaN}, {-kNaN}, value) == "");
    CHECK(found({0.0}, {-0.0}, value) == "result 0, element 0: 0 before, -0 after");
    CHECK(found({kNaN}, {1}, value) != "");
    CHECK(found({1}, {kNaN}, value) != "");
    CHECK(found({7}, {8}, value, DType::kInt32) != "");
  }

  TEST_CASE("bound: what is finite stays near") {
    const RewriteClaim bound{
        .kind = RewriteClaim::Kind::kBound, .relative = 0.125, .absolute = 0.5};
    CHECK(found({8}, {9.5}, bound) == "");
    CHECK(found({8}, {6.5}, bound) == "");
    CHECK(found({8}, {9.75}, bound) == "result 0, element 0: 8 before, 9.75 after");
    CHECK(found({-8}, {-9.75}, bound) != "");
    CHECK(found({0}, {0.5}, bound) == "");
    CHECK(found({1}, {kNaN}, bound) != "");
    CHECK(found({1}, {kInfinity}, bound) != "");
    // Beyond the domain: the chain itself overflowed.
    CHECK(found({kInfinity}, {5}, bound) == "");
    CHECK(found({3}, {4}, bound, DType::kInt8) != "");
  }

  TEST_CASE("complex numbers: both parts count, a bound is of the magnitude") {
    const auto complex = [](float re, float im) {
      auto tensor = *Tensor::allocate(DType::kComplexFP32, {1});
      const float parts[] = {re, im};
      std::memcpy(tensor.mutable_bytes(), parts, sizeof parts);
      return tensor;
    };
    const auto differ = [](const Tensor& a, const Tensor& b, const RewriteClaim& claim) {
      const auto found = validate::difference({&a, 1}, {&b, 1}, claim);
      return found ? found->text : "";
    };
    const RewriteClaim value{.kind = RewriteClaim::Kind::kValue};
    CHECK(differ(complex(1, 0.0F), complex(1, -0.0F), value) ==
          "result 0, element 0: 1 and 0 before, 1 and -0 after");
    CHECK(differ(complex(1, NAN), complex(1, -NAN), value) == "");
    const RewriteClaim bound{.kind = RewriteClaim::Kind::kBound, .relative = 0.1};
    CHECK(differ(complex(10, 0), complex(10, 0.9F), bound) == "");
    CHECK(differ(complex(10, 0), complex(10, 1.1F), bound) != "");
    const Tensor two = *validate::with_element(complex(5, 6), 0, 2);
    CHECK(validate::element_text(two, 0) == "2 and 0");
  }

  TEST_CASE("results of other types or extents differ") {
    const Tensor a = tensor_of(DType::kFloat32, {1, 2}), b = tensor_of(DType::kInt32, {1, 2}),
                 c = tensor_of(DType::kFloat32, {1});
    CHECK(difference({&a, 1}, {&b, 1}, {})->text == "result 0 has another type");
    CHECK(difference({&a, 1}, {&c, 1}, {})->text == "result 0 has another type");
  }

  TEST_CASE("values are drawn in their style") {
    Draw draw(7);
    const Shape shape{40, 25};
    const auto all = [&](DType dtype, ValueStyle style, double largest, auto holds) {
      const auto tensor = draw_tensor(dtype, shape, style, largest, draw);
      REQUIRE(tensor);
      CHECK(tensor->shape() == shape);
      for (std::int64_t i = 0; i < tensor->elements(); ++i) {
        if (!holds(element_as_double(*tensor, i))) return false;
      }
      return true;
    };
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8, DType::kUInt8,
                              DType::kInt64, DType::kBool}) {
      CAPTURE(name_of(dtype));
      CHECK(all(dtype, ValueStyle::kSmall, 0,
                [](double x) { return std::abs(x) <= 4 && x == std::trunc(x); }));
      CHECK(all(dtype, ValueStyle::kFinite, 10, [](double x) { return std::abs(x) <= 100; }));
      CHECK(all(dtype, ValueStyle::kIntegers, 0,
                [](double x) { return std::abs(x) <= 1024 && x == std::trunc(x); }));
    }
    CHECK(
        all(DType::kFloat32, ValueStyle::kFinite, 10, [](double x) { return std::abs(x) <= 10; }));
    // Special values really occur.
    for (const auto is_special :
         {+[](double x) { return std::isnan(x); }, +[](double x) { return std::isinf(x); },
          +[](double x) { return x == 0 && std::signbit(x); },
          +[](double x) { return x != 0 && std::abs(x) < 1e-38; }}) {
      CHECK_FALSE(
          all(DType::kFloat32, ValueStyle::kSpecial, 0, [&](double x) { return !is_special(x); }));
    }
    for (const double extreme : {127.0, -128.0, 0.0}) {
      CHECK_FALSE(
          all(DType::kInt8, ValueStyle::kSpecial, 0, [&](double x) { return x != extreme; }));
    }
    CHECK_FALSE(draw_tensor(DType::kMXFP4, {32}, ValueStyle::kSmall, 0, draw));
  }

  TEST_CASE("small numbers and integers are drawn from their whole range, with the type's sign") {
    Draw draw(11);
    const auto drawn = [&](DType dtype, ValueStyle style) {
      std::set<double> all;
      const auto tensor = draw_tensor(dtype, {20000}, style, 0, draw);
      REQUIRE(tensor);
      for (std::int64_t i = 0; i < tensor->elements(); ++i) {
        all.insert(element_as_double(*tensor, i));
      }
      return all;
    };
    const auto whole_numbers = [](int from, int to) {
      std::set<double> all;
      for (int i = from; i <= to; ++i) all.insert(i);
      return all;
    };
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt8, DType::kInt64}) {
      CHECK(drawn(dtype, ValueStyle::kSmall) == whole_numbers(-4, 4));
    }
    CHECK(drawn(DType::kUInt8, ValueStyle::kSmall) == whole_numbers(0, 4));
    CHECK(drawn(DType::kBool, ValueStyle::kSmall) == whole_numbers(0, 1));
    CHECK(drawn(DType::kInt8, ValueStyle::kIntegers) == whole_numbers(-100, 100));
    CHECK(drawn(DType::kUInt8, ValueStyle::kIntegers) == whole_numbers(0, 100));
    const auto wide = drawn(DType::kInt32, ValueStyle::kIntegers);
    CHECK(wide.size() > 2000);
    CHECK(*wide.begin() == -1024);
    CHECK(*wide.rbegin() == 1024);
    CHECK(*drawn(DType::kUInt16, ValueStyle::kIntegers).begin() == 0);
  }

  TEST_CASE("finite values lie around 0, near to each other or wide") {
    Draw draw(12);
    int wide = 0, near_zero = 0, below = 0, above = 0, units = 0;
    constexpr int kTensors = 200, kElements = 200;
    for (int i = 0; i < kTensors; ++i) {
      const auto tensor =
          draw_tensor(DType::kFloat64, {kElements}, ValueStyle::kFinite, 1000, draw);
      REQUIRE(tensor);
      double least = 1000, most = -1000;
      for (int k = 0; k < kElements; ++k) {
        const double x = element_as_double(*tensor, k);
        if (x == 0 || std::abs(x) == 1) {
          ++units;
          continue;
        }
        least = std::min(least, x);
        most = std::max(most, x);
      }
      CHECK(least >= -1000);
      CHECK(most <= 1000);
      near_zero += least >= -10 && least < -8 && most <= 10 && most > 8;
      above += least >= 980 && least < 982 && most > 998;
      below += most <= -980 && most > -982 && least < -998;
      wide += least < -900 && most > 900;
    }
    CHECK(near_zero + above + below + wide == kTensors);
    // Half of them, an eighth each, a quarter.
    CHECK(std::abs(near_zero - 100) < 30);
    CHECK(std::abs(above - 25) < 20);
    CHECK(std::abs(below - 25) < 20);
    CHECK(std::abs(wide - 50) < 25);
    // One in eight elements is -1, 0 or 1.
    CHECK(std::abs(units - kTensors * kElements / 8) < 500);
    for (const DType dtype : {DType::kInt32, DType::kUInt16}) {
      const auto tensor = draw_tensor(dtype, {kElements}, ValueStyle::kFinite, 1e6, draw);
      REQUIRE(tensor);
      for (int k = 0; k < kElements; ++k) {
        const double x = element_as_double(*tensor, k);
        CHECK(x <= 100);
        CHECK(x >= (dtype == DType::kInt32 ? -100 : 0));
      }
    }
  }

  TEST_CASE("special values include the limits of every type") {
    Draw draw(13);
    const auto count = [&](DType dtype, std::initializer_list<double> wanted) {
      const auto tensor = draw_tensor(dtype, {20000}, ValueStyle::kSpecial, 0, draw);
      REQUIRE(tensor);
      std::map<double, int> times;
      for (std::int64_t i = 0; i < tensor->elements(); ++i) ++times[element_as_double(*tensor, i)];
      for (const double each : wanted) {
        CAPTURE(each);
        // A third of the elements are one of six.
        CHECK(times[each] > 900);
      }
    };
    count(DType::kInt16, {0, 1, 2, -1, -32768, 32767});
    count(DType::kUInt16, {0, 1, 2, 65535, 32768, 32767});
    count(DType::kInt32, {0, 1, 2, -1, -2147483648.0, 2147483647});
    const auto floats = draw_tensor(DType::kFloat32, {40000}, ValueStyle::kSpecial, 0, draw);
    REQUIRE(floats);
    std::map<float, int> times;
    int nans = 0, subnormal = 0, small = 0;
    for (const float x : floats->as<float>()) {
      if (std::isnan(x))
        ++nans;
      else
        ++times[x];
      subnormal += x != 0 && std::abs(x) < 4e-43F;
      small += std::abs(x) < 1100;
    }
    for (const float each :
         {1.0F, -1.0F, HUGE_VALF, -HUGE_VALF, 0.5F, 2.0F, -3.0F, 1e-5F, -1e-7F, 1e30F, -1e30F}) {
      CAPTURE(each);
      CHECK(times[each] > 500);
    }
    CHECK(times[4.0F] > 800);  // whole numbers from -4 to 4
    CHECK(times[-4.0F] > 800);
    CHECK(nans > 500);
    CHECK(subnormal > 1500);  // bit patterns below 256
    CHECK(small > 20000);
  }

  TEST_CASE("equal seeds draw equal values") {
    const auto drawn = [](std::uint64_t seed) {
      Draw draw(seed);
      return std::string(
          reinterpret_cast<const char*>(
              draw_tensor(DType::kFloat64, {16}, ValueStyle::kSpecial, 0, draw)->bytes().data()),
          128);
    };
    CHECK(drawn(3) == drawn(3));
    CHECK(drawn(3) != drawn(4));
  }

  TEST_CASE("a seed draws the same values in all versions") {
    const std::pair<ValueStyle, const char*> styles[] = {{ValueStyle::kSpecial, "special"},
                                                         {ValueStyle::kSmall, "small"},
                                                         {ValueStyle::kFinite, "finite"},
                                                         {ValueStyle::kIntegers, "integers"}};
    std::vector<std::string> lines;
    for (const DType dtype : {DType::kBool, DType::kInt8, DType::kUInt16, DType::kInt32,
                              DType::kUInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64,
                              DType::kComplexFP32, DType::kComplexFP64}) {
      for (const auto& [style, name] : styles) {
        for (const double largest : {2.0, 1000.0}) {
          Draw draw(7);
          std::string line = fmt::format("{} {} {}:", name_of(dtype), name, largest);
          for (int i = 0; i < 4; ++i) {
            const auto tensor = draw_tensor(dtype, {6}, style, largest, draw);
            REQUIRE(tensor);
            for (std::int64_t at = 0; at < 6; ++at) line += " " + element_text(*tensor, at);
          }
          lines.push_back(line);
        }
      }
    }
    CHECK(lines == test::stored_lines("testdata/unit/validate/stored_values.txt", lines));
  }

  TEST_CASE("all values of small types, each once") {
    const auto count = [](DType dtype) {
      const auto tensor = all_values(dtype);
      return tensor ? tensor->elements() : 0;
    };
    CHECK(count(DType::kBool) == 2);
    CHECK(count(DType::kInt8) == 256);
    CHECK(count(DType::kFloat16) == 65536);
    CHECK(count(DType::kFloat32) == 0);
    const auto tensor = all_values(DType::kUInt8);
    CHECK(element_as_double(*tensor, 200) == 200);
    CHECK(element_as_double(*all_values(DType::kInt8), 255) == -1);
  }
}

}  // namespace values_test
