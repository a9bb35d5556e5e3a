// Tokens beside the model, which are cut out of a text before it is cut into pieces.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/byte_trie.hpp"
#include "tokenizer/json_reader.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mir::tokenizer {

struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool is_single_word = false;  ///< no word character is beside it
  bool strips_left = false;     ///< takes the white space before it
  bool strips_right = false;    ///< takes the white space after it
  bool is_normalized = true;    ///< searched in the normalised text
  bool is_special = false;
};

/// A part of a text: an added token, or text between added tokens.
struct TextPart {
  std::string_view text;
  TokenId token = kNoToken;
  bool is_first = false;  ///< true if the text begins with it
};

class AddedTokens {
 public:
  /// Reads the member `added_tokens` of a file. A token that the model has gets the model's id.
  static AddedTokens read(JsonReader& reader, JsonValue list, const Vocabulary& model);

  /// Adds a token. Of equal contents the later one counts.
  void add(AddedToken token);
  /// True if a special token has this content.
  bool has_special(std::string_view content) const;
  /// Learns how the normalizer, which may be null, changes the tokens. Call it after the last
  /// add().
  Result<void> normalize(const Normalizer* normalizer);

  /// Calls `part(TextPart)`, which returns a Result<void>, for the parts of a raw text: tokens that
  /// are not normalised, and what is between them. Special ones only if `with_special`.
  template <class Part>
  Result<void> cut_raw(std::string_view text, bool with_special, const Part& part) const {
    return cut(raw_, text, with_special, part);
  }
  /// Like cut_raw(), for a normalised text and the tokens that are normalised.
  template <class Part>
  Result<void> cut_normalized(std::string_view text, bool with_special, const Part& part) const {
    return cut(normalized_, text, with_special, part);
  }

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  /// Returns null if no added token has this id.
  const AddedToken* find(TokenId id) const;
  /// Returns null if no added token has this content.
  const AddedToken* find(std::string_view content) const;

 private:
  struct Match {
    std::size_t begin;
    std::size_t end;
    const AddedToken* token = nullptr;
  };
  Match next_match(const ByteTrie& trie, std::string_view text, std::size_t from) const;
  /// Widens a match by the white space that it takes; false if it does not count.
  bool accept(Match& match, std::string_view text, std::size_t after, bool with_special) const;

  template <class Part>
  Result<void> cut(const ByteTrie& trie, std::string_view text, bool with_special,
                   const Part& part) const {
    std::size_t after = 0;
    for (std::size_t at = 0; !trie.empty();) {
      Match match = next_match(trie, text, at);
      if (match.token == nullptr) break;
      at = match.end;
      if (!accept(match, text, after, with_special)) continue;
      if (after < match.begin) {
        auto passed = part(TextPart{text.substr(after, match.begin - after), kNoToken, after == 0});
        if (!passed) return passed;
      }
      auto passed = part(TextPart{text.substr(match.begin, match.end - match.begin),
                                  match.token->id, match.begin == 0});
      if (!passed) return passed;
      after = match.end;
    }
    if (after >= text.size()) return {};
    return part(TextPart{text.substr(after), kNoToken, after == 0});
  }

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, std::size_t> by_content_;
  std::unordered_map<TokenId, std::size_t> by_id_;
  ByteTrie raw_;
  ByteTrie normalized_;
};

}  // namespace mir::tokenizer
