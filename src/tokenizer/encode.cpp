// Encodes texts: cuts out added tokens, normalises, cuts into pieces, asks the model.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "mir/codes/limits.hpp"
#include "mir/codes/tokenizers.hpp"
#include "support/utf8.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace mir::tokenizer {
namespace {

/// Ids of short pieces that occurred before. A piece replaces the one that has its slot.
class PieceCache {
 public:
  explicit PieceCache(std::size_t text_bytes) {
    constexpr std::size_t kMostSlots = 1 << 15, kBytesOfSlot = 16;
    slots_.resize(std::bit_ceil(std::clamp<std::size_t>(text_bytes / kBytesOfSlot, 1, kMostSlots)));
  }

  /// Appends the ids of a piece; false if they are not known.
  bool append(std::string_view piece, std::vector<TokenId>& ids) const {
    if (piece.size() > kMostBytes) return false;
    const Slot& slot = slots_[slot_of(piece)];
    if (slot.size != piece.size() || std::memcmp(slot.text.data(), piece.data(), slot.size) != 0)
      return false;
    ids.insert(ids.end(), slot.ids.begin(), slot.ids.begin() + slot.count);
    return true;
  }
  void keep(std::string_view piece, std::span<const TokenId> ids) {
    if (piece.size() > kMostBytes || ids.size() > kMostIds) return;
    Slot& slot = slots_[slot_of(piece)];
    slot.size = static_cast<std::uint8_t>(piece.size());
    slot.count = static_cast<std::uint8_t>(ids.size());
    std::memcpy(slot.text.data(), piece.data(), piece.size());
    std::ranges::copy(ids, slot.ids.begin());
  }

 private:
  static constexpr std::size_t kMostBytes = 38, kMostIds = 6;
  struct Slot {
    std::uint8_t size = 0;  ///< 0 where nothing is kept
    std::uint8_t count = 0;
    std::array<char, kMostBytes> text{};
    std::array<TokenId, kMostIds> ids{};
  };
  std::size_t slot_of(std::string_view piece) const {
    return static_cast<std::size_t>(XXH3_64bits(piece.data(), piece.size())) & (slots_.size() - 1);
  }

  std::vector<Slot> slots_;
};

/// Encodes one text.
class Encoding final : public PieceSink {
 public:
  Encoding(const TokenizerParts& parts, std::size_t text_bytes, bool finds_special)
      : parts_(parts), cache_(text_bytes), finds_special_(finds_special) {}

  Result<void> add_text(std::string_view text) {
    return parts_.added.cut_raw(text, finds_special_,
                                [&](const TextPart& part) { return add_raw(part); });
  }
  Result<void> take(const Piece& piece) override {
    for (std::string_view rest = piece.text; !rest.empty();) {
      const std::string_view part = rest.substr(0, parts_.model->end_of_part(rest));
      rest.remove_prefix(part.size());
      if (cache_.append(part, ids_)) continue;
      const std::size_t before = ids_.size();
      if (auto encoded = parts_.model->encode(part, scratch_, ids_); !encoded) return encoded;
      cache_.keep(part, std::span(ids_).subspan(before));
    }
    return {};
  }

  std::vector<TokenId>& ids() { return ids_; }

 private:
  Result<void> add_raw(const TextPart& part) {
    if (part.token != kNoToken) {
      ids_.push_back(part.token);
      return {};
    }
    if (parts_.normalizer == nullptr) return add_normalized(part.text, part.is_first);
    const auto text = parts_.normalizer->apply(std::string(part.text));
    return text ? add_normalized(*text, part.is_first) : Result<void>(text.error());
  }
  Result<void> add_normalized(std::string_view text, bool is_first) {
    return parts_.added.cut_normalized(
        text, finds_special_, [&](const TextPart& part) -> Result<void> {
          if (part.token != kNoToken) {
            ids_.push_back(part.token);
            return {};
          }
          const Piece piece{part.text, is_first && part.is_first};
          return parts_.pre_tokenizer == nullptr ? take(piece)
                                                 : parts_.pre_tokenizer->cut(piece, *this);
        });
  }

  const TokenizerParts& parts_;
  PieceCache cache_;
  bool finds_special_;
  ModelScratch scratch_;
  std::vector<TokenId> ids_;
};

}  // namespace

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text,
                                               const EncodeOptions& options) const {
  if (text.size() > kMaxTextBytes)
    return Error{diag::kLimitExceeded, fmt::format("the text has {} bytes, at most {} are encoded",
                                                   text.size(), kMaxTextBytes)};
  const char* const end = text.data() + text.size();
  if (const char* bad = find_invalid_utf8(text.data(), end); bad != end)
    return Error{diag::kTextNotTokenized,
                 fmt::format("the text is not UTF-8 at byte {}", bad - text.data())};
  Encoding encoding(*parts_, text.size(), options.finds_special);
  auto& ids = encoding.ids();
  const PostProcessor& around = parts_->post_processor;
  if (options.adds_special) ids.insert(ids.end(), around.before.begin(), around.before.end());
  if (auto added = encoding.add_text(text); !added) return added.error();
  if (options.adds_special) ids.insert(ids.end(), around.after.begin(), around.after.end());
  return std::move(ids);
}

}  // namespace mir::tokenizer
