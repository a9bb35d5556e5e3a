// Quantises numbers to integer codes and dequantises them, per tensor, channel or group.
#include "kernels/ref/quantise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

/// fn(std::type_identity<T>{}) with T the integer that codes of `dtype` are stored in.
template <class Fn>
Result<void> with_code(std::string_view kernel, DType dtype, Fn&& fn) {
  switch (storage_type(dtype)) {
    case DType::kInt4:
    case DType::kInt8:
      return fn(std::type_identity<std::int8_t>{});
    case DType::kUInt4:
    case DType::kUInt8:
      return fn(std::type_identity<std::uint8_t>{});
    case DType::kInt16:
      return fn(std::type_identity<std::int16_t>{});
    case DType::kUInt16:
      return fn(std::type_identity<std::uint16_t>{});
    case DType::kInt32:
      return fn(std::type_identity<std::int32_t>{});
    case DType::kUInt32:
      return fn(std::type_identity<std::uint32_t>{});
    default:
      return dtype_error(kernel, dtype);
  }
}

/// The low bits of a stored integer as a code.
std::int64_t code_of(std::int64_t stored, const Quantisation& quantisation) {
  if (quantisation.code_bits == 0) return stored;
  const std::int64_t count = std::int64_t{1} << quantisation.code_bits;
  const std::int64_t code = stored & (count - 1);
  return quantisation.low < 0 && code >= count / 2 ? code - count : code;
}

/// The nearest integer, ties to even; |x| < 2^51.
double nearest(double x) {
  constexpr double kOneHalfTimesTwoTo52 = 0x1.8p52;
  return (x + kOneHalfTimesTwoTo52) - kOneHalfTimesTwoTo52;
}

std::int64_t code_for(double x, double scale, std::int64_t zero, std::int64_t low,
                      std::int64_t high) {
  if (x != x) return std::clamp(zero, low, high);
  const double steps =
      std::clamp(x / scale, static_cast<double>(low - zero), static_cast<double>(high - zero));
  return static_cast<std::int64_t>(nearest(steps)) + zero;
}

/// Strides that give the channel and the position within it.
struct GroupStrides {
  Dims channel, position;
  std::int64_t groups_per_channel = 1;
};

GroupStrides group_strides(const Quantisation& quantisation,
                           std::span<const std::int64_t> extents) {
  GroupStrides strides;
  Dims rest(extents.begin(), extents.end());
  if (quantisation.axis) rest[*quantisation.axis] = 1;
  strides.position = row_major_strides(rest);
  strides.channel.assign(extents.size(), 0);
  if (quantisation.axis) {
    strides.position[*quantisation.axis] = 0;
    strides.channel[*quantisation.axis] = 1;
  }
  if (quantisation.block == 0) return strides;
  std::int64_t elements = 1;
  for (const std::int64_t extent : rest) elements *= extent;
  strides.groups_per_channel = elements / quantisation.block;
  return strides;
}

Result<void> check(std::string_view kernel, const View& x, const Quantisation& quantisation,
                   const View& out) {
  if (auto ok = check_views(kernel, {x, out}); !ok) return ok;
  if (auto ok = check_same_extents(kernel, x, out); !ok) return ok;
  const auto groups = group_count(quantisation, x.extents);
  if (!groups) return groups.error();
  const auto wanted = static_cast<std::size_t>(*groups);
  const auto& [scales, zeros] = std::tie(quantisation.scales, quantisation.zero_points);
  if (scales.size() != wanted || (!zeros.empty() && zeros.size() != wanted)) {
    return shape_error(kernel, fmt::format("{} scales and {} zero points for {} groups",
                                           scales.size(), zeros.size(), wanted));
  }
  const auto bad =
      std::ranges::find_if(scales, [](double scale) { return !(scale > 0 && scale - scale == 0); });
  if (bad != scales.end()) {
    return attribute_error(kernel, fmt::format("scale {} is not a positive number", *bad));
  }
  return {};
}

/// Calls body(offset in a, offset in b, scale, zero point) for every element.
template <class Body>
void for_each_code(const View& a, const View& b, const Quantisation& quantisation, Body body) {
  if (element_count(a) == 0) return;
  const GroupStrides strides = group_strides(quantisation, a.extents);
  const std::int64_t block = quantisation.block;
  for_each_offset<4>(
      a.extents, {a.strides, b.strides, strides.channel, strides.position}, [&](Offsets<4> at) {
        const std::int64_t run = block == 0 ? 0 : at[3] / block;
        const auto group = static_cast<std::size_t>(at[2] * strides.groups_per_channel + run);
        const auto& zeros = quantisation.zero_points;
        body(at[0], at[1], quantisation.scales[group], zeros.empty() ? 0 : zeros[group]);
      });
}

}  // namespace

Result<std::int64_t> group_count(const Quantisation& quantisation,
                                 std::span<const std::int64_t> extents) {
  constexpr std::string_view kKernel = "quantisation";
  std::int64_t channels = 1, elements = 1;
  if (quantisation.axis) {
    if (*quantisation.axis >= extents.size()) {
      return attribute_error(kKernel, fmt::format("axis {} of a tensor of rank {}",
                                                  *quantisation.axis, extents.size()));
    }
    channels = extents[*quantisation.axis];
  }
  for (std::size_t dim = 0; dim < extents.size(); ++dim) {
    if (dim != quantisation.axis) elements *= extents[dim];
  }
  if (quantisation.block == 0) return channels;
  if (quantisation.block < 0 || elements % quantisation.block != 0) {
    return attribute_error(kKernel, fmt::format("blocks of {} do not divide the {} elements of a "
                                                "channel",
                                                quantisation.block, elements));
  }
  return channels * (elements / quantisation.block);
}

Result<void> dequantise(const View& codes, const Quantisation& quantisation,
                        const MutableView& out) {
  constexpr std::string_view kKernel = "dequantise";
  if (auto ok = check(kKernel, codes, quantisation, out); !ok) return ok;
  return with_code(kKernel, codes.dtype, [&]<class Code>(std::type_identity<Code>) {
    const auto* from = static_cast<const Code*>(codes.data);
    return with_floating(kKernel, out.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
      auto* to = static_cast<T*>(out.data);
      for_each_code(codes, out, quantisation,
                    [&](std::int64_t at, std::int64_t into, double scale, std::int64_t zero) {
                      const std::int64_t code = code_of(from[at], quantisation);
                      to[into] = store<T>(scale * static_cast<double>(code - zero));
                    });
      return {};
    });
  });
}

Result<void> quantise(const View& x, const Quantisation& quantisation, const MutableView& codes) {
  constexpr std::string_view kKernel = "quantise";
  if (auto ok = check(kKernel, x, quantisation, codes); !ok) return ok;
  const std::int64_t mask =
      quantisation.code_bits == 0 ? -1 : (std::int64_t{1} << quantisation.code_bits) - 1;
  return with_code(kKernel, codes.dtype, [&]<class Code>(std::type_identity<Code>) {
    auto* to = static_cast<Code*>(codes.data);
    return with_floating(kKernel, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
      const auto* from = static_cast<const T*>(x.data);
      for_each_code(x, codes, quantisation,
                    [&](std::int64_t at, std::int64_t into, double scale, std::int64_t zero) {
                      const std::int64_t code = code_for(load<T>(from[at]), scale, zero,
                                                         quantisation.low, quantisation.high);
                      to[into] = static_cast<Code>(code & mask);
                    });
      return {};
    });
  });
}

}  // namespace mir::ref
