// Pattern of a check line: text with regular expressions and variables in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "regex.hpp"

namespace mir::tools {

/// Values of variables, by name.
using CheckVariables = std::map<std::string, std::string, std::less<>>;

/// Text in which `{{regex}}` matches what the expression does, `[[NAME:regex]]` for the same
/// under a name, and `[[NAME]]` the text that the name has. A run of blanks matches any run of
/// blanks.
class CheckPattern {
 public:
  enum class Syntax { kFull, kLiteral };
  /// Reads `text`, a part of `file`; reports errors as kCheckMalformed.
  static std::optional<CheckPattern> parse(const SourceFile& file, std::string_view text,
                                           Syntax syntax, Diagnostics& diagnostics);

  /// A mention of a variable in the text.
  struct Mention {
    std::string_view name;
    Span at;
    bool defines;
  };
  std::vector<Mention> mentions(const SourceFile& file) const;
  /// The variables whose values from other patterns are meant.
  std::vector<std::string_view> used_names() const;
  /// The text without expressions and variables, for comparisons.
  std::string plain_text() const;

 private:
  friend class BoundPattern;
  enum class PartKind { kText, kRegex, kDefinition, kUse };
  struct Part {
    PartKind kind;
    std::string_view text;  ///< or the regular expression
    std::string_view name;
  };
  class Reader;
  std::vector<Part> parts_;
};

/// A pattern whose variables from other patterns have values.
class BoundPattern {
 public:
  /// Variables that neither the pattern nor `variables` define are empty.
  static Result<BoundPattern> create(const CheckPattern& pattern, const CheckVariables& variables);

  /// The first match in a line that begins at `from` or after it; fails when the search takes too
  /// many steps.
  Result<std::optional<Regex::Match>> search(std::string_view line, std::size_t from) const {
    return regex_.search(line, from);
  }
  /// Gives the variables that the pattern defines the text they matched in `line`.
  void define(const Regex::Match& match, std::string_view line, CheckVariables& variables) const;

 private:
  explicit BoundPattern(Regex regex) : regex_(std::move(regex)) {}
  Regex regex_;
  std::vector<std::pair<std::string, std::size_t>> definitions_;  // name, number of its group
};

}  // namespace mir::tools
