// Source ranges of the parts of one op, found by scanning its text again.
#pragma once

#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"

namespace mir {

/// The words of an op from its name to its body, with the signature of its first region, or to the
/// next op. For messages about a single op: the tree has all of this and needs no scan.
class OpText {
 public:
  /// `name` is the range of the op's name. An op whose text is longer than 4096 words is cut there.
  OpText(const SourceFile& file, Span name);

  /// Returns the first word of a kind; unknown if there is none.
  Span first(TokenKind kind) const;
  /// The mention of a value of this name (without its `%`) that `earlier` others precede, its name
  /// alone.
  Span mention(std::string_view name, std::size_t earlier = 0) const;
  /// The `@symbol` of the first mention of a value.
  Span mention_symbol(std::string_view value) const;
  /// The first word in the op's name or in a type that is this element type or device.
  Span type_word(std::string_view word) const;
  /// The `[` of the op's own attribute list.
  Span attribute_list() const;
  /// The parenthesis that closes the operands, or the results if there are any.
  Span last_list_end() const;
  /// A key of the op's own attribute list, and the whole value after it.
  Span key(std::string_view name) const { return span(find_key(name)); }
  Span value(std::string_view key) const { return value_after(find_key(key)); }
  /// Likewise for an entry of the dictionary that is the value of an attribute.
  Span entry_key(std::string_view attribute, std::string_view name) const {
    return span(find_entry(attribute, name));
  }
  Span entry_value(std::string_view attribute, std::string_view key) const {
    return value_after(find_entry(attribute, key));
  }
  /// Likewise for the attributes of the mentions of a value.
  Span mention_key(std::string_view value, std::string_view name) const {
    return span(find_mention_key(value, name));
  }
  Span mention_value(std::string_view value, std::string_view key) const {
    return value_after(find_mention_key(value, key));
  }
  std::string_view text(Span span) const { return file_.slice(span); }
  std::string_view text_after(Span span) const {
    return file_.text().substr(span.end - file_.base());
  }

 private:
  // Indices of words; past the last one if there is no such key.
  std::size_t find_key(std::string_view name) const;
  std::size_t find_entry(std::string_view attribute, std::string_view name) const;
  std::size_t find_mention_key(std::string_view value, std::string_view name) const;
  bool is_key(std::size_t index, std::string_view name) const;
  /// Unknown for an index past the last word.
  Span span(std::size_t index) const;
  Span span(const Token& token) const;
  /// The value of the key at an index; unknown if there is no key or the text is cut there.
  Span value_after(std::size_t key) const;

  const SourceFile& file_;
  std::vector<Token> tokens_;  // offsets count from the start of the file
};

}  // namespace mir
