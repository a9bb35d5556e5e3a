// Public operations on extents: the table, arithmetic, binding and printing.
#include "mir/dim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <vector>

#include "extents/dim_nodes.hpp"
#include "extents/dim_parser.hpp"

namespace mir {

namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::optional<std::int64_t> read_constant(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Polynomial operand(Dim dim) {
  return dim.is_constant() ? constant_polynomial(dim.constant()) : polynomial_of(dim.expr());
}

DimNodes::SymbolValues values_of(const DimBindings& bindings) {
  return [&](Symbol symbol) -> std::optional<Polynomial> {
    const auto value = bindings.find(symbol);
    return value ? std::optional(constant_polynomial(*value)) : std::nullopt;
  };
}

enum class Arithmetic : std::uint8_t { kAdd, kSubtract, kMultiply, kFloorDivide, kModulo };

/// The latest results of arithmetic on expressions, of which modules repeat the same few in each of
/// their graphs. Thread-safe: while one thread uses it, the others compute.
class KnownResults {
 public:
  template <class Compute>
  Dim get(Arithmetic operation, Dim a, Dim b, const Compute& compute) {
    const std::size_t slot = slot_of(operation, a, b);
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock && !entries_.empty()) {
        const Entry& known = entries_[slot];
        if (known.operation == operation && known.a == a && known.b == b) return known.result;
      }
    }
    const Dim result = compute();
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return result;
    // No operation on constants comes here, so an empty entry is none of those that are looked up.
    if (entries_.empty()) entries_.resize(std::size_t{1} << kBits);
    entries_[slot] = {operation, a, b, result};
    return result;
  }

 private:
  static constexpr int kBits = 12;

  struct Entry {
    Arithmetic operation = Arithmetic::kAdd;
    Dim a{}, b{}, result{};
  };

  static std::size_t slot_of(Arithmetic operation, Dim a, Dim b) {
    const auto word = [](Dim dim) {
      return dim.is_constant()
                 ? static_cast<std::uint64_t>(dim.constant())
                 : static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(dim.expr()) >> 4);
    };
    const std::uint64_t mixed = word(a) * 0x9E3779B97F4A7C15u ^ word(b) * 0xC2B2AE3D27D4EB4Fu ^
                                static_cast<std::uint64_t>(operation) * 0x165667B19E3779F9u;
    return (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u >> (64 - kBits);
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;  // empty until the first result
};

}  // namespace

struct DimTable::State {
  explicit State(StringInterner& all_strings) : strings(all_strings), nodes(all_strings) {}

  Dim dim(const DimExpr* expr) { return expr != nullptr ? Dim(*expr) : Dim::unknown(); }

  Dim dim(const std::optional<Polynomial>& sum) {
    if (!sum) return Dim::unknown();
    return sum->is_constant() ? Dim(sum->constant) : dim(nodes.node(*sum));
  }

  template <class OnConstants, class OnPolynomials>
  Dim apply(Arithmetic operation, Dim a, Dim b, OnConstants on_constants,
            OnPolynomials on_polynomials) {
    if (a.is_constant() && b.is_constant()) {
      const auto value = on_constants(a.constant(), b.constant());
      return value ? Dim(*value) : Dim::unknown();
    }
    if (a.is_unknown() || b.is_unknown() || a.is_pack() || b.is_pack()) return Dim::unknown();
    return known.get(operation, a, b, [&] { return dim(on_polynomials(operand(a), operand(b))); });
  }

  StringInterner& strings;
  DimNodes nodes;
  KnownResults known;
};

Dim Dim::unknown() {
  static const DimExpr kUnknown = [] {
    DimExpr expr;
    expr.text = "?";
    return expr;
  }();
  return Dim(kUnknown);
}

bool Dim::is_unknown() const {
  return expr_ != nullptr && expr_->kind == DimExpr::Kind::kUnknown;
}

bool Dim::is_pack() const {
  return expr_ != nullptr && expr_->kind == DimExpr::Kind::kSymbol &&
         expr_->text.ends_with(kPackSuffix);
}

std::size_t DimBindings::place_of(Symbol name) const {
  if (!places_.empty()) {
    const auto found = places_.find(name);
    return found == places_.end() ? entries_.size() : found->second;
  }
  std::size_t place = 0;
  while (place < entries_.size() && entries_[place].first != name) ++place;
  return place;
}

std::optional<std::int64_t> DimBindings::find(Symbol name) const {
  const std::size_t place = place_of(name);
  return place == entries_.size() ? std::nullopt : std::optional(entries_[place].second);
}

