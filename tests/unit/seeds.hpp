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

/// Share of `all` seeds, but at least ten: a quarter, or a sixteenth if sanitizers watch results.
constexpr std::uint64_t share_of_seeds(std::uint64_t all, About about, bool is_sanitized) {
  constexpr std::uint64_t kFewest = 10;
  const std::uint64_t share = all / (is_sanitized && about == About::kResults ? 16 : 4);
  return std::clamp(share, std::min(kFewest, all), all);
}

/// Number of seeds to try of `all`. MIR_TEST_SHARE=long tries all, MIR_SEEDS=N tries N.
inline std::uint64_t seed_count(std::uint64_t all, About about = About::kResults) {
  if (const char* const wanted = std::getenv("MIR_SEEDS"); wanted != nullptr) {
    return std::strtoull(wanted, nullptr, 10);
  }
  const char* const share = std::getenv("MIR_TEST_SHARE");
  if (share != nullptr && std::string_view(share) == "long") return all;
  return share_of_seeds(all, about, kIsSanitized);
}

}  // namespace mir::test
