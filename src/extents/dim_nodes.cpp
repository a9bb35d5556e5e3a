// Interns extents, and normalises quotients, remainders, minima and maxima.
#include "extents/dim_nodes.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "extents/dim_parser.hpp"
#include "support/characters.hpp"

namespace mir {

// note [rules of division]
// Dividing by what has a negative leading coefficient is dividing the negated operands. What
// divides exactly leaves the quotient (`(4*$S+7)/4` is `$S+1`), common coefficients and factors
// cancel (`2*$S/4` is `$S/2`), and with d and c constant and positive
//   [([a / d] + k) / c] = [(a + k * d) / (d * c)].
// The operands of a quotient node admit none of these, so reading its text back makes the same
// node.

// note [remainders]
// a % b is a - b * [a / b], and this is what sums hold, so that a quotient and the remainder that
// belongs to it add up to what was divided, whatever stands between them. Text has remainders again
// wherever they leave fewer terms. Which ones, follows from the sum alone, and reading them gives
// the sum back.

// note [extrema]
// With [x] the greater of x and 0, the greater of a and b is b + [a - b] and the lesser one is
// a - [a - b], so that both add up to a + b. As [-x] is [x] - x, the sum under a maximum
// has a positive leading coefficient, and no common divisor. Text has maxima and minima of two sums
// wherever these leave fewer terms.

namespace {

/// True if nothing is subtracted and all factors are maxima: then no values make it negative.
bool adds_maxima_only(const Polynomial& sum) {
  return sum.constant >= 0 && std::ranges::all_of(sum.terms, [](const DimTerm& term) {
           return term.coefficient > 0 &&
                  std::ranges::all_of(term.factors, [](const DimExpr* factor) {
                    return factor->kind == DimExpr::Kind::kMaximum;
                  });
         });
}

/// The terms that are added, or those that are subtracted, and the constant if it is such a term.
/// No value if a number that is subtracted has no opposite.
std::optional<Polynomial> part_of(const Polynomial& sum, bool is_added) {
  Polynomial part;
  for (const DimTerm& term : sum.terms) {
    if ((term.coefficient > 0) == is_added) part.terms.push_back(term);
  }
  if ((sum.constant > 0) == is_added) part.constant = sum.constant;
  return is_added ? std::optional(std::move(part)) : subtract(constant_polynomial(0), part);
}

/// Sums have such maxima; text shows those with something else than 0 as well.
bool is_normal_maximum(const DimExpr& factor) {
  return factor.kind == DimExpr::Kind::kMaximum && factor.right.is_zero();
}

std::string extremum_text(const std::string& left, DimExpr::Kind kind, const std::string& right) {
  return "(" + left + (kind == DimExpr::Kind::kMaximum ? " max " : " min ") + right + ")";
}

std::optional<Polynomial> negate(const Polynomial& sum) {
  return subtract(constant_polynomial(0), sum);
}

/// The dividend and divisor that [sum / divisor] has once the quotient inside `sum` is dissolved.
struct Fraction {
  Polynomial dividend;
  Polynomial divisor;
};

std::optional<Fraction> dissolve_quotient(const Polynomial& sum, const Polynomial& divisor) {
  if (!divisor.is_constant() || sum.terms.size() != 1) return std::nullopt;
  const DimTerm& term = sum.terms[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return std::nullopt;
  const DimExpr& inner = *term.factors[0];
  if (inner.kind != DimExpr::Kind::kQuotient || !inner.right.is_constant()) return std::nullopt;
  const auto product = checked_multiply(inner.right.constant, divisor.constant);
  const auto carried = checked_multiply(sum.constant, inner.right.constant);
  if (!product || !carried) return std::nullopt;
  auto dividend = add(inner.left, constant_polynomial(*carried));
  if (!dividend) return std::nullopt;
  return Fraction{std::move(*dividend), constant_polynomial(*product)};
}

/// `sum` with an extremum in place of the maximum, a factor of `term`; none where it is no such
/// sum.
std::optional<Polynomial> with_extremum(const Polynomial& sum, const DimTerm& term,
                                        const DimExpr& maximum, const DimExpr& extremum) {
  const Polynomial shown = polynomial_of(&extremum), replaced = polynomial_of(&maximum);
  const auto others = cofactor(term, replaced);
  // [a - b] is the greater one less b, and a less the lesser one.
  const auto value = extremum.kind == DimExpr::Kind::kMaximum ? subtract(shown, extremum.right)
                                                              : subtract(extremum.left, shown);
  const auto zero = value ? subtract(*value, replaced) : value;
  const auto times =
      others ? multiply(*others, constant_polynomial(term.coefficient)) : std::nullopt;
  const auto added = zero && times ? multiply(*zero, *times) : std::nullopt;
  return added ? add(sum, *added) : std::nullopt;
}

std::size_t term_count(const Polynomial& sum) {
  return sum.terms.size() + (sum.constant != 0 ? 1 : 0);
}

/// `sum` with the remainder in place of all multiples of `divisor * quotient` by what else `term`
/// has; none where the term is no such multiple.
std::optional<Polynomial> with_remainder(const Polynomial& sum, const DimTerm& term,
                                         const DimExpr& quotient, const DimExpr& remainder) {
  const auto taken = multiply(polynomial_of(&quotient), quotient.right);
  const auto others = taken ? cofactor(term, leading_product(*taken)) : taken;
  if (!others || floor_remainder(term.coefficient, leading_coefficient(*taken)) != 0) {
    return std::nullopt;
  }
  const auto count = floor_quotient(term.coefficient, leading_coefficient(*taken));
  // dividend - divisor * quotient - remainder is 0.
  const auto rest = subtract(quotient.left, *taken);
  const auto zero = rest ? subtract(*rest, polynomial_of(&remainder)) : rest;
  const auto times = count ? multiply(*others, constant_polynomial(*count)) : std::nullopt;
  const auto added = zero && times ? multiply(*zero, *times) : std::nullopt;
  return added ? add(sum, *added) : std::nullopt;
}

/// Texts of sums up to this length stay within all limits when they are read.
constexpr std::size_t kAlwaysReadBack = 32;

/// A text may be within the limits while a sum that its reader meets on the way is not: remainders
/// and extrema are read as longer sums.
bool reads_back(DimNodes& nodes, const Polynomial& sum, std::string_view text) {
  const auto read = parse_dimension(nodes, text);
  return read && read->constant == sum.constant &&
         std::ranges::equal(read->terms, sum.terms, [](const DimTerm& a, const DimTerm& b) {
           return a.coefficient == b.coefficient && a.key == b.key;
         });
}

/// True if all factors are symbols, and all numbers have opposites. The text shows such a sum as it
/// is, and its reader meets only parts of the sum on the way, which are within all limits.
bool is_plain(const Polynomial& sum) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  const auto is_symbol = [](const DimExpr* factor) {
    return factor->kind == DimExpr::Kind::kSymbol;
  };
  return sum.constant != kLeast && std::ranges::all_of(sum.terms, [&](const DimTerm& term) {
           return term.coefficient != kLeast && std::ranges::all_of(term.factors, is_symbol);
         });
}

}  // namespace

const DimExpr* DimNodes::find(std::string_view text) const {
  const std::uint64_t hash = hash_text(text);
  const std::shared_lock lock(mutex_);
  const auto* found = by_text_.find(text, hash);
  return found != nullptr ? *found : nullptr;
}

std::vector<Symbol> DimNodes::symbols_of(const DimExpr& node) const {
  if (node.kind == DimExpr::Kind::kSymbol) return {node.name};
  std::vector<Symbol> symbols;
  for (const Polynomial* side : {&node.left, &node.right}) {
    for (const DimTerm& term : side->terms) {
      for (const DimExpr* factor : term.factors) {
        symbols.insert(symbols.end(), factor->symbols.begin(), factor->symbols.end());
      }
    }
  }
  std::ranges::sort(symbols, {}, [this](Symbol symbol) { return strings_.text(symbol); });
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

const DimExpr* DimNodes::insert(DimExpr node) {
  node.symbols = symbols_of(node);
  const std::uint64_t hash = hash_text(node.text);
  const std::lock_guard lock(mutex_);
  if (const auto* found = by_text_.find(node.text, hash)) return *found;
  const DimExpr& kept = nodes_.emplace_back(std::move(node));
  by_text_.insert(kept.text, hash, &kept);
  return &kept;
}

const DimExpr* DimNodes::symbol(std::string_view name) {
  if (name.size() >= kMaxDimText) return nullptr;
  std::string text = "$";
  text += name;
  if (const DimExpr* found = find(text)) {
    return found->kind == DimExpr::Kind::kSymbol ? found : nullptr;
  }
  const bool is_pack = name.ends_with(kPackSuffix);
  if (!is_identifier(is_pack ? name.substr(0, name.size() - kPackSuffix.size()) : name)) {
    return nullptr;
  }
  DimExpr made;
  made.kind = DimExpr::Kind::kSymbol;
  made.name = strings_.intern(name);
  made.text = std::move(text);
  return insert(std::move(made));
}

bool DimNodes::factor_reads_back(const DimExpr& factor) {
  if (factor.kind == DimExpr::Kind::kSymbol || factor.text.size() <= kAlwaysReadBack) return true;
  {
    const std::shared_lock lock(mutex_);
    if (read_back_.contains(&factor)) return true;
  }
  if (!reads_back(*this, polynomial_of(&factor), factor.text)) return false;
  const std::lock_guard lock(mutex_);
  read_back_.insert(&factor);
  return true;
}

const DimExpr* DimNodes::node(const Polynomial& sum) {
  if (const DimExpr* factor = sum.single_factor()) {
    return factor_reads_back(*factor) ? factor : nullptr;
  }
  std::string text = text_of(shown(sum));
  if (text.size() > kMaxDimText) return nullptr;
  if (const DimExpr* found = find(text)) return found;
  if (text.size() > kAlwaysReadBack && !is_plain(sum) && !reads_back(*this, sum, text)) {
    return nullptr;
  }
  DimExpr made;
  made.kind = DimExpr::Kind::kSum;
  made.depth = depth_of(sum);
  made.left = sum;
  made.text = std::move(text);
  return insert(std::move(made));
}

std::optional<Polynomial> DimNodes::compound(const Polynomial& left, const Polynomial& right) {
  const int depth = 1 + std::max(depth_of(left), depth_of(right));
  std::string text = text_of(shown(left), '/', shown(right));
  if (depth > kMaxDimDepth || text.size() > kMaxDimText) return std::nullopt;
  if (const DimExpr* found = find(text)) return polynomial_of(found);
  DimExpr made;
  made.kind = DimExpr::Kind::kQuotient;
  made.depth = depth;
  made.left = left;
  made.right = right;
  made.text = std::move(text);
  return polynomial_of(insert(std::move(made)));
}

const DimExpr* DimNodes::remainder_of(const DimExpr& quotient) {
  const std::uint64_t hash = hash_text(quotient.text);
  {
    const std::shared_lock lock(mutex_);
    if (const auto* found = remainders_.find(quotient.text, hash)) return *found;
  }
  DimExpr made;
  made.kind = DimExpr::Kind::kRemainder;
  made.depth = quotient.depth;
  made.left = quotient.left;
  made.right = quotient.right;
  made.text = text_of(shown(quotient.left), '%', shown(quotient.right));
  made.symbols = quotient.symbols;
  const std::lock_guard lock(mutex_);
  if (const auto* found = remainders_.find(quotient.text, hash)) return *found;
  const DimExpr& kept = nodes_.emplace_back(std::move(made));
  remainders_.insert(quotient.text, hash, &kept);
  return &kept;
}

const DimExpr* DimNodes::extremum_of(const DimExpr& maximum, DimExpr::Kind kind) {
  auto& known = kind == DimExpr::Kind::kMaximum ? maxima_ : minima_;
  const std::uint64_t hash = hash_text(maximum.text);
  {
    const std::shared_lock lock(mutex_);
    if (const auto* found = known.find(maximum.text, hash)) return *found;
  }
  auto added = part_of(maximum.left, true), subtracted = part_of(maximum.left, false);
  if (!added || !subtracted) return nullptr;
  DimExpr made;
  made.kind = kind;
  made.depth = maximum.depth;
  made.left = *std::move(added);
  made.right = *std::move(subtracted);
  made.text = extremum_text(text_of(shown(made.left)), kind, text_of(shown(made.right)));
  const std::lock_guard lock(mutex_);
  if (const auto* found = known.find(maximum.text, hash)) return *found;
  const DimExpr& kept = nodes_.emplace_back(std::move(made));
  known.insert(maximum.text, hash, &kept);
  return &kept;
}

/// Replaces one quotient by its remainder, or one maximum by an extremum: the one that leaves the
/// fewest terms.
std::optional<Polynomial> DimNodes::shown_shorter(const Polynomial& sum) {
  std::optional<Polynomial> best;
  for (const DimTerm& term : sum.terms) {
    for (const DimExpr* factor : term.factors) {
      if (is_normal_maximum(*factor)) {
        for (const auto kind : {DimExpr::Kind::kMaximum, DimExpr::Kind::kMinimum}) {
          const DimExpr* extremum = extremum_of(*factor, kind);
          if (extremum == nullptr) continue;
          auto shorter = with_extremum(sum, term, *factor, *extremum);
          if (shorter && term_count(*shorter) < term_count(best ? *best : sum)) best = shorter;
        }
      }
      if (factor->kind != DimExpr::Kind::kQuotient) continue;
      auto shorter = with_remainder(sum, term, *factor, *remainder_of(*factor));
      if (shorter && term_count(*shorter) < term_count(best ? *best : sum)) best = shorter;
    }
  }
  return best;
}

Polynomial DimNodes::shown(const Polynomial& sum) {
  Polynomial shortest = sum;
  while (auto shorter = shown_shorter(shortest)) shortest = std::move(*shorter);
  return shortest;
}

std::optional<Polynomial> DimNodes::reduced_quotient(const Polynomial& a, const Polynomial& b,
                                                     bool was_constant) {
  if (b.is_constant() && !was_constant) return quotient(a, b);
  const auto inner = dissolve_quotient(a, b);
  return inner ? quotient(inner->dividend, inner->divisor) : compound(a, b);
}

std::optional<Polynomial> DimNodes::quotient(const Polynomial& a, const Polynomial& b) {
  if (a.is_constant() && b.is_constant()) {
    const auto value = floor_quotient(a.constant, b.constant);
    return value ? std::optional(constant_polynomial(*value)) : std::nullopt;
  }
  if (b.is_zero()) return std::nullopt;
  if (leading_coefficient(b) < 0) {
    const auto dividend = negate(a), divisor = negate(b);
    return dividend && divisor ? quotient(*dividend, *divisor) : std::nullopt;
  }
  const ReducedDivision reduced = reduce_division(a, b);
  if (reduced.numerator.is_zero()) return reduced.whole;
  if (reduced.divisor.is_one()) return add(reduced.whole, reduced.numerator);
  const auto part = reduced_quotient(reduced.numerator, reduced.divisor, b.is_constant());
  return part ? add(reduced.whole, *part) : std::nullopt;
}

std::optional<Polynomial> DimNodes::remainder(const Polynomial& a, const Polynomial& b) {
  if (a.is_constant() && b.is_constant()) {
    const auto value = floor_remainder(a.constant, b.constant);
    return value ? std::optional(constant_polynomial(*value)) : std::nullopt;
  }
  const auto whole = quotient(a, b);
  const auto taken = whole ? multiply(b, *whole) : whole;
  return taken ? subtract(a, *taken) : std::nullopt;
}

std::optional<Polynomial> DimNodes::positive_part(const Polynomial& sum) {
  if (sum.is_constant()) return constant_polynomial(std::max<std::int64_t>(sum.constant, 0));
  if (adds_maxima_only(sum)) return sum;
  if (leading_coefficient(sum) < 0) {
    const auto negated = negate(sum);
    const auto part = negated ? positive_part(*negated) : negated;
    return part ? add(sum, *part) : part;
  }
  const std::int64_t divisor = common_divisor(sum);
  DimExpr made;
  made.kind = DimExpr::Kind::kMaximum;
  made.depth = 1 + depth_of(sum);
  made.left = divided(sum, divisor);
  made.text = extremum_text(text_of(shown(made.left)), made.kind, "0");
  if (made.depth > kMaxDimDepth || made.text.size() > kMaxDimText) return std::nullopt;
  has_maxima_.store(true, std::memory_order_relaxed);
  const DimExpr* known = find(made.text);
  const DimExpr* factor = known != nullptr ? known : insert(std::move(made));
  return multiply(polynomial_of(factor), constant_polynomial(divisor));
}

std::optional<Polynomial> DimNodes::maximum(const Polynomial& a, const Polynomial& b) {
  const auto difference = subtract(a, b);
  const auto part = difference ? positive_part(*difference) : difference;
  return part ? add(b, *part) : part;
}

std::optional<Polynomial> DimNodes::minimum(const Polynomial& a, const Polynomial& b) {
  const auto difference = subtract(a, b);
  const auto part = difference ? positive_part(*difference) : difference;
  return part ? subtract(a, *part) : part;
}

std::optional<Polynomial> DimNodes::substitute(const DimExpr& factor, const SymbolValues& values) {
  if (factor.kind == DimExpr::Kind::kSymbol) {
    auto value = values(factor.name);
    return value ? std::move(value) : polynomial_of(&factor);
  }
  const auto left = substitute(factor.left, values);
  if (factor.kind == DimExpr::Kind::kMaximum) return left ? positive_part(*left) : left;
  const auto right = substitute(factor.right, values);
  if (!left || !right) return std::nullopt;
  return quotient(*left, *right);
}

std::optional<Polynomial> DimNodes::substitute(const Polynomial& sum, const SymbolValues& values) {
  std::optional<Polynomial> total = constant_polynomial(sum.constant);
  for (const DimTerm& term : sum.terms) {
    std::optional<Polynomial> product = constant_polynomial(term.coefficient);
    for (const DimExpr* factor : term.factors) {
      const auto value = substitute(*factor, values);
      if (!value) return std::nullopt;
      product = multiply(*product, *value);
      if (!product) return std::nullopt;
    }
    total = add(*total, *product);
    if (!total) return std::nullopt;
  }
  return total;
}

}  // namespace mir
