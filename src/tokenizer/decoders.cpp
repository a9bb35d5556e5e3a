// Decoders of tokenizer files, as streams.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "mir/codes/limits.hpp"
#include "support/utf8.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/decoder.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/pattern.hpp"

namespace mir::tokenizer {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// A stream that works on whole tokens: it collects parts.
class WholeTokens : public TokenTextSink {
 public:
  explicit WholeTokens(TokenTextSink& next) : next_(next) {}
  Result<void> take(const TokenText& token) final {
    if (token.begins && token.ends) return whole(token.text);
    collected_ += token.text;
    if (!token.ends) return {};
    const std::string text = std::exchange(collected_, {});
    return whole(text);
  }
  Result<void> finish() override { return next_.finish(); }

 protected:
  virtual Result<void> whole(std::string_view token) = 0;
  Result<void> pass(std::string_view text) { return next_.take({text}); }

 private:
  TokenTextSink& next_;
  std::string collected_;
};

/// A step whose streams are of one class, made from `arguments`.
template <class Stream, class... Arguments>
class StepOf final : public DecoderStep {
 public:
  explicit StepOf(Arguments... arguments) : arguments_(std::move(arguments)...) {}
  TokenTextSinkPtr start(TokenTextSink& next) const override {
    return std::apply(
        [&](const auto&... each) -> TokenTextSinkPtr {
          return std::make_unique<Stream>(next, each...);
        },
        arguments_);
  }

 private:
  std::tuple<Arguments...> arguments_;
};

template <class Stream, class... Arguments>
std::unique_ptr<const DecoderStep> step_of(Arguments... arguments) {
  return std::make_unique<StepOf<Stream, Arguments...>>(std::move(arguments)...);
}

/// Bytes to text; what is not UTF-8 becomes U+FFFD, one for each part that cannot be continued.
class ByteLevelStream final : public TokenTextSink {
 public:
  explicit ByteLevelStream(TokenTextSink& next) : next_(next) {}
  Result<void> take(const TokenText& token) override {
    letters_ += token.text;
    if (!token.ends) return {};
    if (!append_bytes_of_letters(bytes_, letters_)) bytes_ += letters_;
    letters_.clear();
    return pass_text(false);
  }
  Result<void> finish() override {
    if (auto passed = pass_text(true); !passed) return passed;
    return next_.finish();
  }

 private:
  /// Length of the part at `at` that begins a code point and may be continued, if it is `rest`.
  static bool is_incomplete(std::string_view rest) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
    if (rest.empty() || rest.size() > 3 || byte(0) < 0xC2 || byte(0) > 0xF4) return false;
    if (rest.size() >= code_point_size(rest[0])) return false;
    if (rest.size() == 1) return true;
    const unsigned least = byte(0) == 0xE0 ? 0xA0 : byte(0) == 0xF0 ? 0x90 : 0x80;
    const unsigned most = byte(0) == 0xED ? 0x9F : byte(0) == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < least || byte(1) > most) return false;
    return rest.size() == 2 || (byte(2) & 0xC0) == 0x80;
  }

  Result<void> pass_text(bool is_last) {
    std::string text;
    std::string_view rest = bytes_;
    while (!rest.empty()) {
      const char* const end = rest.data() + rest.size();
      const char* const invalid = find_invalid_utf8(rest.data(), end);
      text.append(rest.data(), invalid);
      rest.remove_prefix(static_cast<std::size_t>(invalid - rest.data()));
      if (rest.empty() || (!is_last && is_incomplete(rest))) break;
      // The longest part that begins a code point is one mistake.
      std::size_t size = 1;
      while (size < rest.size() && is_incomplete(rest.substr(0, size + 1))) ++size;
      if (!is_incomplete(rest.substr(0, size))) size = 1;
      text += kReplacementCharacter;
      rest.remove_prefix(size);
    }
    bytes_ = std::string(rest);
    const bool begins = std::exchange(begins_, false);
    return next_.take({text, begins, is_last});
  }

  TokenTextSink& next_;
  std::string letters_;
  std::string bytes_;
  bool begins_ = true;
};

/// Tokens of bytes to text: a run that is not UTF-8 becomes U+FFFD for each token.
class ByteFallbackStream final : public WholeTokens {
 public:
  explicit ByteFallbackStream(TokenTextSink& next) : WholeTokens(next) {}
  Result<void> finish() override {
    if (auto passed = pass_bytes(); !passed) return passed;
    return WholeTokens::finish();
  }

 private:
  Result<void> whole(std::string_view token) override {
    if (const auto byte = byte_of_token(token)) {
      bytes_ += static_cast<char>(*byte);
      return {};
    }
    if (auto passed = pass_bytes(); !passed) return passed;
    return pass(token);
  }
  Result<void> pass_bytes() {
    const std::string bytes = std::exchange(bytes_, {});
    if (bytes.empty() || is_utf8(bytes)) return bytes.empty() ? Result<void>() : pass(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (auto passed = pass(kReplacementCharacter); !passed) return passed;
    }
    return {};
  }

