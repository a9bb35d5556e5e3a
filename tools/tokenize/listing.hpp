// Tokens and vocabularies as text, tables and JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mir::tools {

/// A token of a text.
struct ListedToken {
  tokenizer::TokenId id;
  std::string_view token;  ///< as the file of the tokenizer spells it
  std::string text;        ///< the text that it completes
};

/// The tokens of ids with their texts, which together are the decoded text.
Result<std::vector<ListedToken>> listed_tokens(const tokenizer::Tokenizer& tokenizer,
                                               std::span<const tokenizer::TokenId> ids,
                                               const tokenizer::DecodeOptions& options);

/// The ids in decimal, one space between them, and a line end.
std::string ids_text(std::span<const tokenizer::TokenId> ids);
/// A table with a line for each token.
std::string token_table(std::span<const ListedToken> tokens);
/// An object and a line end: docs/tokenizers.md.
std::string tokens_json(std::string_view file, std::span<const ListedToken> tokens);

/// Model, sizes and added tokens.
std::string vocabulary_text(std::string_view file, const tokenizer::Tokenizer& tokenizer);
std::string vocabulary_json(std::string_view file, const tokenizer::Tokenizer& tokenizer);

/// Reads ids that are separated by white space or commas; brackets around them are skipped. The
/// error names the line and the word.
Result<std::vector<tokenizer::TokenId>> read_ids(std::string_view text);

}  // namespace mir::tools
