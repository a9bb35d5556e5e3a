// Rewrites of a text before it is cut.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/json_reader.hpp"

namespace mir::tokenizer {

/// A normalizer. Reading from several threads is safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// The text in its new form. Fails if a search takes too many steps or the text becomes too long.
  virtual Result<std::string> apply(std::string text) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

/// Reads the member `normalizer` of a file. Returns null if it is null; reports problems to the
/// reader.
NormalizerPtr read_normalizer(JsonReader& reader, JsonValue value);

/// Rules of `precompiled_charsmap` of SentencePiece.
enum class CharsmapSearch {
  kCluster,        ///< looks up grapheme clusters, then code points: tokenizer.json
  kLongestPrefix,  ///< the longest prefix at each place: SentencePiece, GGUF
};
/// The error's message describes the fault of the bytes.
Result<NormalizerPtr> make_charsmap(std::string bytes, CharsmapSearch search);

/// Runs normalizers one after the other.
NormalizerPtr make_sequence(std::vector<NormalizerPtr> steps);
NormalizerPtr make_normal_form(NormalForm form);
/// Puts `prefix` before a text that is not empty.
NormalizerPtr make_prepend(std::string prefix);
/// Replaces each `from` by `to`.
NormalizerPtr make_replace(std::string from, std::string to);
/// Removes white space at both ends, and all but one of the spaces in a row.
NormalizerPtr make_single_spaces();
/// The normalizer of BERT.
NormalizerPtr make_bert_normalizer(bool cleans, bool separates_ideographs, bool strips_accents,
                                   bool lowers);

}  // namespace mir::tokenizer
