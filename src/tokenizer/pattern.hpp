// A string or a regular expression that is searched in a text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tokenizer/json_reader.hpp"
#include "tokenizer/regex.hpp"

namespace mir::tokenizer {

class Pattern {
 public:
  explicit Pattern(std::string text) : what_(std::move(text)) {}
  explicit Pattern(Regex regex) : what_(std::move(regex)) {}

  /// Reads `{"String": ...}` or `{"Regex": ...}`, the member `pattern` of an object. Reports a
  /// problem to the reader; the result then matches nothing.
  static Pattern read(JsonReader& reader, JsonValue object);

  /// Calls `part(range, is_match)`, which returns a Result<void>, for matches and for the gaps
  /// between them, in order. Gaps are not empty.
  template <class Part>
  Result<void> for_each_part(std::string_view text, const Part& part) const {
    std::size_t after = 0;
    const auto found = [&](ByteRange match) -> Result<void> {
      if (after < match.begin) {
        if (auto taken = part(ByteRange{after, match.begin}, false); !taken) return taken;
      }
      after = match.end;
      return part(match, true);
    };
    if (auto searched = search(text, found); !searched) return searched;
    return after < text.size() ? part(ByteRange{after, text.size()}, false) : Result<void>();
  }

 private:
  template <class Found>
  Result<void> search(std::string_view text, const Found& found) const {
    if (const auto* word = std::get_if<std::string>(&what_)) {
      if (word->empty()) return {};
      for (auto at = text.find(*word); at != text.npos; at = text.find(*word, at + word->size())) {
        if (auto taken = found(ByteRange{at, at + word->size()}); !taken) return taken;
      }
      return {};
    }
    RegexSearch matches(std::get<Regex>(what_), text);
    while (true) {
      const auto match = matches.next();
      if (!match) return match.error();
      if (!match->has_value()) return {};
      if (auto taken = found(**match); !taken) return taken;
    }
  }

  std::variant<std::string, Regex> what_;
};

}  // namespace mir::tokenizer
