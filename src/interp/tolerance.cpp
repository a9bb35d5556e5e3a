// Parses tolerances per element type and looks them up.
#include "interp/tolerance.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "mir/codes/usage.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

std::optional<double> limit_from(std::string_view text) {
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size() && value >= -1;
  return good ? std::optional(value) : std::nullopt;
}

/// K of `topK`.
std::optional<std::size_t> top_count(std::string_view key) {
  constexpr std::string_view kTop = "top";
  std::size_t count{};
  if (!key.starts_with(kTop)) return std::nullopt;
  const auto [end, error] =
      std::from_chars(key.data() + kTop.size(), key.data() + key.size(), count);
  const bool good = error == std::errc() && end == key.data() + key.size() && count > 0;
  return good ? std::optional(count) : std::nullopt;
}

/// Adds an item. False if it is not understood.
bool add_item(Tolerance& tolerance, std::string_view item) {
  if (item == "exact") return tolerance.exact = tolerance.judges_elements = true;
  const auto equals = item.find('=');
  if (equals == item.npos) return false;
  const std::string_view key = item.substr(0, equals);
  const auto value = limit_from(item.substr(equals + 1));
  if (!value) return false;
  const bool is_distance = key == "abs" || key == "rel" || key == "ulp";
  if (is_distance) {
    (key == "abs" ? tolerance.abs : key == "rel" ? tolerance.rel : tolerance.ulp) = *value;
    tolerance.judges_elements = true;
    return *value >= 0;
  }
  if (key == "correlation") tolerance.min_correlation = *value;
  if (key == "cosine") tolerance.min_cosine = *value;
  if (key == "correlation" || key == "cosine") return true;
  const auto count = top_count(key);
  if (!count) return false;
  tolerance.top = *count;
  tolerance.min_top_agreement = *value;
  return true;
}

Tolerance default_of(DType dtype) {
  Tolerance tolerance;
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplexFP64:
      tolerance.abs = 1e-12;
      tolerance.rel = 1e-10;
      break;
    case DType::kFloat32:
    case DType::kComplexFP32:
      tolerance.abs = 1e-6;
      tolerance.rel = 1e-5;
      break;
    case DType::kFloat16:
      tolerance.abs = 1e-4;
      tolerance.rel = 2e-3;
      break;
    case DType::kBFloat16:
      tolerance.abs = 1e-3;
      tolerance.rel = 1.6e-2;
      break;
    case DType::kFloat8E4M3:
      tolerance.abs = 2e-3;
      tolerance.rel = 0.13;
      break;
    case DType::kFloat8E5M2:
      tolerance.abs = 2e-5;
      tolerance.rel = 0.26;
      break;
    default:
      tolerance.exact = true;
  }
  return tolerance;
}

}  // namespace

Tolerance TolerancePolicy::of(DType dtype) const {
  const auto stated = stated_.find(dtype);
  if (stated != stated_.end()) return stated->second;
  if (for_all_) return *for_all_;
  return default_of(dtype);
}

Result<void> TolerancePolicy::add(std::string_view text) {
  const auto colon = text.find(':');
  std::optional<DType> dtype;
  std::string_view items = text;
  if (colon != text.npos) {
    dtype = dtype_from_name(text.substr(0, colon));
    if (!dtype) {
      NearestName nearest(text.substr(0, colon));
      for (const DTypeInfo& each : dtype_table()) nearest.offer(each.name);
      return Error{
          diag::kUsage,
          fmt::format(
              "unknown element type '{}' in tolerance '{}'{}", text.substr(0, colon), text,
              nearest.best().empty() ? "" : fmt::format("; did you mean '{}'?", nearest.best()))};
    }
    items = text.substr(colon + 1);
  }
  Tolerance tolerance;
  tolerance.judges_elements = false;
  for (bool more = true; more;) {
    const auto comma = items.find(',');
    const std::string_view item = items.substr(0, comma);
    if (!add_item(tolerance, item)) {
      return Error{diag::kUsage,
                   fmt::format("'{}' in tolerance '{}' is none of exact, abs=X, rel=X, ulp=X, "
                               "correlation=X, cosine=X, topK=X",
                               item, text)};
    }
    more = comma != items.npos;
    if (more) items.remove_prefix(comma + 1);
  }
  if (dtype) {
    stated_[*dtype] = tolerance;
  } else {
    for_all_ = tolerance;
    stated_.clear();
  }
  return {};
}

}  // namespace mir
