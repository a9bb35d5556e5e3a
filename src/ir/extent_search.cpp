// Tries values of symbols, to refute a condition or to prove it for all of them.
#include "ir/extent_search.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace mir {

namespace {

constexpr std::int64_t kManyValues = 4096;  // of the only symbol
constexpr std::int64_t kNearValues = 16;    // above the least one, of each of several symbols

/// Factors of a symbol that are likely to break a condition, in ascending order.
std::vector<std::int64_t> telling_factors(std::int64_t first, std::int64_t last, bool is_alone,
                                          std::size_t most) {
  std::set<std::int64_t> found;
  const auto offer = [&](std::int64_t value) {
    if (value >= first && value <= last) found.insert(value);
  };
  const std::int64_t near = is_alone ? kManyValues : kNearValues;
  for (std::int64_t i = 0; i < near && i <= last - first; ++i) found.insert(first + i);
  if (last != SymbolDeclaration::kUnbounded) {
    offer(last);
    offer(last - 1);
  }
  constexpr int kLargestPower = 20;
  for (int power = 2; power <= kLargestPower; ++power) {
    const std::int64_t value = std::int64_t{1} << power;
    for (const std::int64_t each : {value - 1, value, value + 1}) offer(each);
  }
  std::vector<std::int64_t> factors(found.begin(), found.end());
  if (factors.size() <= most) return factors;
  // The smallest values and the last one.
  factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(most) - 1, factors.end() - 1);
  return factors;
}

/// Visits all combinations of values, the last symbol fastest, as long as `visit` returns true.
template <class Visit>
void for_each_combination(std::span<const std::vector<std::int64_t>> values, const Visit& visit) {
  std::vector<std::size_t> at(values.size());
  for (;;) {
    if (!visit(at)) return;
    std::size_t i = at.size();
    while (i > 0 && ++at[i - 1] == values[i - 1].size()) at[--i] = 0;
    if (i == 0) return;
  }
}

std::int64_t total_of(const DimBindings& values) {
  std::int64_t sum = 0;
  for (const auto& [symbol, value] : values.entries()) {
    sum = checked_add(sum, value).value_or(SymbolDeclaration::kUnbounded);
  }
  return sum;
}

/// The values of all symbols, one list for each. No value if there are too many combinations.
std::optional<std::vector<std::vector<std::int64_t>>> all_values(const ExtentVariables& variables) {
  std::int64_t combinations = 1;
  for (const ExtentVariable& each : variables) {
    const auto count =
        each.is_bounded() ? checked_subtract(each.last, each.first - 1) : std::nullopt;
    const auto product = count ? checked_multiply(combinations, *count) : count;
    if (!product || *product > ExtentProver::kMostTrials) return std::nullopt;
    combinations = *product;
  }
  std::vector<std::vector<std::int64_t>> values;
  for (const auto& [declaration, first, last] : variables) {
    std::vector<std::int64_t>& list = values.emplace_back();
    for (std::int64_t i = first; i <= last; ++i) list.push_back(i * declaration.multiple);
  }
  return values;
}

/// Values that are likely to break a condition; empty if a symbol has none.
std::vector<std::vector<std::int64_t>> some_values(const ExtentVariables& variables) {
  std::size_t each_most = static_cast<std::size_t>(ExtentProver::kMostTrials);
  for (std::size_t most = 2; variables.size() > 1; ++most) {
    std::int64_t trials = 1;
    for (std::size_t i = 0; i < variables.size() && trials <= ExtentProver::kMostTrials; ++i) {
      trials *= static_cast<std::int64_t>(most);
    }
    if (trials > ExtentProver::kMostTrials) {
      each_most = most - 1;
      break;
    }
  }
  std::vector<std::vector<std::int64_t>> values;
  for (const auto& [declaration, first, last] : variables) {
    auto factors = telling_factors(first, last, variables.size() == 1, each_most);
    std::vector<std::int64_t>& list = values.emplace_back();
    for (const std::int64_t factor : factors) {
      const auto value = checked_multiply(factor, declaration.multiple);
      if (value) list.push_back(*value);
    }
    if (list.empty()) return {};
  }
  return values;
}

DimBindings bindings_at(const ExtentVariables& variables,
                        std::span<const std::vector<std::int64_t>> values,
                        std::span<const std::size_t> at) {
  DimBindings each;
  for (std::size_t i = 0; i < at.size(); ++i) {
    each.bind(variables[i].declaration.name, values[i][at[i]]);
  }
  return each;
}

}  // namespace

ExtentProof search_values(const ExtentSearch& search) {
  const auto all = all_values(search.variables);
  const auto values = all ? *all : some_values(search.variables);
  if (!all && values.empty()) return {};
  ExtentProof proof{.verdict = all ? ExtentVerdict::kProved : ExtentVerdict::kUndecided};
  bool is_known = true;
  std::int64_t trials = 0;
  for_each_combination(values, [&](std::span<const std::size_t> at) {
    DimBindings each = bindings_at(search.variables, values, at);
    const auto truth = search.admits(each) ? search.holds(each) : true;
    is_known = is_known && truth;
    if (!truth.value_or(true)) {
      const bool is_first = proof.verdict != ExtentVerdict::kRefuted;
      if (is_first || total_of(each) < total_of(proof.counterexample)) {
        proof = {ExtentVerdict::kRefuted, std::move(each)};
      }
    }
    return all || ++trials < ExtentProver::kMostTrials;
  });
  if (proof.verdict == ExtentVerdict::kProved && !is_known) {
    proof.verdict = ExtentVerdict::kUndecided;
  }
  return proof;
}

bool admits_nothing(const ExtentSearch& search) {
  const auto values = all_values(search.variables);
  if (!values) return false;
  bool admits = false;
  for_each_combination(*values, [&](std::span<const std::size_t> at) {
    admits = search.admits(bindings_at(search.variables, *values, at));
    return !admits;
  });
  return !admits;
}

}  // namespace mir
