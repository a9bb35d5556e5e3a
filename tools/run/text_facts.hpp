// Facts about the text of a model: its chat template, its special tokens, the tokens that end it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mir::tools {

struct TextFacts {
  std::string template_name;  ///< names the template in messages: its file, and the key in it
  std::string template_text;  ///< empty if the model has none
  bool has_only_other_templates = false;  ///< named templates without the one named 'default'
  /// Names and spellings of special tokens, such as `bos_token`.
  std::vector<std::pair<std::string, std::string>> special_tokens;
  /// Each of them ends a text. Ascending, without repetitions.
  std::vector<tokenizer::TokenId> end_tokens;
};

/// Reads the facts beside a tokenizer: of a folder or of the folder of a tokenizer.json, or of a
/// GGUF file. Reports files that break a rule; the result must not be used after an error.
TextFacts read_text_facts(const std::string& path, const tokenizer::Tokenizer& tokenizer,
                          Diagnostics& diagnostics);

}  // namespace mir::tools
