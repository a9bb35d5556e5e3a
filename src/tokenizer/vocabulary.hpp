// The tokens of a model: from text to id and from id to text.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mir::tokenizer {

using TokenId = std::uint32_t;
inline constexpr TokenId kNoToken = std::numeric_limits<TokenId>::max();

/// Texts with ids. An id is below kMaxTokens; ids may be missing.
class Vocabulary {
 public:
  /// Treatment of a text or an id that exists.
  enum class Repeated { kRefuse, kReplace };
  enum class Added { kNew, kKnownText, kKnownId };

  /// Adds a token. A known text is refused, or gets the new id. Of two texts with one id, the id
  /// is the later one's if both are kept.
  Added add(std::string_view text, TokenId id, Repeated repeated = Repeated::kRefuse);

  /// Returns kNoToken if there is no token of this text.
  TokenId find(std::string_view text) const;
  /// Returns no value if no token has the id. Views are valid until the next add().
  std::optional<std::string_view> text(TokenId id) const;

  /// Number of different texts.
  std::size_t size() const { return entries_.size(); }
  /// One more than the largest id.
  std::uint32_t id_end() const { return static_cast<std::uint32_t>(by_id_.size()); }

 private:
  struct Entry {
    std::uint32_t begin;
    std::uint32_t size;
    TokenId id;
  };
  std::string_view text_of(const Entry& entry) const {
    return std::string_view(characters_).substr(entry.begin, entry.size);
  }
  std::size_t slot_of(std::string_view text) const;
  void grow();

  std::string characters_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // 1 + index of an entry, 0 where empty
  std::vector<std::uint32_t> by_id_;  // the same
};

}  // namespace mir::tokenizer
