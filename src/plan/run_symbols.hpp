// Symbols whose values a run knows before it computes anything.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "eval/cache_store.hpp"
#include "plan/binder.hpp"
#include "plan/schedule.hpp"

namespace mir {

class RunSymbols {
 public:
  explicit RunSymbols(const Schedule& schedule);

  /// The symbols of inputs, and those that bind() binds if these are bound.
  bool is_known(Symbol symbol) const { return known_.contains(symbol); }

  /// True if a run of this region of a control flow op gives the symbol a value of its own, instead
  /// of taking over the one that it has around the op. These are symbols of `past`, and of extents
  /// that results determine. A symbol in the type of a value that enters or leaves the region has
  /// one value on both sides; in a block, only a symbol in the type of a value that enters it,
  /// unless branches pass different extents for it. A
  /// graph has a value of its own for each symbol that belongs to it.
  bool is_own(Symbol symbol) const { return own_.contains(symbol); }

  /// A contradiction to the length of a cache, and the step on the cache.
  struct Problem {
    std::size_t step = 0;
    Error error;
  };
  /// Binds the symbols of `past`: that of the first step on each cache is the number of tokens that
  /// it holds. The symbols of inputs are bound.
  std::optional<Problem> bind(Binder& binder, const CacheStore& caches,
                              const IRContext& context) const;
  /// Like bind(), only for the lengths of caches after the last run. Values that contradict others
  /// are left out.
  void bind_caches_that_fit(Binder& binder, const CacheStore& caches) const;

 private:
  /// The first step on a cache whose length is a symbol, or an extent of several.
  struct CacheLength {
    std::size_t step = 0;
    Symbol cache;
    Dim past;
  };
  void find_cache_lengths(const Schedule& schedule);
  void find_known(const Schedule& schedule);
  void find_own(const Schedule& schedule);

  std::vector<CacheLength> cache_lengths_;
  std::unordered_set<Symbol> known_;
  std::unordered_set<Symbol> own_;
};

}  // namespace mir
