// Packs weights into shared blocks of memory, or takes them from a cache file.
#include "plan/packed_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/limits.hpp"
#include "mir/codes/verification.hpp"
#include "plan/packed_cache.hpp"
#include "support/platform/mapped_file.hpp"
#include "support/platform/memory.hpp"

namespace mir {

namespace {

/// Small matrices share blocks, so that each needs no large page of its own.
constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20;
/// Where memory that is never written takes pages all the same.
constexpr std::uint64_t kSmallBlockBytes = std::uint64_t{1} << 20;

}  // namespace

/// Matrices in a file from one session to the next.
struct PackedWeights::Kept {
  struct Wanted {
    PackedKey key;
    ContentHash stamp;
  };

  std::string path;
  PackedCache file;
  bool trusts_times = true;                        // of files: otherwise all hashes are computed
  std::unordered_map<Symbol, Wanted> wanted = {};  // what the file shall have
  bool lacks = false;                              // some of them
  std::string problem = {};

  /// Returns the bytes of a matrix in the file if they are intact; empty if the file has other
  /// bytes.
  std::span<const std::byte> find(const PackedKey& key, fast::Context& context);
};

PackedWeights::PackedWeights() = default;
PackedWeights::~PackedWeights() = default;

Result<std::span<std::byte>> PackedWeights::allocate(std::size_t bytes) {
  if (blocks_.empty() || blocks_.back().size() - used_ < bytes) {
    // Memory that is never written takes no pages; but a system may refuse to promise that much.
    const std::uint64_t missing = expected_ - std::min(expected_, bytes_);
    const std::uint64_t shared = pages_are_lazy() ? kBlockBytes : kSmallBlockBytes;
    fast::LargePages block(std::max<std::uint64_t>({bytes, shared, missing}));
    if (block.size() < bytes) block = fast::LargePages(bytes);
    if (block.size() < bytes) {
      return Error{diag::kLimitExceeded, fmt::format("no memory for weights of {} bytes", bytes)};
    }
    blocks_.push_back(std::move(block));
    used_ = 0;
  }
  const std::span<std::byte> part(blocks_.back().data() + used_, bytes);
  used_ += bytes;
  bytes_ += bytes;
  return part;
}

void PackedWeights::expect(std::uint64_t bytes) {
  expected_ = bytes;
}

const fast::PackedMatrix* PackedWeights::find(const PackedSource& source) const {
  const auto found = matrices_.find(source);
  return found == matrices_.end() ? nullptr : found->second.get();
}

Result<const fast::PackedMatrix*> PackedWeights::pack(const PackedSource& source,
                                                      const Tensor& tensor, std::int64_t outputs,
                                                      std::int64_t depth, fast::Context& context,
                                                      Activations activations) {
  const auto [found, is_new] = matrices_.try_emplace(source);
  if (!is_new) {
    if (found->second->outputs == outputs && found->second->depth == depth &&
        found->second->activations == activations) {
      return const_cast<const fast::PackedMatrix*>(found->second.get());
    }
    return Error{diag::kParameterSize, "a weight is used in two ways"};
  }
  std::int64_t elements = 0;
  const bool fits = !__builtin_mul_overflow(outputs, depth, &elements) && outputs >= 0 &&
                    depth >= 0 && elements == tensor.elements();
  auto memory =
      fits
          ? allocate(fast::packed_bytes(tensor.dtype(), outputs, depth, context.isa(), activations))
          : Result<std::span<std::byte>>(Error{
                diag::kParameterSize, fmt::format("a weight of {} elements is used as [{}, {}]",
                                                  tensor.elements(), outputs, depth)});
  if (!memory) {
    matrices_.erase(found);
    return std::move(memory).error();
  }
  found->second = std::make_unique<fast::PackedMatrix>(fast::pack(
      tensor.bytes().data(), tensor.dtype(), outputs, depth, *memory, context, activations));
  // The packed form is what runs read; of a file that is mapped nothing need stay in memory.
  forget_pages(tensor.bytes());
  return const_cast<const fast::PackedMatrix*>(found->second.get());
}

Result<void> PackedWeights::open_cache(const std::string& path, bool trusts_times) {
  auto cache = PackedCache::open(path);
  if (!cache) return std::move(cache).error();
  kept_ = std::make_unique<Kept>(Kept{.path = path, .file = *std::move(cache)});
  kept_->trusts_times = trusts_times;
  kept_->problem = kept_->file.problem();
  return {};
}

const fast::PackedMatrix* PackedWeights::take(Symbol parameter, std::string_view name,
                                              const WeightOrigin& origin, std::int64_t outputs,
                                              std::int64_t depth, fast::Context& context,
                                              Activations activations) {
  const bool may = outputs > 0 && depth > 0 && fast::is_packable(origin.dtype, depth) &&
                   !kept_->wanted.contains(parameter);
  if (!may) return nullptr;
  const ContentHash stamp = PackedCache::stamp_of(origin.stored.bytes());
  const PackedCache::Entry* const entry = kept_->file.find(name);
  const bool is_unchanged =
      kept_->trusts_times && entry != nullptr && entry->stamp == stamp && stamp != ContentHash();
  const PackedKey key = {
      .name = std::string(name),
      .stored = origin.stored.dtype(),
      .dtype = origin.dtype,
      .outputs = outputs,
      .depth = depth,
      .activations = activations,
      .source =
          is_unchanged ? entry->key.source : content_hash(origin.stored.bytes(), context.pool()),
      .layout = kept_->file.layout_hash(origin.dtype, outputs, depth, activations, context)};
  if (!is_unchanged) forget_pages(origin.stored.bytes());
  const auto kept = kept_->find(key, context);
  kept_->wanted.emplace(parameter, Kept::Wanted{key, stamp});
  if (kept.empty()) {
    kept_->lacks = true;
    return nullptr;
  }
  bytes_ += kept.size();
  auto& matrix = matrices_[parameter];
  matrix = std::make_unique<fast::PackedMatrix>(fast::PackedMatrix{.data = kept.data(),
                                                                   .dtype = origin.dtype,
                                                                   .outputs = outputs,
                                                                   .depth = depth,
                                                                   .activations = activations});
  return matrix.get();
}

std::span<const std::byte> PackedWeights::Kept::find(const PackedKey& key, fast::Context& context) {
  const PackedCache::Entry* const entry = file.find(key.name);
  if (entry == nullptr || entry->key != key) return {};
  const std::size_t bytes =
      fast::packed_bytes(key.dtype, key.outputs, key.depth, context.isa(), key.activations);
  const bool is_intact =
      entry->bytes.size() == bytes && ((trusts_times && file.is_as_written()) ||
                                       content_hash(entry->bytes, context.pool()) == entry->packed);
  if (is_intact) return entry->bytes;
  problem = "is damaged";
  return {};
}

Result<void> PackedWeights::write_cache(fast::Context& context) {
  if (!kept_->lacks) return {};
  std::vector<PackedCache::Entry> entries;
  for (const auto& [parameter, wanted] : kept_->wanted) {
    const PackedKey& key = wanted.key;
    const fast::PackedMatrix* const matrix = find(parameter);
    if (matrix == nullptr) continue;  // it was asked for and could not be used
    const std::size_t bytes =
        fast::packed_bytes(key.dtype, key.outputs, key.depth, context.isa(), key.activations);
    entries.push_back(
        {.key = key, .bytes = {matrix->data, bytes}, .packed = {}, .stamp = wanted.stamp});
  }
  if (entries.empty()) return {};
  kept_->lacks = false;
  std::ranges::sort(entries, {}, [](const auto& entry) { return entry.key.name; });
  return PackedCache::write(kept_->path, std::move(entries), context.pool());
}

std::string PackedWeights::cache_problem() const {
  return kept_ == nullptr ? std::string() : kept_->problem;
}

std::span<const std::byte> PackedWeights::cache_mapping() const {
  return kept_ == nullptr ? std::span<const std::byte>() : kept_->file.mapping();
}

}  // namespace mir
