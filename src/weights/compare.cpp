// Compares two tensors: errors, ULP distances, cosine similarity, top-k agreement, tolerances.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "mir/weights.hpp"
#include "weights/checks.hpp"
#include "weights/elements.hpp"

namespace mir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Complex elements as pairs of reals along a last axis of 2.
Result<Tensor> as_reals(const Tensor& tensor) {
  const bool complex = info(tensor.dtype()).type_class == DTypeClass::kComplex;
  if (is_real(storage_type(tensor.dtype()))) return tensor;
  if (!complex)
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("tensors of type {} cannot be compared", name_of(tensor.dtype()))};
  auto shape = tensor.shape();
  shape.push_back(2);
  const auto part = tensor.dtype() == DType::kComplexFP32 ? DType::kFloat32 : DType::kFloat64;
  return Tensor::borrow(part, std::move(shape), tensor.bytes(), std::make_shared<Tensor>(tensor));
}

/// Subtracts 64-bit integers without losing their low bits.
template <class T>
double exact_distance(const Tensor& a, const Tensor& b, std::int64_t index) {
  const T x = a.as<T>()[static_cast<std::size_t>(index)];
  const T y = b.as<T>()[static_cast<std::size_t>(index)];
  const auto larger = static_cast<std::uint64_t>(std::max(x, y));
  return static_cast<double>(larger - static_cast<std::uint64_t>(std::min(x, y)));
}

/// |actual - expected|; infinite when only one is NaN or they are unequal and one is infinite.
double distance(double expected, double actual) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual) ? 0 : kInfinity;
  return expected == actual ? 0 : std::abs(actual - expected);
}

/// Sums over the elements that are finite on both sides, in order.
struct Products {
  double count = 0;
  double cross = 0, expected = 0, actual = 0, noise = 0;
  // Means so far, and sums of products of deviations from them (Welford).
  double expected_mean = 0, actual_mean = 0;
  double covariance = 0, expected_variance = 0, actual_variance = 0;

  /// Adds a pair of elements and their difference, which has the scale of the expected one.
  void add(double e, double a, double difference) {
    if (!std::isfinite(e) || !std::isfinite(a)) return;
    cross += e * a;
    expected += e * e;
    actual += a * a;
    noise += difference * difference;
    ++count;
    const double e_from_old = e - expected_mean, a_from_old = a - actual_mean;
    expected_mean += e_from_old / count;
    actual_mean += a_from_old / count;
    covariance += e_from_old * (a - actual_mean);
    expected_variance += e_from_old * (e - expected_mean);
    actual_variance += a_from_old * (a - actual_mean);
  }
  Figure cosine() const {
    if (count < 2) return {0, kTooFew};
    if (expected == 0 || actual == 0) return {0, "zero norm"};
    return {ratio(cross, expected, actual)};
  }
  Figure correlation() const {
    if (count < 2) return {0, kTooFew};
    if (expected_variance == 0 || actual_variance == 0) return {0, "constant"};
    return {ratio(covariance, expected_variance, actual_variance)};
  }

  Figure sqnr() const {
    if (noise == 0) return {kInfinity};
    if (expected == 0) return {0, "zero norm"};
    return {10 * (std::log10(expected) - std::log10(noise))};
  }

  static constexpr std::string_view kTooFew = "fewer than 2 finite elements";

  static double ratio(double product, double e, double a) {
    return std::clamp(product / (std::sqrt(e) * std::sqrt(a)), -1.0, 1.0);
  }
};

/// A power of two that brings the largest finite magnitude of Float64 elements near 1, so that
/// their squares are in range. 1 for other types, whose squares are.
double scale_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat64) return 1;
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double magnitude = std::abs(element_as_double(tensor, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  constexpr int kLargestExponent = 1022;  // of a scale that is a normal number
  return largest == 0 ? 1 : std::ldexp(1.0, std::min(-std::ilogb(largest), kLargestExponent));
}

/// The distance between the number and its neighbours in a real type; 1 for integers.
double unit_in_last_place(DType dtype, double value) {
  struct Format {
    int digits;
    int lowest_exponent;
  };
  if (!is_float(dtype)) return 1;
  const Format format = dtype == DType::kFloat64      ? Format{53, -1021}
                        : dtype == DType::kFloat32    ? Format{24, -125}
                        : dtype == DType::kFloat16    ? Format{11, -13}
                        : dtype == DType::kBFloat16   ? Format{8, -125}
                        : dtype == DType::kFloat8E4M3 ? Format{4, -5}
                                                      : Format{3, -13};
  int exponent = 0;
  if (value != 0) std::frexp(value, &exponent);
  if (value == 0 || exponent < format.lowest_exponent) exponent = format.lowest_exponent;
  return std::ldexp(1.0, exponent - format.digits);
}

/// True if elements `i` have the same bits or, if the types differ, the same number and sign.
bool same_bits(const Tensor& a, const Tensor& b, std::int64_t i) {
  if (a.dtype() == b.dtype()) {
    const std::size_t width = info(a.dtype()).unit_bytes;
    const auto at = static_cast<std::size_t>(i) * width;
    return std::memcmp(a.bytes().data() + at, b.bytes().data() + at, width) == 0;
  }
  const double x = element_as_double(a, i), y = element_as_double(b, i);
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

/// Positions in a row of the `count` largest of its elements, largest first.
std::vector<std::int64_t> largest_of_row(const Tensor& tensor, std::int64_t first,
                                         std::int64_t width, std::size_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(width));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto before = [&](std::int64_t a, std::int64_t b) {
    return is_ranked_before(tensor, first + a, first + b);
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), before);
  order.resize(static_cast<std::size_t>(kept));
  return order;
}