  std::string bytes_;
};

class ReplaceStream final : public WholeTokens {
 public:
  ReplaceStream(TokenTextSink& next, const std::shared_ptr<const Pattern>& pattern,
                const std::string& content)
      : WholeTokens(next), pattern_(*pattern), content_(content) {}

 private:
  Result<void> whole(std::string_view token) override {
    std::string text;
    const auto put = [&](ByteRange range, bool is_match) -> Result<void> {
      text += is_match ? std::string_view(content_)
                       : token.substr(range.begin, range.end - range.begin);
      if (text.size() <= kMaxTextBytes) return {};
      return Error{diag::kLimitExceeded,
                   fmt::format("a decoder makes over {} bytes of a token", kMaxTextBytes)};
    };
    if (auto replaced = pattern_.for_each_part(token, put); !replaced) return replaced;
    return pass(text);
  }

  const Pattern& pattern_;
  const std::string& content_;
};

class FuseStream final : public TokenTextSink {
 public:
  explicit FuseStream(TokenTextSink& next) : next_(next) {}
  Result<void> take(const TokenText& token) override {
    return next_.take({token.text, std::exchange(begins_, false), false});
  }
  Result<void> finish() override {
    if (auto ended = next_.take({"", begins_, true}); !ended) return ended;
    return next_.finish();
  }

 private:
  TokenTextSink& next_;
  bool begins_ = true;
};

/// Removes a code point from both ends of tokens, also of those that come in parts.
class StripStream final : public TokenTextSink {
 public:
  StripStream(TokenTextSink& next, const std::string& content, std::size_t start, std::size_t stop)
      : next_(next), content_(content), start_(start), stop_(stop) {}
  Result<void> take(const TokenText& token) override {
    if (token.begins) {
      to_strip_ = start_;
      held_ = 0;
    }
    std::string_view text = token.text;
    while (to_strip_ > 0 && text.starts_with(content_)) {
      text.remove_prefix(content_.size());
      --to_strip_;
    }
    if (!text.empty()) to_strip_ = 0;
    // What may be at the end waits.
    std::size_t run = 0;
    for (auto rest = text; rest.ends_with(content_) && run < stop_; ++run)
      rest.remove_suffix(content_.size());
    const bool is_run = text.size() == run * content_.size();
    std::string out;
    if (is_run) run += held_;
    const std::size_t passed_on = is_run ? run - std::min(run, stop_) : held_;
    for (std::size_t i = 0; i < passed_on; ++i) out += content_;
    if (is_run) {
      held_ = std::min(run, stop_);
    } else {
      out += text.substr(0, text.size() - run * content_.size());
      held_ = run;
    }
    if (token.ends) held_ = 0;
    return next_.take({out, token.begins, token.ends});
  }
  Result<void> finish() override { return next_.finish(); }

 private:
  TokenTextSink& next_;
  const std::string& content_;
  std::size_t start_;
  std::size_t stop_;
  std::size_t to_strip_ = 0;
  std::size_t held_ = 0;  ///< how often the content was at the end of what came
};

class MetaspaceStream final : public WholeTokens {
 public:
  MetaspaceStream(TokenTextSink& next, const std::string& replacement, bool strips_first)
      : WholeTokens(next), replacement_(replacement), strips_(strips_first) {}

 private:
  Result<void> whole(std::string_view token) override {
    const std::string_view space = std::exchange(strips_, false) ? "" : " ";
    std::string text;
    for (auto at = token.find(replacement_); at != token.npos; at = token.find(replacement_)) {
      text += token.substr(0, at);
      text += space;
      token.remove_prefix(at + replacement_.size());
    }
    return pass(text += token);
  }

