// Reads and encodes single elements, and converts tensors between float types.
#include "weights/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "mir/codes/tensors.hpp"
#include "support/number_text.hpp"
#include "weights/float_codecs.hpp"

namespace mir {
namespace {

/// Rounds to a float with the given field widths, to nearest even.
std::uint16_t narrow(double value, int exponent_bits, int fraction_bits) {
  constexpr int kBits = 52;
  constexpr std::uint64_t kHidden = std::uint64_t{1} << kBits;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> kBits & 0x7FF) - 1023;
  const std::uint64_t fraction = bits & (kHidden - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint64_t sign = bits >> 63 << (exponent_bits + fraction_bits);
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  if (exponent == 1024 && fraction != 0) {
    const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits - 1);
    return static_cast<std::uint16_t>(sign | infinity | quiet |
                                      fraction >> (kBits - fraction_bits));
  }
  // A subnormal result loses one more bit for each step below the smallest normal exponent.
  const int dropped = kBits - fraction_bits + std::max(0, 1 - bias - exponent);
  if (dropped > kBits + 1) return static_cast<std::uint16_t>(sign);
  const std::uint64_t significand = fraction | kHidden;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  std::uint64_t rounded = significand >> dropped;
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // The hidden bit, or a carry out of the fraction, adds one to the exponent field.
  const auto field = static_cast<std::uint64_t>(std::max(0, exponent + bias - 1));
  return static_cast<std::uint16_t>(sign | std::min((field << fraction_bits) + rounded, infinity));
}

struct IntegerRange {
  std::int64_t lowest;
  std::uint64_t highest;

  /// True if the magnitude, negated if requested, is in the range.
  bool holds(bool is_negative, std::uint64_t magnitude) const {
    return is_negative ? magnitude <= 0 - static_cast<std::uint64_t>(lowest) : magnitude <= highest;
  }
};

IntegerRange range_of(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  if (dtype == DType::kInt4) return {-8, 7};
  if (dtype == DType::kUInt4) return {0, 15};
  const int bits = info(dtype).unit_bytes * 8;
  const auto highest = ~std::uint64_t{0} >> (64 - bits);
  if (info(dtype).type_class != DTypeClass::kSignedInt) return {0, highest};
  return {-static_cast<std::int64_t>(highest / 2) - 1, highest / 2};
}

Error out_of_range(DType dtype, std::string_view text) {
  return {diag::kElementOutOfRange,
          fmt::format("'{}' is not a value of type {}", text, name_of(dtype))};
}

std::uint64_t signed_bits(bool is_negative, std::uint64_t magnitude) {
  return is_negative ? 0 - magnitude : magnitude;
}

/// True for a finite number beyond the largest one of the type, and for an infinity if the type has
/// none.
template <class Codec>
bool is_beyond(Codec, double value) {
  // 464 is the first number that would round beyond 448.
  constexpr double kFirstBeyond = 464;
  if constexpr (std::is_same_v<Codec, Float8E4M3Codec>) return std::abs(value) >= kFirstBeyond;
  return std::isfinite(value) && !std::isfinite(Codec::decode(Codec::encode(value)));
}

/// The bits of the float that is nearest.
std::uint64_t nearest_float(DType dtype, double value) {
  std::uint64_t bits = 0;
  with_float_codec(dtype, [&](auto codec) {
    const auto rounded = codec.encode(value);
    std::memcpy(&bits, &rounded, sizeof rounded);
  });
  return bits;
}

/// The bits of the integer or Bool that is nearest toward zero; NaN is 0, and any number but 0 is
/// true.
std::uint64_t nearest_integer(DType dtype, std::string_view text, double value) {
  if (dtype == DType::kBool) {
    const auto number = Decimal::read(text);
    return number ? !number->is_zero() : std::uint64_t{value != 0};
  }
  if (std::isnan(value)) return 0;
  const IntegerRange range = range_of(dtype);
  const auto number = Decimal::read(text);
  const auto magnitude = number ? number->whole_part() : std::nullopt;
  const bool is_negative = std::signbit(value);
  if (magnitude && range.holds(is_negative, *magnitude))
    return signed_bits(is_negative, *magnitude);
  return is_negative ? static_cast<std::uint64_t>(range.lowest) : range.highest;
}

std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

/// Integers as a stored type and its conversion, as the codecs of floats are.
template <class T>
struct WholeCodec {
  using Stored = T;
  static double decode(T value) { return static_cast<double>(value); }
};

}  // namespace

