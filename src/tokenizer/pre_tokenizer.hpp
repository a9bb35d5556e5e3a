// Cutting a text into the pieces that a model tokenizes one by one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/json_reader.hpp"
#include "tokenizer/regex.hpp"

namespace mir::tokenizer {

struct Piece {
  std::string_view text;
  bool is_first = false;  ///< true if it begins where the whole text begins
};

/// Receives pieces in order.
class PieceSink {
 public:
  virtual ~PieceSink() = default;
  virtual Result<void> take(const Piece& piece) = 0;
};

/// A pre-tokenizer. Reading from several threads is safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Passes the parts of a piece to `out`; none of them is empty. They are valid during the call.
  virtual Result<void> cut(const Piece& piece, PieceSink& out) const = 0;
};
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// Reads the member `pre_tokenizer` of a file. Returns null if it is null; reports problems to the
/// reader.
PreTokenizerPtr read_pre_tokenizer(JsonReader& reader, JsonValue value);

/// Fate of the matches of a split.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// Joins matches and gaps to pieces as a behaviour demands.
class SplitParts {
 public:
  SplitParts(SplitBehavior behavior, const Piece& piece, PieceSink& out)
      : behavior_(behavior), piece_(piece), out_(out) {}

  /// The next match or gap.
  Result<void> add(ByteRange range, bool is_match);
  /// Passes on what is left.
  Result<void> finish();

 private:
  Result<void> put(ByteRange range);

  SplitBehavior behavior_;
  Piece piece_;
  PieceSink& out_;
  ByteRange waiting_;
  bool is_waiting_ = false;
  bool was_match_ = false;
};

/// Splits by several regular expressions, one after the other, each isolated, and then spells bytes
/// as code points. The expressions must compile.
PreTokenizerPtr make_byte_level(std::vector<Regex> expressions);
/// The pre-tokenizer of BERT.
PreTokenizerPtr make_bert_pre_tokenizer();
enum class MetaspacePrefix { kAlways, kFirst, kNever };
/// Spaces become `▁`, each of which begins a piece if `splits`.
PreTokenizerPtr make_metaspace(std::string replacement, MetaspacePrefix prefix, bool splits);

}  // namespace mir::tokenizer
