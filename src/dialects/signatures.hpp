// Rules of the rule library as declarations of ops, as far as declarations can express them.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "mir/context.hpp"

namespace mir {

/// A variable and its expression, or a condition and its message.
struct SignatureEntry {
  std::string_view key, text;
};

/// One signature of a rule (docs/dialects.md). Parts are written as in the text, without marks; an
/// empty one ends the list. Of further operands and results, which an op may have, nothing is said.
struct RuleSignature {
  std::string_view rule;  ///< the name in rules::all()
  std::array<std::string_view, 4> operands{};
  std::array<std::string_view, 2> results{};
  std::array<SignatureEntry, 7> let{};
  SignatureEntry where{};
};

/// The signatures of a rule, those for fewer operands first. None if declarations cannot say what
/// it does.
std::span<const RuleSignature> signatures_of(InferFn rule);

}  // namespace mir
