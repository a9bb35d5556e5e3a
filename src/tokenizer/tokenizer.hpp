// Tokenizers: from text to token ids and back.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mir::tokenizer {

struct TokenizerParts;
class TokenStream;

struct EncodeOptions {
  /// Puts the tokens of the post-processor around the ids, such as a token that begins a text.
  bool adds_special = true;
  /// Finds special tokens that are written in the text. Turn it off for text of users, who could
  /// otherwise write the marks between turns. Added tokens that are not special are always found.
  bool finds_special = true;
};

struct DecodeOptions {
  bool skips_special = false;
};

/// Facts about a token.
struct TokenFacts {
  std::string_view text;  ///< as the file spells it
  bool is_added = false;
  bool is_special = false;
};

/// A tokenizer, as a tokenizer.json or a GGUF file describes it. It does not change: reading from
/// several threads is safe.
class Tokenizer {
 public:
  /// Reads a tokenizer.json, a folder with a file of this name, or a GGUF file.
  /// Errors are kFileNotReadable, kTokenizerMalformed for a broken rule, kTokenizerUnsupported for
  /// a part that the toolkit does not have, and those of GGUF files. They name the file and the
  /// JSON pointer, the byte or the metadata key.
  static Result<Tokenizer> open(const std::string& path);
  /// Reads the text of a tokenizer.json. `origin` names it in errors.
  static Result<Tokenizer> parse(std::string_view json, const std::string& origin);
  explicit Tokenizer(std::unique_ptr<const TokenizerParts> parts);
  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer& operator=(Tokenizer&& other) noexcept;
  ~Tokenizer();

  /// The ids of a text in UTF-8. Fails if the text is not UTF-8 (kTextNotTokenized), has over 1 GiB
  /// (kLimitExceeded), takes a regular expression too many steps, or has a piece without an id.
  Result<std::vector<TokenId>> encode(std::string_view text, const EncodeOptions& options) const;

  /// The text of ids. Bytes that are not UTF-8 become U+FFFD. Fails with kTokenIdUnknown.
  Result<std::string> decode(std::span<const TokenId> ids, const DecodeOptions& options) const;

  /// Returns no value if no token has the id. Valid as long as the tokenizer.
  std::optional<TokenFacts> token(TokenId id) const;
  /// Returns no value if no token is spelled like this.
  std::optional<TokenId> find(std::string_view text) const;
  /// One more than the largest id.
  std::uint32_t id_end() const;
  /// Number of ids with a token.
  std::size_t size() const;

  /// `BPE`, `Unigram`, `WordPiece` or `WordLevel`.
  std::string_view model_name() const;
  /// Ids that encode() puts before and after a text.
  std::span<const TokenId> ids_before() const;
  std::span<const TokenId> ids_after() const;
  /// Sentences about what the file leaves open or asks for in vain. Often empty.
  std::span<const std::string> remarks() const;

 private:
  friend class TokenStream;
  std::unique_ptr<const TokenizerParts> parts_;
};

/// Decodes ids one by one. The texts that add() and finish() return, put together, are what
/// Tokenizer::decode() returns for all ids; each of them is UTF-8. Text that a later id can change
/// is held back: the bytes of a code point that is not complete, and runs of byte tokens.
class TokenStream {
 public:
  /// The tokenizer must outlive the stream.
  TokenStream(const Tokenizer& tokenizer, const DecodeOptions& options);
  TokenStream(TokenStream&& other) noexcept;
  ~TokenStream();

  /// The text that this id completes; often empty. Fails with kTokenIdUnknown.
  Result<std::string> add(TokenId id);
  /// The text that was held back. No id may follow.
  Result<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mir::tokenizer
