// Parses JSON into a flat array of nodes and finds the pointer of a node.
#include "tokenizer/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "mir/codes/tokenizers.hpp"
#include "support/utf8.hpp"

namespace mir::tokenizer {

using Json = nlohmann::json;

namespace {

constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxJsonDepth = 64;
constexpr std::size_t kMaxComparedKeys = 64;
constexpr std::uint64_t kMaxNatural = std::uint64_t{1} << 53;

}  // namespace

/// Receives the events of the parser.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonDocument document;
  std::string problem;

  bool null() override { return add(JsonDocument::Kind::kNull) != nullptr; }
  bool boolean(bool value) override {
    add(JsonDocument::Kind::kBoolean)->natural = value ? 1 : 0;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    add(JsonDocument::Kind::kNumber)->number = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > kMaxNatural) return number_float(static_cast<double>(value), {});
    add(JsonDocument::Kind::kNatural)->natural = value;
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override {
    add(JsonDocument::Kind::kNumber)->number = value;
    return true;
  }
  bool binary(binary_t&) override { return fail("binary data"); }
  bool string(string_t& text) override {
    const auto stored = store(text);
    add(JsonDocument::Kind::kString)->text = stored;
    return true;
  }
  bool key(string_t& text) override {
    key_ = store(text);
    return true;
  }
  bool start_object(std::size_t) override { return open(JsonDocument::Kind::kObject); }
  bool start_array(std::size_t) override { return open(JsonDocument::Kind::kArray); }
  bool end_array() override {
    close();
    return true;
  }
  bool end_object() override {
    const std::uint32_t object = open_.back().index;
    close();
    return has_unique_keys(object);
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    return fail(fmt::format("is not JSON at byte {}", position));
  }

 private:
  struct Level {
    std::uint32_t index;
    std::uint32_t last = 0;  ///< the last item or member; 0 for none
  };

  JsonDocument::Node* add(JsonDocument::Kind kind) {
    const auto index = static_cast<std::uint32_t>(document.nodes_.size());
    if (!open_.empty()) {
      Level& level = open_.back();
      if (level.last != 0) document.nodes_[level.last].is_last = false;
      level.last = index;
      ++document.nodes_[level.index].natural;
    }
    JsonDocument::Node& node = document.nodes_.emplace_back();
    node.kind = kind;
    node.natural = 0;
    node.after = index + 1;
    node.key = std::exchange(key_, {});
    return &node;
  }

  JsonDocument::Text store(const std::string& text) {
    const auto begin = static_cast<std::uint32_t>(document.characters_.size());
    document.characters_ += text;
    return {begin, static_cast<std::uint32_t>(text.size())};
  }

  bool open(JsonDocument::Kind kind) {
    if (open_.size() == kMaxJsonDepth)
      return fail(fmt::format("is nested over {} deep", kMaxJsonDepth));
    add(kind);
    open_.push_back({static_cast<std::uint32_t>(document.nodes_.size() - 1)});
    return true;
  }

  void close() {
    document.nodes_[open_.back().index].after = static_cast<std::uint32_t>(document.nodes_.size());
    open_.pop_back();
  }

  bool has_unique_keys(std::uint32_t object) {
    const JsonValue value(&document, object);
    if (value.size() > kMaxComparedKeys) return true;
    std::unordered_set<std::string_view> keys;
    for (JsonValue each = value.first(); each.exists(); each = each.next()) {
      if (!keys.insert(each.key()).second)
        return fail(fmt::format("has the key '{}' twice in the object at '{}'", each.key(),
                                value.pointer()));
    }
    return true;
  }

  bool fail(std::string text) {
    problem = std::move(text);
    return false;
  }