/// True if all elements of a row are equal; no element is the largest then.
bool is_constant_row(const Tensor& tensor, std::int64_t first, std::int64_t width) {
  const ElementNumber value = element_number(tensor, first);
  for (std::int64_t i = first + 1; i < first + width; ++i) {
    const ElementNumber other = element_number(tensor, i);
    const bool are_nans = value != value && other != other;
    if (value != other && !are_nans) return false;
  }
  return true;
}

/// Agreement of two tensors with values that differ.
Figure top_agreement(const Tensor& expected, const Tensor& actual, std::size_t count) {
  const std::int64_t width = expected.shape().empty() ? 1 : expected.shape().back();
  if (static_cast<std::uint64_t>(width) <= count) return {0, "it ranks whole rows"};
  double sum = 0;
  for (std::int64_t first = 0; first < expected.elements(); first += width) {
    const bool is_constant = is_constant_row(expected, first, width);
    if (is_constant != is_constant_row(actual, first, width)) continue;
    const auto wanted = largest_of_row(expected, first, width, count);
    auto found = largest_of_row(actual, first, width, count);
    std::ranges::sort(found);
    const auto hits = std::ranges::count_if(
        wanted, [&](std::int64_t at) { return std::ranges::binary_search(found, at); });
    sum += static_cast<double>(hits) / static_cast<double>(wanted.size());
  }
  return {sum / static_cast<double>(expected.elements() / width)};
}

/// Keeps the elements farthest over tolerance, of equal ones the first.
class WorstList {
 public:
  void offer(double excess, const ElementDifference& difference) {
    const auto at =
        std::ranges::find_if(list_, [&](const auto& other) { return other.first < excess; });
    if (at == list_.end() && list_.size() == Comparison::kWorst) return;
    list_.emplace(at, excess, difference);
    if (list_.size() > Comparison::kWorst) list_.pop_back();
  }

  std::vector<ElementDifference> take() const {
    std::vector<ElementDifference> differences;
    for (const auto& [excess, difference] : list_) differences.push_back(difference);
    return differences;
  }

 private:
  std::vector<std::pair<double, ElementDifference>> list_;
};

void raise(double& maximum, std::int64_t& index, double value, std::int64_t at) {
  if (!(value > maximum)) return;
  maximum = value;
  index = at;
}

std::string position(std::int64_t index, const Shape& shape) {
  Shape position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return shape_text(position);
}

/// Compares two tensors of real elements and one shape.
class Comparer {
 public:
  Comparer(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance)
      : expected_(expected),
        actual_(actual),
        tolerance_(tolerance),
        expected_scale_(scale_of(expected)),
        actual_scale_(scale_of(actual)) {
    result_.shape = expected.shape();
    result_.tolerance = tolerance;
    result_.elements = expected.elements();
    both_signed_ = expected.dtype() == DType::kInt64 && actual.dtype() == DType::kInt64;
    both_unsigned_ = expected.dtype() == DType::kUInt64 && actual.dtype() == DType::kUInt64;
  }

  Comparison run() {
    for (std::int64_t i = 0; i < result_.elements; ++i) visit(i);
    result_.top_count = std::max<std::size_t>(tolerance_.top, 1);
    if (result_.differing > 0) {
      result_.cosine = products_.cosine();
      result_.correlation = products_.correlation();
      result_.sqnr = products_.sqnr();
      result_.top_agreement = top_agreement(expected_, actual_, result_.top_count);
    }
    result_.worst = worst_.take();
    return std::move(result_);
  }

 private:
  void visit(std::int64_t i) {
    const double e = element_as_double(expected_, i);
    const double a = element_as_double(actual_, i);
    const double error = both_signed_     ? exact_distance<std::int64_t>(expected_, actual_, i)
                         : both_unsigned_ ? exact_distance<std::uint64_t>(expected_, actual_, i)
                                          : distance(e, a);
    products_.add(e * expected_scale_, a * actual_scale_, (a - e) * expected_scale_);
    result_.nans_expected += std::isnan(e);
    result_.nans_found += std::isnan(a);
    if (tolerance_.exact && tolerance_.judges_elements && !same_bits(expected_, actual_, i)) {
      ++result_.over_tolerance;
    }
    if (error == 0) return;
    ++result_.differing;
    const double units = error / unit_in_last_place(actual_.dtype(), e);
    raise(result_.max_abs_error, result_.max_abs_index, error, i);
    raise(result_.max_ulp_error, result_.max_ulp_index, units, i);
    if (e != 0) raise(result_.max_rel_error, result_.max_rel_index, error / std::abs(e), i);
    const bool is_nan = std::isnan(e) || std::isnan(a);
    const bool is_finite = std::isfinite(e) && std::isfinite(a);
    if (is_nan) ++result_.nan_mismatches;
    if (!is_nan && !is_finite) ++result_.infinity_mismatches;
    // Nothing is close to an infinity or a NaN.
    const bool has_margin = is_finite && !tolerance_.exact;
    const double allowed = has_margin ? tolerance_.abs + tolerance_.rel * std::abs(e) : 0;
    const bool close = error <= allowed || (has_margin && units <= tolerance_.ulp);
    const bool is_judged = tolerance_.judges_elements ? !tolerance_.exact : !is_finite;
    if (!close && is_judged) ++result_.over_tolerance;
    worst_.offer(error - allowed,
                 {i, element_number(expected_, i), element_number(actual_, i), error});
  }

