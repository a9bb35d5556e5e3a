// Draws random tensor values, including special ones, and compares results under a claim.
#include "validate/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "weights/elements.hpp"

namespace mir::validate {

namespace {

/// The type of the real and the imaginary part; other types have one part, themselves.
DType part_type(DType dtype) {
  if (dtype == DType::kComplexFP32) return DType::kFloat32;
  if (dtype == DType::kComplexFP64) return DType::kFloat64;
  return dtype;
}

bool is_drawable(DType dtype) {
  return is_real(part_type(dtype)) && info(dtype).lanes == 1;
}

bool is_unsigned(DType dtype) {
  return info(dtype).type_class == DTypeClass::kUnsignedInt;
}

std::uint64_t bits_of(DType dtype, double value) {
  const auto bits = encode_element(dtype, value);
  return bits ? *bits : 0;
}

/// Digits of the significand of a float type, the leading one included.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 53;
    case DType::kFloat32:
      return 24;
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat8E4M3:
      return 4;
    default:
      return 3;
  }
}

constexpr std::array kNarrowFloats = {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                                      DType::kFloat8E4M3, DType::kFloat8E5M2};

/// A number halfway between two neighbours of a narrower float type, or next to it, where rounding
/// twice shows.
double near_halfway(DType dtype, Draw& draw) {
  const DType narrow = draw.one_of(kNarrowFloats);
  const int digits = std::min(digits_of(narrow), digits_of(dtype) - 1);
  const auto exponent =
      static_cast<int>(draw.one_in(4) ? draw.between(-40, 60) : draw.between(-6, 10));
  const auto significand = static_cast<double>(
      draw.between(std::int64_t{1} << (digits - 1), (std::int64_t{1} << digits) - 1));
  const double halfway = std::ldexp(significand + 0.5, exponent - digits);
  // Less than a unit of the type itself is rounded away.
  const int distance = static_cast<int>(draw.between(digits + 2, 52));
  return halfway * (1 + static_cast<double>(draw.between(-1, 1)) * std::ldexp(1.0, -distance));
}

/// An end of an integer type, a power of two beside it, or a number between.
double near_integer_end(Draw& draw) {
  constexpr std::array kBits = {7, 8, 15, 16, 31, 32, 53, 63, 64};
  const double power = std::ldexp(1.0, draw.one_of(kBits));
  constexpr std::array kSteps = {0.0, -1.0, 1.0, -0.5, 0.5, -1.5};
  return power + draw.one_of(kSteps);
}

std::uint64_t boundary_float(DType dtype, Draw& draw) {
  const double sign = draw.one_in(2) ? -1 : 1;
  // The largest numbers of narrower types, and the first ones beyond them.
  constexpr std::array kLargest = {448.0,   464.0,   57344.0,        61440.0,
                                   65504.0, 65520.0, 0x1.fffffep127, 0x1.ffffffp127};
  switch (draw.below(9)) {
    case 0:
      return bits_of(dtype, sign * near_integer_end(draw));
    case 1:
      return bits_of(dtype, sign * draw.one_of(kLargest));
    case 2:
      return bits_of(dtype, sign * std::ldexp(1.0, -static_cast<int>(draw.between(20, 130))));
    default:
      return bits_of(dtype, sign * near_halfway(dtype, draw));
  }
}

/// A neighbour of an end of an integer type, or of a halfway point of a float type.
std::uint64_t boundary_integer(DType dtype, Draw& draw) {
  const int width = info(dtype).unit_bytes * 8;
  const auto near = static_cast<std::uint64_t>(draw.between(-1, 1));
  const auto signed_as = [&](std::uint64_t value) {
    return !is_unsigned(dtype) && draw.one_in(2) ? ~value + 1 : value;
  };
  const DType narrow = draw.one_in(4)   ? DType::kFloat64
                       : draw.one_in(2) ? DType::kFloat32
                                        : draw.one_of(kNarrowFloats);
  const int digits = digits_of(narrow);
  if (draw.one_in(3) || digits + 1 >= width) {
    return signed_as((std::uint64_t{1} << draw.between(1, width - 1)) + near);
  }
  // Large numbers are rounded by each of two types.
  const int most = width - digits - (is_unsigned(dtype) ? 0 : 1);
  const int least = draw.one_in(2) ? std::max(most - 9, 1) : 1;
  const int shift = static_cast<int>(draw.between(least, most));
  const std::uint64_t significand =
      (std::uint64_t{1} << (digits - 1)) | draw.bits_below(std::uint64_t{1} << (digits - 1));
  return signed_as((significand << shift) + (std::uint64_t{1} << (shift - 1)) + near);
}

