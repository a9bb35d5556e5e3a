// Opens tokenizers and looks tokens up.
#include "tokenizer/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/tokenizers.hpp"
#include "support/file_io.hpp"
#include "support/platform/file_system.hpp"
#include "tokenizer/json_document.hpp"
#include "tokenizer/read_model.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace mir::tokenizer {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
constexpr std::string_view kFileName = "tokenizer.json";

Result<Tokenizer> assemble(TokenizerParts parts, const std::string& origin) {
  auto normalized = parts.added.normalize(parts.normalizer.get());
  if (!normalized)
    return Error{normalized.error().code,
                 fmt::format("'{}': /added_tokens: {}", origin, normalized.error().message)};
  return Tokenizer(std::make_unique<const TokenizerParts>(std::move(parts)));
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::open(const std::string& path) {
  constexpr std::string_view kGgufEnd = ".gguf";
  if (path.ends_with(kGgufEnd)) return read_gguf_tokenizer(path);
  const std::string folder = path + '/';  // exists if the path is a folder
  const std::string file = file_exists(folder) ? folder + std::string(kFileName) : path;
  const auto text = read_file(file, kMaxFileBytes);
  if (!text) return text.error();
  constexpr std::string_view kGgufMagic = "GGUF";
  return text->starts_with(kGgufMagic) ? read_gguf_tokenizer(path) : parse(*text, file);
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& origin) {
  const auto document = JsonDocument::parse(json);
  if (!document)
    return Error{document.error().code, fmt::format("'{}' {}", origin, document.error().message)};
  JsonReader reader;
  const JsonValue root = document->root();
  TokenizerParts parts;
  if (!root.is_object()) reader.malformed(root, "expected an object");
  parts.model = read_model(reader, reader.object(root, "model"));
  if (parts.model != nullptr) {
    parts.added = AddedTokens::read(reader, root.member("added_tokens"), parts.model->vocabulary());
    parts.normalizer = read_normalizer(reader, root.member("normalizer"));
    parts.pre_tokenizer = read_pre_tokenizer(reader, root.member("pre_tokenizer"));
    parts.post_processor = PostProcessor::read(reader, root.member("post_processor"));
    parts.decoder = read_decoder(reader, root.member("decoder"));
  }
  if (!reader.ok()) return reader.error(origin);
  for (const std::string_view ignored : {"truncation", "padding"}) {
    if (!root.member(ignored).is_null())
      parts.remarks.push_back(fmt::format("'{}' of the file is not applied", ignored));
  }
  return assemble(std::move(parts), origin);
}

std::optional<TokenFacts> Tokenizer::token(TokenId id) const {
  if (const AddedToken* added = parts_->added.find(id))
    return TokenFacts{added->content, true, added->is_special};
  const auto text = parts_->model->vocabulary().text(id);
  if (!text) return std::nullopt;
  return TokenFacts{*text, false, false};
}

std::optional<TokenId> Tokenizer::find(std::string_view text) const {
  if (const AddedToken* added = parts_->added.find(text)) return added->id;
  const TokenId id = parts_->model->vocabulary().find(text);
  return id == kNoToken ? std::nullopt : std::optional(id);
}

std::uint32_t Tokenizer::id_end() const {
  std::uint32_t end = parts_->model->vocabulary().id_end();
  for (const AddedToken& token : parts_->added.tokens()) end = std::max(end, token.id + 1);
  return end;
}

std::size_t Tokenizer::size() const {
  std::size_t count = 0;
  for (TokenId id = 0; id < id_end(); ++id) count += token(id).has_value() ? 1 : 0;
  return count;
}

std::string_view Tokenizer::model_name() const {
  return parts_->model->name();
}

std::span<const TokenId> Tokenizer::ids_before() const {
  return parts_->post_processor.before;
}

std::span<const TokenId> Tokenizer::ids_after() const {
  return parts_->post_processor.after;
}

std::span<const std::string> Tokenizer::remarks() const {
  return parts_->remarks;
}

}  // namespace mir::tokenizer
