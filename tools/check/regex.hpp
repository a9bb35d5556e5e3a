// Regular expressions whose searches always end.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Half-open range of bytes.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// An expression in Perl's syntax. A match holds no bytes that are not UTF-8. A search takes a
/// bounded number of steps whatever the expression is.
class Regex {
 public:
  /// Compiles an expression. The error describes its fault.
  static Result<Regex> compile(std::string_view expression);
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;
  ~Regex();

  struct Match {
    ByteRange whole;
    std::vector<ByteRange> groups;  ///< by number; 0 is the whole
  };
  /// The first match that begins at `from` or after it; fails when that takes too many steps.
  Result<std::optional<Match>> search(std::string_view text, std::size_t from) const;
  /// The number of the group `(?<name>...)`, which must exist.
  std::size_t group_number(const std::string& name) const;

 private:
  struct State;
  explicit Regex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The expression that matches `text` itself.
std::string quoted_regex(std::string_view text);

}  // namespace mir::tools
