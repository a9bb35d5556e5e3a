// Caches of one run: what is appended counts only once the run has succeeded.
#pragma once

#include <array>
#include <cstdint>

#include "plan/execution_plan.hpp"

namespace mir {

/// Keys (0) and values (1) as [outer, capacity, inner], outer and inner being the extents before
/// and behind the one that counts tokens.
struct CacheBuffers {
  std::array<fast::LargePages, 2> bytes = {};
  DType dtype = DType::kFloat32;
  std::int64_t outer = 0, capacity = 0;
  std::array<std::int64_t, 2> inner = {};
  std::int64_t length = 0;   ///< after the last run that succeeded
  std::int64_t pending = 0;  ///< of the run at hand
};

class CacheAccess {
 public:
  /// Forgets what a run that failed has appended.
  explicit CacheAccess(CacheStore& store);

  struct Request {
    Symbol cache;
    DType dtype = DType::kFloat32;
    std::int64_t outer = 0, tokens = 0;
    std::array<std::int64_t, 2> inner = {};
    std::int64_t limit = -1;  ///< tokens at most, -1: any number
  };
  struct Tokens {
    std::array<std::byte*, 2> data;
    std::int64_t capacity = 0;
    std::int64_t held = 0;  ///< before the ones that are added
  };
  /// Room for `tokens` more behind those that the cache holds; they count from now on in this run.
  /// An error when it holds tensors of another type or other extents, or memory is short.
  Result<Tokens> append(const Request& request);
  /// Tokens that the cache holds now.
  std::int64_t pending(Symbol cache) const;

 private:
  CacheStore& store_;
};

}  // namespace mir
