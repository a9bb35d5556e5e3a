// Makes tokenizers of the metadata of GGUF files.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "mir/codes/tokenizers.hpp"
#include "support/terminal_text.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/gguf_metadata.hpp"
#include "tokenizer/known_patterns.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace mir::tokenizer {
namespace {

constexpr std::string_view kMetaspace = "▁";

/// The texts of all tokens. Empty ones have ids without a text.
Vocabulary vocabulary_of(GgufTokenizerKeys& keys, std::span<const std::string> texts) {
  Vocabulary vocabulary;
  for (TokenId id = 0; id < texts.size() && keys.ok(); ++id) {
    if (texts[id].empty()) continue;
    if (vocabulary.add(texts[id], id) != Vocabulary::Added::kNew)
      keys.malformed("tokens", fmt::format("has the token '{}' twice, as items {} and {}",
                                           clipped(texts[id]), vocabulary.find(texts[id]), id));
  }
  return vocabulary;
}

Vocabulary vocabulary_of(GgufTokenizerKeys& keys) {
  return vocabulary_of(keys, std::vector<std::string>(keys.tokens().begin(), keys.tokens().end()));
}

bool is_cut_out(GgufTokenType type) {
  return type == GgufTokenType::kControl || type == GgufTokenType::kUnknown ||
         type == GgufTokenType::kUserDefined;
}

/// Control and user-defined tokens, which are cut out of texts.
AddedTokens added_tokens_of(GgufTokenizerKeys& keys) {
  AddedTokens added;
  for (TokenId id = 0; id < keys.tokens().size(); ++id) {
    const std::string_view text = keys.tokens()[id];
    if (text.empty() || !is_cut_out(keys.type(id))) continue;
    if (text.size() > kMaxSearchedBytes)
      keys.malformed("tokens", fmt::format("item {} has {} bytes, at most {} are searched", id,
                                           text.size(), kMaxSearchedBytes));
    AddedToken token;
    token.content = text;
    token.id = id;
    token.is_normalized = false;
    token.is_special = keys.type(id) != GgufTokenType::kUserDefined;
    added.add(std::move(token));
  }
  return added;
}

/// Tokens around a text.
struct Around {
  bool has_bos = false;
  bool has_eos = false;
  TokenId bos = 0;
  TokenId eos = 0;
};

PostProcessor post_processor_of(GgufTokenizerKeys& keys, const Around& usual) {
  PostProcessor result;
  if (keys.flag("add_bos_token", usual.has_bos))
    result.before.push_back(keys.id("bos_token_id", usual.bos));
  if (keys.flag("add_eos_token", usual.has_eos))
    result.after.push_back(keys.id("eos_token_id", usual.eos));
  return result;
}

/// Merges of two tokens to a token, ranked by the score of the result.
std::vector<TokenMerge> merges_by_score(const GgufTokenizerKeys& keys, const Vocabulary& vocabulary,
                                        const std::vector<double>& scores) {
  std::vector<TokenId> order(scores.size());
  std::iota(order.begin(), order.end(), TokenId{0});
  std::ranges::stable_sort(order, [&](TokenId a, TokenId b) { return scores[a] > scores[b]; });
  std::vector<TokenMerge> merges;
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] != scores[order[i - 1]]) ++rank;
    const std::string_view text = keys.tokens()[order[i]];
    // Longer tokens would have too many ways to be cut in two.
    if (keys.type(order[i]) != GgufTokenType::kNormal || text.size() > kMaxSearchedBytes) continue;
    for (std::size_t at = 0; at < text.size();) {
      at += code_point_size(text[at]);
      if (at == text.size()) break;
      const TokenId left = vocabulary.find(text.substr(0, at));
      const TokenId right = vocabulary.find(text.substr(at));
      if (left != kNoToken && right != kNoToken) merges.push_back({left, right, order[i], rank});
    }
  }
  return merges;
}

/// Texts of SentencePiece: spaces are `▁`.
Decoder sentence_piece_decoder(bool strips_first_space) {
  Decoder decoder;
  decoder.push_back(make_replace_decoder(std::string(kMetaspace), " "));
  decoder.push_back(make_byte_fallback_decoder());
  decoder.push_back(make_fuse_decoder());
  if (strips_first_space) decoder.push_back(make_strip_decoder(' ', 1, 0));
  return decoder;
}