double f16_to_double(std::uint16_t bits) {
  const std::uint64_t sign = std::uint64_t{bits} >> 15 << 63;
  const std::uint64_t exponent = bits >> 10 & 0x1F;
  const std::uint64_t fraction = bits & 0x3FF;
  if (exponent == 0) {
    const double magnitude = static_cast<double>(fraction) * 0x1p-24;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint64_t wide = exponent == 0x1F ? 0x7FF : exponent - 15 + 1023;
  return std::bit_cast<double>(sign | wide << 52 | fraction << 42);
}

double bf16_to_double(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t f16_from_double(double value) {
  return narrow(value, 5, 10);
}
std::uint16_t bf16_from_double(double value) {
  return narrow(value, 8, 7);
}

double f8_e4m3_to_double(std::uint8_t bits) {
  const int exponent = bits >> 3 & 0xF, fraction = bits & 0x7;
  const bool nan = exponent == 0xF && fraction == 0x7;
  const double magnitude = nan             ? std::numeric_limits<double>::quiet_NaN()
                           : exponent == 0 ? std::ldexp(fraction, -9)
                                           : std::ldexp(8 + fraction, exponent - 10);
  return std::copysign(magnitude, bits >> 7 != 0 ? -1 : 1);
}

double f8_e5m2_to_double(std::uint8_t bits) {
  return f16_to_double(static_cast<std::uint16_t>(bits << 8));
}

std::uint8_t f8_e4m3_from_double(double value) {
  constexpr double kLargest = 448;
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7F;
  const double magnitude = std::min(std::abs(value), kLargest);
  // The highest exponent of an IEEE format is not that of numbers; a quarter has lower ones.
  if (magnitude < 128) return static_cast<std::uint8_t>(narrow(value, 4, 3));
  const std::uint16_t quarter = narrow(magnitude / 4, 4, 3);
  return static_cast<std::uint8_t>(sign | (quarter + (2 << 3)));
}

std::uint8_t f8_e5m2_from_double(double value) {
  return static_cast<std::uint8_t>(narrow(value, 5, 2));
}

bool is_float(DType dtype) {
  return info(dtype).type_class == DTypeClass::kFloat;
}

bool is_integer(DType dtype) {
  const auto& row = info(dtype);
  const bool whole = row.type_class == DTypeClass::kSignedInt ||
                     row.type_class == DTypeClass::kUnsignedInt ||
                     row.type_class == DTypeClass::kBool;
  return whole && row.lanes == 1;
}

double element_as_double(const Tensor& tensor, std::int64_t index) {
  double value = 0;
  elements_as_doubles(tensor, index, {&value, 1});
  return value;
}

void elements_as_doubles(const Tensor& tensor, std::int64_t first, std::span<double> values) {
  const auto decode = [&]<class Codec>(Codec) {
    const auto from = tensor.as<typename Codec::Stored>().subspan(static_cast<std::size_t>(first));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = Codec::decode(from[i]);
  };
  const DType stored = storage_type(tensor.dtype());
  if (is_float(stored)) return with_float_codec(stored, decode);
  const bool is_signed = info(stored).type_class == DTypeClass::kSignedInt;
  switch (info(stored).unit_bytes) {
    case 8:
      return is_signed ? decode(WholeCodec<std::int64_t>{}) : decode(WholeCodec<std::uint64_t>{});
    case 4:
      return is_signed ? decode(WholeCodec<std::int32_t>{}) : decode(WholeCodec<std::uint32_t>{});
    case 2:
      return is_signed ? decode(WholeCodec<std::int16_t>{}) : decode(WholeCodec<std::uint16_t>{});
    default:
      return is_signed ? decode(WholeCodec<std::int8_t>{}) : decode(WholeCodec<std::uint8_t>{});
  }
}

ElementNumber element_number(const Tensor& tensor, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (tensor.dtype() == DType::kInt64) return tensor.as<std::int64_t>()[at];
  if (tensor.dtype() == DType::kUInt64) return tensor.as<std::uint64_t>()[at];
  const double value = element_as_double(tensor, index);
  if (is_float(storage_type(tensor.dtype()))) return value;
  return static_cast<std::int64_t>(value);
}

std::string text_of(const ElementNumber& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

std::string text_of_element(const Tensor& tensor, std::int64_t index) {
  return text_of(element_number(tensor, index));
}

bool is_ranked_before(const Tensor& tensor, std::int64_t a, std::int64_t b) {
  const ElementNumber x = element_number(tensor, a), y = element_number(tensor, b);
  // A NaN differs from itself.
  const bool is_x_number = x == x, is_y_number = y == y;
  if (is_x_number != is_y_number) return is_x_number;
  return x == y || !is_x_number ? a < b : x > y;
}

Result<std::uint64_t> encode_element(DType dtype, double value) {
  const DType stored = storage_type(dtype);
  const auto refuse = [&] { return out_of_range(dtype, fmt::format("{}", value)); };
  if (is_float(stored)) {
    bool overflows = false;
    with_float_codec(stored, [&](auto codec) { overflows = is_beyond(codec, value); });
    if (overflows) return refuse();
    return nearest_float(stored, value);
  }
  // 2^64 is the first double beyond all integers.
  if (!is_integer(stored) || value != std::trunc(value) || !(std::abs(value) < 0x1p64)) {
    return refuse();
  }
  const auto magnitude = static_cast<std::uint64_t>(std::abs(value));
  if (!range_of(stored).holds(value < 0, magnitude)) return refuse();
  return signed_bits(value < 0, magnitude);
}

Result<std::uint64_t> encode_element(DType dtype, std::string_view text) {
  const DType stored = storage_type(dtype);
  if (stored == DType::kBool && (text == "true" || text == "false"))
    return std::uint64_t{text == "true"};
  const std::string_view digits = without_plus(text);
  if (is_integer(stored)) {
    bool is_negative = false;
    std::optional<std::uint64_t> magnitude;
    if (const auto plain = read_integer(digits)) {  // which most are
      is_negative = *plain < 0;
      magnitude = signed_bits(is_negative, static_cast<std::uint64_t>(*plain));
    } else if (const auto number = Decimal::read(digits); number && number->is_whole()) {
      is_negative = number->is_negative();
      magnitude = number->whole_part();
    }
    if (!magnitude || !range_of(stored).holds(is_negative, *magnitude)) {
      return out_of_range(dtype, text);
    }
    return signed_bits(is_negative, *magnitude);
  }
  const auto value = read_number(digits);
  // An infinity that is written as a number is beyond all numbers.
  if (!value || (std::isinf(*value) && Decimal::read(digits))) return out_of_range(dtype, text);
  auto bits = encode_element(dtype, *value);
  if (!bits) return out_of_range(dtype, text);
  return bits;
}

Result<Tensor> element_of(DType dtype, std::string_view text) {
  auto element = Tensor::allocate(dtype, {});
  if (!element) return element;
  if (text == "true" || text == "false") text = text == "true" ? "1" : "0";
  const auto value = read_number(text);
  if (!value) return out_of_range(dtype, text);
  // Zero bytes are zero, in types that have no other numbers, too.
  if (*value == 0 && !std::signbit(*value) && dtype != DType::kBool) return element;
  if (!is_real(dtype)) return out_of_range(dtype, text);
  const std::uint64_t bits =
      !is_float(dtype)
          ? nearest_integer(dtype, text, *value)
          : nearest_float(dtype,
                          std::isnan(*value) ? std::numeric_limits<double>::quiet_NaN() : *value);
  std::memcpy(element->mutable_bytes(), &bits, info(dtype).unit_bytes);
  return element;
}

Result<ConvertedFloats> convert_floats_with_overflow(const Tensor& tensor, DType to) {
  if (tensor.dtype() == to) return ConvertedFloats{tensor};
  if (!is_float(tensor.dtype()) || !is_float(to))
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("cannot convert {} to {}: both must be float types",
                             name_of(tensor.dtype()), name_of(to))};
  auto made = Tensor::allocate(to, tensor.shape());
  if (!made) return std::move(made).error();
  ConvertedFloats converted{*std::move(made)};
  with_float_codec(tensor.dtype(), [&](auto source) {
    with_float_codec(to, [&](auto target) {
      const auto from = tensor.as<typename decltype(source)::Stored>();
      const auto into = converted.tensor.as_mutable<typename decltype(target)::Stored>();
      for (std::size_t i = 0; i < from.size(); ++i) {
        const double value = source.decode(from[i]);
        into[i] = target.encode(value);
        if (!is_beyond(target, value)) continue;
        if (converted.overflows++ == 0) converted.first_overflow = static_cast<std::int64_t>(i);
      }
    });
  });
  return converted;
}

std::string overflow_text(const ConvertedFloats& converted, const Tensor& tensor) {
  return fmt::format("{} of {} elements are beyond the largest {}, the first is {} at element {}",
                     converted.overflows, tensor.elements(), name_of(converted.tensor.dtype()),
                     text_of_element(tensor, converted.first_overflow), converted.first_overflow);
}

Result<Tensor> convert_floats(const Tensor& tensor, DType to) {
  auto converted = convert_floats_with_overflow(tensor, to);
  if (!converted) return std::move(converted).error();
  if (converted->overflows == 0) return std::move(converted->tensor);
  return Error{diag::kElementOutOfRange, overflow_text(*converted, tensor)};
}

}  // namespace mir