std::uint64_t special_float(DType dtype, Draw& draw) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::array kSpecial = {0.0, -0.0, 1.0,  -1.0, kInfinity, -kInfinity, std::nan(""),
                               0.5, 2.0,  -3.0, 1e-5, -1e-7,     1e30,       -1e30};
  switch (draw.below(4)) {
    case 0:
      return bits_of(dtype, draw.one_of(kSpecial));
    case 1:
      if (draw.one_in(4)) return draw.below(256);  // few bits are a subnormal number
      return draw.one_in(3) ? draw.bits() : boundary_float(dtype, draw);
    case 2:
      return bits_of(dtype, static_cast<double>(draw.between(-4, 4)));
    default:
      return bits_of(dtype,
                     (draw.unit() - 0.5) * std::ldexp(1.0, static_cast<int>(draw.below(12))));
  }
}

std::uint64_t special_integer(DType dtype, Draw& draw) {
  const int width = info(dtype).unit_bytes * 8;
  const std::uint64_t lowest = std::uint64_t{1} << (width - 1);
  switch (draw.below(3)) {
    case 0:
      return draw.one_of(
          std::array<std::uint64_t, 6>{0, 1, ~std::uint64_t{0}, lowest, lowest - 1, 2});
    case 1:
      return draw.one_in(3) ? draw.bits() : boundary_integer(dtype, draw);
    default:
      return is_unsigned(dtype) ? draw.below(8) : static_cast<std::uint64_t>(draw.between(-8, 8));
  }
}

/// Position of the finite values of a tensor: around 0, near to each other, or wide.
struct Cluster {
  double centre = 0, spread = 0;
};

Cluster draw_cluster(double largest, Draw& draw) {
  const double near = std::min(largest, 10.0);
  switch (draw.below(4)) {
    case 0:
      return {0, largest};
    case 1:
      return {(draw.one_in(2) ? 1 : -1) * (largest - near), near};
    default:
      return {0, near};
  }
}

std::uint64_t draw_element(DType dtype, ValueStyle style, const Cluster& cluster, Draw& draw) {
  if (info(dtype).type_class == DTypeClass::kBool) return draw.below(2);
  const bool has_sign = !is_unsigned(dtype);
  switch (style) {
    case ValueStyle::kSpecial:
      if (is_float(dtype)) return special_float(dtype, draw);
      if (dtype == DType::kInt4 || dtype == DType::kUInt4) {  // a byte has more codes
        return bits_of(dtype,
                       static_cast<double>(has_sign ? draw.between(-8, 7) : draw.between(0, 15)));
      }
      return special_integer(dtype, draw);
    case ValueStyle::kSmall:
      return bits_of(dtype, static_cast<double>(draw.between(has_sign ? -4 : 0, 4)));
    case ValueStyle::kIntegers: {
      const std::int64_t most = info(dtype).unit_bytes == 1 ? 100 : 1024;
      return bits_of(dtype, static_cast<double>(draw.between(has_sign ? -most : 0, most)));
    }
    case ValueStyle::kFinite:
      break;
  }
  if (draw.one_in(8)) {
    return bits_of(dtype, static_cast<double>(draw.between(has_sign ? -1 : 0, 1)));
  }
  const double value = cluster.centre + (draw.unit() * 2 - 1) * cluster.spread;
  if (is_float(dtype)) return bits_of(dtype, value);
  return bits_of(dtype, std::trunc(std::clamp(value, has_sign ? -100.0 : 0.0, 100.0)));
}

/// A NaN is equal to any other.
bool are_equal_numbers(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// The parts of an element: one, or that of a complex number and the imaginary one.
std::vector<double> parts_of(const Tensor& tensor, std::int64_t i) {
  const DType part = part_type(tensor.dtype());
  if (part == tensor.dtype()) return {element_as_double(tensor, i)};
  const std::byte* at = tensor.bytes().data() + i * info(tensor.dtype()).unit_bytes;
  std::vector<double> parts(2);
  for (double& each : parts) {
    float narrow = 0;
    if (part == DType::kFloat32) std::memcpy(&narrow, at, sizeof narrow);
    each = narrow;
    if (part == DType::kFloat64) std::memcpy(&each, at, sizeof each);
    at += info(part).unit_bytes;
  }
  return parts;
}

/// True if one element differs by more than the claim allows.
bool differs(const Tensor& before, const Tensor& after, std::int64_t i, const RewriteClaim& claim) {
  const std::size_t width = info(before.dtype()).unit_bytes;
  const auto at = static_cast<std::size_t>(i) * width;
  if (std::memcmp(before.bytes().data() + at, after.bytes().data() + at, width) == 0) return false;
  if (claim.kind == RewriteClaim::Kind::kBits || !is_float(part_type(before.dtype()))) return true;
  const std::vector<double> a = parts_of(before, i), b = parts_of(after, i);
  if (claim.kind == RewriteClaim::Kind::kValue) return !std::ranges::equal(a, b, are_equal_numbers);
  double magnitude = 0, distance = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!std::isfinite(a[k])) return false;  // outside of the domain
    magnitude = std::hypot(magnitude, a[k]);
    distance = std::hypot(distance, a[k] - b[k]);
  }
  return !(distance <= claim.absolute + claim.relative * magnitude);
}

}  // namespace

