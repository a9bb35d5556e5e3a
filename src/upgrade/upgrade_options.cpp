// Parses facts that users grant by options.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "mir/codes/usage.hpp"
#include "mir/upgrade.hpp"
#include "support/characters.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

namespace {

Result<double> epsilon(std::string_view key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
      !std::isfinite(value)) {
    return Error{diag::kUsage, fmt::format("{} is a number, found '{}'", key, text)};
  }
  return value;
}

/// Returns the meaning of a part of the text; no value if the fact is of another kind.
std::optional<TextGrant> text_grant(std::string_view key, std::string_view value) {
  constexpr std::string_view kText = "text:";
  TextGrant grant{.key = std::string(key), .text = std::string(value)};
  if (value.starts_with('"')) {
    const auto quoted = nlohmann::json::parse(value, nullptr, false);
    if (quoted.is_string()) grant.text = quoted.get<std::string>();
  }
  if (grant.text.empty()) return std::nullopt;
  if (key == "comment") {
    grant.kind = TextGrant::Kind::kComment;
  } else if (key == "Unknow") {
    grant.kind = TextGrant::Kind::kElementType;
  } else if (key.starts_with(kText) && key.size() > kText.size()) {
    grant.key = key.substr(kText.size());
  } else {
    return std::nullopt;
  }
  return grant;
}

}  // namespace

Result<SymbolicDim> parse_symbolic_dim(std::string_view text) {
  constexpr std::string_view kInput = "@input";
  const auto at = text.find(kInput);
  const auto colon = text.find(':', std::min(at, text.size()));
  SymbolicDim wanted;
  const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
    std::size_t value = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, value);
    if (digits.empty() || error != std::errc() || end != last) return std::nullopt;
    return value;
  };
  wanted.symbol = text.substr(0, std::min(at, text.size()));
  const bool is_split = at != text.npos && colon != text.npos && is_identifier(wanted.symbol);
  const auto input =
      is_split ? number(text.substr(at + kInput.size(), colon - at - kInput.size())) : std::nullopt;
  const auto dim = is_split ? number(text.substr(colon + 1)) : std::nullopt;
  if (!input || !dim) {
    return Error{diag::kUsage,
                 fmt::format("--symbolic-dim is SYMBOL@inputN:DIM, found '{}'", text)};
  }
  wanted.input = *input;
  wanted.dim = *dim;
  return wanted;
}

Result<void> grant(UpgradeOptions& options, std::string_view fact) {
  struct Row {
    std::string_view key;
    std::optional<double> UpgradeOptions::*into;
  };
  constexpr Row kRows[] = {{kRmsEpsilonFact, &UpgradeOptions::rms_epsilon},
                           {kLayerNormEpsilonFact, &UpgradeOptions::layer_norm_epsilon}};
  const std::string_view key = fact.substr(0, fact.find('='));
  const std::string_view value = fact.substr(std::min(fact.size(), key.size() + 1));
  for (const Row& row : kRows) {
    if (key != row.key) continue;
    const auto number = epsilon(key, value);
    if (!number) return number.error();
    options.*row.into = *number;
    return {};
  }
  if (key == kPackedWeightsFact) {
    constexpr DType kTypes[] = {DType::kFloat32, DType::kGgufQ4_0, DType::kMirQ4A32};
    const auto* const found =
        std::ranges::find(kTypes, value, [](DType type) { return name_of(type); });
    if (found == std::end(kTypes)) {
      return Error{
          diag::kUsage,
          fmt::format("packed_weights is Float32, GGUF_Q4_0 or MIR_Q4_A32, found '{}'", value)};
    }
    options.packed_weights = *found;
    return {};
  }
  if (auto text = text_grant(key, value)) {
    options.texts.push_back(*std::move(text));
    return {};
  }
  const auto dot = key.rfind('.');
  const bool of_value = key.starts_with('%') && key.size() > 1;
  if (of_value && dot == key.npos && !value.empty()) {
    options.grants.push_back(
        {Grant::Kind::kType, std::string(key.substr(1)), "type", std::string(value)});
    return {};
  }
  if (dot != key.npos && dot != 0 && dot + 1 != key.size() && !value.empty()) {
    const std::string_view name = key.substr(dot + 1);
    const auto kind = of_value           ? Grant::Kind::kNote
                      : name == "return" ? Grant::Kind::kReturn
                                         : Grant::Kind::kAttribute;
    const std::size_t from = of_value ? 1 : 0;
    options.grants.push_back(
        {kind, std::string(key.substr(from, dot - from)), std::string(name), std::string(value)});
    return {};
  }
  return Error{diag::kUsage,
               fmt::format("--assume is rms_eps=X, layer_norm_eps=X, packed_weights=TYPE, "
                           "OP.attribute=value, %N=TYPE, %N.attribute=value, GRAPH.return=N, "
                           "text:KEY=TEXT, comment=TEXT or "
                           "Unknow=TYPE, found '{}'",
                           fact)};
}

}  // namespace mir
