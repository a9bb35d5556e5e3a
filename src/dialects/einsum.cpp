// Parses einsum equations and checks them against the ranks of the operands.
#include "dialects/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "mir/codes/shapes.hpp"
#include "support/characters.hpp"

namespace mir {

namespace {

constexpr std::string_view kEllipsis = "...";

Error wrong(std::string_view what) {
  return {diag::kAttributeOutOfRange, std::string(what)};
}

/// A term: letters before and after an ellipsis.
struct Term {
  std::string before;
  std::string after;
  bool has_ellipsis = false;

  std::size_t letters() const { return before.size() + after.size(); }
  std::string all() const { return before + after; }
};

Result<Term> read_term(std::string_view text) {
  Term term;
  while (!text.empty()) {
    if (text.starts_with(kEllipsis) && !term.has_ellipsis) {
      term.has_ellipsis = true;
      text.remove_prefix(kEllipsis.size());
    } else if (is_letter(text.front())) {
      (term.has_ellipsis ? term.after : term.before) += text.front();
      text.remove_prefix(1);
    } else {
      return wrong(fmt::format("'{}' is no term of letters", text));
    }
  }
  return term;
}

class EquationReader {
 public:
  explicit EquationReader(std::span<const std::size_t> ranks) : ranks_(ranks) {}

  Result<EinsumEquation> read(std::string_view text) {
    std::string equation;
    std::ranges::copy_if(text, std::back_inserter(equation), [](char c) { return c != ' '; });
    const std::size_t arrow = std::min(equation.find("->"), equation.size());
    if (auto ok = read_operands(std::string_view(equation).substr(0, arrow)); !ok) {
      return ok.error();
    }
    const bool stated = arrow < equation.size();
    const auto result =
        stated ? read_term(std::string_view(equation).substr(arrow + 2)) : Result<Term>(implied());
    if (!result) return result.error();
    return number(*result);
  }

 private:
  Result<void> read_operands(std::string_view text) {
    const auto commas = static_cast<std::size_t>(std::ranges::count(text, ','));
    if (commas + 1 != ranks_.size()) {
      return wrong(fmt::format("{} terms for {} operands", commas + 1, ranks_.size()));
    }
    for (const std::size_t rank : ranks_) {
      const std::size_t end = std::min(text.find(','), text.size());
      auto term = read_term(text.substr(0, end));
      if (!term) return term.error();
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::size_t letters = term->letters();
      if (term->has_ellipsis ? letters > rank : letters != rank) {
        return wrong(
            fmt::format("{} letters for operand {} of rank {}", letters, terms_.size(), rank));
      }
      if (term->has_ellipsis) unnamed_ = std::max(unnamed_, rank - letters);
      for (const char letter : term->all()) ++uses_[letter];
      terms_.push_back(*std::move(term));
    }
    return {};
  }

  Term implied() const {
    Term term;
    term.has_ellipsis = true;
    for (const auto& [letter, count] : uses_) {
      if (count == 1) term.after += letter;
    }
    return term;
  }

  /// Unnamed dimensions come first, then letters in the order in which they occur.
  Result<EinsumEquation> number(const Term& result) {
    EinsumEquation equation;
    std::map<char, std::size_t> numbers;
    for (const Term& term : terms_) {
      for (const char letter : term.all()) numbers.emplace(letter, unnamed_ + numbers.size());
    }
    equation.index_count = unnamed_ + numbers.size();
    for (const char letter : result.all()) {
      if (!numbers.contains(letter)) return wrong(fmt::format("no operand has '{}'", letter));
      if (std::ranges::count(result.all(), letter) > 1) {
        return wrong(fmt::format("the result has '{}' twice", letter));
      }
    }
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      equation.operands.push_back(indices(terms_[i], ranks_[i] - terms_[i].letters(), numbers));
    }
    equation.result = indices(result, result.has_ellipsis ? unnamed_ : 0, numbers);
    return equation;
  }

  EinsumEquation::Indices indices(const Term& term, std::size_t unnamed,
                                  const std::map<char, std::size_t>& numbers) const {
    EinsumEquation::Indices list;
    for (const char letter : term.before) list.push_back(numbers.at(letter));
    for (std::size_t i = 0; i < unnamed; ++i) list.push_back(unnamed_ - unnamed + i);
    for (const char letter : term.after) list.push_back(numbers.at(letter));
    return list;
  }

  std::span<const std::size_t> ranks_;
  std::vector<Term> terms_;
  std::map<char, std::size_t> uses_;
  std::size_t unnamed_ = 0;  ///< the most dimensions that an ellipsis means
};

}  // namespace

Result<EinsumEquation> read_einsum(std::string_view equation, std::span<const std::size_t> ranks) {
  return EquationReader(ranks).read(equation);
}

}  // namespace mir
