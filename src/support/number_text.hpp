// Numbers as text spells them, without rounding.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mir {

/// A decimal number: 0.d1 d2 d3 ... times 10 to the power of `point`, where neither d1 nor the last
/// digit is 0. Zero has no digits, point 0 and a sign.
class Decimal {
 public:
  /// Returns no value for anything else than a decimal number, such as `inf` and `nan`.
  static std::optional<Decimal> read(std::string_view text);

  bool is_negative() const { return is_negative_; }
  bool is_zero() const { return digits_.empty(); }
  bool is_whole() const { return point_ >= static_cast<std::int64_t>(digits_.size()); }
  /// True if the number is less than 1 in magnitude.
  bool is_fraction() const { return point_ <= 0; }
  /// The magnitude, rounded toward zero; no value if it needs more than 64 bits.
  std::optional<std::uint64_t> whole_part() const;

  /// True for the same number with the same sign, zeros included.
  friend bool operator==(const Decimal&, const Decimal&) = default;

 private:
  friend std::weak_ordering order_of(const Decimal& a, const Decimal& b);

  bool is_negative_ = false;
  std::int64_t point_ = 0;
  std::string digits_{};
};

/// The order of the numbers; zeros of different signs are equivalent.
std::weak_ordering order_of(const Decimal& a, const Decimal& b);

std::optional<std::int64_t> read_integer(std::string_view text);
/// Reads decimal numbers, `inf` and `nan`, signed; the double that is nearest: a zero or an
/// infinity if the number is too small or too large.
std::optional<double> read_number(std::string_view text);

}  // namespace mir
