// Reads and writes files of packed weights, whose entries are keyed by content hashes.
#include "plan/packed_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "mir/codes/runs.hpp"
#include "mir/tensor.hpp"
#include "mir/version.hpp"
#include "support/memory_size.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/file_system.hpp"
#include "support/platform/mapped_file.hpp"
#include "support/platform/memory.hpp"
#include "support/strict_json.hpp"

namespace mir {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "MIRPKW1\n";
constexpr std::string_view kFloats = "f32", kBfloats = "bf16";  // activations
constexpr std::size_t kPartAlignment = 64;
/// Magic, length of the JSON, hash of the JSON.
constexpr std::size_t kFixed = kMagic.size() + 8 + sizeof(ContentHash);
constexpr JsonRules kRules = {
    .max_bytes = std::size_t{64} << 20, .max_depth = 4, .malformed = diag::kPackedCacheUnusable};

std::uint64_t part_aligned(std::uint64_t at) {
  return (at + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

constexpr std::int64_t kSecond = 1'000'000'000;  // in nanoseconds

std::int64_t nanoseconds_now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

/// The part of a second that the time of a cache has. Other writers leave it by chance only.
std::int64_t nanoseconds_of(const ContentHash& header) {
  return static_cast<std::int64_t>(header.low % static_cast<std::uint64_t>(kSecond));
}

std::string hex(const ContentHash& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

/// One matrix of the header; the first problem stays.
class EntryReader {
 public:
  explicit EntryReader(const Json& object) : object_(object) {
    if (!object.is_object()) is_sound_ = false;
  }

  std::string text(const char* key) {
    const Json* const value = find(key, &Json::is_string);
    return value == nullptr ? std::string() : value->get<std::string>();
  }
  std::uint64_t number(const char* key) {
    const Json* const value = find(key, &Json::is_number_unsigned);
    return value == nullptr ? 0 : value->get<std::uint64_t>();
  }
  std::int64_t extent(const char* key) {
    const std::uint64_t value = number(key);
    if (value > Tensor::kMaxBytes) is_sound_ = false;
    return is_sound_ ? static_cast<std::int64_t>(value) : 0;
  }
  DType dtype(const char* key) {
    const auto type = dtype_from_name(text(key));
    if (!type) is_sound_ = false;
    return type.value_or(DType::kFloat32);
  }
  Activations activations() {
    const std::string name = text("activations");
    if (name != kFloats && name != kBfloats) is_sound_ = false;
    return name == kBfloats ? Activations::kBFloat16 : Activations::kFloat32;
  }
  ContentHash hash(const char* key) {
    const std::string digits = text(key);
    ContentHash hash;
    if (digits.size() == 32) {
      std::from_chars(digits.data(), digits.data() + 16, hash.high, 16);
      std::from_chars(digits.data() + 16, digits.data() + 32, hash.low, 16);
    }
    if (hex(hash) != digits) is_sound_ = false;
    return hash;
  }
  bool is_sound() const { return is_sound_; }

 private:
  const Json* find(const char* key, bool (Json::*is_type)() const noexcept) {
    const auto found = is_sound_ ? object_.find(key) : object_.end();
    if (!is_sound_ || found == object_.end() || !((*found).*is_type)()) {
      is_sound_ = false;
      return nullptr;
    }
    return &*found;
  }

  const Json& object_;
  bool is_sound_ = true;
};

Json json_of(const PackedCache::Entry& entry) {
  const PackedKey& key = entry.key;
  return {{"name", key.name},
          {"stored", name_of(key.stored)},
          {"dtype", name_of(key.dtype)},
          {"outputs", key.outputs},
          {"depth", key.depth},
          {"activations", key.activations == Activations::kBFloat16 ? kBfloats : kFloats},
          {"source", hex(key.source)},
          {"layout", hex(key.layout)},
          {"stamp", hex(entry.stamp)},
          {"packed", hex(entry.packed)},
          {"bytes", entry.bytes.size()}};
}

std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

ContentHash hash_of_sample(DType dtype, std::int64_t outputs, std::int64_t depth,
                           Activations activations, fast::Context& context) {
  const DTypeInfo& type = info(dtype);
  const auto bytes = static_cast<std::size_t>(outputs * depth / type.lanes) * type.unit_bytes;
  std::vector<std::uint64_t> words((bytes + 7) / 8);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = mixed(i + 1);
  fast::LargePages packed(fast::packed_bytes(dtype, outputs, depth, context.isa(), activations));
  if (words.empty() || packed.size() == 0) return {};
  const fast::PackedMatrix matrix =
      fast::pack(reinterpret_cast<const std::byte*>(words.data()), dtype, outputs, depth,
                 {packed.data(), packed.size()}, context, activations);
  return content_hash({matrix.data, packed.size()}, context.pool());
}

}  // namespace

ContentHash PackedCache::layout_hash(DType dtype, std::int64_t outputs, std::int64_t depth,
                                     Activations activations, fast::Context& context) {
  // Panels are as wide as some registers: what is left in the last one counts, not how many.
  constexpr std::int64_t kPanels = 96;
  if (outputs > 2 * kPanels) outputs = kPanels + outputs % kPanels;
  const auto [found, is_new] = layouts_.try_emplace(std::tuple(dtype, outputs, depth, activations));
  if (is_new) found->second = hash_of_sample(dtype, outputs, depth, activations, context);
  return found->second;
}

Result<PackedCache> PackedCache::open(const std::string& path) {
  PackedCache cache;
  if (!file_exists(path)) return cache;
  auto file = MappedFile::open(path);
  if (!file) return std::move(file).error();
  cache.file_ = *std::move(file);
  if (auto read = cache.read_header(); !read) {
    return Error{read.error().code, fmt::format("'{}' {}", path, read.error().message)};
  }
  return cache;
}

Result<void> PackedCache::read_header() {
  const std::span<const std::byte> bytes = file_->bytes();
  const bool is_cache =
      bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!is_cache) {
    return Error{diag::kPackedCacheUnusable, "is no cache of packed weights and is left alone"};
  }
  if (bytes.size() < kFixed) {
    problem_ = "ends within its header";
    return {};
  }
  const auto length = number_at<std::uint64_t>(bytes, kMagic.size());
  if (length > bytes.size() - kFixed || length > kRules.max_bytes) {
    problem_ = "ends within its header";
    return {};
  }
  const auto header = bytes.subspan(kFixed, memory_size(length));
  fast::ThreadPool alone(1);
  const auto stated = number_at<ContentHash>(bytes, kMagic.size() + 8);
  nanoseconds_ = nanoseconds_of(stated);
  if (content_hash(header, alone) != stated) {
    problem_ = "has a damaged header";
    return {};
  }
  problem_ = read_entries({reinterpret_cast<const char*>(header.data()), header.size()});
  if (!problem_.empty()) entries_.clear();
  prefer_huge_pages(const_cast<std::byte*>(bytes.data()), bytes.size());
  return {};
}

/// Reads the entries. Returns the error, or an empty text.
std::string PackedCache::read_entries(std::string_view json) {
  const auto document = parse_strict_json(json, kRules);
  if (!document) return fmt::format("has a damaged header: {}", document.error().message);
  const auto toolkit = document->is_object() ? document->find("toolkit") : document->end();
  const auto list = document->is_object() ? document->find("matrices") : document->end();
  if (list == document->end() || !list->is_array() || toolkit == document->end())
    return "has a header of another form";
  if (*toolkit != kProjectVersion) return "was written by another version of the toolkit";
  const std::span<const std::byte> bytes = file_->bytes();
  std::uint64_t at = part_aligned(kFixed + json.size());
  for (const Json& object : *list) {
    EntryReader reader(object);
    Entry entry;
    entry.key = {.name = reader.text("name"),
                 .stored = reader.dtype("stored"),
                 .dtype = reader.dtype("dtype"),
                 .outputs = reader.extent("outputs"),
                 .depth = reader.extent("depth"),
                 .activations = reader.activations(),
                 .source = reader.hash("source"),
                 .layout = reader.hash("layout")};
    entry.packed = reader.hash("packed");
    entry.stamp = reader.hash("stamp");
    const std::uint64_t size = reader.number("bytes");
    if (!reader.is_sound()) return "has a header of another form";
    if (at > bytes.size() || size > bytes.size() - at) return "ends before its last matrix";
    entry.bytes = bytes.subspan(memory_size(at), memory_size(size));
    at = part_aligned(at + size);
    entries_.push_back(std::move(entry));
  }
  std::ranges::sort(entries_, {}, [](const Entry& entry) { return entry.key.name; });
  return {};
}

Result<void> PackedCache::write(const std::string& path, std::vector<Entry> entries,
                                fast::ThreadPool& pool) {
  Json header = {{"toolkit", kProjectVersion}, {"matrices", Json::array()}};
  for (Entry& entry : entries) {
    entry.packed = content_hash(entry.bytes, pool);
    header["matrices"].push_back(json_of(entry));
  }
  const std::string json = header.dump();
  const auto json_bytes = std::as_bytes(std::span(json));
  const std::uint64_t length = json.size();
  const ContentHash hash = content_hash(json_bytes, pool);
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  Result<void> written = file->write(kMagic);
  if (written) written = file->write(std::as_bytes(std::span(&length, 1)));
  if (written) written = file->write(std::as_bytes(std::span(&hash, 1)));
  if (written) written = file->write(json_bytes);
  for (const Entry& entry : entries) {
    const std::string padding(memory_size(part_aligned(file->size()) - file->size()), '\0');
    if (written) written = file->write(padding);
    if (written) written = file->write(entry.bytes);
  }
  // Without this time the next run computes all hashes.
  file->set_modified(nanoseconds_now() / kSecond * kSecond + nanoseconds_of(hash));
  return written ? file->commit() : written;
}

ContentHash PackedCache::stamp_of(std::span<const std::byte> bytes) {
  constexpr std::int64_t kCoarsest = 2'000'000'000;  // of times of files
  const auto stamp = mapping_stamp(bytes);
  if (!stamp || nanoseconds_now() - std::max(stamp->modified, stamp->changed) <= kCoarsest)
    return {};
  const auto place = static_cast<std::uint64_t>(bytes.data() - guarded_mapping(bytes).data());
  const std::uint64_t words[] = {stamp->device,
                                 stamp->inode,
                                 stamp->size,
                                 static_cast<std::uint64_t>(stamp->modified),
                                 static_cast<std::uint64_t>(stamp->changed),
                                 place,
                                 bytes.size()};
  fast::ThreadPool alone(1);
  return content_hash(std::as_bytes(std::span(words)), alone);
}

bool PackedCache::is_as_written() const {
  const auto stamp = mapping_stamp(mapping());
  return stamp && stamp->modified % kSecond == nanoseconds_;
}

const PackedCache::Entry* PackedCache::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      entries_, name, {}, [](const Entry& entry) { return std::string_view(entry.key.name); });
  return found == entries_.end() || found->key.name != name ? nullptr : &*found;
}

std::span<const std::byte> PackedCache::mapping() const {
  return file_ == nullptr ? std::span<const std::byte>() : file_->bytes();
}

}  // namespace mir
