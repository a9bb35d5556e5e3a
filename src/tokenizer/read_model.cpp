// Reads models of tokenizer files: BPE, Unigram, WordPiece, WordLevel.
#include "tokenizer/read_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "support/terminal_text.hpp"
#include "tokenizer/limits.hpp"

namespace mir::tokenizer {
namespace {

/// A vocabulary that is an object of texts with ids.
Vocabulary read_vocabulary(JsonReader& reader, JsonValue model, std::size_t most_bytes) {
  Vocabulary vocabulary;
  const JsonValue members = reader.object(model, "vocab");
  for (JsonValue each = members.first(); each.exists() && reader.ok(); each = each.next()) {
    const std::string_view text = each.key();
    const TokenId id = reader.token_id(each);
    if (text.size() > most_bytes)
      reader.malformed(members, fmt::format("a token has {} bytes, at most {} are searched",
                                            text.size(), most_bytes));
    switch (reader.ok() ? vocabulary.add(text, id) : Vocabulary::Added::kNew) {
      case Vocabulary::Added::kNew:
        break;
      case Vocabulary::Added::kKnownText:
        reader.malformed(members, fmt::format("token '{}' occurs twice", clipped(text)));
        break;
      case Vocabulary::Added::kKnownId:
        reader.malformed(members, fmt::format("id {} of token '{}' is also that of '{}'", id,
                                              clipped(text), clipped(*vocabulary.text(id))));
        break;
    }
  }
  return vocabulary;
}

/// The id of the token that `unk_token` names; kNoToken if there is none.
TokenId read_unknown(JsonReader& reader, JsonValue model, const Vocabulary& vocabulary,
                     std::optional<std::string_view> otherwise) {
  if (model.member("unk_token").is_null() && !otherwise) return kNoToken;
  const std::string_view text = reader.text(model, "unk_token", otherwise);
  return vocabulary.find(text);
}

struct MergeTexts {
  std::string_view left;
  std::string_view right;
};

/// The two parts of a merge; reports a problem if they are not two.
MergeTexts read_merge(JsonReader& reader, JsonValue merge) {
  if (const auto text = merge.string()) {
    const auto space = text->find(' ');
    if (space != text->npos && text->find(' ', space + 1) == text->npos)
      return {text->substr(0, space), text->substr(space + 1)};
  } else if (merge.is_array() && merge.size() == 2) {
    const auto left = merge.first().string(), right = merge.first().next().string();
    if (left && right) return {*left, *right};
  }
  reader.malformed(merge, "expected two tokens: a string with one space or a list of two strings");
  return {};
}

std::vector<TokenMerge> read_merges(JsonReader& reader, JsonValue model,
                                    const Vocabulary& vocabulary, const BpeRules& rules) {
  std::vector<TokenMerge> merges;
  const JsonValue list = reader.list(model, "merges");
  merges.reserve(list.size());
  std::string merged;
  for (JsonValue each = list.first(); each.exists() && reader.ok(); each = each.next()) {
    if (each.string() && each.string()->starts_with("#version")) continue;
    const auto [left, right] = read_merge(reader, each);
    if (!reader.ok()) break;
    std::string_view tail = right;
    if (tail.starts_with(rules.word_prefix)) tail.remove_prefix(rules.word_prefix.size());
    merged.assign(left).append(tail);
    const TokenMerge merge{vocabulary.find(left), vocabulary.find(right), vocabulary.find(merged),
                           static_cast<std::uint32_t>(merges.size())};
    const auto require = [&](TokenId id, std::string_view text) {
      if (id == kNoToken)
        reader.malformed(each, fmt::format("token '{}' is not in the vocabulary", clipped(text)));
    };
    require(merge.left, left);
    require(merge.right, right);
    require(merge.merged, merged);
    merges.push_back(merge);
  }
  return merges;
}

ModelPtr read_bpe(JsonReader& reader, JsonValue model) {
  if (!model.member("dropout").is_null() && model.member("dropout").number() != 0.0)
    reader.unsupported(model.member("dropout"),
                       "dropout is not supported: it chooses merges at random");
  Vocabulary vocabulary = read_vocabulary(reader, model, kMaxTextBytes);
  BpeRules rules;
  rules.unknown = read_unknown(reader, model, vocabulary, std::nullopt);
  if (rules.unknown == kNoToken && !model.member("unk_token").is_null())
    reader.malformed(model, "unk_token", "the token is not in the vocabulary");
  rules.fuses_unknown = reader.flag(model, "fuse_unk", false);
  rules.has_byte_fallback = reader.flag(model, "byte_fallback", false);
  rules.ignores_merges = reader.flag(model, "ignore_merges", false);
  rules.word_prefix = reader.text(model, "continuing_subword_prefix", "");
  rules.word_suffix = reader.text(model, "end_of_word_suffix", "");
  const auto merges = read_merges(reader, model, vocabulary, rules);
  return reader.ok() ? make_bpe(std::move(vocabulary), merges, std::move(rules)) : nullptr;
}

ModelPtr read_unigram(JsonReader& reader, JsonValue model) {
  const JsonValue list = reader.list(model, "vocab");
  Vocabulary vocabulary;
  std::vector<ScoredPiece> pieces;
  double least_score = 0;
  TokenId id = 0;
  for (JsonValue each = list.first(); each.exists() && reader.ok(); each = each.next(), ++id) {
    const auto text = each.first().string();
    const auto score = each.first().next().number();
    if (!each.is_array() || each.size() != 2 || !text || !score) {
      reader.malformed(each, "expected a list of a string and a number");
    } else if (id == kMaxTokens) {
      reader.malformed(each, fmt::format("at most {} tokens are read", kMaxTokens));
    } else if (text->size() > kMaxSearchedBytes) {
      reader.malformed(each, fmt::format("a token has {} bytes, at most {} are searched",
                                         text->size(), kMaxSearchedBytes));
    } else {
      // Of equal texts the later one counts.
      vocabulary.add(*text, id, Vocabulary::Repeated::kReplace);
      if (!text->empty()) pieces.push_back({*text, *score, id});
      least_score = id == 0 ? *score : std::min(least_score, *score);
    }
  }
  UnigramRules rules;
  if (const JsonValue unknown = model.member("unk_id"); !unknown.is_null()) {
    rules.unknown = reader.token_id(unknown);
    if (rules.unknown >= list.size())
      reader.malformed(
          unknown, fmt::format("is {}, the vocabulary has {} tokens", rules.unknown, list.size()));
  }
  rules.has_byte_fallback = reader.flag(model, "byte_fallback", false);
  return reader.ok() ? make_unigram(std::move(vocabulary), pieces, least_score, rules) : nullptr;
}

ModelPtr read_word_piece(JsonReader& reader, JsonValue model) {
  Vocabulary vocabulary = read_vocabulary(reader, model, kMaxSearchedBytes);
  WordPieceRules rules;
  rules.unknown = read_unknown(reader, model, vocabulary, "[UNK]");
  rules.prefix = reader.text(model, "continuing_subword_prefix", "##");
  rules.max_code_points = reader.natural(model, "max_input_chars_per_word", 100);
  return reader.ok() ? make_word_piece(std::move(vocabulary), std::move(rules)) : nullptr;
}

ModelPtr read_word_level(JsonReader& reader, JsonValue model) {
  Vocabulary vocabulary = read_vocabulary(reader, model, kMaxTextBytes);
  const TokenId unknown = read_unknown(reader, model, vocabulary, "<unk>");
  return reader.ok() ? make_word_level(std::move(vocabulary), unknown) : nullptr;
}

/// The type of a model in a file that does not tell: by its members, as the reference reads it.
std::string_view type_by_members(JsonValue model) {
  if (!model.member("merges").is_null()) return "BPE";
  if (model.member("vocab").is_array()) return "Unigram";
  return model.member("max_input_chars_per_word").is_null() ? "WordLevel" : "WordPiece";
}

struct ModelRow {
  std::string_view type;
  ModelPtr (*read)(JsonReader& reader, JsonValue model);
};

constexpr ModelRow kModels[] = {{"BPE", read_bpe},
                                {"Unigram", read_unigram},
                                {"WordPiece", read_word_piece},
                                {"WordLevel", read_word_level}};

}  // namespace

ModelPtr read_model(JsonReader& reader, JsonValue value) {
  if (!reader.ok()) return nullptr;
  const std::string_view type =
      value.member("type").is_null() ? type_by_members(value) : reader.text(value, "type");
  for (const ModelRow& row : kModels) {
    if (row.type == type) return row.read(reader, value);
  }
  reader.unsupported(value, fmt::format("the model '{}' is not supported", type));
  return nullptr;
}

}  // namespace mir::tokenizer