std::optional<Tensor> draw_tensor(DType dtype, const Shape& shape, ValueStyle style, double largest,
                                  Draw& draw) {
  if (!is_drawable(dtype)) return std::nullopt;
  auto tensor = Tensor::allocate(dtype, shape);
  if (!tensor) return std::nullopt;
  const DType part = part_type(dtype);
  const std::size_t width = info(part).unit_bytes;
  const Cluster cluster = draw_cluster(largest, draw);
  std::byte* at = tensor->mutable_bytes();
  for (std::byte* const end = at + tensor->bytes().size(); at != end; at += width) {
    const std::uint64_t bits = draw_element(part, style, cluster, draw);
    std::memcpy(at, &bits, width);
  }
  return *std::move(tensor);
}

std::optional<Tensor> all_values(DType dtype) {
  if (!is_drawable(dtype) || info(dtype).unit_bytes > 2) return std::nullopt;
  const bool is_bool = info(dtype).type_class == DTypeClass::kBool;
  const std::int64_t count = is_bool ? 2 : std::int64_t{1} << (8 * info(dtype).unit_bytes);
  auto tensor = Tensor::allocate(dtype, {count});
  if (!tensor) return std::nullopt;
  const std::size_t width = info(dtype).unit_bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(tensor->mutable_bytes() + static_cast<std::size_t>(i) * width, &i, width);
  }
  return *std::move(tensor);
}

std::string element_text(const Tensor& tensor, std::int64_t i) {
  if (!is_drawable(tensor.dtype())) return "?";
  return fmt::format("{}", fmt::join(parts_of(tensor, i), " and "));
}

std::optional<Tensor> with_element(const Tensor& tensor, std::int64_t i, double value) {
  const DType part = part_type(tensor.dtype());
  if (!is_drawable(tensor.dtype())) return std::nullopt;
  const auto bits = encode_element(part, value);
  auto changed = Tensor::allocate(tensor.dtype(), tensor.shape());
  if (!bits || !changed) return std::nullopt;
  std::ranges::copy(tensor.bytes(), changed->mutable_bytes());
  const std::size_t width = info(tensor.dtype()).unit_bytes;
  std::byte* at = changed->mutable_bytes() + static_cast<std::size_t>(i) * width;
  std::memset(at, 0, width);
  std::memcpy(at, &*bits, info(part).unit_bytes);
  return *std::move(changed);
}

void repeat_elements(Tensor& to, const Tensor& from, Draw& draw) {
  if (from.elements() == 0 || from.dtype() != to.dtype()) return;
  const std::size_t width = info(to.dtype()).unit_bytes;
  const std::size_t size = from.bytes().size();
  for (std::size_t at = 0; at < to.bytes().size(); at += width) {
    if (draw.one_in(2)) continue;
    std::memcpy(to.mutable_bytes() + at, from.bytes().data() + at % size, width);
  }
}

std::uint64_t compared_elements(std::span<const Tensor> before, const RewriteClaim& claim) {
  std::uint64_t count = 0;
  for (const Tensor& each : before) {
    const bool is_bounded =
        claim.kind == RewriteClaim::Kind::kBound && is_float(part_type(each.dtype()));
    for (std::int64_t i = 0; i < each.elements(); ++i) {
      const auto is_finite = [](double part) { return std::isfinite(part); };
      count += !is_bounded || std::ranges::all_of(parts_of(each, i), is_finite) ? 1 : 0;
    }
  }
  return count;
}

std::optional<Difference> difference(std::span<const Tensor> before, std::span<const Tensor> after,
                                     const RewriteClaim& claim) {
  for (std::size_t result = 0; result < before.size(); ++result) {
    const Tensor &a = before[result], &b = after[result];
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
      return Difference{result, 0, fmt::format("result {} has another type", result)};
    }
    for (std::int64_t i = 0; i < a.elements(); ++i) {
      if (!differs(a, b, i, claim)) continue;
      return Difference{result, i,
                        fmt::format("result {}, element {}: {} before, {} after", result, i,
                                    element_text(a, i), element_text(b, i))};
    }
  }
  return std::nullopt;
}

}  // namespace mir::validate
