// Stores keys and values of caches in memory that grows by doubling.
#include "eval/cache_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "kernels/fast/large_pages.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/tensor.hpp"

namespace mir {

namespace {

/// Tokens that a cache without a limit has room for at first.
constexpr std::int64_t kFirstCapacity = 256;

/// No value if the product needs more than 63 bits.
std::optional<std::int64_t> product(std::span<const std::int64_t> extents) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(elements, extent, &elements)) return std::nullopt;
  }
  return elements;
}

}  // namespace

/// Keys or values.
struct CacheStore::CachedTensor {
  DType dtype = DType::kFloat32;
  Shape extents = {};  // what was appended first; that of the axis means nothing
  std::int64_t outer = 0;
  std::int64_t row_bytes = 0;
  fast::LargePages bytes = {};

  /// True if tensors of this type and these extents can be appended along `axis`.
  bool takes(DType given_dtype, std::span<const std::int64_t> given, std::size_t axis) const {
    if (given_dtype != dtype || given.size() != extents.size()) return false;
    for (std::size_t dim = 0; dim < given.size(); ++dim) {
      if (dim != axis && given[dim] != extents[dim]) return false;
    }
    return true;
  }
  /// Memory for so many tokens with the first `held` of them copied; empty when it is short.
  fast::LargePages grown(std::int64_t tokens, std::int64_t capacity, std::int64_t held) const;
};

fast::LargePages CacheStore::CachedTensor::grown(std::int64_t tokens, std::int64_t capacity,
                                                 std::int64_t held) const {
  std::int64_t size = row_bytes;
  const bool fits = !__builtin_mul_overflow(size, outer, &size) &&
                    !__builtin_mul_overflow(size, tokens, &size) &&
                    static_cast<std::uint64_t>(size) <= Tensor::kMaxBytes;
  if (!fits) return {};
  const auto bytes_needed = static_cast<std::uint64_t>(size);
  fast::LargePages pages(bytes_needed);
  if (pages.size() < bytes_needed) return {};
  for (std::int64_t o = 0; o < outer && held * row_bytes > 0; ++o) {
    std::memcpy(pages.data() + o * tokens * row_bytes, bytes.data() + o * capacity * row_bytes,
                static_cast<std::size_t>(held * row_bytes));
  }
  return pages;
}

struct CacheStore::Buffers {
  std::array<CachedTensor, 2> tensors = {};
  std::size_t axis = 0;
  std::int64_t capacity = 0;
  std::int64_t length = 0;                                // after the last commit
  std::int64_t pending = 0;                               // with what was appended since
  std::vector<std::int64_t> lengths = {}, pendings = {};  // `length` and `pending` by sequence
  std::vector<std::int64_t> used = {};  // by sequence: memory after so many tokens is 0

  Result<void> admit(const Request& request);
  Result<void> begin(const Request& request);
  bool grow(std::int64_t tokens);
  Tokens tokens(std::int64_t held) const;
  void add(const Request& request, std::int64_t end);
  void clear_memory(std::size_t sequence, std::int64_t first, std::int64_t end);
};

/// Checks that the request fits the contents of the cache. An empty cache takes any tensors.
Result<void> CacheStore::Buffers::admit(const Request& request) {
  const auto takes = [&](std::size_t i) {
    return axis == request.axis &&
           tensors[i].takes(request.dtypes[i], request.extents[i], request.axis);
  };
  if (takes(0) && takes(1)) return {};
  if (pending == 0) return begin(request);
  const std::size_t wrong = takes(0) ? 1 : 0;
  Shape held = tensors[wrong].extents;
  held[axis] = pending;
  return Error{
      diag::kCacheMismatch,
      fmt::format("the cache holds {} [{}], a step adds {} [{}]", name_of(tensors[wrong].dtype),
                  fmt::join(held, ", "), name_of(request.dtypes[wrong]),
                  fmt::join(request.extents[wrong], ", "))};
}

