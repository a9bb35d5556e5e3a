// Ids of two texts that stand for each other: storages, and quantisation specs by their uuid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mir/module.hpp"

namespace mir {

class SameIds {
 public:
  /// Whether the names stand for each other; names met for the first time do from now on. Names
  /// that are no numbers stand for themselves.
  bool pair_storages(ValueName before, ValueName after);

  /// Whether the symbols stand for each other: those of constants by their storages.
  bool pair_symbols(std::string_view before, std::string_view after);

  /// Whether two values of one attribute are equal up to ids, which are paired as they are met.
  bool are_alike(std::string_view key, const Attr& before, const Attr& after);

 private:
  class Pairs {
   public:
    bool pair(std::int64_t before, std::int64_t after) {
      const auto [to, fresh] = forth_.emplace(before, after);
      const auto [from, unused] = back_.emplace(after, before);
      return to->second == after && from->second == before;
    }

   private:
    std::unordered_map<std::int64_t, std::int64_t> forth_, back_;
  };

  bool are_alike(const Attr& before, const Attr& after);

  Pairs storages_, specs_;
};

/// The text of an attribute without the uuids in it, and without the number of `constant_<n>`.
std::string without_ids(const Attr* attribute);
/// A symbol without the storage id that upstream puts into those of constants: `constant_<n>`.
std::string without_id(std::string_view symbol);

}  // namespace mir
