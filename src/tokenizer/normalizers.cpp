// Normalizers of tokenizer files.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "mir/codes/limits.hpp"
#include "mir/codes/tokenizers.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/pattern.hpp"

namespace mir::tokenizer {
namespace {

/// A normalizer that is a function of each code point: it appends what replaces it.
template <class Function>
class CodePointNormalizer final : public Normalizer {
 public:
  explicit CodePointNormalizer(Function function) : function_(std::move(function)) {}
  Result<std::string> apply(std::string text) const override {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint each = code_point_at(text, at);
      function_(out, each.value, std::string_view(text).substr(at, each.size));
      at += each.size;
    }
    return out;
  }

 private:
  Function function_;
};

template <class Function>
NormalizerPtr by_code_point(Function function) {
  return std::make_unique<CodePointNormalizer<Function>>(std::move(function));
}

class FormNormalizer final : public Normalizer {
 public:
  explicit FormNormalizer(NormalForm form) : form_(form) {}
  Result<std::string> apply(std::string text) const override { return normalized(text, form_); }

 private:
  NormalForm form_;
};

class SequenceNormalizer final : public Normalizer {
 public:
  explicit SequenceNormalizer(std::vector<NormalizerPtr> steps) : steps_(std::move(steps)) {}
  Result<std::string> apply(std::string text) const override {
    for (const NormalizerPtr& step : steps_) {
      auto next = step->apply(std::move(text));
      if (!next) return next;
      text = *std::move(next);
    }
    return text;
  }

 private:
  std::vector<NormalizerPtr> steps_;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}
  Result<std::string> apply(std::string text) const override {
    return text.empty() ? std::move(text) : prefix_ + text;
  }

 private:
  std::string prefix_;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Result<std::string> apply(std::string text) const override {
    std::string out;
    const std::size_t most = kFreeBytes + kGrowth * text.size();
    const auto put = [&](ByteRange range, bool is_match) -> Result<void> {
      const auto part = std::string_view(text).substr(range.begin, range.end - range.begin);
      out += is_match ? std::string_view(content_) : part;
      if (out.size() <= most && out.size() <= kMaxTextBytes) return {};
      return Error{diag::kLimitExceeded,
                   fmt::format("a normalizer makes over {} bytes of {}", most, text.size())};
    };
    if (auto put_all = pattern_.for_each_part(text, put); !put_all) return put_all.error();
    return out;
  }

 private:
  static constexpr std::size_t kFreeBytes = 1 << 20;
  static constexpr std::size_t kGrowth = 16;
  Pattern pattern_;
  std::string content_;
};

std::string_view stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty() && is_white_space(code_point_at(text, 0).value))
    text.remove_prefix(code_point_at(text, 0).size);
  while (right && !text.empty() && is_white_space(code_point_before(text, text.size()).value))
    text.remove_suffix(code_point_before(text, text.size()).size);
  return text;
}

class StripNormalizer final : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  Result<std::string> apply(std::string text) const override {
    return std::string(stripped(text, left_, right_));
  }

 private:
  bool left_, right_;
};

class SingleSpaces final : public Normalizer {
 public:
  Result<std::string> apply(std::string text) const override {
    std::string out;
    for (const char byte : stripped(text, true, true)) {
      if (byte != ' ' || !out.ends_with(' ')) out += byte;
    }
    return out;
  }
};

class ByteLetters final : public Normalizer {
 public:
  Result<std::string> apply(std::string text) const override {
    std::string out;
    append_byte_letters(out, text);
    return out;
  }
};

void put_lower_case(std::string& out, char32_t value, std::string_view) {
  append_lower_case(out, value);
}

void put_without_nonspacing(std::string& out, char32_t value, std::string_view bytes) {
  if (!is_nonspacing_mark(value)) out += bytes;
}

void put_without_marks(std::string& out, char32_t value, std::string_view bytes) {
  if (!is_mark(value)) out += bytes;
}

void put_clean(std::string& out, char32_t value, std::string_view bytes) {
  const bool is_kept_control = value == '\t' || value == '\n' || value == '\r';
  if (value == 0 || value == 0xFFFD || (!is_kept_control && is_other(value))) return;
  out += is_white_space(value) ? std::string_view(" ") : bytes;
}

void put_separated(std::string& out, char32_t value, std::string_view bytes) {
  const std::string_view gap = is_bert_ideograph(value) ? " " : "";
  out += gap;
  out += bytes;
  out += gap;
}

/// Rules of Google's NMT for control characters and unusual spaces.
void put_nmt(std::string& out, char32_t value, std::string_view bytes) {
  const bool is_dropped = (value >= 1 && value <= 8) || value == 0xB ||
                          (value >= 0xE && value <= 0x1F) || value == 0x7F || value == 0x8F ||
                          value == 0x9F;
  const bool is_space = value == 9 || value == 0xA || value == 0xC || value == 0xD ||
                        value == 0x1680 || (value >= 0x200B && value <= 0x200F) ||
                        value == 0x2028 || value == 0x2029 || value == 0x2581 || value == 0xFEFF ||
                        value == 0xFFFD;
  if (!is_dropped) out += is_space ? std::string_view(" ") : bytes;
}

