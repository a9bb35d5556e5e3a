// Conversion of elements between any two element types.
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

}  // namespace

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
