// Regular expressions of tokenizers, whose searches always end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir::tokenizer {

/// Half-open range of bytes of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A compiled expression. Reading from several threads is safe.
class Regex {
 public:
  /// Compiles an expression in Oniguruma's syntax. The error's message describes its fault and has
  /// no place.
  static Result<Regex> compile(std::string_view expression);
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;
  ~Regex();

 private:
  friend class RegexSearch;
  struct State;
  explicit Regex(std::unique_ptr<State> state);
  std::unique_ptr<const State> state_;
};

/// All matches in a text, in order and without overlaps. The number of steps is bounded by the
/// size of the text; a search that would take more is an error.
class RegexSearch {
 public:
  /// Both must outlive the search. The text is UTF-8.
  RegexSearch(const Regex& regex, std::string_view text);
  ~RegexSearch();
  RegexSearch(const RegexSearch&) = delete;
  RegexSearch& operator=(const RegexSearch&) = delete;

  /// The next match; no value after the last one. An empty match does not follow another match
  /// directly.
  Result<std::optional<ByteRange>> next();

 private:
  struct Scratch;
  Result<std::optional<ByteRange>> find(std::size_t from);
  Result<std::optional<ByteRange>> find_slowly(std::size_t from);

  const Regex::State& regex_;
  std::string_view text_;
  std::unique_ptr<Scratch> scratch_;
  std::size_t at_ = 0;
  std::optional<std::size_t> last_end_;
  std::uint64_t budget_;
};

}  // namespace mir::tokenizer