TokenizerParts read_llama(GgufTokenizerKeys& keys) {
  TokenizerParts parts;
  Vocabulary vocabulary = vocabulary_of(keys);
  const auto merges = merges_by_score(keys, vocabulary, keys.scores());
  BpeRules rules;
  rules.unknown = keys.id("unknown_token_id", 0);
  rules.has_byte_fallback = true;
  const bool adds_space = keys.flag("add_space_prefix", true);
  std::vector<NormalizerPtr> steps;
  if (adds_space) steps.push_back(make_prepend(std::string(kMetaspace)));
  steps.push_back(make_replace(" ", std::string(kMetaspace)));
  parts.normalizer = make_sequence(std::move(steps));
  parts.post_processor = post_processor_of(keys, {.has_bos = true, .bos = 1, .eos = 2});
  parts.decoder = sentence_piece_decoder(adds_space);
  parts.model = make_bpe(std::move(vocabulary), merges, std::move(rules));
  return parts;
}

std::vector<TokenMerge> merges_of(GgufTokenizerKeys& keys, const Vocabulary& vocabulary) {
  std::vector<TokenMerge> merges;
  const auto texts = keys.merges();
  for (std::size_t i = 0; i < texts.size() && keys.ok(); ++i) {
    const auto space = texts[i].find(' ', 1);
    if (texts[i].empty() || space == texts[i].npos) {
      keys.malformed("merges", fmt::format("item {} is not two tokens with a space between", i));
      break;
    }
    const std::string_view left = texts[i].substr(0, space), right = texts[i].substr(space + 1);
    const std::string merged = fmt::format("{}{}", left, right);
    const TokenMerge merge{vocabulary.find(left), vocabulary.find(right), vocabulary.find(merged),
                           static_cast<std::uint32_t>(i)};
    for (const TokenId id : {merge.left, merge.right, merge.merged}) {
      if (id == kNoToken)
        keys.malformed("merges", fmt::format("item {} needs a token that is missing: '{}'", i,
                                             clipped(texts[i])));
    }
    merges.push_back(merge);
  }
  return merges;
}

TokenizerParts read_gpt2(GgufTokenizerKeys& keys) {
  TokenizerParts parts;
  const std::string_view pre = keys.text("pre").value_or(kDefaultPreTokenizer);
  const KnownPreTokenizer* known = find_known_pre_tokenizer(pre);
  if (known == nullptr) {
    keys.unsupported(
        "pre", fmt::format("is '{}', known are: {}", clipped(pre), known_pre_tokenizer_names()));
    return parts;
  }
  if (pre == kDefaultPreTokenizer)
    parts.remarks.push_back(
        "the file does not tell the pre-tokenizer: it is old, and the ids are probably not those "
        "of the model");
  std::vector<Regex> expressions;
  for (const std::string_view pattern : known->patterns) {
    auto regex = Regex::compile(pattern);
    if (!regex) {
      keys.unsupported("pre", regex.error().message);
      return parts;
    }
    expressions.push_back(*std::move(regex));
  }
  parts.pre_tokenizer = make_byte_level(std::move(expressions));
  Vocabulary vocabulary = vocabulary_of(keys);
  const auto merges = merges_of(keys, vocabulary);
  BpeRules rules;
  rules.ignores_merges = known->ignores_merges;
  if (pre == "qwen2" && keys.architecture().starts_with("qwen")) {
    parts.normalizer = make_normal_form(NormalForm::kNfc);
    parts.remarks.push_back("texts are normalised to NFC, as the original tokenizer of Qwen does");
  }
  constexpr TokenId kUsualEnd = 11;
  parts.post_processor =
      post_processor_of(keys, {.has_bos = known->adds_bos, .bos = kUsualEnd, .eos = kUsualEnd});
  parts.decoder.push_back(make_byte_level_decoder());
  parts.model = make_bpe(std::move(vocabulary), merges, std::move(rules));
  return parts;
}

/// From the form of the file, in which `▁` begins words, to that in which `##` continues them.
std::vector<std::string> word_pieces_of(const GgufTokenizerKeys& keys) {
  std::vector<std::string> texts;
  for (TokenId id = 0; id < keys.tokens().size(); ++id) {
    std::string_view text = keys.tokens()[id];
    const bool is_mark =
        (text.starts_with('[') && text.ends_with(']')) || is_cut_out(keys.type(id));
    if (text.empty() || is_mark) {
      texts.emplace_back(text);
    } else if (text.starts_with(kMetaspace)) {
      texts.emplace_back(text.substr(kMetaspace.size()));
    } else {
      texts.push_back(fmt::format("##{}", text));
    }
  }
  return texts;
}

