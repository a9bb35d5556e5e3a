// Models: from a piece of text to the ids of its tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/byte_trie.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mir::tokenizer {

/// Memory that models use again from piece to piece. Each thread needs its own.
struct ModelScratch {
  struct Symbol {
    TokenId id;
    std::uint32_t previous;
    std::uint32_t next;
  };
  struct Merge {
    std::uint32_t rank;
    std::uint32_t at;
    TokenId id;
  };
  struct Path {
    double score;
    std::uint32_t begin;
    TokenId id;
  };
  std::vector<Symbol> symbols;
  std::vector<Merge> merges;
  std::vector<Path> paths;
  std::vector<std::uint32_t> ends;
  std::string text;
};

/// A model. Reading from several threads is safe.
class Model {
 public:
  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// `BPE`, `Unigram`, `WordPiece` or `WordLevel`.
  virtual std::string_view name() const = 0;
  /// Appends the ids of a piece, which is not empty. Takes time in proportion to its size, for BPE
  /// with the logarithm of it. Fails if the piece has no id and the model has none for unknown
  /// text.
  virtual Result<void> encode(std::string_view piece, ModelScratch& scratch,
                              std::vector<TokenId>& ids) const = 0;
  /// The end of the first part of a piece that has the same ids alone: what follows it cannot be
  /// merged with it. Short parts can be looked up.
  virtual std::size_t end_of_part(std::string_view piece) const { return piece.size(); }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  /// Appends the ids of the tokens `<0xAB>` of the bytes; false if one of them is missing.
  bool append_bytes(std::string_view text, std::vector<TokenId>& ids) const;
  /// Learns the ids of the tokens of bytes.
  void find_byte_tokens();

 private:
  Vocabulary vocabulary_;
  std::vector<TokenId> byte_tokens_;
};
using ModelPtr = std::unique_ptr<const Model>;

/// Two tokens that become one.
struct TokenMerge {
  TokenId left;
  TokenId right;
  TokenId merged;
  std::uint32_t rank;  ///< the lowest is merged first, of equal ones the leftmost
};

struct BpeRules {
  TokenId unknown = kNoToken;
  bool fuses_unknown = false;
  bool has_byte_fallback = false;
  bool ignores_merges = false;  ///< a piece that is a token is this token
  std::string word_prefix;      ///< of symbols inside a word
  std::string word_suffix;      ///< of the last symbol of a word
};
/// Makes a BPE model. Of two merges of the same tokens, the later one counts.
ModelPtr make_bpe(Vocabulary vocabulary, const std::vector<TokenMerge>& merges, BpeRules rules);

struct ScoredPiece {
  std::string_view text;
  double score;
  TokenId id;
};
struct UnigramRules {
  TokenId unknown = kNoToken;
  bool has_byte_fallback = false;
};
/// The pieces are those that are searched in texts; their texts are valid during the call.
/// `least_score` is the lowest score of all tokens.
ModelPtr make_unigram(Vocabulary vocabulary, const std::vector<ScoredPiece>& pieces,
                      double least_score, UnigramRules rules);

struct WordPieceRules {
  TokenId unknown = kNoToken;
  std::string prefix = "##";  ///< of pieces inside a word
  std::size_t max_code_points = 100;
};
ModelPtr make_word_piece(Vocabulary vocabulary, WordPieceRules rules);

/// Whole pieces are tokens.
ModelPtr make_word_level(Vocabulary vocabulary, TokenId unknown);

/// The error for a piece without an id in a model without an id for unknown text.
Error no_unknown_token(std::string_view piece);

}  // namespace mir::tokenizer
