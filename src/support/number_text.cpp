#include "support/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace mir {

namespace {

constexpr std::string_view kDigits = "0123456789";

template <class T>
std::optional<T> read_all(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// An exponent of 10. One beyond 64 bits is more than the digits of any text can make up for.
std::optional<std::int64_t> read_exponent(std::string_view text) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool is_negative = text.starts_with('-');
  const std::string_view digits = text.substr(is_negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of(kDigits) != digits.npos) return std::nullopt;
  const auto value = read_all<std::int64_t>(text);
  if (!value) return is_negative ? -kMost : kMost;
  return std::clamp(*value, -kMost, kMost);
}

}  // namespace

std::optional<Decimal> Decimal::read(std::string_view text) {
  Decimal number;
  number.is_negative_ = text.starts_with('-');
  if (number.is_negative_) text.remove_prefix(1);
  const auto e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  const auto exponent =
      e == text.size() ? std::optional<std::int64_t>(0) : read_exponent(text.substr(e + 1));
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  number.digits_ = mantissa.substr(0, point);
  if (point < mantissa.size()) number.digits_ += mantissa.substr(point + 1);
  const bool is_number = exponent && !number.digits_.empty() &&
                         number.digits_.find_first_not_of(kDigits) == std::string::npos;
  if (!is_number) return std::nullopt;
  const auto first = std::min(number.digits_.find_first_not_of('0'), number.digits_.size());
  number.digits_.erase(number.digits_.find_last_not_of('0') + 1);
  number.digits_.erase(0, first);
  if (!number.digits_.empty()) {
    number.point_ = *exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  }
  return number;
}

std::optional<std::uint64_t> Decimal::whole_part() const {
  constexpr std::int64_t kMostDigits = 20;
  if (point_ <= 0) return 0;
  if (point_ > kMostDigits) return std::nullopt;
  std::string whole = digits_;
  whole.resize(static_cast<std::size_t>(point_), '0');
  return read_all<std::uint64_t>(whole);
}

std::weak_ordering order_of(const Decimal& a, const Decimal& b) {
  if (a.is_zero() && b.is_zero()) return std::weak_ordering::equivalent;
  const bool is_below = a.is_negative_ && !a.is_zero();
  if (is_below != (b.is_negative_ && !b.is_zero())) {
    return is_below ? std::weak_ordering::less : std::weak_ordering::greater;
  }
  std::weak_ordering order = std::weak_ordering::equivalent;
  if (a.is_zero() != b.is_zero()) {
    order = a.is_zero() ? std::weak_ordering::less : std::weak_ordering::greater;
  } else {
    order = a.point_ <=> b.point_;
    if (order == 0) order = a.digits_ <=> b.digits_;
  }
  return is_below ? 0 <=> order : order;
}

std::optional<std::int64_t> read_integer(std::string_view text) {
  return read_all<std::int64_t>(text);
}

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const auto decimal = Decimal::read(text);
    if (!decimal) return std::nullopt;
    value = decimal->is_fraction() ? 0.0 : std::numeric_limits<double>::infinity();
    return decimal->is_negative() ? -value : value;
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace mir
