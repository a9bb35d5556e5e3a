// Byte-pair encoding: merges the pair of the lowest rank until none is left.
#include <algorithm>

#include "tokenizer/code_points.hpp"
#include "tokenizer/model.hpp"

namespace mir::tokenizer {
namespace {

/// Pairs of tokens with what they become.
class MergeTable {
 public:
  explicit MergeTable(const std::vector<TokenMerge>& merges) {
    std::size_t size = 16;
    while (size < merges.size() * 2) size *= 2;
    slots_.resize(size);
    for (const TokenMerge& merge : merges) {
      Slot& slot = slots_[slot_of(pair_of(merge.left, merge.right))];
      slot = {pair_of(merge.left, merge.right), merge.rank, merge.merged};
    }
  }

  struct Slot {
    std::uint64_t pair = ~std::uint64_t{0};
    std::uint32_t rank = 0;
    TokenId merged = kNoToken;  ///< kNoToken where the pair has no merge
  };
  const Slot& find(TokenId left, TokenId right) const {
    return slots_[slot_of(pair_of(left, right))];
  }

 private:
  static std::uint64_t pair_of(TokenId left, TokenId right) {
    return (std::uint64_t{left} << 32) | right;
  }
  /// The slot of the pair, or the empty one where it would be.
  std::size_t slot_of(std::uint64_t pair) const {
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t hash = pair * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
    auto slot = static_cast<std::size_t>(hash) & mask;
    while (slots_[slot].merged != kNoToken && slots_[slot].pair != pair) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<Slot> slots_;
};

class Bpe final : public Model {
 public:
  Bpe(Vocabulary vocabulary, const std::vector<TokenMerge>& merges, BpeRules rules)
      : Model(std::move(vocabulary)), merges_(merges), rules_(std::move(rules)) {
    if (rules_.has_byte_fallback) find_byte_tokens();
    can_part_ = parts_at_metaspace(merges);
    has_affixes_ = !rules_.word_prefix.empty() || !rules_.word_suffix.empty();
    for (char32_t value = 0; value < kQuickEnd; ++value) {
      std::string letter;
      append_utf8(letter, value);
      quick_.push_back(this->vocabulary().find(letter));
    }
  }
  std::string_view name() const override { return "BPE"; }

  std::size_t end_of_part(std::string_view piece) const override {
    if (!can_part_) return piece.size();
    // The marks at the start belong to the word after them.
    std::size_t word = 0;
    while (piece.substr(word).starts_with(kMetaspace)) word += kMetaspace.size();
    return std::min(piece.find(kMetaspace, word), piece.size());
  }

  Result<void> encode(std::string_view piece, ModelScratch& scratch,
                      std::vector<TokenId>& ids) const override {
    if (rules_.ignores_merges) {
      if (const TokenId id = vocabulary().find(piece); id != kNoToken) {
        ids.push_back(id);
        return {};
      }
    }
    const std::size_t before = ids.size();
    append_symbols(piece, scratch, ids);
    merge(scratch, ids, before);
    return {};
  }

 private:
  static constexpr char32_t kQuickEnd = 0x3000;  ///< code points with a table of their own
  static constexpr std::string_view kMetaspace = "▁";
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  TokenId find_symbol(std::string_view piece, std::size_t at, const CodePoint& letter,
                      ModelScratch& scratch) const {
    if (!has_affixes_ && letter.value < kQuickEnd) return quick_[letter.value];
    const auto bytes = piece.substr(at, letter.size);
    if (!has_affixes_) return vocabulary().find(bytes);
    scratch.text.clear();
    if (at != 0) scratch.text += rules_.word_prefix;
    scratch.text += bytes;
    if (at + letter.size == piece.size()) scratch.text += rules_.word_suffix;
    return vocabulary().find(scratch.text);
  }

