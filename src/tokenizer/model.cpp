// What models share, and the model of whole words.
#include "tokenizer/model.hpp"

#include <fmt/format.h>

#include "mir/codes/tokenizers.hpp"
#include "support/terminal_text.hpp"
#include "tokenizer/byte_alphabet.hpp"

namespace mir::tokenizer {
namespace {

class WordLevel final : public Model {
 public:
  WordLevel(Vocabulary vocabulary, TokenId unknown)
      : Model(std::move(vocabulary)), unknown_(unknown) {}
  std::string_view name() const override { return "WordLevel"; }
  Result<void> encode(std::string_view piece, ModelScratch&,
                      std::vector<TokenId>& ids) const override {
    const TokenId id = vocabulary().find(piece);
    if (id == kNoToken && unknown_ == kNoToken) return no_unknown_token(piece);
    ids.push_back(id == kNoToken ? unknown_ : id);
    return {};
  }

 private:
  TokenId unknown_;
};

}  // namespace

bool Model::append_bytes(std::string_view text, std::vector<TokenId>& ids) const {
  const std::size_t before = ids.size();
  for (const char byte : text) {
    const TokenId id =
        byte_tokens_.empty() ? kNoToken : byte_tokens_[static_cast<unsigned char>(byte)];
    if (id == kNoToken) {
      ids.resize(before);
      return false;
    }
    ids.push_back(id);
  }
  return true;
}

void Model::find_byte_tokens() {
  for (int byte = 0; byte < 256; ++byte)
    byte_tokens_.push_back(vocabulary_.find(byte_token(static_cast<unsigned char>(byte))));
}

ModelPtr make_word_level(Vocabulary vocabulary, TokenId unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), unknown);
}

Error no_unknown_token(std::string_view piece) {
  return {
      diag::kTextNotTokenized,
      fmt::format("'{}' has no token, and the model has none for unknown text", clipped(piece))};
}

}  // namespace mir::tokenizer
