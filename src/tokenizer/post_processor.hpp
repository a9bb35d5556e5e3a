// Special tokens that are put around the ids of a text.
#pragma once

#include <vector>

#include "tokenizer/json_reader.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mir::tokenizer {

struct PostProcessor {
  std::vector<TokenId> before;
  std::vector<TokenId> after;

  /// Reads the member `post_processor` of a file, for one text. Reports problems to the reader.
  static PostProcessor read(JsonReader& reader, JsonValue value);
};

}  // namespace mir::tokenizer
