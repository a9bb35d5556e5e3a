// Writes and reads files of interrupted generations.
#include "generation/saved_session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "eval/evaluate.hpp"
#include "generation/generator.hpp"
#include "interp/session_run.hpp"
#include "mir/codes/generation.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"
#include "plan/content_hash.hpp"
#include "support/memory_size.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/mapped_file.hpp"
#include "support/strict_json.hpp"

namespace mir::generation {
namespace {

using nlohmann::json;

constexpr std::string_view kMagic = "MIRGEN1\n";
constexpr std::size_t kAlignment = 64;
/// Magic, length of the header, its hash.
constexpr std::size_t kFixed = kMagic.size() + 8 + sizeof(ContentHash);
constexpr JsonRules kRules = {
    .max_bytes = std::size_t{64} << 20, .max_depth = 6, .malformed = diag::kSavedSessionMalformed};
constexpr int kSchema = 1;
constexpr std::size_t kMostRank = 8;
constexpr std::size_t kMostTokens = std::size_t{1} << 22;

std::uint64_t aligned(std::uint64_t at) {
  return (at + kAlignment - 1) / kAlignment * kAlignment;
}

std::string hex(const ContentHash& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

json sampling_json(const SamplingOptions& options) {
  return {{"temperature", options.temperature},
          {"top_k", options.top_k},
          {"top_p", options.top_p},
          {"min_p", options.min_p},
          {"repetition_penalty", options.repetition_penalty},
          {"random_seed", options.seed}};
}

/// Hashes are 32 hexadecimal digits.
bool is_hash(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// A name for a message, cut to 64 bytes.
std::string_view short_name(std::string_view name) {
  return name.substr(0, 64);
}

Error malformed(std::string message) {
  return {diag::kSavedSessionMalformed, std::move(message)};
}

/// Keys or values of a cache in a file.
struct StoredTensor {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string hash;
};
struct StoredCache {
  std::string name;
  std::size_t axis = 0;
  std::uint64_t length = 0;
  StoredTensor tensors[2];
};

/// Reads members of the header; the first problem stays.
class HeaderReader {
 public:
  bool is_sound() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }

  const json* member(const json& object, const char* key, bool (json::*is)() const noexcept) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (object.is_object() && found != object.end() && ((*found).*is)()) return &*found;
    refuse(fmt::format("has a header without a valid '{}'", key));
    return nullptr;
  }
  std::string text(const json& object, const char* key) {
    const json* found = member(object, key, &json::is_string);
    return found == nullptr ? std::string() : found->get<std::string>();
  }
  std::uint64_t natural(const json& object, const char* key, std::uint64_t most) {
    const json* found = member(object, key, &json::is_number_unsigned);
    if (found != nullptr && found->get<std::uint64_t>() <= most) return found->get<std::uint64_t>();
    refuse(fmt::format("has a header whose '{}' is out of range", key));
    return 0;
  }
  double number(const json& object, const char* key) {
    const json* found = member(object, key, &json::is_number);
    return found == nullptr ? 0 : found->get<double>();
  }
  StoredTensor tensor(const json& cache, const char* key) {
    StoredTensor result;
    const json* object = member(cache, key, &json::is_object);
    if (object == nullptr) return result;
    const auto dtype = dtype_from_name(text(*object, "element_type"));
    const json* shape = member(*object, "extents", &json::is_array);
    result.hash = text(*object, "hash");
    if (!dtype || shape == nullptr || shape->size() > kMostRank) {
      refuse(fmt::format("has '{}' of an unknown type", key));
      return result;
    }
    result.dtype = *dtype;
    for (const json& each : *shape) {
      const bool is_extent = each.is_number_unsigned() && each.get<std::uint64_t>() > 0 &&
                             each.get<std::uint64_t>() <= Tensor::kMaxBytes;
      if (!is_extent) refuse(fmt::format("has '{}' with an extent out of range", key));
      result.shape.push_back(is_extent ? static_cast<std::int64_t>(each.get<std::uint64_t>()) : 0);
    }
    return result;
  }
  void refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

 private:
  std::string problem_;
};

struct Header {
  SavedSession saved;
  std::vector<StoredCache> caches;
};

Result<Header> read_header(std::string_view text) {
  const auto document = parse_strict_json(text, kRules);
  if (!document)
    return malformed(fmt::format("has a damaged header: {}", document.error().message));
  HeaderReader reader;
  Header header;
  const auto schema = reader.natural(*document, "schema", 1000);
  if (schema != kSchema) reader.refuse(fmt::format("has schema {}, expected {}", schema, kSchema));
  header.saved.model = reader.text(*document, "model");
  if (!is_hash(header.saved.model)) reader.refuse("has a header without a valid 'model'");
  header.saved.draws =
      reader.natural(*document, "draws", std::numeric_limits<std::uint64_t>::max());
  if (const json* tokens = reader.member(*document, "tokens", &json::is_array)) {
    if (tokens->size() > kMostTokens)
      return malformed(fmt::format("has more than {} tokens", kMostTokens));
    for (const json& each : *tokens) {
      const bool is_token = each.is_number_unsigned() && each.get<std::uint64_t>() < (1U << 31);
      if (!is_token) reader.refuse("has a token that is not an id");
      header.saved.tokens.push_back(is_token ? each.get<std::uint32_t>() : 0);
    }
  }
  header.saved.position =
      static_cast<std::int64_t>(reader.natural(*document, "position", header.saved.tokens.size()));
  if (const json* sampling = reader.member(*document, "sampling", &json::is_object)) {
    header.saved.sampling = {
        .temperature = reader.number(*sampling, "temperature"),
        .top_k = static_cast<std::uint32_t>(reader.natural(*sampling, "top_k", 0xFFFFFFFF)),
        .top_p = reader.number(*sampling, "top_p"),
        .min_p = reader.number(*sampling, "min_p"),
        .repetition_penalty = reader.number(*sampling, "repetition_penalty"),
        .seed =
            reader.natural(*sampling, "random_seed", std::numeric_limits<std::uint64_t>::max())};
    if (!check_sampling(header.saved.sampling)) reader.refuse("has sampling options out of range");
  }
  if (const json* messages = reader.member(*document, "messages", &json::is_array)) {
    for (const json& each : *messages)
      header.saved.messages.emplace_back(reader.text(each, "role"), reader.text(each, "content"));
  }
  const json* caches = reader.member(*document, "caches", &json::is_array);
  if (caches != nullptr) {
    for (const json& each : *caches) {
      StoredCache cache;
      cache.name = reader.text(each, "store");
      cache.axis = memory_size(reader.natural(each, "token_axis", kMostRank));
      cache.length = reader.natural(each, "length", header.saved.tokens.size());
      cache.tensors[0] = reader.tensor(each, "keys");
      cache.tensors[1] = reader.tensor(each, "values");
      for (const StoredTensor& tensor : cache.tensors) {
        const bool has_axis = cache.axis < tensor.shape.size();
        const std::int64_t held = has_axis ? tensor.shape[cache.axis] : 0;
        if (!has_axis || !std::cmp_equal(held, cache.length))
          reader.refuse(fmt::format("has a cache '{}' of {} tokens, expected {}",
                                    short_name(cache.name), held, cache.length));
      }
      header.caches.push_back(std::move(cache));
    }
  }
  if (header.saved.position == 0 && !header.caches.empty())
    reader.refuse("has caches at position 0");
  if (!reader.is_sound()) return malformed(reader.problem());
  return header;
}

bool has_cache(const Session& session, std::string_view name) {
  return session.cache_length(name).has_value();
}

/// Puts the caches of a file into the session. The names and lengths have been checked.
Result<void> restore(const Header& header, std::span<const std::byte> bytes, std::uint64_t at,
                     Session& session) {
  IRContext& context = SessionAccess::schedule(session).module().context();
  CacheStore& store = SessionAccess::state(session).caches;
  fast::ThreadPool alone(1);
  if (header.saved.position > 0) {
    for (const std::string& name : cache_names(session)) {
      if (std::ranges::find(header.caches, name, &StoredCache::name) == header.caches.end())
        return malformed(fmt::format("lacks the cache '{}'", name));
    }
  }
  for (const StoredCache& cache : header.caches) {
    const Symbol name = context.intern(cache.name);
    if (!has_cache(session, cache.name))
      return malformed(
          fmt::format("has a cache '{}', which the module lacks", short_name(cache.name)));
    if (store.length(name) != 0)
      return malformed(fmt::format("has the cache '{}' twice", cache.name));
    std::span<const std::byte> parts[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const StoredTensor& tensor = cache.tensors[i];
      const auto size = tensor_bytes(tensor.dtype, tensor.shape);
      if (!size || at > bytes.size() || *size > bytes.size() - at)
        return malformed(fmt::format("ends within the cache '{}'", cache.name));
      parts[i] = bytes.subspan(memory_size(at), memory_size(*size));
      if (hex(content_hash(parts[i], alone)) != tensor.hash)
        return malformed(fmt::format("has a damaged cache '{}'", cache.name));
      at = aligned(at + *size);
    }
    const StoredTensor &keys = cache.tensors[0], &values = cache.tensors[1];
    const auto room = store.append({.cache = name,
                                    .axis = cache.axis,
                                    .dtypes = {keys.dtype, values.dtype},
                                    .extents = {keys.shape, values.shape}});
    if (!room)
      return malformed(fmt::format("has a cache '{}': {}", cache.name, room.error().message));
    for (std::size_t i = 0; i < 2; ++i) store.replace(name, i, parts[i]);
    store.commit();
  }
  return {};
}

}  // namespace

std::string model_fingerprint(Session& session, const std::string& module_text,
                              const std::vector<std::string>& specs, unsigned threads) {
  fast::ThreadPool pool(threads);
  const WeightStore& weights = SessionAccess::state(session).weights;
  const Schedule& schedule = SessionAccess::schedule(session);
  std::string text = hex(content_hash(std::as_bytes(std::span(module_text)), pool));
  for (const std::string& spec : specs) text += fmt::format("\n{}", spec);
  for (const Value* parameter : schedule.parameters()) {
    const auto origin = weights.origin(parameter->symbol());
    if (!origin) continue;
    text += fmt::format("\n{} {} [{}] {}", schedule.module().context().text(parameter->symbol()),
                        name_of(origin->stored.dtype()), fmt::join(origin->stored.shape(), ","),
                        hex(content_hash(origin->stored.bytes(), pool)));
  }
  return hex(content_hash(std::as_bytes(std::span(text)), pool));
}

Result<void> write_saved_session(const std::string& path, const SavedSession& saved,
                                 Session& session) {
  const IRContext& context = SessionAccess::schedule(session).module().context();
  const CacheStore& store = SessionAccess::state(session).caches;
  fast::ThreadPool alone(1);
  std::vector<Symbol> names = store.names();
  std::ranges::sort(names, {}, [&](Symbol each) { return context.text(each); });
  json caches = json::array();
  std::vector<Tensor> tensors;
  for (const Symbol name : names) {
    if (!store.has_equal_lengths(name))
      return Error{diag::kNotGenerative,
                   fmt::format("cache '@{}' holds sequences of different lengths; a saved session "
                               "has one length for all",
                               context.text(name))};
    json parts[2];
    for (std::size_t i = 0; i < 2; ++i) {
      auto tensor = store.contents(name, i);
      if (!tensor) return std::move(tensor).error();
      parts[i] = {{"element_type", name_of(tensor->dtype())},
                  {"extents", tensor->shape()},
                  {"hash", hex(content_hash(tensor->bytes(), alone))}};
      tensors.push_back(*std::move(tensor));
    }
    caches.push_back({{"store", context.text(name)},
                      {"token_axis", store.axis(name)},
                      {"length", store.length(name)},
                      {"keys", parts[0]},
                      {"values", parts[1]}});
  }
  json messages = json::array();
  for (const auto& [role, content] : saved.messages)
    messages.push_back({{"role", role}, {"content", content}});
  const json header = {{"schema", kSchema},
                       {"model", saved.model},
                       {"tokens", saved.tokens},
                       {"position", saved.position},
                       {"draws", saved.draws},
                       {"sampling", sampling_json(saved.sampling)},
                       {"messages", std::move(messages)},
                       {"caches", std::move(caches)}};
  const std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  const std::uint64_t length = text.size();
  const ContentHash hash = content_hash(std::as_bytes(std::span(text)), alone);
  auto written = file->write(kMagic);
  if (written) written = file->write(std::as_bytes(std::span(&length, 1)));
  if (written) written = file->write(std::as_bytes(std::span(&hash, 1)));
  if (written) written = file->write(text);
  constexpr std::byte kPadding[kAlignment] = {};
  for (const Tensor& tensor : tensors) {
    const std::uint64_t gap = aligned(file->size()) - file->size();
    if (written) written = file->write(std::span(kPadding).first(memory_size(gap)));
    if (written) written = file->write(tensor.bytes());
  }
  return written ? file->commit() : written;
}

Result<SavedSession> read_saved_session(std::span<const std::byte> bytes, const std::string& model,
                                        Session& session) {
  const auto refuse = [&](const Error& error) {
    session.reset();
    return error;
  };
  const bool is_session =
      bytes.size() >= kFixed && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!is_session)
    return refuse(malformed("is not a saved session: expected a file of --save-session"));
  const auto length = number_at<std::uint64_t>(bytes, kMagic.size());
  if (length > bytes.size() - kFixed || length > kRules.max_bytes)
    return refuse(malformed("ends within its header"));
  const auto text = bytes.subspan(kFixed, memory_size(length));
  fast::ThreadPool alone(1);
  if (content_hash(text, alone) != number_at<ContentHash>(bytes, kMagic.size() + 8))
    return refuse(malformed("has a damaged header"));
  const auto header = read_header({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!header) return refuse(header.error());
  if (header->saved.model != model)
    return refuse(
        {diag::kSavedSessionOfOther,
         fmt::format("belongs to the model {}, this one is {}", header->saved.model, model)});
  session.reset();
  const auto restored = restore(*header, bytes, aligned(kFixed + length), session);
  if (!restored) return refuse(restored.error());
  return header->saved;
}

Result<SavedSession> read_saved_session(const std::string& path, const std::string& model,
                                        Session& session) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto read = read_saved_session((*file)->bytes(), model, session);
  if (read) return read;
  return Error{read.error().code, fmt::format("'{}' {}", path, read.error().message)};
}

}  // namespace mir::generation
