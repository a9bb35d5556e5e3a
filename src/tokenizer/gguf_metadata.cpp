// Reads the metadata of tokenizers in GGUF files.
#include "tokenizer/gguf_metadata.hpp"

#include <fmt/format.h>

#include "mir/codes/tokenizers.hpp"
#include "support/utf8.hpp"
#include "tokenizer/limits.hpp"
#include "weights/formats/gguf_values.hpp"

namespace mir::tokenizer {
namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";

}  // namespace

GgufTokenizerKeys::GgufTokenizerKeys(const GgufFile& file) {
  for (const GgufMetadata& pair : file.metadata()) pairs_.emplace(pair.key, &pair);
  read_tokens();
}

void GgufTokenizerKeys::malformed(std::string_view key, std::string_view text) {
  if (ok()) problem_ = {diag::kTokenizerMalformed, fmt::format("'{}{}' {}", kPrefix, key, text)};
}

void GgufTokenizerKeys::unsupported(std::string_view key, std::string_view text) {
  if (ok()) problem_ = {diag::kTokenizerUnsupported, fmt::format("'{}{}' {}", kPrefix, key, text)};
}

Error GgufTokenizerKeys::error(std::string_view file) const {
  return {problem_->code, fmt::format("'{}': {}", file, problem_->message)};
}

const GgufMetadata* GgufTokenizerKeys::find(std::string_view key) const {
  const auto found = pairs_.find(fmt::format("{}{}", kPrefix, key));
  return found == pairs_.end() ? nullptr : found->second;
}

std::string_view GgufTokenizerKeys::architecture() const {
  const auto found = pairs_.find("general.architecture");
  return found == pairs_.end() ? "" : found->second->string().value_or("");
}

std::optional<std::string_view> GgufTokenizerKeys::text(std::string_view key) {
  const GgufMetadata* pair = find(key);
  if (pair == nullptr) return std::nullopt;
  const auto text = pair->string();
  if (!text) malformed(key, "is not a string");
  return text;
}

std::optional<std::string_view> GgufTokenizerKeys::bytes(std::string_view key) {
  const GgufMetadata* pair = find(key);
  if (pair == nullptr) return std::nullopt;
  const auto bytes = gguf_bytes(*pair);
  if (!bytes) malformed(key, "is not a list of bytes");
  return bytes;
}

bool GgufTokenizerKeys::flag(std::string_view key, bool otherwise) {
  const GgufMetadata* pair = find(key);
  if (pair == nullptr) return otherwise;
  const auto flag = gguf_bool(*pair);
  if (!flag) malformed(key, "is not a bool");
  return flag.value_or(otherwise);
}

std::optional<TokenId> GgufTokenizerKeys::id_if_given(std::string_view key) {
  const GgufMetadata* pair = find(key);
  if (pair == nullptr) return std::nullopt;
  const auto number = pair->integer();
  if (number && *number >= 0 && static_cast<std::uint64_t>(*number) < tokens_.size())
    return static_cast<TokenId>(*number);
  malformed(key, fmt::format("is {}, expected an id below {}", pair->text(), tokens_.size()));
  return std::nullopt;
}

TokenId GgufTokenizerKeys::id(std::string_view key, TokenId otherwise) {
  if (const auto id = id_if_given(key)) return *id;
  if (otherwise >= tokens_.size())
    malformed(key, fmt::format("is missing, and its default {} is not below {}", otherwise,
                               tokens_.size()));
  return otherwise;
}

void GgufTokenizerKeys::read_tokens() {
  const GgufMetadata* pair = find("tokens");
  auto tokens = pair == nullptr ? std::nullopt : gguf_strings(*pair);
  if (!tokens || tokens->empty()) return malformed("tokens", "is not a list of strings");
  if (tokens->size() > kMaxTokens)
    return malformed("tokens",
                     fmt::format("has {} items, at most {} are read", tokens->size(), kMaxTokens));
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    if (!is_utf8((*tokens)[i])) return malformed("tokens", fmt::format("item {} is not UTF-8", i));
  }
  tokens_ = *std::move(tokens);
  types_.assign(tokens_.size(), GgufTokenType::kNormal);
  const GgufMetadata* given = find("token_type");
  if (given == nullptr) return;
  const auto types = gguf_numbers(*given);
  if (!types || types->size() != tokens_.size())
    return malformed("token_type", fmt::format("is not a list of {} numbers", tokens_.size()));
  for (std::size_t i = 0; i < types->size(); ++i) {
    const double type = (*types)[i];
    if (!(type >= 1 && type <= 6))
      return malformed("token_type", fmt::format("item {} is {}, expected 1 to 6", i, type));
    types_[i] = static_cast<GgufTokenType>(static_cast<int>(type));
  }
}

std::vector<double> GgufTokenizerKeys::scores() {
  const GgufMetadata* pair = find("scores");
  auto scores = pair == nullptr ? std::nullopt : gguf_numbers(*pair);
  if (scores && scores->size() == tokens_.size()) return *std::move(scores);
  malformed("scores", fmt::format("is not a list of {} numbers", tokens_.size()));
  return std::vector<double>(tokens_.size());
}

std::vector<std::string_view> GgufTokenizerKeys::merges() {
  const GgufMetadata* pair = find("merges");
  auto merges = pair == nullptr ? std::nullopt : gguf_strings(*pair);
  if (!merges) malformed("merges", "is not a list of strings");
  return merges ? *std::move(merges) : std::vector<std::string_view>();
}

}  // namespace mir::tokenizer
