#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "mir/passes/upgrade.hpp"

namespace mir {

namespace {

Result<double> epsilon(std::string_view key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) {
    return Error{DiagCode::kUsage, fmt::format("{} is a number, found '{}'", key, text)};
  }
  return value;
}

}  // namespace

Result<SymbolicDim> parse_symbolic_dim(std::string_view text) {
  constexpr std::string_view kInput = "@input";
  const auto at = text.find(kInput);
  const auto colon = text.find(':', std::min(at, text.size()));
  SymbolicDim wanted;
  const auto number = [](std::string_view digits, std::size_t& into) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
  };
  wanted.symbol = text.substr(0, std::min(at, text.size()));
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const bool good =
      at != text.npos && colon != text.npos && !wanted.symbol.empty() &&
      std::ranges::all_of(wanted.symbol, is_word) &&
      std::isdigit(static_cast<unsigned char>(wanted.symbol[0])) == 0 &&
      number(text.substr(at + kInput.size(), colon - at - kInput.size()), wanted.input) &&
      number(text.substr(colon + 1), wanted.dim);
  if (good) return wanted;
  return Error{DiagCode::kUsage,
               fmt::format("--symbolic-dim is SYMBOL@inputN:DIM, found '{}'", text)};
}

Result<void> grant(UpgradeOptions& options, std::string_view fact) {
  struct Row {
    std::string_view key;
    std::optional<double> UpgradeOptions::*into;
  };
  constexpr Row kRows[] = {{"rms_eps", &UpgradeOptions::rms_epsilon},
                           {"layer_norm_eps", &UpgradeOptions::layer_norm_epsilon}};
  const std::string_view key = fact.substr(0, fact.find('='));
  for (const Row& row : kRows) {
    if (key != row.key) continue;
    const auto value = epsilon(key, fact.substr(std::min(fact.size(), key.size() + 1)));
    if (!value) return value.error();
    options.*row.into = *value;
    return {};
  }
  return Error{DiagCode::kUsage,
               fmt::format("--assume is rms_eps=X or layer_norm_eps=X, found '{}'", fact)};
}

}  // namespace mir