  const Tensor& expected_;
  const Tensor& actual_;
  const Tolerance& tolerance_;
  bool both_signed_ = false;
  bool both_unsigned_ = false;
  double expected_scale_, actual_scale_;  // of the products
  Comparison result_;
  Products products_;
  WorstList worst_;
};

bool holds(const Figure& figure, const std::optional<double>& least) {
  return !least || figure.is_at_least(*least);
}

}  // namespace

bool Comparison::passed() const {
  return over_tolerance == 0 && holds(correlation, tolerance.min_correlation) &&
         holds(cosine, tolerance.min_cosine) && holds(top_agreement, tolerance.min_top_agreement);
}

Result<Comparison> compare_tensors(const Tensor& expected, const Tensor& actual,
                                   const Tolerance& tolerance) {
  const auto wanted = as_reals(expected);
  if (!wanted) return wanted.error();
  const auto got = as_reals(actual);
  if (!got) return got.error();
  if (wanted->shape() != got->shape())
    return Error{diag::kTensorTypeConflict,
                 fmt::format("expected extents {}, found {}", shape_text(expected.shape()),
                             shape_text(actual.shape()))};
  return Comparer(*wanted, *got, tolerance).run();
}

std::string render(const Tolerance& tolerance) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (tolerance.judges_elements && tolerance.exact) {
    add("exact");
  } else if (tolerance.judges_elements) {
    add(fmt::format("abs {}, rel {}", tolerance.abs, tolerance.rel));
    if (tolerance.ulp > 0) add(fmt::format("{} ulp", tolerance.ulp));
  }
  const auto least = [&](std::string_view what, const std::optional<double>& value) {
    if (value) add(fmt::format("{} >= {}", what, *value));
  };
  least("correlation", tolerance.min_correlation);
  least("cosine", tolerance.min_cosine);
  least(fmt::format("top {}", tolerance.top), tolerance.min_top_agreement);
  return text;
}

namespace {

/// The shortest text of an element: of a Float32 as that, nine digits at most.
std::string element_text(const ElementNumber& number) {
  const auto* const value = std::get_if<double>(&number);
  const bool is_narrow = value != nullptr && static_cast<float>(*value) == *value;
  return is_narrow ? fmt::format("{}", static_cast<float>(*value)) : text_of(number);
}

/// Text of a number computed from elements. Integers have no fraction.
std::string figure_text(double value) {
  return value == std::trunc(value) ? fmt::format("{}", value) : fmt::format("{:.9g}", value);
}

}  // namespace

std::string render(const Figure& figure) {
  return figure.is_defined() ? figure_text(figure.value)
                             : fmt::format("not defined ({})", figure.undefined);
}

std::string render(const Comparison& comparison) {
  const auto maximum = [&](double error, std::int64_t index) {
    if (error == 0) return std::string("0");
    return fmt::format("{} at {}", figure_text(error), position(index, comparison.shape));
  };
  auto text = fmt::format(
      "{}: {} of {} elements over tolerance ({})\n"
      "max abs error {}, max rel error {}, max ulp error {}\n"
      "values that differ: {}; NaN: {} expected, {} found, {} mismatches{}\n"
      "cosine {}, correlation {}, top {} agreement {}",
      comparison.passed() ? "equal within tolerance" : "differs", comparison.over_tolerance,
      comparison.elements, render(comparison.tolerance),
      maximum(comparison.max_abs_error, comparison.max_abs_index),
      maximum(comparison.max_rel_error, comparison.max_rel_index),
      maximum(comparison.max_ulp_error, comparison.max_ulp_index), comparison.differing,
      comparison.nans_expected, comparison.nans_found, comparison.nan_mismatches,
      comparison.infinity_mismatches == 0
          ? ""
          : fmt::format("; infinities: {} mismatches", comparison.infinity_mismatches),
      render(comparison.cosine), render(comparison.correlation), comparison.top_count,
      render(comparison.top_agreement));
  for (const auto& element : comparison.worst)
    text += fmt::format("\n  {}: expected {}, found {}, error {}",
                        position(element.index, comparison.shape), element_text(element.expected),
                        element_text(element.actual), figure_text(element.abs_error));
  return text;
}

}  // namespace mir