  JsonDocument::Text key_;
  std::vector<Level> open_;
};

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  const auto malformed = [](std::string message) {
    return Error{diag::kTokenizerMalformed, std::move(message)};
  };
  if (text.size() > kMaxJsonBytes)
    return malformed(fmt::format("has {} bytes, at most {} are read", text.size(), kMaxJsonBytes));
  // The JSON reader takes a NUL byte for the end of its input.
  if (const auto nul = text.find('\0'); nul != text.npos)
    return malformed(fmt::format("has a NUL byte at byte {}", nul));
  const char* const end = text.data() + text.size();
  if (const char* bad = find_invalid_utf8(text.data(), end); bad != end)
    return malformed(fmt::format("is not UTF-8 at byte {}", bad - text.data()));
  JsonBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    return malformed(builder.problem.empty() ? "is not JSON" : std::move(builder.problem));
  }
  return std::move(builder.document);
}

bool JsonValue::is_null() const {
  return !exists() || document_->nodes_[index_].kind == JsonDocument::Kind::kNull;
}

bool JsonValue::is_object() const {
  return exists() && document_->nodes_[index_].kind == JsonDocument::Kind::kObject;
}

bool JsonValue::is_array() const {
  return exists() && document_->nodes_[index_].kind == JsonDocument::Kind::kArray;
}

std::optional<std::string_view> JsonValue::string() const {
  if (!exists() || document_->nodes_[index_].kind != JsonDocument::Kind::kString)
    return std::nullopt;
  return document_->slice(document_->nodes_[index_].text);
}

std::optional<bool> JsonValue::boolean() const {
  if (!exists() || document_->nodes_[index_].kind != JsonDocument::Kind::kBoolean)
    return std::nullopt;
  return document_->nodes_[index_].natural != 0;
}

std::optional<double> JsonValue::number() const {
  if (const auto whole = natural()) return static_cast<double>(*whole);
  if (!exists() || document_->nodes_[index_].kind != JsonDocument::Kind::kNumber)
    return std::nullopt;
  return document_->nodes_[index_].number;
}

std::optional<std::uint64_t> JsonValue::natural() const {
  if (!exists() || document_->nodes_[index_].kind != JsonDocument::Kind::kNatural)
    return std::nullopt;
  return document_->nodes_[index_].natural;
}

std::string_view JsonValue::kind_text() const {
  if (!exists()) return "nothing";
  switch (document_->nodes_[index_].kind) {
    case JsonDocument::Kind::kNull:
      return "null";
    case JsonDocument::Kind::kBoolean:
      return "a boolean";
    case JsonDocument::Kind::kNumber:
    case JsonDocument::Kind::kNatural:
      return "a number";
    case JsonDocument::Kind::kString:
      return "a string";
    case JsonDocument::Kind::kArray:
      return "a list";
    case JsonDocument::Kind::kObject:
      return "an object";
  }
  return "nothing";
}

JsonValue JsonValue::member(std::string_view key) const {
  if (!is_object()) return {};
  for (JsonValue each = first(); each.exists(); each = each.next()) {
    if (each.key() == key) return each;
  }
  return {};
}

std::size_t JsonValue::size() const {
  if (!is_object() && !is_array()) return 0;
  return static_cast<std::size_t>(document_->nodes_[index_].natural);
}

JsonValue JsonValue::first() const {
  return size() == 0 ? JsonValue() : JsonValue(document_, index_ + 1);
}

JsonValue JsonValue::next() const {
  if (!exists()) return {};
  const auto& node = document_->nodes_[index_];
  return node.is_last ? JsonValue() : JsonValue(document_, node.after);
}

std::string_view JsonValue::key() const {
  return exists() ? document_->slice(document_->nodes_[index_].key) : std::string_view();
}

std::string JsonValue::pointer() const {
  std::string path;
  if (!exists()) return path;
  JsonValue at = document_->root();
  while (at.index_ != index_) {
    const bool is_list = at.is_array();
    std::size_t number = 0;
    at = at.first();
    while (at.exists() && document_->nodes_[at.index_].after <= index_) {
      at = at.next();
      ++number;
    }
    if (!at.exists()) return path;
    path += '/';
    path += is_list ? fmt::format("{}", number) : std::string(at.key());
  }
  return path;
}

}  // namespace mir::tokenizer
