// The list of diagnostics: adding, counting, limiting and sorting.
#include "mir/diagnostic.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mir {

namespace {

struct HashDiagnostic {
  std::size_t operator()(const Diagnostic* diagnostic) const {
    const std::uint64_t place =
        std::uint64_t{diagnostic->at.begin} << 16 ^ static_cast<std::uint64_t>(diagnostic->code);
    return std::hash<std::string_view>{}(diagnostic->message) ^
           static_cast<std::size_t>(place * 0x9E3779B97F4A7C15u);
  }
};

struct SameDiagnostic {
  bool operator()(const Diagnostic* a, const Diagnostic* b) const { return *a == *b; }
};

/// Returns the elements without exact repetitions, in order of position, then of arrival.
template <class Element>
std::vector<Element*> in_order(std::span<Element> list) {
  std::vector<Element*> order;
  std::unordered_set<const Diagnostic*, HashDiagnostic, SameDiagnostic> seen;
  order.reserve(list.size());
  for (Element& diagnostic : list) {
    if (seen.insert(&diagnostic).second) order.push_back(&diagnostic);
  }
  std::ranges::stable_sort(order, {}, [](const Element* each) { return each->at.begin; });
  return order;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kRemark:
      return "remark";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

Diagnostic& Diagnostics::add(Severity severity, DiagCode code, Span at, std::string message) {
  const bool drop = severity == Severity::kError && is_full();
  dropped_ += drop;
  count(severity, code, 1);
  Diagnostic& into = drop ? overflow_ : list_.emplace_back();
  into = Diagnostic();
  into.severity = severity;
  into.code = code;
  into.at = at;
  into.message = std::move(message);
  return into;
}

void Diagnostics::count(Severity severity, DiagCode code, std::size_t n) {
  if (severity == Severity::kError) errors_ += n;
  if (severity == Severity::kWarning) warnings_ += n;
  for (DiagnosticCount& each : counts_) {
    if (each.code == code && each.severity == severity) {
      each.count += n;
      return;
    }
  }
  counts_.push_back({code, severity, n});
}

void Diagnostics::uncount(DiagCode code) {
  --errors_;
  const auto counted = std::ranges::find_if(counts_, [&](const DiagnosticCount& each) {
    return each.code == code && each.severity == Severity::kError;
  });
  if (--counted->count == 0) counts_.erase(counted);
}

void Diagnostics::skip(Severity severity, DiagCode code, std::size_t how_many) {
  count(severity, code, how_many);
  if (severity == Severity::kError) dropped_ += how_many;
  if (severity == Severity::kWarning) dropped_warnings_ += how_many;
}

std::vector<DiagnosticCount> Diagnostics::counts() const {
  std::vector<DiagnosticCount> sorted = counts_;
  std::ranges::sort(sorted, {}, [](const DiagnosticCount& each) {
    return std::pair(each.code, -static_cast<int>(each.severity));
  });
  return sorted;
}

Diagnostic& Diagnostics::error(DiagCode code, Span at, std::string message) {
  return add(Severity::kError, code, at, std::move(message));
}

Diagnostic& Diagnostics::warning(DiagCode code, Span at, std::string message) {
  return add(Severity::kWarning, code, at, std::move(message));
}

Diagnostic& Diagnostics::remark(DiagCode code, Span at, std::string message) {
  return add(Severity::kRemark, code, at, std::move(message));
}

void Diagnostics::append(Diagnostics&& other) {
  std::size_t room = max_errors_ == 0 ? other.list_.size() : max_errors_ - (errors_ - dropped_);
  for (const DiagnosticCount& each : other.counts_) count(each.severity, each.code, each.count);
  dropped_ += other.dropped_;
  dropped_warnings_ += other.dropped_warnings_;
  for (Diagnostic& diagnostic : other.list_) {
    const bool drop = diagnostic.severity == Severity::kError && room == 0;
    dropped_ += drop;
    if (drop) continue;
    room -= diagnostic.severity == Severity::kError;
    list_.push_back(std::move(diagnostic));
  }
  other = Diagnostics(other.max_errors_);
}

std::vector<Diagnostic> Diagnostics::sorted() const& {
  std::vector<Diagnostic> result;
  const std::vector<const Diagnostic*> order = in_order<const Diagnostic>(list_);
  result.reserve(order.size());
  for (const Diagnostic* diagnostic : order) result.push_back(*diagnostic);
  return result;
}

std::vector<Diagnostic> Diagnostics::sorted() && {
  std::vector<Diagnostic> result;
  const std::vector<Diagnostic*> order = in_order<Diagnostic>(list_);
  result.reserve(order.size());
  for (Diagnostic* diagnostic : order) result.push_back(std::move(*diagnostic));
  *this = Diagnostics(max_errors_);
  return result;
}

}  // namespace mir