/// An empty cache of the request's tensors.
Result<void> CacheStore::Buffers::begin(const Request& request) {
  std::array<CachedTensor, 2> fresh;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const auto extents = request.extents[i];
    const auto outer = product(extents.first(request.axis));
    const auto row = product(extents.subspan(request.axis + 1));
    if (!outer || !row)
      return Error{diag::kLimitExceeded, "a cache has too many elements in one token"};
    const auto bytes = storage_bytes(request.dtypes[i], static_cast<std::uint64_t>(*row));
    if (!bytes || *row % info(request.dtypes[i]).lanes != 0) {
      return Error{diag::kNotExecutable, "a cache cannot cut blocks of elements"};
    }
    fresh[i] = {.dtype = request.dtypes[i],
                .extents = Shape(extents.begin(), extents.end()),
                .outer = *outer,
                .row_bytes = static_cast<std::int64_t>(*bytes)};
  }
  tensors = std::move(fresh);
  axis = request.axis;
  capacity = 0;
  const auto sequences = static_cast<std::size_t>(axis == 0 ? 1 : request.extents[0][0]);
  for (auto* const list : {&lengths, &pendings, &used}) list->assign(sequences, 0);
  return {};
}

/// Makes room for so many tokens; false when memory is short.
bool CacheStore::Buffers::grow(std::int64_t wanted) {
  std::array<fast::LargePages, 2> grown;
  for (std::size_t i = 0; i < grown.size(); ++i) {
    grown[i] = tensors[i].grown(wanted, capacity, pending);
    // The product of these can be too large for a number.
    const bool is_empty = tensors[i].row_bytes == 0 || tensors[i].outer == 0 || wanted == 0;
    if (grown[i].size() == 0 && !is_empty) return false;
  }
  for (std::size_t i = 0; i < grown.size(); ++i) tensors[i].bytes = std::move(grown[i]);
  capacity = wanted;
  for (std::int64_t& each : used) each = std::min(each, pending);
  return true;
}

CacheStore::Tokens CacheStore::Buffers::tokens(std::int64_t held) const {
  Tokens tokens{.parts = {}, .capacity = capacity, .held = held, .added = pending - held};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tokens.parts[i] = {tensors[i].bytes.data(), tensors[i].outer, tensors[i].row_bytes};
  }
  return tokens;
}

/// Clears the memory of some tokens of a sequence.
void CacheStore::Buffers::clear_memory(std::size_t sequence, std::int64_t first, std::int64_t end) {
  for (const CachedTensor& tensor : tensors) {
    const std::int64_t outer = tensor.outer / std::ssize(used);
    for (std::int64_t o = 0; o < outer && first < end; ++o) {
      const std::int64_t row = (static_cast<std::int64_t>(sequence) * outer + o) * capacity + first;
      std::memset(tensor.bytes.data() + row * tensor.row_bytes, 0,
                  static_cast<std::size_t>((end - first) * tensor.row_bytes));
    }
  }
}

/// Counts the request's tokens; `end` is where its results end.
void CacheStore::Buffers::add(const Request& request, std::int64_t end) {
  if (request.counts.empty()) {
    pending = end;
    for (std::size_t i = 0; i < pendings.size(); ++i) {
      pendings[i] = end;
      used[i] = std::max(used[i], end);
    }
    return;
  }
  for (std::size_t i = 0; i < pendings.size(); ++i) {
    pendings[i] += request.counts[i];
    pending = std::max(pending, pendings[i]);
    clear_memory(i, pendings[i], std::min(end, used[i]));
    if (used[i] <= end) used[i] = pendings[i];
  }
}

CacheStore::CacheStore() = default;
CacheStore::~CacheStore() = default;

std::vector<std::int64_t> CacheStore::pending_of_each(Symbol cache, std::int64_t sequences) const {
  const auto found = caches_.find(cache);
  std::vector<std::int64_t> each(static_cast<std::size_t>(sequences), 0);
  // Other numbers of sequences are refused when the cache gets tokens.
  if (found != caches_.end() && found->second->pendings.size() == each.size())
    each = found->second->pendings;
  return each;
}

std::int64_t CacheStore::length(Symbol cache) const {
  const auto found = caches_.find(cache);
  return found == caches_.end() ? 0 : found->second->length;
}

