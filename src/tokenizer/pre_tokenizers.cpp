// Pre-tokenizers of tokenizer files.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "mir/codes/tokenizers.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/known_patterns.hpp"
#include "tokenizer/pattern.hpp"
#include "tokenizer/pre_tokenizer.hpp"

namespace mir::tokenizer {
namespace {

/// Passes pieces through a pre-tokenizer.
class Chained final : public PieceSink {
 public:
  Chained(const PreTokenizer& step, PieceSink& next) : step_(step), next_(next) {}
  Result<void> take(const Piece& piece) override { return step_.cut(piece, next_); }

 private:
  const PreTokenizer& step_;
  PieceSink& next_;
};

/// Passes a piece through the rest of a list of steps.
Result<void> cut_by(std::span<const PreTokenizerPtr> steps, const Piece& piece, PieceSink& out) {
  std::vector<Chained> sinks;
  sinks.reserve(steps.size());
  PieceSink* next = &out;
  for (std::size_t i = steps.size(); i-- > 0;) next = &sinks.emplace_back(*steps[i], *next);
  return next->take(piece);
}

class SequencePreTokenizer final : public PreTokenizer {
 public:
  explicit SequencePreTokenizer(std::vector<PreTokenizerPtr> steps) : steps_(std::move(steps)) {}
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    return cut_by(steps_, piece, out);
  }

 private:
  std::vector<PreTokenizerPtr> steps_;
};

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, SplitBehavior behavior, bool inverts)
      : pattern_(std::move(pattern)), behavior_(behavior), inverts_(inverts) {}
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    SplitParts parts(behavior_, piece, out);
    auto added = pattern_.for_each_part(piece.text, [&](ByteRange range, bool is_match) {
      return parts.add(range, is_match != inverts_);
    });
    return added ? parts.finish() : added;
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool inverts_;
};

/// Splits at each code point of a class.
template <class IsMatch>
class ClassSplit final : public PreTokenizer {
 public:
  ClassSplit(IsMatch is_match, SplitBehavior behavior)
      : is_match_(std::move(is_match)), behavior_(behavior) {}
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    SplitParts parts(behavior_, piece, out);
    std::size_t gap = 0;
    for (std::size_t at = 0; at < piece.text.size();) {
      const CodePoint each = code_point_at(piece.text, at);
      const std::size_t end = at + each.size;
      if (is_match_(each.value)) {
        if (gap < at) {
          if (auto added = parts.add({gap, at}, false); !added) return added;
        }
        if (auto added = parts.add({at, end}, true); !added) return added;
        gap = end;
      }
      at = end;
    }
    if (gap < piece.text.size()) {
      if (auto added = parts.add({gap, piece.text.size()}, false); !added) return added;
    }
    return parts.finish();
  }

 private:
  IsMatch is_match_;
  SplitBehavior behavior_;
};

template <class IsMatch>
PreTokenizerPtr split_at(IsMatch is_match, SplitBehavior behavior) {
  return std::make_unique<ClassSplit<IsMatch>>(std::move(is_match), behavior);
}

/// Runs of word characters and runs of others that are no white space.
class Words final : public PreTokenizer {
 public:
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    enum class Kind { kSpace, kWord, kOther };
    const auto kind_of = [](char32_t value) {
      return is_word(value) ? Kind::kWord : is_white_space(value) ? Kind::kSpace : Kind::kOther;
    };
    for (std::size_t at = 0; at < piece.text.size();) {
      const std::size_t begin = at;
      const Kind kind = kind_of(code_point_at(piece.text, at).value);
      while (at < piece.text.size()) {
        const CodePoint each = code_point_at(piece.text, at);
        if (kind_of(each.value) != kind) break;
        at += each.size;
      }
      if (kind == Kind::kSpace) continue;
      auto taken = out.take({piece.text.substr(begin, at - begin), piece.is_first && begin == 0});
      if (!taken) return taken;
    }
    return {};
  }
};

/// Pieces of a number of code points.
class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::size_t length) : length_(length) {}
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    for (std::size_t at = 0; at < piece.text.size();) {
      const std::size_t begin = at;
      for (std::size_t i = 0; i < length_ && at < piece.text.size(); ++i)
        at += code_point_size(piece.text[at]);
      auto taken = out.take({piece.text.substr(begin, at - begin), piece.is_first && begin == 0});
      if (!taken) return taken;
    }
    return {};
  }

 private:
  std::size_t length_;
};

