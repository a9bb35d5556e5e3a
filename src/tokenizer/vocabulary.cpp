// Hash table of the texts of tokens.
#include "tokenizer/vocabulary.hpp"

#include <xxhash.h>

namespace mir::tokenizer {

std::size_t Vocabulary::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(XXH3_64bits(text.data(), text.size())) & mask;
  while (slots_[slot] != 0 && text_of(entries_[slots_[slot] - 1]) != text) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow() {
  constexpr std::size_t kFirstSlots = 64;
  slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 2, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    slots_[slot_of(text_of(entries_[i]))] = static_cast<std::uint32_t>(i + 1);
}

Vocabulary::Added Vocabulary::add(std::string_view text, TokenId id, Repeated repeated) {
  if (entries_.size() * 2 >= slots_.size()) grow();
  const std::size_t slot = slot_of(text);
  const bool is_known_id = id < by_id_.size() && by_id_[id] != 0;
  if (repeated == Repeated::kRefuse && slots_[slot] != 0) return Added::kKnownText;
  if (repeated == Repeated::kRefuse && is_known_id) return Added::kKnownId;
  if (slots_[slot] == 0) {
    const auto begin = static_cast<std::uint32_t>(characters_.size());
    characters_ += text;
    entries_.push_back({begin, static_cast<std::uint32_t>(text.size()), id});
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  }
  entries_[slots_[slot] - 1].id = id;
  if (id >= by_id_.size()) by_id_.resize(std::size_t{id} + 1);
  by_id_[id] = slots_[slot];
  return Added::kNew;
}

TokenId Vocabulary::find(std::string_view text) const {
  if (slots_.empty()) return kNoToken;
  const std::uint32_t found = slots_[slot_of(text)];
  return found == 0 ? kNoToken : entries_[found - 1].id;
}

std::optional<std::string_view> Vocabulary::text(TokenId id) const {
  if (id >= by_id_.size() || by_id_[id] == 0) return std::nullopt;
  return text_of(entries_[by_id_[id] - 1]);
}

}  // namespace mir::tokenizer
