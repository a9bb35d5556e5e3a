// The parts of a tokenizer, whatever file they were read from.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/added_tokens.hpp"
#include "tokenizer/decoder.hpp"
#include "tokenizer/model.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/post_processor.hpp"
#include "tokenizer/pre_tokenizer.hpp"
#include "tokenizer/tokenizer.hpp"
#include "weights/file_bytes.hpp"

namespace mir::tokenizer {

struct TokenizerParts {
  AddedTokens added;
  NormalizerPtr normalizer;       ///< null: texts are kept
  PreTokenizerPtr pre_tokenizer;  ///< null: texts are not cut
  ModelPtr model;                 ///< not null
  PostProcessor post_processor;
  Decoder decoder;
  std::vector<std::string> remarks;
};

/// Reads the tokenizer that the metadata of a GGUF file describe.
Result<Tokenizer> read_gguf_tokenizer(const std::string& path);
/// Like the other one, for bytes in memory.
Result<Tokenizer> read_gguf_tokenizer(FileBytes bytes);

}  // namespace mir::tokenizer
