// The options of mllm-tokenize.
#pragma once

#include <cstdint>
#include <string>

#include "option.hpp"

namespace mir::tools {

enum class TokenFormat : std::uint8_t { kText, kCount, kTable, kJson };
inline constexpr Choice<TokenFormat> kTokenFormats[] = {
    {"text", TokenFormat::kText, "ids, or decoded text"},
    {"count", TokenFormat::kCount, "the number of tokens of each text"},
    {"table", TokenFormat::kTable, "a line for each token"},
    {"json", TokenFormat::kJson, "an object for each file"}};

struct TokenizeSettings {
  OptionSet& options;

  OptionGroup choosing{options, "Tokenizer"};
  Option<std::string> tokenizer{
      options,
      {.name = "tokenizer",
       .argument = "FILE",
       .help = "use this tokenizer.json, folder that holds one, or GGUF file",
       .is_needed = true},
      read_file_name("json gguf")};
  Flag vocabulary{options,
                  {.name = "vocabulary",
                   .help = "show model, number of tokens and added tokens; reads no text",
                   .excludes = "decode no-special plain-text"}};

  OptionGroup cutting{options, "Encoding and decoding"};
  OptionList<std::string> text{options,
                               {.name = "text",
                                .argument = "TEXT",
                                .help = "take this text instead of a file",
                                .excludes = "vocabulary"},
                               any_text(kRefersToNothing)};
  Flag decode{options,
              {.name = "decode",
               .help = "read ids, separated by white space or commas, and write their text"}};
  Flag no_special{options,
                  {.name = "no-special",
                   .help = "put no special tokens around the text; with --decode, leave special "
                           "tokens out of the text"}};
  Flag plain_text{options,
                  {.name = "plain-text",
                   .help = "read special tokens in the text as ordinary text, which text of users "
                           "needs",
                   .excludes = "decode"}};
  Option<TokenFormat> format{
      options,
      {.name = "format", .argument = "FORMAT", .help = "write the result in this form"},
      choice(kTokenFormats),
      TokenFormat::kText};
};

}  // namespace mir::tools
