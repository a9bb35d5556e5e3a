// The number of seeds that a property tries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace mir::test {

/// Subject of a property. Sanitizers find no wrong results, so they try fewer seeds of such a
/// property.
enum class About : bool { kResults, kMemory };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

/// Share of `all` seeds, but at least ten: a quarter. Sanitizers, which take ten times as long, try
/// an eighth, and of properties about results a sixteenth.
constexpr std::uint64_t share_of_seeds(std::uint64_t all, About about, bool is_sanitized) {
  constexpr std::uint64_t kFewest = 10;
  const std::uint64_t share = all / (!is_sanitized ? 4 : about == About::kMemory ? 8 : 16);
  return std::clamp(share, std::min(kFewest, all), all);
}

/// Of many like cases, such as one op in every element type, sanitizers try each one of so many.
inline constexpr std::size_t kCaseStride = kIsSanitized ? 7 : 1;

inline std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Number of seeds to try of `all`. MIR_TEST_SHARE=long tries all, MIR_SEEDS=N tries N.
inline std::uint64_t seed_count(std::uint64_t all, About about = About::kResults) {
  const char* const share = std::getenv("MIR_TEST_SHARE");
  const bool is_long = share != nullptr && std::string_view(share) == "long";
  return number_in_environment("MIR_SEEDS",
                               is_long ? all : share_of_seeds(all, about, kIsSanitized));
}

/// The seeds of a property, as many as seed_count() tells.
class Seeds {
 public:
  class Iterator {
   public:
    explicit Iterator(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t operator*() const { return seed_; }
    Iterator& operator++() {
      ++seed_;
      return *this;
    }
    friend bool operator==(Iterator a, Iterator b) = default;

   private:
    std::uint64_t seed_;
  };

  Seeds(std::uint64_t first, std::uint64_t count) : first_(first), count_(count) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(first_ + count_); }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t first_, count_;
};

/// Returns the seeds to try of `all`, from 0 on. MIR_FIRST_SEED=N begins at N.
inline Seeds seeds_of(std::uint64_t all, About about = About::kResults) {
  return {number_in_environment("MIR_FIRST_SEED", 0), seed_count(all, about)};
}

}  // namespace mir::test
