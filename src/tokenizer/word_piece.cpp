// WordPiece: the longest token from the left, then the longest of what is left.
#include "tokenizer/code_points.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/model.hpp"

namespace mir::tokenizer {
namespace {

class WordPiece final : public Model {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceRules rules)
      : Model(std::move(vocabulary)), rules_(std::move(rules)) {
    for (TokenId id = 0; id < this->vocabulary().id_end(); ++id) {
      const auto token = this->vocabulary().text(id);
      // Longer tokens cannot be found; the reader refuses them.
      if (!token || token->empty() || token->size() > kMaxSearchedBytes) continue;
      starts_.add(*token, id);
      const std::string& prefix = rules_.prefix;
      if (token->size() > prefix.size() && token->starts_with(prefix))
        parts_.add(token->substr(prefix.size()), id);
    }
  }
  std::string_view name() const override { return "WordPiece"; }

  Result<void> encode(std::string_view piece, ModelScratch&,
                      std::vector<TokenId>& ids) const override {
    const std::size_t before = ids.size();
    bool is_known = count_code_points(piece) <= rules_.max_code_points;
    for (std::size_t at = 0; is_known && at < piece.size();) {
      const ByteTrie& trie = at == 0 ? starts_ : parts_;
      const ByteTrie::Prefix found = trie.longest_prefix(piece.substr(at));
      is_known = found.size != 0;
      if (is_known) ids.push_back(found.number);
      at += found.size;
    }
    if (is_known) return {};
    ids.resize(before);
    if (rules_.unknown == kNoToken) return no_unknown_token(piece);
    ids.push_back(rules_.unknown);
    return {};
  }

 private:
  WordPieceRules rules_;
  ByteTrie starts_;
  ByteTrie parts_;
};

}  // namespace

ModelPtr make_word_piece(Vocabulary vocabulary, WordPieceRules rules) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(rules));
}

}  // namespace mir::tokenizer
