// JSON documents of many small values, with the place of each value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::tokenizer {

class JsonDocument;
class JsonBuilder;

/// A value of a document, or no value where a member is missing. Valid as long as the document.
class JsonValue {
 public:
  JsonValue() = default;

  /// False for a missing member.
  bool exists() const { return document_ != nullptr; }
  /// True for a missing member and for `null`.
  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  std::optional<std::string_view> string() const;
  std::optional<bool> boolean() const;
  std::optional<double> number() const;
  /// The value where it is an integer from 0 to 2^53.
  std::optional<std::uint64_t> natural() const;
  /// `a string`, `null`, `an object` and so on, for messages.
  std::string_view kind_text() const;

  /// Returns the member of this key; a value that does not exist for a missing one or a value that
  /// is not an object.
  JsonValue member(std::string_view key) const;
  /// Number of items or members.
  std::size_t size() const;

  /// The first item, or the value of the first member. Does not exist in an empty value.
  JsonValue first() const;
  /// The item or member after this one in the same array or object.
  JsonValue next() const;
  /// The key of this value; empty in an array.
  std::string_view key() const;

  /// The JSON pointer of the value, `/model/merges/17`; empty for the whole document.
  std::string pointer() const;

 private:
  friend class JsonDocument;
  friend class JsonBuilder;
  JsonValue(const JsonDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}

  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

/// A parsed document: one array of nodes and one array of characters, whose sizes are bounded by
/// the size of the text.
class JsonDocument {
 public:
  /// Parses one value with nothing after it. The message of an error lacks the name of the file.
  /// Refuses texts over 1 GiB, nesting over 64 levels, and two equal keys in an object of up to 64
  /// members; in larger ones the reader must compare keys.
  static Result<JsonDocument> parse(std::string_view text);

  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  friend class JsonBuilder;
  enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kNatural, kString, kArray, kObject };
  struct Text {
    std::uint32_t begin;
    std::uint32_t size;
  };
  struct Node {
    Kind kind{};
    bool is_last = true;      ///< no item or member follows in the same parent
    std::uint32_t after = 0;  ///< index after the last node below this one
    Text key{};
    union {
      Text text;
      double number;
      std::uint64_t natural;  ///< also booleans, and sizes of arrays and objects
    };
  };
  std::string_view slice(Text text) const {
    return std::string_view(characters_).substr(text.begin, text.size);
  }

  std::vector<Node> nodes_;  // each before those below it
  std::string characters_;
};

}  // namespace mir::tokenizer
