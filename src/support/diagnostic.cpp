#include "mir/support/diagnostic.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_set>

namespace mir {

namespace {

struct HashDiagnostic {
  std::size_t operator()(const Diagnostic* diagnostic) const {
    const std::uint64_t place =
        std::uint64_t{diagnostic->at.begin} << 16 ^ static_cast<std::uint64_t>(diagnostic->code);
    return std::hash<std::string_view>{}(diagnostic->message) ^ place * 0x9E3779B97F4A7C15u;
  }
};

struct SameDiagnostic {
  bool operator()(const Diagnostic* a, const Diagnostic* b) const { return *a == *b; }
};

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
  errors_ += severity == Severity::kError;
  warnings_ += severity == Severity::kWarning;
  Diagnostic& into = drop ? overflow_ : list_.emplace_back();
  into = {severity, code, at, std::move(message), {}, {}, {}};
  return into;
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
  for (Diagnostic& diagnostic : other.list_) {
    const Severity severity = diagnostic.severity;
    add(severity, diagnostic.code, diagnostic.at, {}) = std::move(diagnostic);
  }
  errors_ += other.dropped_;
  dropped_ += other.dropped_;
  other = Diagnostics(other.max_errors_);
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<const Diagnostic*> order;
  std::unordered_set<const Diagnostic*, HashDiagnostic, SameDiagnostic> seen;
  order.reserve(list_.size());
  for (const Diagnostic& diagnostic : list_) {
    if (seen.insert(&diagnostic).second) order.push_back(&diagnostic);
  }
  std::ranges::stable_sort(order, {}, [](const Diagnostic* d) { return d->at.begin; });
  std::vector<Diagnostic> result;
  result.reserve(order.size());
  for (const Diagnostic* diagnostic : order) result.push_back(*diagnostic);
  return result;
}

}  // namespace mir
