// Draws pseudo-random tensors by Philox from a seed and a name.
#include "weights/random.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "weights/elements.hpp"
#include "weights/float_codecs.hpp"

namespace mir {
namespace {

constexpr double kWordScale = 0x1p-31;

/// Calls `use(i, word i)` for i from 0 to count - 1.
template <class Use>
void for_each_word(std::uint64_t key, std::int64_t count, Use use) {
  const std::array<std::uint32_t, 2> halves = {static_cast<std::uint32_t>(key),
                                               static_cast<std::uint32_t>(key >> 32)};
  for (std::int64_t first = 0; first < count; first += 4) {
    const auto block = static_cast<std::uint64_t>(first) / 4;
    const auto words = philox(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}, halves);
    const auto lanes = std::min<std::int64_t>(4, count - first);
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      use(static_cast<std::size_t>(first + lane), words[static_cast<std::size_t>(lane)]);
  }
}

bool ends_with_part(std::string_view name, std::string_view part) {
  return name.ends_with(part) &&
         (name.size() == part.size() || name[name.size() - part.size() - 1] == '.');
}

/// True if one of the last two dotted parts contains `norm` or starts with `ln_`.
bool names_norm(std::string_view name) {
  for (int parts = 0; parts < 2; ++parts) {
    const auto dot = name.rfind('.');
    const auto part = name.substr(dot + 1);  // npos + 1 is 0
    if (part.find("norm") != std::string_view::npos || part.starts_with("ln_")) return true;
    if (dot == std::string_view::npos) break;
    name = name.substr(0, dot);
  }
  return false;
}

Error bound_error(DType dtype, std::int64_t bound) {
  return {diag::kRandomBoundInvalid,
          fmt::format("random {} values below {}: the bound must lie in 1 to 2^32 and fit the type",
                      name_of(dtype), bound)};
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : key(XXH64(name.data(), name.size(), seed)) {}

Interval weight_interval(std::string_view name, std::span<const std::int64_t> shape) {
  constexpr Interval kNearZero{0, 0.01};
  constexpr Interval kNearOne{1, 0.1};
  if (ends_with_part(name, "bias")) return kNearZero;
  if (shape.size() < 2 || names_norm(name)) return kNearOne;
  double fan_in = 1;
  for (const auto extent : shape.subspan(1)) fan_in *= static_cast<double>(extent);
  return {0, std::sqrt(3.0 / std::max(fan_in, 1.0))};
}

Result<Tensor> random_reals(RandomStream stream, DType dtype, Shape shape, Interval interval) {
  if (!is_float(dtype))
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("no random values of type {}", name_of(dtype))};
  auto tensor = Tensor::allocate(dtype, std::move(shape));
  if (!tensor) return tensor;
  with_float_codec(dtype, [&](auto codec) {
    const auto into = tensor->as_mutable<typename decltype(codec)::Stored>();
    for_each_word(stream.key, tensor->elements(), [&](std::size_t i, std::uint32_t word) {
      const double unit = static_cast<double>(word) * kWordScale - 1.0;
      into[i] = codec.encode(interval.centre + interval.half_width * unit);
    });
  });
  return tensor;
}

Result<Tensor> random_integers(RandomStream stream, DType dtype, Shape shape, std::int64_t bound) {
  const DType stored = storage_type(dtype);
  if (!is_integer(stored))
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("no random integers of type {}", name_of(dtype))};
  if (bound < 1 || bound > std::int64_t{1} << 32 ||
      !encode_element(stored, static_cast<double>(bound - 1)))
    return bound_error(dtype, bound);
  auto tensor = Tensor::allocate(dtype, std::move(shape));
  if (!tensor) return tensor;
  const auto fill = [&]<class T>(T) {
    const auto into = tensor->as_mutable<T>();
    for_each_word(stream.key, tensor->elements(), [&](std::size_t i, std::uint32_t word) {
      into[i] = static_cast<T>(std::uint64_t{word} * static_cast<std::uint64_t>(bound) >> 32);
    });
  };
  switch (info(stored).unit_bytes) {
    case 1:
      fill(std::uint8_t{});
      break;
    case 2:
      fill(std::uint16_t{});
      break;
    case 4:
      fill(std::uint32_t{});
      break;
    default:
      fill(std::uint64_t{});
      break;
  }
  return tensor;
}

}  // namespace mir
