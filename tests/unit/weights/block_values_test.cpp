// The values of blocks of random bytes, as block_values.txt stores them; UPDATE_GOLDEN=1 writes it
// anew.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "../stored_lines.hpp"
#include "mir/tensor.hpp"
#include "weights/blocks.hpp"

namespace block_values_test {

using namespace mir;

namespace {

std::uint32_t checksum(std::string_view text) {
  std::uint32_t sum = 2166136261U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return sum;
}

/// Rows of random bytes; the values of a scale that is not finite are not, all with the same text.
std::string text_of_blocks(DType dtype, std::uint32_t seed) {
  auto blocks = Tensor::allocate(dtype, {8, 512});
  if (!blocks) return blocks.error().message;
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < blocks->bytes().size(); ++i) {
    blocks->mutable_bytes()[i] = static_cast<std::byte>(random() & 0xFF);
  }
  const auto values = dequantise(*blocks);
  if (!values) return values.error().message;
  std::string first, all;
  for (std::size_t i = 0; i < values->as<float>().size(); ++i) {
    const float value = values->as<float>()[i];
    const std::string text = std::isnan(value) ? " nan" : fmt::format(" {}", value);
    if (i < 6) first += text;
    all += text;
  }
  return fmt::format("{:08x}{} ...", checksum(all), first);
}

}  // namespace

TEST_CASE("blocks of random bytes have the values that are stored") {
  std::vector<std::string> found;
  for (const DTypeInfo& each : dtype_table()) {
    const auto dtype = dtype_from_name(each.name);
    REQUIRE(dtype);
    if (!is_decodable_block(*dtype)) continue;
    for (const std::uint32_t seed : {1, 2, 3}) {
      found.push_back(fmt::format("{} {}: {}", each.name, seed, text_of_blocks(*dtype, seed)));
    }
  }
  CHECK(found.size() > 30);
  CHECK(found == test::stored_lines("testdata/unit/weights/block_values.txt", found));
}

}  // namespace block_values_test
