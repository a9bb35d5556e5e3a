#include <unordered_set>

#include "recovery.hpp"

// One name per value. A dump names storages, so a region defines the same name several times; every
// definition but the first gets a fresh number.

namespace mir {

namespace {

void rename_in(Module& module, Region& region, std::unordered_set<std::uint32_t> seen) {
  const auto rename = [&](Value& value) {
    if (value.name().is_none() || !seen.insert(value.name().raw()).second) {
      value.set_name(module.fresh_name());
    }
  };
  for (Value* value : region.free_values()) rename(*value);
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Value& argument : block->arguments()) rename(argument);
    for (Op* op : block->ops()) {
      for (Value& result : op->results()) rename(result);
      const bool isolated = op->row() != nullptr && has(op->row()->traits, Trait::kIsolated);
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        rename_in(module, *inner, isolated ? std::unordered_set<std::uint32_t>() : seen);
      }
    }
  }
}

}  // namespace

void make_names_unique(Recovery& recovery) {
  rename_in(recovery.module, recovery.module.body(), {});
}

}  // namespace mir
