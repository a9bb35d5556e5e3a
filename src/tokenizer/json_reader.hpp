// Reading values of a JSON document with the place of the first mistake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/json_document.hpp"

namespace mir::tokenizer {

/// Reads values and keeps the first problem. After a problem, functions return defaults, so a
/// reader checks once for several values.
class JsonReader {
 public:
  /// Keeps a problem of the file: a broken rule.
  void malformed(JsonValue at, std::string_view text);
  /// Keeps a problem of the file: a part that this library does not have.
  void unsupported(JsonValue at, std::string_view text);
  /// Like malformed(), for the member `key` of an object, which may be missing.
  void malformed(JsonValue object, std::string_view key, std::string_view text);

  bool ok() const { return !problem_.has_value(); }
  /// The first problem, which must exist. Its message names the file.
  Error error(std::string_view file) const;

  /// The string of a member. Missing or null: the default, or a problem if there is none.
  std::string_view text(JsonValue object, std::string_view key,
                        std::optional<std::string_view> otherwise = std::nullopt);
  bool flag(JsonValue object, std::string_view key, std::optional<bool> otherwise = std::nullopt);
  std::uint32_t natural(JsonValue object, std::string_view key,
                        std::optional<std::uint32_t> otherwise = std::nullopt);
  /// A member that is an array.
  JsonValue list(JsonValue object, std::string_view key);
  /// A member that is an object.
  JsonValue object(JsonValue parent, std::string_view key);
  /// An id of a token as item or member.
  std::uint32_t token_id(JsonValue value);

 private:
  void expected(JsonValue object, std::string_view key, std::string_view what);

  std::optional<Error> problem_;
};

}  // namespace mir::tokenizer
