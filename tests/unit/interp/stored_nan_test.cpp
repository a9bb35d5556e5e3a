// What is stored where a result is no number: the same bits by both kernel sets.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/ref/numeric.hpp"
#include "mir/session.hpp"
#include "module_text.hpp"
#include "page_examples.hpp"

namespace mir::test::stored_nan {

namespace {

constexpr std::uint32_t kOddNaN = 0xffc00123;  // negative, with a payload

constexpr std::uint16_t kOddShortNaN = 0xffc1;  // as Float16 and as BFloat16

/// Writes the patterns to some elements, in turn.
template <class T, std::size_t kCount>
void scatter(Tensor& tensor, const T (&patterns)[kCount]) {
  const auto elements = tensor.as_mutable<T>();
  for (std::size_t i = 2; i < elements.size(); i += 5) elements[i] = patterns[i / 5 % kCount];
}

/// A copy with NaN and infinities among its floats.
Tensor with_specials(const Tensor& from) {
  auto copy = Tensor::allocate(from.dtype(), from.shape());
  REQUIRE(copy);
  std::ranges::copy(from.bytes(), copy->mutable_bytes());
  constexpr std::uint32_t kInfinity = 0x7f800000, kNegative = 0xff800000, kSignalling = 0x7f800001;
  const bool is_short = from.dtype() == DType::kFloat16 || from.dtype() == DType::kBFloat16;
  if (from.dtype() == DType::kFloat32) {
    scatter<std::uint32_t>(*copy, {kOddNaN, kNegative, kInfinity, kSignalling});
  } else if (is_short) {
    scatter<std::uint16_t>(*copy, {kOddShortNaN});
  }
  return *std::move(copy);
}

std::vector<Tensor> outputs_of(const std::string& text, const RunnerOptions& options) {
  Runner runner(text, options);
  RunOptions run;
  for (const char* symbol : {"S", "T", "N"}) run.dims.bind(runner.context().intern(symbol), 7);
  run.dims.bind(runner.context().intern("past"), 0);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < runner.schedule().inputs().size(); ++i) {
    arguments.push_back(std::to_string(i) + "=random:" + std::to_string(i));
  }
  const auto inputs = load_inputs(runner.session(), arguments, run.dims);
  REQUIRE(inputs);
  std::vector<Tensor> odd;
  for (const Tensor& input : *inputs) odd.push_back(with_specials(input));
  return runner.run(odd, run);
}

/// How many NaN both have; the bits of all of them must agree.
template <class T>
std::size_t count_same_nans(const Tensor& expected, const Tensor& found) {
  const auto want = expected.as<T>(), got = found.as<T>();
  REQUIRE(want.size() == got.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isnan(ref::load(want[i])) || !std::isnan(ref::load(got[i]))) continue;
    ++count;
    CAPTURE(i);
    CHECK(std::memcmp(&want[i], &got[i], sizeof(T)) == 0);
  }
  return count;
}

std::size_t count_same_nans(const Tensor& expected, const Tensor& found) {
  switch (expected.dtype()) {
    case DType::kFloat32:
      return count_same_nans<float>(expected, found);
    case DType::kFloat16:
      return count_same_nans<ref::Half>(expected, found);
    case DType::kBFloat16:
      return count_same_nans<ref::BFloat16>(expected, found);
    default:
      return 0;
  }
}

/// A module of one CastType.
std::string cast(const char* from, const char* to) {
  return fmt::format(
      "@main [mir_version:1] (%x:tensor<[2, 64], {0}, CPU>) -> (%y:tensor<[2, 64], {1}, CPU>) {{\n"
      "linalg.CPU.CastTypeOp [dtype:{1}] (%x:tensor<[2, 64], {0}, CPU>) -> "
      "(%y:tensor<[2, 64], {1}, CPU>)\n"
      "cf.ReturnOp (%y:tensor<[2, 64], {1}, CPU>) -> ()\n}}\n",
      from, to);
}

}  // namespace

TEST_CASE("a NaN that an example of the pages gives has the same bits by both sets of kernels") {
  std::vector<std::string> texts;
  for (const PageExample& example : page_examples()) texts.push_back(example.text);
  const char* const floats[] = {"Float32", "Float16", "BFloat16"};
  for (const char* from : floats) {
    for (const char* to : floats) texts.push_back(cast(from, to));
  }
  std::size_t with_nans = 0;
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto expected = outputs_of(text, {});
    std::size_t nans = 0;
    for (const IsaLevel isa :
         isa_levels().first(static_cast<std::size_t>(detected_isa_level()) + 1)) {
      for (const bool fuses : {false, true}) {
        CAPTURE(name_of(isa));
        RunnerOptions options;
        options.kernels = KernelSet::kFast;
        options.fuses = fuses;
        options.isa = isa;
        const auto found = outputs_of(text, options);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          nans += count_same_nans(expected[i], found[i]);
      }
    }
    with_nans += nans != 0 ? 1 : 0;
  }
  CHECK(with_nans >= 17);
}

}  // namespace mir::test::stored_nan