/// Spells the bytes of each piece as code points.
class ByteLetterSink final : public PieceSink {
 public:
  explicit ByteLetterSink(PieceSink& next) : next_(next) {}
  Result<void> take(const Piece& piece) override {
    letters_.clear();
    append_byte_letters(letters_, piece.text);
    return next_.take({letters_, piece.is_first});
  }

 private:
  PieceSink& next_;
  std::string letters_;
};

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool adds_space, std::vector<PreTokenizerPtr> splits)
      : adds_space_(adds_space), splits_(std::move(splits)) {}
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    ByteLetterSink letters(out);
    if (!adds_space_ || piece.text.empty() || piece.text.front() == ' ')
      return cut_by(splits_, piece, letters);
    const std::string longer = ' ' + std::string(piece.text);
    return cut_by(splits_, {longer, piece.is_first}, letters);
  }

 private:
  bool adds_space_;
  std::vector<PreTokenizerPtr> splits_;
};

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  MetaspacePreTokenizer(std::string replacement, MetaspacePrefix prefix, bool splits)
      : replacement_(std::move(replacement)),
        prefix_(prefix),
        split_(Pattern(replacement_), SplitBehavior::kMergedWithNext, false),
        splits_(splits) {}
  Result<void> cut(const Piece& piece, PieceSink& out) const override {
    if (piece.text.empty()) return {};
    std::string text;
    text.reserve(piece.text.size() * 2);
    const bool may_prefix = prefix_ == MetaspacePrefix::kAlways ||
                            (prefix_ == MetaspacePrefix::kFirst && piece.is_first);
    const bool has_prefix = piece.text.front() == ' ' || piece.text.starts_with(replacement_);
    if (may_prefix && !has_prefix) text += replacement_;
    for (const char byte : piece.text)
      byte == ' ' ? text.append(replacement_) : text.append(1, byte);
    const Piece whole{text, piece.is_first};
    return splits_ ? split_.cut(whole, out) : out.take(whole);
  }

 private:
  std::string replacement_;
  MetaspacePrefix prefix_;
  Split split_;
  bool splits_;
};

SplitBehavior read_behavior(JsonReader& reader, JsonValue value,
                            std::optional<std::string_view> otherwise) {
  constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
      {"Removed", SplitBehavior::kRemoved},
      {"Isolated", SplitBehavior::kIsolated},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous}};
  const std::string_view name = reader.text(value, "behavior", otherwise);
  for (const auto& row : kBehaviors) {
    if (row.first == name) return row.second;
  }
  reader.malformed(value, "behavior", fmt::format("unknown behaviour '{}'", name));
  return SplitBehavior::kIsolated;
}

char32_t read_code_point(JsonReader& reader, JsonValue value, std::string_view key,
                         std::optional<std::string_view> otherwise) {
  const std::string_view text = reader.text(value, key, otherwise);
  if (!text.empty() && code_point_size(text.front()) == text.size())
    return code_point_at(text, 0).value;
  reader.malformed(value, key, "expected one character");
  return ' ';
}

PreTokenizerPtr read_pre_tokenizer_sequence(JsonReader& reader, JsonValue value) {
  std::vector<PreTokenizerPtr> steps;
  for (JsonValue each = reader.list(value, "pretokenizers").first(); each.exists();
       each = each.next()) {
    if (auto step = read_pre_tokenizer(reader, each)) steps.push_back(std::move(step));
  }
  return std::make_unique<SequencePreTokenizer>(std::move(steps));
}

PreTokenizerPtr isolating_split(Regex regex) {
  return std::make_unique<Split>(Pattern(std::move(regex)), SplitBehavior::kIsolated, false);
}

PreTokenizerPtr read_byte_level(JsonReader& reader, JsonValue value) {
  const bool adds_space = reader.flag(value, "add_prefix_space", true);
  std::vector<PreTokenizerPtr> splits;
  if (reader.flag(value, "use_regex", true)) {
    auto regex = Regex::compile(kGpt2Pattern);
    if (!regex) {
      reader.unsupported(value, regex.error().message);
      return nullptr;
    }
    splits.push_back(isolating_split(*std::move(regex)));
  }
  return std::make_unique<ByteLevelPreTokenizer>(adds_space, std::move(splits));
}

