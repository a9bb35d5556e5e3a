// Decodes ids by a chain of streams.
#include <fmt/format.h>

#include <utility>

#include "mir/codes/tokenizers.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace mir::tokenizer {
namespace {

/// The end of a chain: collects text.
class CollectedText final : public TokenTextSink {
 public:
  Result<void> take(const TokenText& token) override {
    text_ += token.text;
    return {};
  }
  Result<void> finish() override { return {}; }
  std::string release() { return std::exchange(text_, {}); }

 private:
  std::string text_;
};

}  // namespace

struct TokenStream::State {
  const Tokenizer& tokenizer;
  DecodeOptions options;
  CollectedText text;
  std::vector<TokenTextSinkPtr> steps;  ///< the last step of the decoder first
  TokenTextSink& first() { return steps.empty() ? text : *steps.back(); }
};

TokenStream::TokenStream(const Tokenizer& tokenizer, const DecodeOptions& options)
    : state_(std::make_unique<State>(State{tokenizer, options, {}, {}})) {
  const Decoder& decoder = tokenizer.parts_->decoder;
  for (std::size_t i = decoder.size(); i-- > 0;)
    state_->steps.push_back(decoder[i]->start(state_->first()));
}
TokenStream::TokenStream(TokenStream&&) noexcept = default;
TokenStream::~TokenStream() = default;

Result<std::string> TokenStream::add(TokenId id) {
  const auto token = state_->tokenizer.token(id);
  if (!token)
    return Error{diag::kTokenIdUnknown, fmt::format("no token has the id {}, ids are below {}", id,
                                                    state_->tokenizer.id_end())};
  if (state_->options.skips_special && token->is_special) return std::string();
  if (auto taken = state_->first().take({token->text}); !taken) return taken.error();
  return state_->text.release();
}

Result<std::string> TokenStream::finish() {
  if (auto finished = state_->first().finish(); !finished) return finished.error();
  return state_->text.release();
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids,
                                      const DecodeOptions& options) const {
  TokenStream stream(*this, options);
  std::string text;
  for (const TokenId id : ids) {
    auto part = stream.add(id);
    if (!part) return part;
    text += *part;
  }
  auto rest = stream.finish();
  if (!rest) return rest;
  return text += *rest;
}

}  // namespace mir::tokenizer