TokenizerParts read_bert(GgufTokenizerKeys& keys) {
  constexpr TokenId kCls = 101, kSep = 102, kUnknown = 100;
  TokenizerParts parts;
  const auto texts = word_pieces_of(keys);
  WordPieceRules rules;
  rules.unknown = keys.id("unknown_token_id", kUnknown);
  const bool lowers = keys.flag("normalizer.lowercase", true);
  parts.normalizer =
      make_bert_normalizer(true, true, keys.flag("normalizer.strip_accents", lowers), lowers);
  parts.pre_tokenizer = make_bert_pre_tokenizer();
  const auto cls = keys.id_if_given("cls_token_id");
  if (keys.flag("add_bos_token", true))
    parts.post_processor.before.push_back(cls ? *cls : keys.id("bos_token_id", kCls));
  if (keys.flag("add_sep_token", true))
    parts.post_processor.after.push_back(keys.id("seperator_token_id", kSep));
  parts.decoder.push_back(make_word_piece_decoder("##", true));
  parts.model = make_word_piece(vocabulary_of(keys, texts), std::move(rules));
  return parts;
}

TokenizerParts read_t5(GgufTokenizerKeys& keys) {
  TokenizerParts parts;
  Vocabulary vocabulary = vocabulary_of(keys);
  const auto scores = keys.scores();
  std::vector<ScoredPiece> pieces;
  double least = 0;
  bool is_first = true;
  UnigramRules rules;
  rules.unknown = keys.id("unknown_token_id", 2);
  for (TokenId id = 0; id < keys.tokens().size(); ++id) {
    const std::string_view text = keys.tokens()[id];
    rules.has_byte_fallback |= keys.type(id) == GgufTokenType::kByte;
    if (keys.type(id) != GgufTokenType::kNormal || text.empty()) continue;
    if (text.size() > kMaxSearchedBytes)
      keys.malformed("tokens", fmt::format("item {} has {} bytes, at most {} are searched", id,
                                           text.size(), kMaxSearchedBytes));
    pieces.push_back({text, scores[id], id});
    least = is_first ? scores[id] : std::min(least, scores[id]);
    is_first = false;
  }
  std::vector<NormalizerPtr> steps;
  if (const auto bytes = keys.bytes("precompiled_charsmap"); bytes && !bytes->empty()) {
    auto charsmap = make_charsmap(std::string(*bytes), CharsmapSearch::kLongestPrefix);
    if (charsmap) {
      steps.push_back(*std::move(charsmap));
    } else {
      keys.malformed("precompiled_charsmap", charsmap.error().message);
    }
  }
  const bool adds_space = keys.flag("add_space_prefix", false);
  if (keys.flag("remove_extra_whitespaces", false)) steps.push_back(make_single_spaces());
  if (adds_space) steps.push_back(make_prepend(" "));
  steps.push_back(make_replace(" ", std::string(kMetaspace)));
  parts.normalizer = make_sequence(std::move(steps));
  parts.post_processor = post_processor_of(keys, {.has_eos = true, .bos = 0, .eos = 1});
  parts.decoder = sentence_piece_decoder(adds_space);
  parts.model = make_unigram(std::move(vocabulary), pieces, least, rules);
  return parts;
}

struct GgufModelRow {
  std::string_view name;
  TokenizerParts (*read)(GgufTokenizerKeys& keys);
};

constexpr GgufModelRow kGgufModels[] = {
    {"llama", read_llama}, {"gpt2", read_gpt2}, {"bert", read_bert}, {"t5", read_t5}};

TokenizerParts read_parts(GgufTokenizerKeys& keys) {
  const auto model = keys.text("model");
  if (!model) keys.malformed("model", "is missing");
  if (!keys.ok()) return {};
  for (const GgufModelRow& row : kGgufModels) {
    if (row.name == *model) return row.read(keys);
  }
  keys.unsupported("model",
                   fmt::format("is '{}', known are: llama, gpt2, bert, t5", clipped(*model)));
  return {};
}

Result<Tokenizer> read_file_of(const Result<GgufFile>& file, const std::string& origin) {
  if (!file) return file.error();
  GgufTokenizerKeys keys(*file);
  TokenizerParts parts = read_parts(keys);
  if (keys.ok()) parts.added = added_tokens_of(keys);
  if (!keys.ok()) return keys.error(origin);
  if (auto done = parts.added.normalize(nullptr); !done) return done.error();
  return Tokenizer(std::make_unique<const TokenizerParts>(std::move(parts)));
}

}  // namespace

Result<Tokenizer> read_gguf_tokenizer(const std::string& path) {
  return read_file_of(GgufFile::open(path), path);
}

Result<Tokenizer> read_gguf_tokenizer(FileBytes bytes) {
  const std::string origin = bytes.origin;
  return read_file_of(GgufFile::parse(std::move(bytes)), origin);
}

}  // namespace mir::tokenizer