  const std::string& replacement_;
  bool strips_;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class WordPieceStream final : public WholeTokens {
 public:
  WordPieceStream(TokenTextSink& next, const std::string& prefix, bool cleans_up)
      : WholeTokens(next), prefix_(prefix), cleans_up_(cleans_up) {}

 private:
  Result<void> whole(std::string_view token) override {
    constexpr std::pair<std::string_view, std::string_view> kCleanups[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    const bool is_first = std::exchange(is_first_, false);
    std::string text;
    if (!is_first && token.starts_with(prefix_)) {
      text = token.substr(prefix_.size());
    } else {
      text = (is_first ? "" : " ") + std::string(token);
    }
    if (cleans_up_) {
      for (const auto& [from, to] : kCleanups) replace_all(text, from, to);
    }
    return pass(text);
  }

  const std::string& prefix_;
  bool cleans_up_;
  bool is_first_ = true;
};

/// A suffix becomes a space, at the last token nothing: so one token waits.
class SuffixStream final : public WholeTokens {
 public:
  SuffixStream(TokenTextSink& next, const std::string& suffix)
      : WholeTokens(next), suffix_(suffix) {}
  Result<void> finish() override {
    if (auto passed = pass_waiting(""); !passed) return passed;
    return WholeTokens::finish();
  }

 private:
  Result<void> whole(std::string_view token) override {
    auto passed = pass_waiting(" ");
    waiting_ = token;
    return passed;
  }
  Result<void> pass_waiting(std::string_view end) {
    if (!waiting_) return {};
    std::string text = *std::exchange(waiting_, std::nullopt);
    if (!suffix_.empty()) replace_all(text, suffix_, end);
    return pass(text);
  }

  const std::string& suffix_;
  std::optional<std::string> waiting_;
};

/// Puts spaces between tokens, for files without a decoder.
class SpaceStream final : public WholeTokens {
 public:
  explicit SpaceStream(TokenTextSink& next) : WholeTokens(next) {}

 private:
  Result<void> whole(std::string_view token) override {
    return pass((std::exchange(is_first_, false) ? "" : " ") + std::string(token));
  }
  bool is_first_ = true;
};

std::unique_ptr<const DecoderStep> read_strip_step(JsonReader& reader, JsonValue value) {
  const std::string_view content = reader.text(value, "content");
  if (content.empty() || code_point_size(content.front()) != content.size()) {
    reader.malformed(value, "content", "expected one character");
    return nullptr;
  }
  return make_strip_decoder(code_point_at(content, 0).value, reader.natural(value, "start"),
                            reader.natural(value, "stop"));
}

std::unique_ptr<const DecoderStep> read_metaspace_step(JsonReader& reader, JsonValue value) {
  const std::string_view replacement = reader.text(value, "replacement", "▁");
  if (replacement.empty()) reader.malformed(value, "replacement", "expected one character");
  const bool adds_space = reader.flag(value, "add_prefix_space", true);
  const std::string_view scheme =
      reader.text(value, "prepend_scheme", adds_space ? "always" : "never");
  return step_of<MetaspaceStream>(std::string(replacement), scheme != "never");
}

std::unique_ptr<const DecoderStep> read_step(JsonReader& reader, JsonValue value) {
  const std::string_view type = reader.text(value, "type");
  if (type == "ByteLevel") return make_byte_level_decoder();
  if (type == "ByteFallback") return make_byte_fallback_decoder();
  if (type == "Fuse") return make_fuse_decoder();
  if (type == "Metaspace") return read_metaspace_step(reader, value);
  if (type == "Strip") return read_strip_step(reader, value);
  if (type == "BPEDecoder")
    return step_of<SuffixStream>(std::string(reader.text(value, "suffix", "</w>")));
  if (type == "WordPiece")
    return make_word_piece_decoder(std::string(reader.text(value, "prefix", "##")),
                                   reader.flag(value, "cleanup", true));
  if (type == "Replace") {
    auto pattern = std::make_shared<const Pattern>(Pattern::read(reader, value));
    return step_of<ReplaceStream>(std::move(pattern), std::string(reader.text(value, "content")));
  }
  reader.unsupported(value, fmt::format("the decoder '{}' is not supported", type));
  return nullptr;
}

void read_steps(JsonReader& reader, JsonValue value, Decoder& decoder) {
  if (!reader.ok()) return;
  if (value.member("type").string() != "Sequence") {
    if (auto step = read_step(reader, value)) decoder.push_back(std::move(step));
    return;
  }
  for (JsonValue each = reader.list(value, "decoders").first(); each.exists(); each = each.next())
    read_steps(reader, each, decoder);
}

}  // namespace

Decoder read_decoder(JsonReader& reader, JsonValue value) {
  Decoder decoder;
  if (value.is_null()) {
    decoder.push_back(step_of<SpaceStream>());
  } else {
    read_steps(reader, value, decoder);
  }
  return decoder;
}

std::unique_ptr<const DecoderStep> make_byte_level_decoder() {
  return step_of<ByteLevelStream>();
}

std::unique_ptr<const DecoderStep> make_byte_fallback_decoder() {
  return step_of<ByteFallbackStream>();
}

std::unique_ptr<const DecoderStep> make_replace_decoder(std::string from, std::string to) {
  return step_of<ReplaceStream>(std::make_shared<const Pattern>(Pattern(std::move(from))),
                                std::move(to));
}

std::unique_ptr<const DecoderStep> make_fuse_decoder() {
  return step_of<FuseStream>();
}

std::unique_ptr<const DecoderStep> make_strip_decoder(char32_t content, std::size_t start,
                                                      std::size_t stop) {
  std::string text;
  append_utf8(text, content);
  return step_of<StripStream>(std::move(text), start, stop);
}

std::unique_ptr<const DecoderStep> make_word_piece_decoder(std::string prefix, bool cleans_up) {
  return step_of<WordPieceStream>(std::move(prefix), cleans_up);
}

}  // namespace mir::tokenizer
