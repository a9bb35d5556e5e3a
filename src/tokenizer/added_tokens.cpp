// Searches added tokens in texts.
#include "tokenizer/added_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/tokenizers.hpp"
#include "support/terminal_text.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/limits.hpp"

namespace mir::tokenizer {

AddedTokens AddedTokens::read(JsonReader& reader, JsonValue list, const Vocabulary& model) {
  AddedTokens added;
  if (list.is_null()) return added;
  if (!list.is_array()) reader.malformed(list, "expected a list of added tokens");
  for (JsonValue each = list.first(); each.exists() && reader.ok(); each = each.next()) {
    AddedToken token;
    token.content = reader.text(each, "content");
    token.is_special = reader.flag(each, "special", false);
    token.is_normalized = reader.flag(each, "normalized", !token.is_special);
    token.is_single_word = reader.flag(each, "single_word", false);
    token.strips_left = reader.flag(each, "lstrip", false);
    token.strips_right = reader.flag(each, "rstrip", false);
    token.id = reader.token_id(each.member("id").exists() ? each.member("id") : each);
    if (token.content.size() > kMaxSearchedBytes)
      reader.malformed(each, fmt::format("the content has {} bytes, at most {} are searched",
                                         token.content.size(), kMaxSearchedBytes));
    if (!reader.ok() || token.content.empty()) continue;
    if (const TokenId id = model.find(token.content); id != kNoToken) {
      token.id = id;
    } else if (model.text(token.id)) {
      reader.malformed(each,
                       fmt::format("id {} of '{}' is also that of '{}' in the vocabulary", token.id,
                                   clipped(token.content), clipped(*model.text(token.id))));
    }
    added.add(std::move(token));
  }
  return added;
}

void AddedTokens::add(AddedToken token) {
  const auto [place, is_new] = by_content_.try_emplace(token.content, tokens_.size());
  by_id_[token.id] = place->second;
  if (is_new) {
    tokens_.push_back(std::move(token));
  } else {
    tokens_[place->second] = std::move(token);
  }
}

bool AddedTokens::has_special(std::string_view content) const {
  const AddedToken* token = find(content);
  return token != nullptr && token->is_special;
}

Result<void> AddedTokens::normalize(const Normalizer* normalizer) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    const auto number = static_cast<std::uint32_t>(i);
    if (!token.is_normalized) {
      raw_.add(token.content, number);
      continue;
    }
    auto content = normalizer == nullptr ? Result<std::string>(token.content)
                                         : normalizer->apply(token.content);
    if (!content) return content.error();
    if (content->size() > kMaxSearchedBytes)
      return Error{diag::kTokenizerMalformed,
                   fmt::format("the added token '{}' has {} bytes when it is normalised, at most "
                               "{} are searched",
                               clipped(token.content), content->size(), kMaxSearchedBytes)};
    if (!content->empty()) normalized_.add(*content, number);
  }
  return {};
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

AddedTokens::Match AddedTokens::next_match(const ByteTrie& trie, std::string_view text,
                                           std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!trie.can_begin(text[at])) continue;
    const ByteTrie::Prefix found = trie.longest_prefix(text.substr(at));
    if (found.size != 0) return {at, at + found.size, &tokens_[found.number]};
  }
  return {text.size(), text.size()};
}

bool AddedTokens::accept(Match& match, std::string_view text, std::size_t after,
                         bool with_special) const {
  const AddedToken& token = *match.token;
  if (token.is_special && !with_special) return false;
  if (token.is_single_word) {
    if (match.begin > 0 && is_word(code_point_before(text, match.begin).value)) return false;
    if (match.end < text.size() && is_word(code_point_at(text, match.end).value)) return false;
  }
  while (token.strips_left && match.begin > after) {
    const CodePoint before = code_point_before(text, match.begin);
    if (!is_white_space(before.value)) break;
    match.begin -= before.size;
  }
  while (token.strips_right && match.end < text.size()) {
    const CodePoint next = code_point_at(text, match.end);
    if (!is_white_space(next.value)) break;
    match.end += next.size;
  }
  return true;
}

}  // namespace mir::tokenizer