PreTokenizerPtr read_metaspace(JsonReader& reader, JsonValue value) {
  std::string replacement;
  append_utf8(replacement, read_code_point(reader, value, "replacement", "▁"));
  const bool has_scheme = !value.member("prepend_scheme").is_null();
  const bool adds_space = reader.flag(value, "add_prefix_space", true);
  const std::string_view scheme = has_scheme   ? reader.text(value, "prepend_scheme")
                                  : adds_space ? "always"
                                               : "never";
  MetaspacePrefix prefix = MetaspacePrefix::kAlways;
  if (scheme == "first") {
    prefix = MetaspacePrefix::kFirst;
  } else if (scheme == "never") {
    prefix = MetaspacePrefix::kNever;
  } else if (scheme != "always") {
    reader.malformed(
        value, "prepend_scheme",
        fmt::format("unknown scheme '{}', expected 'always', 'first' or 'never'", scheme));
  }
  return make_metaspace(std::move(replacement), prefix, reader.flag(value, "split", true));
}

PreTokenizerPtr read_split(JsonReader& reader, JsonValue value) {
  Pattern pattern = Pattern::read(reader, value);
  const SplitBehavior behavior = read_behavior(reader, value, std::nullopt);
  return std::make_unique<Split>(std::move(pattern), behavior, reader.flag(value, "invert", false));
}

PreTokenizerPtr read_fixed_length(JsonReader& reader, JsonValue value) {
  const std::uint32_t length = reader.natural(value, "length", 5);
  if (length == 0) reader.malformed(value, "length", "is 0, expected 1 or more");
  return std::make_unique<FixedLength>(length == 0 ? 1 : length);
}

struct PreTokenizerRow {
  std::string_view type;
  PreTokenizerPtr (*read)(JsonReader& reader, JsonValue value);
};

constexpr PreTokenizerRow kPreTokenizers[] = {
    {"Sequence", read_pre_tokenizer_sequence},
    {"Split", read_split},
    {"ByteLevel", read_byte_level},
    {"Metaspace", read_metaspace},
    {"Whitespace",
     [](JsonReader&, JsonValue) -> PreTokenizerPtr { return std::make_unique<Words>(); }},
    {"WhitespaceSplit",
     [](JsonReader&, JsonValue) { return split_at(is_white_space, SplitBehavior::kRemoved); }},
    {"BertPreTokenizer", [](JsonReader&, JsonValue) { return make_bert_pre_tokenizer(); }},
    {"Punctuation",
     [](JsonReader& reader, JsonValue value) {
       return split_at(is_bert_punctuation, read_behavior(reader, value, "Isolated"));
     }},
    {"Digits",
     [](JsonReader& reader, JsonValue value) {
       const bool is_each = reader.flag(value, "individual_digits", false);
       return split_at(is_numeric, is_each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
     }},
    {"CharDelimiterSplit",
     [](JsonReader& reader, JsonValue value) {
       const char32_t delimiter = read_code_point(reader, value, "delimiter", std::nullopt);
       return split_at([delimiter](char32_t each) { return each == delimiter; },
                       SplitBehavior::kRemoved);
     }},
    {"FixedLength", read_fixed_length},
};

}  // namespace

PreTokenizerPtr read_pre_tokenizer(JsonReader& reader, JsonValue value) {
  if (value.is_null() || !reader.ok()) return nullptr;
  const std::string_view type = reader.text(value, "type");
  for (const PreTokenizerRow& row : kPreTokenizers) {
    if (row.type == type) return row.read(reader, value);
  }
  reader.unsupported(value, fmt::format("the pre-tokenizer '{}' is not supported", type));
  return nullptr;
}

PreTokenizerPtr make_byte_level(std::vector<Regex> expressions) {
  std::vector<PreTokenizerPtr> splits;
  for (Regex& regex : expressions) splits.push_back(isolating_split(std::move(regex)));
  return std::make_unique<ByteLevelPreTokenizer>(false, std::move(splits));
}

PreTokenizerPtr make_bert_pre_tokenizer() {
  std::vector<PreTokenizerPtr> steps;
  steps.push_back(split_at(is_white_space, SplitBehavior::kRemoved));
  steps.push_back(split_at(is_bert_punctuation, SplitBehavior::kIsolated));
  return std::make_unique<SequencePreTokenizer>(std::move(steps));
}

PreTokenizerPtr make_metaspace(std::string replacement, MetaspacePrefix prefix, bool splits) {
  return std::make_unique<MetaspacePreTokenizer>(std::move(replacement), prefix, splits);
}

}  // namespace mir::tokenizer
