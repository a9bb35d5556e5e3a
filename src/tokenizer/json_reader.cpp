// Reads members of JSON objects and reports the first one of a wrong kind.
#include "tokenizer/json_reader.hpp"

#include <fmt/format.h>

#include <limits>

#include "mir/codes/tokenizers.hpp"
#include "tokenizer/limits.hpp"

namespace mir::tokenizer {
namespace {

std::string place_of(const std::string& pointer) {
  return pointer.empty() ? std::string("the document") : pointer;
}

}  // namespace

void JsonReader::malformed(JsonValue at, std::string_view text) {
  if (!ok()) return;
  problem_ = {diag::kTokenizerMalformed, fmt::format("{}: {}", place_of(at.pointer()), text)};
}

void JsonReader::unsupported(JsonValue at, std::string_view text) {
  if (!ok()) return;
  problem_ = {diag::kTokenizerUnsupported, fmt::format("{}: {}", place_of(at.pointer()), text)};
}

void JsonReader::malformed(JsonValue object, std::string_view key, std::string_view text) {
  if (!ok()) return;
  problem_ = {diag::kTokenizerMalformed, fmt::format("{}/{}: {}", object.pointer(), key, text)};
}

Error JsonReader::error(std::string_view file) const {
  return {problem_->code, fmt::format("'{}': {}", file, problem_->message)};
}

void JsonReader::expected(JsonValue object, std::string_view key, std::string_view what) {
  malformed(object, key, fmt::format("is {}, expected {}", object.member(key).kind_text(), what));
}

std::string_view JsonReader::text(JsonValue object, std::string_view key,
                                  std::optional<std::string_view> otherwise) {
  const JsonValue value = object.member(key);
  if (const auto text = value.string()) return *text;
  if (!value.is_null() || !otherwise) expected(object, key, "a string");
  return otherwise.value_or("");
}

bool JsonReader::flag(JsonValue object, std::string_view key, std::optional<bool> otherwise) {
  const JsonValue value = object.member(key);
  if (const auto flag = value.boolean()) return *flag;
  if (!value.is_null() || !otherwise) expected(object, key, "true or false");
  return otherwise.value_or(false);
}

std::uint32_t JsonReader::natural(JsonValue object, std::string_view key,
                                  std::optional<std::uint32_t> otherwise) {
  const JsonValue value = object.member(key);
  const auto number = value.natural();
  if (number && *number <= std::numeric_limits<std::uint32_t>::max())
    return static_cast<std::uint32_t>(*number);
  if (!value.is_null() || !otherwise)
    malformed(object, key,
              fmt::format("is {}, expected a number from 0 to {}",
                          number ? "too large" : value.kind_text(),
                          std::numeric_limits<std::uint32_t>::max()));
  return otherwise.value_or(0);
}

JsonValue JsonReader::list(JsonValue object, std::string_view key) {
  const JsonValue value = object.member(key);
  if (!value.is_array()) expected(object, key, "a list");
  return value;
}

JsonValue JsonReader::object(JsonValue parent, std::string_view key) {
  const JsonValue value = parent.member(key);
  if (!value.is_object()) expected(parent, key, "an object");
  return value;
}

std::uint32_t JsonReader::token_id(JsonValue value) {
  const auto number = value.natural();
  if (number && *number < kMaxTokens) return static_cast<std::uint32_t>(*number);
  malformed(value, fmt::format("is {}, expected an id from 0 to {}",
                               number ? fmt::format("{}", *number) : std::string(value.kind_text()),
                               kMaxTokens - 1));
  return 0;
}

}  // namespace mir::tokenizer
