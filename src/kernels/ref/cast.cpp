// Conversion of elements between any two element types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/movement.hpp"

namespace mir::ref {
namespace {

/// An integer as a double that rounds to any type of up to 24 bits like the integer itself: bits
/// that do not fit are replaced by one sticky bit.
double to_double_for_narrowing(std::uint64_t magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const std::uint64_t sticky = (magnitude & 0x7ff) != 0;
  return static_cast<double>((magnitude >> 11) | sticky) * 2048.0;
}

template <class To, class From>
To convert(From element) {
  const auto value = load<From>(element);
  using Value = decltype(value);
  if constexpr (kIsFloating<From>) {
    if constexpr (kIsFloating<To>) return store<To>(value);
    if constexpr (std::is_same_v<To, Bool>) return Bool{value != 0};
    if constexpr (std::is_integral_v<To>) return truncate_to<To>(value);
  } else if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
    return static_cast<To>(value);
  } else if constexpr (kIsFloating<To>) {
    const bool negative = std::is_signed_v<Value> && value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    const double magnitude = to_double_for_narrowing(negative ? 0 - bits : bits);
    return store<To>(negative ? -magnitude : magnitude);
  } else {
    return store<To>(static_cast<Wide<To>>(value));
  }
}

template <class To, class From>
void convert_element(const void* from, std::int64_t from_at, void* to, std::int64_t to_at) {
  static_cast<To*>(to)[to_at] = convert<To>(static_cast<const From*>(from)[from_at]);
}

template <class T>
void write_number(const Sequence& sequence, std::int64_t i, void* to) {
  const double near = sequence.start + static_cast<double>(i) * sequence.step;
  T element = convert<T>(near);
  if constexpr (std::is_integral_v<T>) {
    if (sequence.whole) {
      using Limits = std::numeric_limits<T>;
      const auto value = static_cast<Wide<T>>(sequence.whole->start +
                                              static_cast<std::uint64_t>(i) * sequence.whole->step);
      // The double is near enough to tell by how many times 2^64 the other is wrong.
      const double turns = std::round((near - static_cast<double>(value)) / 0x1p64);
      if (turns == 0) {
        element = static_cast<T>(std::clamp(value, static_cast<Wide<T>>(Limits::min()),
                                            static_cast<Wide<T>>(Limits::max())));
      }
    }
  }
  *static_cast<T*>(to) = element;
}

}  // namespace

Result<SequenceElement> sequence_element(DType dtype) {
  SequenceElement element{};
  const auto done =
      with_number_or_bool("sequence", dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
        element.write = &write_number<T>;
        return {};
      });
  if (!done) return done.error();
  return element;
}

Result<ElementCast> element_cast(DType from, DType to) {
  ElementCast element{};
  const auto done = with_number_or_bool("cast", from, [&]<class From>(std::type_identity<From>) {
    return with_number_or_bool("cast", to, [&]<class To>(std::type_identity<To>) -> Result<void> {
      element.convert = &convert_element<To, From>;
      return {};
    });
  });
  if (!done) return done.error();
  return element;
}

Result<void> cast(const View& x, const MutableView& out) {
  if (auto ok = check_views("cast", {x, out}); !ok) return ok;
  if (auto ok = check_same_extents("cast", x, out); !ok) return ok;
  const auto element = element_cast(x.dtype, out.dtype);
  if (!element) return element.error();
  for_each_offset<2>(out.extents, {x.strides, out.strides},
                     [&](Offsets<2> at) { element->convert(x.data, at[0], out.data, at[1]); });
  return {};
}

}  // namespace mir::ref