void DimBindings::bind(Symbol name, std::int64_t value) {
  const std::size_t place = place_of(name);
  if (place < entries_.size()) {
    entries_[place].second = value;
    return;
  }
  entries_.emplace_back(name, value);
  if (entries_.size() <= kFew) return;
  for (std::size_t i = places_.size(); i < entries_.size(); ++i) places_[entries_[i].first] = i;
}

DimTable::DimTable(StringInterner& strings) : state_(std::make_unique<State>(strings)) {}
DimTable::~DimTable() = default;

Dim DimTable::symbol(std::string_view name) {
  return state_->dim(state_->nodes.symbol(name));
}

Dim DimTable::add(Dim a, Dim b) {
  return state_->apply(Arithmetic::kAdd, a, b, checked_add, &mir::add);
}

Dim DimTable::subtract(Dim a, Dim b) {
  return state_->apply(Arithmetic::kSubtract, a, b, checked_subtract, &mir::subtract);
}

Dim DimTable::multiply(Dim a, Dim b) {
  return state_->apply(Arithmetic::kMultiply, a, b, checked_multiply, &mir::multiply);
}

Dim DimTable::floor_divide(Dim a, Dim b) {
  return state_->apply(
      Arithmetic::kFloorDivide, a, b, floor_quotient,
      [this](const auto& x, const auto& y) { return state_->nodes.quotient(x, y); });
}

Dim DimTable::modulo(Dim a, Dim b) {
  return state_->apply(
      Arithmetic::kModulo, a, b, floor_remainder,
      [this](const auto& x, const auto& y) { return state_->nodes.remainder(x, y); });
}

Result<Dim> DimTable::parse(std::string_view text) {
  text = without_blanks(text);
  if (const auto constant = read_constant(text)) return Dim(*constant);
  if (text == "?") return Dim::unknown();
  if (const DimExpr* known = state_->nodes.find(text)) return Dim(*known);
  const std::string too_long = fmt::format("longer than {} characters", kMaxDimText);
  if (text.size() > kMaxDimText) {
    return bad_dimension(fmt::format("{}…", text.substr(0, 16)), too_long);
  }
  const auto sum = parse_dimension(state_->nodes, text);
  if (!sum) return sum.error();
  const Dim dim = state_->dim(*sum);
  if (dim.is_unknown()) {
    return bad_dimension(text, fmt::format("its normal form, or a part of it, is {}", too_long));
  }
  return dim;
}

std::string DimTable::print(Dim dim) const {
  return dim.is_constant() ? std::to_string(dim.constant()) : dim.expr()->text;
}

bool DimTable::has_extrema() const {
  return state_->nodes.has_maxima();
}

std::optional<std::int64_t> DimTable::evaluate(Dim dim, const DimBindings& bindings) const {
  return dim.is_constant() ? dim.constant() : mir::evaluate(*dim.expr(), bindings);
}

std::span<const Symbol> DimTable::symbols(Dim dim) const {
  return dim.is_constant() ? std::span<const Symbol>() : dim.expr()->symbols;
}

std::optional<std::pair<Symbol, std::int64_t>> DimTable::solve(Dim dim, std::int64_t value,
                                                               const DimBindings& bindings) const {
  if (!dim.is_symbolic()) return std::nullopt;
  const auto sum = state_->nodes.substitute(operand(dim), values_of(bindings));
  if (!sum || sum->terms.size() != 1) return std::nullopt;
  const DimTerm& term = sum->terms[0];
  const DimExpr& unbound = *term.factors[0];
  if (term.factors.size() != 1 || unbound.kind != DimExpr::Kind::kSymbol) return std::nullopt;
  const auto product = checked_subtract(value, sum->constant);
  if (!product || floor_remainder(*product, term.coefficient) != 0) return std::nullopt;
  const auto solution = floor_quotient(*product, term.coefficient);
  if (!solution) return std::nullopt;
  return std::pair(unbound.name, *solution);
}

Dim DimTable::substitute(Dim dim, const DimBindings& bindings) {
  if (!dim.is_symbolic()) return dim;
  return state_->dim(state_->nodes.substitute(operand(dim), values_of(bindings)));
}

Dim DimTable::substitute(Dim dim, const std::function<std::optional<Dim>(Symbol)>& value) {
  if (!dim.is_symbolic()) return dim;
  bool known = true;
  const auto sum = state_->nodes.substitute(operand(dim), [&](Symbol symbol) {
    const std::optional<Dim> extent = value(symbol);
    known = known && !(extent && extent->is_unknown());
    return extent && known ? std::optional(operand(*extent)) : std::nullopt;
  });
  return known ? state_->dim(sum) : Dim::unknown();
}

bool compatible(Dim a, Dim b) {
  return a == b || a.is_unknown() || b.is_unknown();
}

}  // namespace mir
