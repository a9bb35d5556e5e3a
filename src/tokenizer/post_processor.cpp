// Reads post-processors of tokenizer files.
#include "tokenizer/post_processor.hpp"

#include <fmt/format.h>

namespace mir::tokenizer {
namespace {

/// Reads the template for one text: special tokens and the sequence A.
PostProcessor read_template(JsonReader& reader, JsonValue value) {
  PostProcessor result;
  std::size_t sequences = 0;
  const JsonValue tokens = value.member("special_tokens");
  for (JsonValue each = reader.list(value, "single").first(); each.exists() && reader.ok();
       each = each.next()) {
    if (const JsonValue sequence = each.member("Sequence"); sequence.exists()) {
      ++sequences;
      if (reader.text(sequence, "id") != "A")
        reader.malformed(sequence, "id", "expected the sequence 'A'");
      continue;
    }
    const std::string_view name = reader.text(each.member("SpecialToken"), "id");
    const JsonValue token = tokens.member(name);
    if (!token.exists()) {
      reader.malformed(each, fmt::format("'special_tokens' lacks the token '{}'", name));
      continue;
    }
    for (JsonValue id = reader.list(token, "ids").first(); id.exists(); id = id.next())
      (sequences == 0 ? result.before : result.after).push_back(reader.token_id(id));
  }
  if (sequences != 1)
    reader.malformed(value, "single", fmt::format("has {} sequences, expected 1", sequences));
  return result;
}

/// Reads a list of a text and an id.
TokenId read_pair(JsonReader& reader, JsonValue value, std::string_view key) {
  const JsonValue pair = reader.list(value, key);
  if (!pair.exists() || pair.size() != 2) {
    reader.malformed(value, key, "expected a list of a token and its id");
    return 0;
  }
  return reader.token_id(pair.first().next());
}

}  // namespace

PostProcessor PostProcessor::read(JsonReader& reader, JsonValue value) {
  PostProcessor result;
  if (value.is_null() || !reader.ok()) return result;
  const std::string_view type = reader.text(value, "type");
  if (type == "ByteLevel") return result;
  if (type == "TemplateProcessing") return read_template(reader, value);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    result.before.push_back(read_pair(reader, value, "cls"));
    result.after.push_back(read_pair(reader, value, "sep"));
    return result;
  }
  if (type != "Sequence") {
    reader.unsupported(value, fmt::format("the post-processor '{}' is not supported", type));
    return result;
  }
  for (JsonValue each = reader.list(value, "processors").first(); each.exists();
       each = each.next()) {
    const PostProcessor outer = read(reader, each);
    result.before.insert(result.before.begin(), outer.before.begin(), outer.before.end());
    result.after.insert(result.after.end(), outer.after.begin(), outer.after.end());
  }
  return result;
}

}  // namespace mir::tokenizer
