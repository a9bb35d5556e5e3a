// Reads patterns of normalizers, pre-tokenizers and decoders.
#include "tokenizer/pattern.hpp"

#include <fmt/format.h>

#include "mir/codes/tokenizers.hpp"

namespace mir::tokenizer {

Pattern Pattern::read(JsonReader& reader, JsonValue object) {
  const JsonValue pattern = object.member("pattern");
  if (const auto plain = pattern.string()) return Pattern(std::string(*plain));
  if (const auto word = pattern.member("String").string()) return Pattern(std::string(*word));
  const JsonValue expression = pattern.member("Regex");
  if (!expression.string()) {
    reader.malformed(object, "pattern", "expected an object with the string 'String' or 'Regex'");
    return Pattern(std::string());
  }
  auto regex = Regex::compile(*expression.string());
  if (regex) return Pattern(*std::move(regex));
  if (regex.error().code == diag::kTokenizerUnsupported) {
    reader.unsupported(expression, regex.error().message);
  } else {
    reader.malformed(expression, regex.error().message);
  }
  return Pattern(std::string());
}

}  // namespace mir::tokenizer