/// The bytes of a text in base64; no value if it is not.
std::optional<std::string> decoded_base64(std::string_view text) {
  constexpr std::string_view kDigits64 =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = kDigits64.find(c);
    if (digit == kDigits64.npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xFF);
  }
  return bytes;
}

NormalizerPtr read_charsmap(JsonReader& reader, JsonValue value) {
  auto bytes = decoded_base64(reader.text(value, "precompiled_charsmap"));
  if (!bytes) {
    reader.malformed(value, "precompiled_charsmap", "is not base64");
    return nullptr;
  }
  auto charsmap = make_charsmap(*std::move(bytes), CharsmapSearch::kCluster);
  if (charsmap) return *std::move(charsmap);
  reader.malformed(value, "precompiled_charsmap", charsmap.error().message);
  return nullptr;
}

NormalizerPtr read_normalizer_sequence(JsonReader& reader, JsonValue value) {
  std::vector<NormalizerPtr> steps;
  for (JsonValue each = reader.list(value, "normalizers").first(); each.exists();
       each = each.next()) {
    if (auto step = read_normalizer(reader, each)) steps.push_back(std::move(step));
  }
  return make_sequence(std::move(steps));
}

NormalizerPtr read_bert(JsonReader& reader, JsonValue value) {
  const bool lowers = reader.flag(value, "lowercase", true);
  return make_bert_normalizer(reader.flag(value, "clean_text", true),
                              reader.flag(value, "handle_chinese_chars", true),
                              reader.flag(value, "strip_accents", lowers), lowers);
}

template <NormalForm kForm>
NormalizerPtr read_form(JsonReader&, JsonValue) {
  return make_normal_form(kForm);
}

struct NormalizerRow {
  std::string_view type;
  NormalizerPtr (*read)(JsonReader& reader, JsonValue value);
};

constexpr NormalizerRow kNormalizers[] = {
    {"Sequence", read_normalizer_sequence},
    {"NFC", read_form<NormalForm::kNfc>},
    {"NFD", read_form<NormalForm::kNfd>},
    {"NFKC", read_form<NormalForm::kNfkc>},
    {"NFKD", read_form<NormalForm::kNfkd>},
    {"Lowercase", [](JsonReader&, JsonValue) { return by_code_point(put_lower_case); }},
    {"Strip",
     [](JsonReader& reader, JsonValue value) -> NormalizerPtr {
       return std::make_unique<StripNormalizer>(reader.flag(value, "strip_left", true),
                                                reader.flag(value, "strip_right", true));
     }},
    {"StripAccents", [](JsonReader&, JsonValue) { return by_code_point(put_without_marks); }},
    {"Replace",
     [](JsonReader& reader, JsonValue value) -> NormalizerPtr {
       Pattern pattern = Pattern::read(reader, value);
       return std::make_unique<ReplaceNormalizer>(std::move(pattern),
                                                  std::string(reader.text(value, "content")));
     }},
    {"Prepend",
     [](JsonReader& reader, JsonValue value) {
       return make_prepend(std::string(reader.text(value, "prepend")));
     }},
    {"BertNormalizer", read_bert},
    {"Precompiled", read_charsmap},
    {"Nmt", [](JsonReader&, JsonValue) { return by_code_point(put_nmt); }},
    {"ByteLevel",
     [](JsonReader&, JsonValue) -> NormalizerPtr { return std::make_unique<ByteLetters>(); }},
};

}  // namespace

NormalizerPtr read_normalizer(JsonReader& reader, JsonValue value) {
  if (value.is_null() || !reader.ok()) return nullptr;
  const std::string_view type = reader.text(value, "type");
  for (const NormalizerRow& row : kNormalizers) {
    if (row.type == type) return row.read(reader, value);
  }
  reader.unsupported(value, fmt::format("the normalizer '{}' is not supported", type));
  return nullptr;
}

NormalizerPtr make_sequence(std::vector<NormalizerPtr> steps) {
  return std::make_unique<SequenceNormalizer>(std::move(steps));
}

NormalizerPtr make_normal_form(NormalForm form) {
  return std::make_unique<FormNormalizer>(form);
}

NormalizerPtr make_prepend(std::string prefix) {
  return std::make_unique<PrependNormalizer>(std::move(prefix));
}

NormalizerPtr make_replace(std::string from, std::string to) {
  return std::make_unique<ReplaceNormalizer>(Pattern(std::move(from)), std::move(to));
}

NormalizerPtr make_single_spaces() {
  return std::make_unique<SingleSpaces>();
}

NormalizerPtr make_bert_normalizer(bool cleans, bool separates_ideographs, bool strips_accents,
                                   bool lowers) {
  std::vector<NormalizerPtr> steps;
  if (cleans) steps.push_back(by_code_point(put_clean));
  if (separates_ideographs) steps.push_back(by_code_point(put_separated));
  if (strips_accents) {
    steps.push_back(std::make_unique<FormNormalizer>(NormalForm::kNfd));
    steps.push_back(by_code_point(put_without_nonspacing));
  }
  if (lowers) steps.push_back(by_code_point(put_lower_case));
  return make_sequence(std::move(steps));
}

}  // namespace mir::tokenizer
