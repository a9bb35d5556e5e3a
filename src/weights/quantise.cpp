// Encodes tensors as Q8_0, Q4_0, Q4_K or MIR_Q4_A32 blocks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "mir/codes/tensors.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"
#include "weights/encode_q4_k.hpp"

namespace mir {
namespace {

constexpr int kQuantBlock = 32;

/// A scale that Float16 can hold, at the start of the block; false for any other.
bool store_scale(float d, std::uint8_t* block) {
  const std::uint16_t bits = f16_from_double(d);
  std::memcpy(block, &bits, sizeof bits);
  return std::isfinite(f16_to_double(bits));
}

float largest_magnitude(const float* values) {
  return *std::max_element(values, values + kQuantBlock,
                           [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

bool encode_q8_0(const float* values, std::uint8_t* block) {
  const float d = std::fabs(largest_magnitude(values)) / 127;
  const float inverse = d == 0 ? 0 : 1 / d;
  for (int i = 0; i < kQuantBlock; ++i) {
    // 1 / d is infinite where d is subnormal; the codes then are those of the largest value.
    const float code = std::clamp(std::round(values[i] * inverse), -127.0f, 127.0f);
    block[2 + i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(values[i] == 0 ? 0 : code));
  }
  return store_scale(d, block);
}

bool encode_q4_0(const float* values, std::uint8_t* block) {
  const float d = largest_magnitude(values) / -8;
  const float inverse = d == 0 ? 0 : 1 / d;
  const auto code = [&](float value) {
    const float scaled = value == 0 ? 8.5f : value * inverse + 8.5f;
    return static_cast<unsigned>(std::clamp(scaled, 0.0f, 15.0f));
  };
  for (int i = 0; i < 16; ++i)
    block[2 + i] = static_cast<std::uint8_t>(code(values[i]) | code(values[i + 16]) << 4);
  return store_scale(d, block);
}

/// From the least to the largest value in 15 steps. Near the largest float a step is one unit in
/// the last place shorter where rounding it up would take an end beyond.
bool encode_q4_a32(const float* values, std::uint8_t* block) {
  const auto [least, largest] = std::minmax_element(values, values + kQuantBlock);
  auto scale = static_cast<float>((static_cast<double>(*largest) - *least) / 15);
  auto term = static_cast<float>(*least + 8.0 * scale);
  if (!std::isfinite(std::fma(7.0F, scale, term)) || !std::isfinite(std::fma(-8.0F, scale, term))) {
    scale = std::nextafter(scale, 0.0F);
    term = static_cast<float>((static_cast<double>(*least) + *largest + scale) / 2);
  }
  const auto code = [&](float value) {
    const double steps = scale == 0 ? 0 : (static_cast<double>(value) - term) / scale;
    return static_cast<unsigned>(std::clamp(std::nearbyint(steps), -8.0, 7.0) + 8);
  };
  std::memcpy(block, &scale, sizeof scale);
  std::memcpy(block + 4, &term, sizeof term);
  for (int i = 0; i < 16; ++i)
    block[8 + i] = static_cast<std::uint8_t>(code(values[i]) | code(values[i + 16]) << 4);
  return true;
}

using Encode = bool (*)(const float* values, std::uint8_t* block);

Encode encoder_of(DType dtype) {
  switch (dtype) {
    case DType::kGgufQ8_0:
      return encode_q8_0;
    case DType::kGgufQ4_0:
      return encode_q4_0;
    case DType::kGgufQ4K:
      return encode_q4_k;
    case DType::kMirQ4A32:
      return encode_q4_a32;
    default:
      return nullptr;
  }
}

}  // namespace

bool is_encodable_block(DType dtype) {
  return encoder_of(dtype) != nullptr;
}

Result<Tensor> quantise(const Tensor& values, DType to) {
  const auto refuse = [&](std::string_view text) {
    return Error{
        diag::kTensorDtypeUnsupported,
        fmt::format("{} cannot be quantised to {}{}", name_of(values.dtype()), name_of(to), text)};
  };
  const Encode encode = encoder_of(to);
  if (values.dtype() != DType::kFloat32 || encode == nullptr) return refuse("");
  const std::size_t lanes = info(to).lanes;
  if (values.rank() == 0 || values.shape().back() % info(to).lanes != 0)
    return refuse(fmt::format(": the last extent is no multiple of {}", lanes));
  auto blocks = Tensor::allocate(to, values.shape());
  if (!blocks) return blocks;
  const auto from = values.as<float>();
  auto* block = reinterpret_cast<std::uint8_t*>(blocks->mutable_bytes());
  for (std::size_t i = 0; i < from.size(); i += lanes, block += info(to).unit_bytes) {
    const auto part = from.subspan(i, lanes);
    const bool finite = std::ranges::all_of(part, [](float value) { return std::isfinite(value); });
    if (!finite || !encode(part.data(), block))
      return Error{diag::kElementOutOfRange,
                   fmt::format("elements {} to {} hold a value that {} has no scale for", i,
                               i + lanes - 1, name_of(to))};
  }
  return blocks;
}

}  // namespace mir
