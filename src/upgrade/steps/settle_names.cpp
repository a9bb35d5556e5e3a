// Upgrade step: gives each value a name of its own.
#include <algorithm>
#include <unordered_set>

#include "upgrade/steps/recovery.hpp"

// One name per value. A dump names storages, so a region defines the same name several times; every
// definition but the first gets a fresh number.

namespace mir {

namespace {

/// True if upstream lets the op work in place, which the text of a view or a slice tells.
bool works_in_place(const Op& op, const Value& result) {
  if (!isa<LinalgOp>(&op) || result.name().is_none() || op.has(Trait::kView)) return false;
  return std::ranges::any_of(op.operand_uses(),
                             [&](const Use& use) { return use.value()->name() == result.name(); });
}

/// In place ops give values of their own, whose storage a dump would name again.
void note_in_place(Recovery& recovery) {
  walk<LinalgOp>(recovery.module, [&](LinalgOp op) {
    for (const Value& result : op->results()) {
      if (!works_in_place(*op.op(), result)) continue;
      recovery.note(*op.op(), LossEntry::Source::kDerived,
                    fmt::format("storage of result {}", result.index()), "its own");
    }
  });
}

void rename_in(Rewriter& rewriter, Region& region, std::unordered_set<std::uint32_t> seen) {
  const auto rename = [&](Value& value) {
    if (value.name().is_none() || !seen.insert(value.name().raw()).second) {
      rewriter.set_name(value, rewriter.module().fresh_name());
    }
  };
  for (Value* value : region.free_values()) rename(*value);
  for (Block* block : region.blocks()) {
    for (Value& argument : block->arguments()) rename(argument);
    for (Op* op : block->ops()) {
      for (Value& result : op->results()) rename(result);
      const bool isolated = op->has(Trait::kIsolated);
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        rename_in(rewriter, *inner, isolated ? std::unordered_set<std::uint32_t>() : seen);
      }
    }
  }
}

/// A name that the dump declares and that no op has got is gone with its declaration.
void note_unused_names(Recovery& recovery) {
  std::unordered_set<std::string_view> used;
  walk<LinalgOp>(recovery.module, [&](LinalgOp op) {
    if (op->has_path()) used.insert(recovery.text(op->path()));
  });
  for (const auto& [name, place] : recovery.notes.declared_names) {
    const std::string_view text = recovery.text(name);
    if (used.contains(text)) continue;
    recovery.report.entries.push_back({LossEntry::Source::kDropped, place, "linalg.register",
                                       "name of an op that nothing runs", std::string(text)});
  }
}

}  // namespace

void settle_names(Recovery& recovery) {
  note_unused_names(recovery);
  note_in_place(recovery);
  rename_in(recovery.rewriter, recovery.module.body(), {});
}

}  // namespace mir
