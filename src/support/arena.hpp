// Bump allocation for objects that live and die together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mir {

/// Owns memory that is released as a whole. Objects placed here are never destroyed one by one, so
/// only trivially destructible types are accepted. Addresses are stable. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  /// Uninitialised storage of `bytes` bytes, aligned to `alignment` (a power of two up to 16).
  void* allocate(std::size_t bytes, std::size_t alignment) {
    auto at = (cursor_ + alignment - 1) & ~std::uintptr_t(alignment - 1);
    if (at + bytes > limit_) [[unlikely]] {
      grow(bytes + alignment);
      at = (cursor_ + alignment - 1) & ~std::uintptr_t(alignment - 1);
    }
    cursor_ = at + bytes;
    return reinterpret_cast<void*>(at);
  }

  template <class T, class... Args>
  T* create(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  /// `count` value-initialised elements.
  template <class T>
  std::span<T> create_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0) return {};
    constexpr std::size_t kSize = sizeof(T);  // of pointers too; NOLINT(bugprone-sizeof-expression)
    auto* first = static_cast<T*>(allocate(count * kSize, alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }

  template <class T>
  std::span<T> copy(std::span<const T> from) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (from.empty()) return {};
    auto* first = static_cast<T*>(allocate(from.size_bytes(), alignof(T)));
    std::memcpy(static_cast<void*>(first), from.data(), from.size_bytes());
    return {first, from.size()};
  }

  std::string_view copy(std::string_view text) {
    auto chars = copy(std::span<const char>(text.data(), text.size()));
    return {chars.data(), chars.size()};
  }

  /// Bytes obtained from the system so far.
  std::size_t bytes_reserved() const { return reserved_; }

 private:
  struct Free {
    void operator()(std::byte* chunk) const { std::free(chunk); }
  };

  /// Takes a chunk of at least that many bytes. Large chunks ask for huge pages: filling them is
  /// bound by page faults otherwise. Throws std::bad_alloc.
  void grow(std::size_t at_least);

  std::uintptr_t cursor_ = 0;
  std::uintptr_t limit_ = 0;
  std::size_t reserved_ = 0;
  std::vector<std::unique_ptr<std::byte[], Free>> chunks_;
};

}  // namespace mir
