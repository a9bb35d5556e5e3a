// Collects the values that blocks use but do not define.
#include "plan/captured_values.hpp"

#include <unordered_set>

#include "ir/storage_marks.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

bool is_global(const Value& value) {
  const Op* definition = value.defining_op();
  return value.is_free() || (definition != nullptr && isa<RegisterOp>(definition));
}

std::vector<const Value*> captured_by(std::span<const Block* const> blocks) {
  std::unordered_set<const Value*> inside, seen;
  std::vector<const Value*> captured;
  const auto enter = [&](const Block& block) {
    for (const Value& argument : block.arguments()) inside.insert(&argument);
  };
  const auto for_each = [&](const auto& visit) {
    for (const Block* block : blocks) {
      for (const Op* op : block->ops()) {
        visit(*op);
        for (const Region* region = op->first_region(); region != nullptr;
             region = region->next()) {
          for_each_op(*region, visit);
        }
      }
    }
  };
  for (const Block* block : blocks) enter(*block);
  for_each([&](const Op& each) {
    for (const Value& result : each.results()) inside.insert(&result);
    for (const Region* nested = each.first_region(); nested != nullptr; nested = nested->next()) {
      for (const Block* block : nested->blocks()) enter(*block);
    }
  });
  for_each([&](const Op& each) {
    if (only_shows_memory(each)) return;
    for (const Use& use : each.operand_uses()) {
      const Value* value = use.value();
      if (inside.contains(value) || is_global(*value) || !seen.insert(value).second) continue;
      captured.push_back(value);
    }
  });
  return captured;
}

}  // namespace mir