  /// True if no token has a `▁` after another character, so that no merge joins the words of a text
  /// that is not cut before it.
  bool parts_at_metaspace(const std::vector<TokenMerge>& merges) const {
    const bool has_rules = rules_.ignores_merges || !rules_.word_prefix.empty() ||
                           !rules_.word_suffix.empty() || merges.empty();
    if (has_rules || vocabulary().find(kMetaspace) == kNoToken) return false;
    return std::ranges::all_of(merges, [&](const TokenMerge& merge) {
      std::string_view text = *vocabulary().text(merge.merged);
      while (text.starts_with(kMetaspace)) text.remove_prefix(kMetaspace.size());
      return text.find(kMetaspace) == text.npos;
    });
  }

  /// Appends the ids of the code points.
  void append_symbols(std::string_view piece, ModelScratch& scratch,
                      std::vector<TokenId>& ids) const {
    bool has_unknown = false;  // not appended yet, since the next one may join it
    const auto flush = [&] {
      if (has_unknown) ids.push_back(rules_.unknown);
      has_unknown = false;
    };
    for (std::size_t at = 0; at < piece.size();) {
      const CodePoint letter = code_point_at(piece, at);
      const TokenId id = find_symbol(piece, at, letter, scratch);
      const auto bytes =
          has_affixes_ ? std::string_view(scratch.text) : piece.substr(at, letter.size);
      at += letter.size;
      if (id != kNoToken) {
        flush();
        ids.push_back(id);
      } else if (rules_.has_byte_fallback && append_bytes(bytes, ids)) {
        continue;
      } else if (rules_.unknown != kNoToken) {
        if (!rules_.fuses_unknown) flush();
        has_unknown = true;
      }
    }
    flush();
  }

  /// Merges the ids from `begin` on.
  void merge(ModelScratch& scratch, std::vector<TokenId>& ids, std::size_t begin) const {
    const std::size_t count = ids.size() - begin;
    if (count < 2) return;
    auto& symbols = scratch.symbols;
    auto& queue = scratch.merges;
    symbols.clear();
    queue.clear();
    for (std::size_t i = 0; i < count; ++i) {
      symbols.push_back({ids[begin + i], i == 0 ? kEnd : static_cast<std::uint32_t>(i - 1),
                         i + 1 == count ? kEnd : static_cast<std::uint32_t>(i + 1)});
    }
    const auto is_later = [](const ModelScratch::Merge& a, const ModelScratch::Merge& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
    };
    const auto offer = [&](std::uint32_t at) {
      const std::uint32_t next = symbols[at].next;
      if (next == kEnd) return false;
      const auto& found = merges_.find(symbols[at].id, symbols[next].id);
      if (found.merged == kNoToken) return false;
      queue.push_back({found.rank, at, found.merged});
      return true;
    };
    for (std::uint32_t at = 0; at + 1 < count; ++at) offer(at);
    std::ranges::make_heap(queue, is_later);
    const auto push = [&](std::uint32_t at) {
      if (offer(at)) std::ranges::push_heap(queue, is_later);
    };
    while (!queue.empty()) {
      std::ranges::pop_heap(queue, is_later);
      const ModelScratch::Merge top = queue.back();
      queue.pop_back();
      ModelScratch::Symbol& left = symbols[top.at];
      if (left.id == kNoToken || left.next == kEnd) continue;
      ModelScratch::Symbol& right = symbols[left.next];
      // An entry is outdated unless the pair at its place still becomes the same token.
      if (merges_.find(left.id, right.id).merged != top.id) continue;
      left.id = top.id;
      left.next = right.next;
      right.id = kNoToken;
      if (left.next != kEnd) symbols[left.next].previous = top.at;
      if (left.previous != kEnd) push(left.previous);
      push(top.at);
    }
    ids.resize(begin);
    for (const ModelScratch::Symbol& symbol : symbols) {
      if (symbol.id != kNoToken) ids.push_back(symbol.id);
    }
  }

  MergeTable merges_;
  BpeRules rules_;
  bool has_affixes_ = false;
  bool can_part_ = false;
  std::vector<TokenId> quick_;
};

}  // namespace

ModelPtr make_bpe(Vocabulary vocabulary, const std::vector<TokenMerge>& merges, BpeRules rules) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, std::move(rules));
}

}  // namespace mir::tokenizer
