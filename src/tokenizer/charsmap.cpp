// The character map of SentencePiece: a double-array trie and the texts that replace its strings.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "mir/codes/limits.hpp"
#include "mir/codes/tokenizers.hpp"
#include "support/utf8.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/normalizer.hpp"

namespace mir::tokenizer {
namespace {

class Charsmap final : public Normalizer {
 public:
  Charsmap(std::vector<std::uint32_t> units, std::string texts, CharsmapSearch search)
      : units_(std::move(units)), texts_(std::move(texts)), search_(search) {}

  Result<std::string> apply(std::string text) const override {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      at = search_ == CharsmapSearch::kCluster ? put_cluster(out, text, at)
                                               : put_prefix(out, text, at);
      if (out.size() > kMaxTextBytes)
        return Error{diag::kLimitExceeded,
                     fmt::format("a normalizer makes over {} bytes", kMaxTextBytes)};
    }
    return out;
  }

 private:
  struct Match {
    std::size_t size;
    std::string_view text;
  };
  enum class Which { kShortest, kLongest };

  /// The replacement of a string that `text` begins with; no value if the map has none.
  std::optional<Match> find(std::string_view text, Which which) const {
    std::optional<Match> found;
    std::size_t node = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte == 0) break;
      node ^= byte;
      if (node >= units_.size() || (units_[node] & 0x800000FFu) != byte) break;
      const std::uint32_t unit = units_[node];
      node ^= offset_of(unit);
      if (node >= units_.size()) break;
      if (((unit >> 8) & 1) == 0) continue;
      const std::size_t begin = units_[node] & 0x7FFFFFFFu;
      if (begin >= texts_.size()) break;
      found = Match{i + 1, std::string_view(texts_.data() + begin)};
      if (which == Which::kShortest) break;
    }
    return found;
  }

  static std::size_t offset_of(std::uint32_t unit) {
    return std::size_t{unit >> 10} << ((unit & (1u << 9)) >> 6);
  }

  /// Clusters of more bytes are not looked up as a whole.
  std::size_t put_cluster(std::string& out, std::string_view text, std::size_t at) const {
    constexpr std::size_t kMaxClusterBytes = 5;
    const std::size_t end = grapheme_end(text, at);
    if (end - at <= kMaxClusterBytes) {
      if (const auto found = find(text.substr(at, end - at), Which::kShortest)) {
        out += found->text;
        return end;
      }
    }
    while (at < end) {
      const std::size_t size = code_point_size(text[at]);
      const auto found = find(text.substr(at, size), Which::kShortest);
      out += found ? found->text : text.substr(at, size);
      at += size;
    }
    return end;
  }

  std::size_t put_prefix(std::string& out, std::string_view text, std::size_t at) const {
    if (const auto found = find(text.substr(at), Which::kLongest)) {
      // A prefix of the map ends between code points unless the map is broken.
      const std::size_t end = at + found->size;
      if (end == text.size() || (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80) {
        out += found->text;
        return end;
      }
    }
    const std::size_t size = code_point_size(text[at]);
    out += text.substr(at, size);
    return at + size;
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;  // each with a NUL byte at its end
  CharsmapSearch search_;
};

}  // namespace

Result<NormalizerPtr> make_charsmap(std::string bytes, CharsmapSearch search) {
  const auto malformed = [](std::string text) {
    return Error{diag::kTokenizerMalformed, std::move(text)};
  };
  std::uint32_t size = 0;
  if (bytes.size() < sizeof(size))
    return malformed(fmt::format("the character map has {} bytes", bytes.size()));
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size == 0 || size % 4 != 0 || size > bytes.size() - sizeof(size))
    return malformed(fmt::format("the trie of the character map has {} of {} bytes", size,
                                 bytes.size() - sizeof(size)));
  std::vector<std::uint32_t> units(size / 4);
  std::memcpy(units.data(), bytes.data() + sizeof(size), size);
  std::string texts = bytes.substr(sizeof(size) + size);
  if (!is_utf8(texts)) return malformed("a text of the character map is not UTF-8");
  texts += '\0';
  return NormalizerPtr(std::make_unique<Charsmap>(std::move(units), std::move(texts), search));
}

}  // namespace mir::tokenizer