std::int64_t CacheStore::pending(Symbol cache) const {
  const auto found = caches_.find(cache);
  return found == caches_.end() ? 0 : found->second->pending;
}

Result<CacheStore::Tokens> CacheStore::append(const Request& request) {
  auto& held = caches_[request.cache];
  if (held == nullptr) held = std::make_unique<Buffers>();
  Buffers& cache = *held;
  if (auto ok = cache.admit(request); !ok) return std::move(ok).error();
  const bool are_equal =
      std::ranges::all_of(cache.pendings, [&](std::int64_t each) { return each == cache.pending; });
  if (request.counts.empty() && !are_equal)
    return Error{diag::kCacheMismatch,
                 "its sequences have different lengths, and a step has no positions"};
  const std::int64_t before = cache.pending;
  const std::int64_t needed = before + request.extents[0][request.axis];
  if (needed > cache.capacity) {
    // Padding may reach beyond the limit; no step comes after those tokens.
    std::int64_t capacity = std::max(2 * cache.capacity, kFirstCapacity);
    if (request.limit >= 0) capacity = std::min(capacity, request.limit);
    capacity = std::max(capacity, needed);
    if (!cache.grow(capacity)) {
      return Error{diag::kLimitExceeded,
                   fmt::format("there is no memory for a cache of {} tokens", capacity)};
    }
  }
  cache.add(request, needed);
  Tokens tokens = cache.tokens(before);
  tokens.added = needed - before;
  return tokens;
}

void CacheStore::replace(Symbol cache, std::size_t which, std::span<const std::byte> all) {
  const Buffers& held = *caches_.at(cache);
  const CachedTensor& tensor = held.tensors[which];
  const auto row = static_cast<std::size_t>(held.pending * tensor.row_bytes);
  for (std::int64_t o = 0; o < tensor.outer && row > 0; ++o) {
    std::memcpy(tensor.bytes.data() + o * held.capacity * tensor.row_bytes,
                all.data() + static_cast<std::size_t>(o) * row, row);
  }
}

void CacheStore::commit() {
  for (auto& [name, cache] : caches_) {
    cache->length = cache->pending;
    cache->lengths = cache->pendings;
  }
}

void CacheStore::rollback() {
  for (auto& [name, cache] : caches_) {
    cache->pending = cache->length;
    cache->pendings = cache->lengths;
  }
}

void CacheStore::clear() {
  for (auto& [name, cache] : caches_) {
    cache->length = cache->pending = 0;
    std::ranges::fill(cache->lengths, 0);
    std::ranges::fill(cache->pendings, 0);
  }
}

std::vector<Symbol> CacheStore::names() const {
  std::vector<Symbol> names;
  for (const auto& [name, cache] : caches_) {
    if (cache->length > 0) names.push_back(name);
  }
  return names;
}

bool CacheStore::has_equal_lengths(Symbol cache) const {
  const Buffers& held = *caches_.at(cache);
  return std::ranges::count(held.lengths, held.length) == std::ssize(held.lengths);
}

std::size_t CacheStore::axis(Symbol cache) const {
  return caches_.at(cache)->axis;
}

Result<Tensor> CacheStore::contents(Symbol cache, std::size_t which) const {
  const Buffers& held = *caches_.at(cache);
  const CachedTensor& tensor = held.tensors[which];
  Shape shape = tensor.extents;
  shape[held.axis] = held.length;
  auto all = Tensor::allocate(tensor.dtype, std::move(shape));
  if (!all) return all;
  const auto row = static_cast<std::size_t>(held.length * tensor.row_bytes);
  for (std::int64_t o = 0; o < tensor.outer && row > 0; ++o) {
    std::memcpy(all->mutable_bytes() + static_cast<std::size_t>(o) * row,
                tensor.bytes.data() + o * held.capacity * tensor.row_bytes, row);
  }
  return all;
}

std::uint64_t CacheStore::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [name, cache] : caches_) {
    for (const CachedTensor& tensor : cache->tensors) {
      bytes += tensor.outer * cache->length * tensor.row_bytes;
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace mir
