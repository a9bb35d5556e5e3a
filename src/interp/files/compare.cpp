#include "mir/files/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "checks.hpp"
#include "mir/files/elements.hpp"

namespace mir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Complex elements as pairs of reals along a last axis of 2.
Result<Tensor> as_reals(const Tensor& tensor) {
  const bool complex = info(tensor.dtype()).type_class == DTypeClass::kComplex;
  if (is_real(storage_type(tensor.dtype()))) return tensor;
  if (!complex)
    return Error{DiagCode::kTensorDtypeUnsupported,
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

/// Sums for the cosine, in order.
struct Products {
  double cross = 0;
  double expected = 0;
  double actual = 0;

  void add(double e, double a) {
    if (!std::isfinite(e) || !std::isfinite(a)) return;
    cross += e * a;
    expected += e * e;
    actual += a * a;
  }
  double cosine() const {
    if (expected == 0 || actual == 0) return expected == actual ? 1 : 0;
    return cross / (std::sqrt(expected) * std::sqrt(actual));
  }
};

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

}  // namespace

Result<Comparison> compare_tensors(const Tensor& expected, const Tensor& actual,
                                   const Tolerance& tolerance) {
  const auto wanted = as_reals(expected);
  if (!wanted) return wanted.error();
  const auto got = as_reals(actual);
  if (!got) return got.error();
  if (wanted->shape() != got->shape())
    return Error{DiagCode::kTensorTypeConflict,
                 fmt::format("expected extents {}, found {}", shape_text(expected.shape()),
                             shape_text(actual.shape()))};

  Comparison result;
  result.shape = wanted->shape();
  result.tolerance = tolerance;
  result.elements = wanted->elements();
  const bool both_signed = wanted->dtype() == DType::kInt64 && got->dtype() == DType::kInt64;
  const bool both_unsigned = wanted->dtype() == DType::kUInt64 && got->dtype() == DType::kUInt64;
  Products products;
  WorstList worst;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const double e = element_as_double(*wanted, i);
    const double a = element_as_double(*got, i);
    const double error = both_signed     ? exact_distance<std::int64_t>(*wanted, *got, i)
                         : both_unsigned ? exact_distance<std::uint64_t>(*wanted, *got, i)
                                         : distance(e, a);
    products.add(e, a);
    if (error == 0) continue;
    raise(result.max_abs_error, result.max_abs_index, error, i);
    if (e != 0) raise(result.max_rel_error, result.max_rel_index, error / std::abs(e), i);
    if (std::isnan(e) != std::isnan(a)) ++result.nan_mismatches;
    // Nothing is close to an infinity, and a NaN is over any tolerance.
    const double allowed = std::isfinite(e) ? tolerance.abs + tolerance.rel * std::abs(e) : 0;
    if (!(error <= allowed)) ++result.over_tolerance;
    worst.offer(error - allowed, {i, e, a, error});
  }
  result.cosine = products.cosine();
  result.worst = worst.take();
  return result;
}

std::string render(const Comparison& comparison) {
  const auto maximum = [&](double error, std::int64_t index) {
    if (error == 0) return std::string("0");
    return fmt::format("{} at {}", error, position(index, comparison.shape));
  };
  auto text = fmt::format(
      "{}: {} of {} elements over tolerance (abs {}, rel {})\n"
      "max abs error {}, max rel error {}\n"
      "NaN mismatches {}, cosine similarity {}",
      comparison.passed() ? "equal within tolerance" : "differs", comparison.over_tolerance,
      comparison.elements, comparison.tolerance.abs, comparison.tolerance.rel,
      maximum(comparison.max_abs_error, comparison.max_abs_index),
      maximum(comparison.max_rel_error, comparison.max_rel_index), comparison.nan_mismatches,
      comparison.cosine);
  for (const auto& element : comparison.worst)
    text += fmt::format("\n  {}: expected {}, found {}, error {}",
                        position(element.index, comparison.shape), element.expected, element.actual,
                        element.abs_error);
  return text;
}

}  // namespace mir
