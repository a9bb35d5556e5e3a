// The unigram model: the tokens of the greatest sum of scores.
#include <algorithm>
#include <limits>

#include "tokenizer/code_points.hpp"
#include "tokenizer/model.hpp"

namespace mir::tokenizer {
namespace {

class Unigram final : public Model {
 public:
  Unigram(Vocabulary vocabulary, const std::vector<ScoredPiece>& pieces, double least_score,
          UnigramRules rules)
      : Model(std::move(vocabulary)), rules_(rules), unknown_score_(least_score - kPenalty) {
    if (rules_.has_byte_fallback) find_byte_tokens();
    for (const ScoredPiece& piece : pieces) {
      trie_.add(piece.text, static_cast<std::uint32_t>(pieces_.size()));
      pieces_.push_back({piece.score, piece.id});
    }
  }
  std::string_view name() const override { return "Unigram"; }

  Result<void> encode(std::string_view piece, ModelScratch& scratch,
                      std::vector<TokenId>& ids) const override {
    find_best_paths(piece, scratch);
    auto& ends = scratch.ends;
    ends.clear();
    for (std::size_t end = piece.size(); end > 0;) {
      const ModelScratch::Path& path = scratch.paths[end];
      // Unknown parts in a row are one.
      const bool joins = path.id == rules_.unknown && end < piece.size() &&
                         scratch.paths[ends.back()].id == rules_.unknown;
      if (!joins) ends.push_back(static_cast<std::uint32_t>(end));
      end = path.begin;
    }
    std::size_t begin = 0;
    for (std::size_t i = ends.size(); i-- > 0; begin = ends[i]) {
      const std::string_view part = piece.substr(begin, ends[i] - begin);
      if (auto put = put_part(part, scratch.paths[ends[i]].id, ids); !put) return put;
    }
    return {};
  }

 private:
  static constexpr double kPenalty = 10;
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  struct Known {
    double score;
    TokenId id;
  };

  /// The best way to the end of each code point.
  void find_best_paths(std::string_view text, ModelScratch& scratch) const {
    auto& paths = scratch.paths;
    paths.assign(text.size() + 1, {0, kNowhere, rules_.unknown});
    for (std::size_t at = 0; at < text.size();) {
      const double before = paths[at].score;
      const std::size_t letter = code_point_size(text[at]);
      bool is_covered = false;
      const auto offer = [&](std::size_t end, double score, TokenId id) {
        ModelScratch::Path& path = paths[end];
        if (path.begin != kNowhere && !(score > path.score)) return;
        path = {score, static_cast<std::uint32_t>(at), id};
      };
      trie_.for_each_prefix(text.substr(at), [&](std::size_t size, std::uint32_t number) {
        is_covered = is_covered || size == letter;
        offer(at + size, before + pieces_[number].score, pieces_[number].id);
      });
      if (!is_covered) offer(at + letter, before + unknown_score_, rules_.unknown);
      at += letter;
    }
  }

  Result<void> put_part(std::string_view part, TokenId id, std::vector<TokenId>& ids) const {
    if (id == rules_.unknown) id = vocabulary().find(part);
    if (id != kNoToken) {
      ids.push_back(id);
      return {};
    }
    if (rules_.has_byte_fallback && append_bytes(part, ids)) return {};
    if (rules_.unknown == kNoToken) return no_unknown_token(part);
    ids.push_back(rules_.unknown);
    return {};
  }

  ByteTrie trie_;
  std::vector<Known> pieces_;
  UnigramRules rules_;
  double unknown_score_;
};

}  // namespace

ModelPtr make_unigram(Vocabulary vocabulary, const std::vector<ScoredPiece>& pieces,
                      double least_score, UnigramRules rules) {
  return std::make_unique<Unigram>(std::move(vocabulary), pieces, least_score, rules);
}

}  // namespace mir::tokenizer
