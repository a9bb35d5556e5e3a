// Meaning of value names, region by region.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// Names of the regions that are open. Entering an isolated region hides every outer name; leaving
/// a region restores what its definitions hid.
class ValueScopes {
 public:
  void enter(bool isolated) {
    scopes_.push_back({log_.size(), next_definition_, floor_});
    if (isolated) floor_ = next_definition_;
  }

  void leave() {
    while (log_.size() > scopes_.back().log_size) {
      const Undo& undo = log_.back();
      entry_of(undo.name) = undo.previous;
      log_.pop_back();
    }
    floor_ = scopes_.back().outer_floor;
    scopes_.pop_back();
  }

  /// The value a name means now; null when none is visible.
  Value* find(ValueName name) {
    const Entry& entry = entry_of(name);
    return entry.definition > floor_ ? entry.value : nullptr;
  }

  /// Calls `visit(name)` for each name that is visible now, some of them more than once.
  template <class Visit>
  void for_each_name(const Visit& visit) {
    for (const Undo& undo : log_) {
      if (find(undo.name) != nullptr) visit(undo.name);
    }
  }

  /// True if the innermost region itself defines the name.
  bool defined_here(ValueName name) {
    return entry_of(name).definition > scopes_.back().first_definition;
  }

  void define(ValueName name, Value* value) {
    Entry& entry = entry_of(name);
    log_.push_back({name, entry});
    entry = {value, ++next_definition_};
  }

 private:
  struct Entry {
    Value* value = nullptr;
    std::uint64_t definition = 0;  // running number; 0: never defined
  };
  struct Undo {
    ValueName name;
    Entry previous;
  };
  struct Scope {
    std::size_t log_size;
    std::uint64_t first_definition;  // larger numbers are made in this region or inside it
    std::uint64_t outer_floor;
  };

  using Page = std::array<Entry, 1024>;

  Entry& entry_of(ValueName name) {
    constexpr std::uint32_t kDirect = 1u << 24;
    if (name.raw() >= kDirect) return others_[name.raw()];
    const std::size_t page = name.raw() / std::tuple_size_v<Page>;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[name.raw() % std::tuple_size_v<Page>];
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::unordered_map<std::uint32_t, Entry> others_;
  std::vector<Undo> log_;
  std::vector<Scope> scopes_;
  std::uint64_t next_definition_ = 0;
  std::uint64_t floor_ = 0;  // definitions numbered up to here are hidden
};

}  // namespace mir
