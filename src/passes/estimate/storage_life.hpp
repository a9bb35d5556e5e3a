// When the storages of values begin and end: what estimates count and plan-memory writes.
//
// note [storages]
// The results of an op have storages of their own, and views (Trait::kSameBytes) have that of their
// operand. Parameters, constants and the contents of caches are kept elsewhere and have none here.
// - A storage begins before the op that makes its value, and ends after the last op that reads it,
//   regions and views included.
// - The results of calls and of ops with regions were made inside: their storages begin after the
// op.
//   A value that is handed over at the end of a region does not end in it.
// - The arguments of a graph belong to its caller, and live as long as the graph runs. Those of
//   other regions have storages that begin with the region.
// - In a region of several blocks, values that several blocks use and the arguments of blocks live
//   as long as the region runs.
// - A graph.FusedOp is one kernel, which stores no values between its ops.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/storage_marks.hpp"
#include "mir/op.hpp"

namespace mir {

/// The storages of one graph and of the regions in it; nested graphs are not included. The IR must
/// not be edited meanwhile, except by ops that only show memory.
class StorageLife {
 public:
  explicit StorageLife(const Region& graph);

  /// True if the value has a storage that begins and ends in its region. See note [storages].
  bool has_storage(const Value& value) const;
  /// The value whose storage this one shares; itself if it shares none.
  const Value& storage_of(const Value& value);

  /// Storages that begin with a block, and those of them that nothing uses.
  std::span<const Value* const> beginning_with(const Block& block) const;
  std::span<const Value* const> unused_in(const Block& block) const;
  /// The results of an op with storages of their own, which begin with the op.
  std::vector<const Value*> made_by(const Op& op) const;
  /// True if these begin after the op.
  static bool begin_after(const Op& op);
  /// Storages that end before the op, which ends a block, or after it.
  std::span<const Value* const> ending_before(const Op& op) const;
  std::span<const Value* const> ending_after(const Op& op) const;
  /// Storages of a region of several blocks that end where the op leaves it, since the op does not
  /// hand them over. Each of the ops that leave a region has such a list: estimates, which end
  /// there, do without.
  std::vector<const Value*> kept_ending_before(const Op& op);

  /// True for ops that neither make nor use storages of the region: they declare something,
  /// describe other ops or show memory.
  static bool is_passed_over(const Op& op);

 private:
  using List = std::vector<const Value*>;
  /// The last op of a block that uses a storage.
  using LastUses = std::unordered_map<const Value*, const Op*>;

  void visit(const Region& region);
  void visit(const Block& block, const LastUses& last);
  LastUses last_uses(const Block& block);
  /// Storages of a region of several blocks that live as long as it runs, in text order.
  List kept_in(const Region& region, std::span<const LastUses> uses);
  template <class Visit>
  void for_each_use(const Op& op, const Visit& visit);
  const List& captured_by(const Op& op);

  std::unordered_map<const Value*, const Value*> storages_;  // of views
  std::unordered_set<const Value*> kept_;  // values that live as long as a region runs
  std::unordered_map<const Op*, List> captured_;
  std::unordered_map<const Block*, List> beginning_, unused_;
  std::unordered_map<const Op*, List> before_, after_;
};

/// The most bytes that are alive at once in a run of a region, without what is alive around it.
///
/// `Sizes` has an Amount and a Peak, whose defaults are zero, and:
///   Amount bytes_of(const Value&), void add(Amount&, Amount), void subtract(Amount&, Amount)
///   void raise(Peak&, Amount), void raise(Peak&, const Peak&, Amount more)
///   std::optional<Peak> peak_of_call(const Op&): of the graph that runs for an op, without its
///     arguments; no value if no graph does
///   Peak peak_in(const Region&, walk): the Peak that `walk()` returns for a region of an op, as it
///     is around the region, whose symbols may be others
template <class Sizes>
class PeakWalk {
 public:
  using Amount = typename Sizes::Amount;
  using Peak = typename Sizes::Peak;

  PeakWalk(const StorageLife& life, Sizes& sizes) : life_(life), sizes_(sizes) {}

  Peak peak_of(const Region& region) {
    Peak peak{};
    Amount kept{};
    for (const Block* block : region.blocks()) {
      Amount alive = kept;
      add(alive, life_.beginning_with(*block));
      // Only the first of several blocks begins storages.
      if (region.has_several_blocks()) kept = alive;
      sizes_.raise(peak, alive);
      subtract(alive, life_.unused_in(*block));
      for (const Op* op : block->ops()) visit(*op, alive, peak);
    }
    return peak;
  }

 private:
  void visit(const Op& op, Amount& alive, Peak& peak) {
    if (StorageLife::is_passed_over(op)) return;
    subtract(alive, life_.ending_before(op));
    sizes_.raise(peak, inside(op), alive);
    add(alive, life_.made_by(op));
    sizes_.raise(peak, alive);
    subtract(alive, life_.ending_after(op));
  }

  void add(Amount& alive, std::span<const Value* const> values) {
    for (const Value* each : values) sizes_.add(alive, sizes_.bytes_of(*each));
  }
  void subtract(Amount& alive, std::span<const Value* const> values) {
    for (const Value* each : values) sizes_.subtract(alive, sizes_.bytes_of(*each));
  }

  /// Memory that an op needs while it runs, besides its operands and results.
  Peak inside(const Op& op) {
    if (const auto call = sizes_.peak_of_call(op)) return *call;
    Peak most{};
    for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
      const auto walk = [&] {
        return op.is(OpId::kGraphFused) ? in_kernel(*region) : peak_of(*region);
      };
      sizes_.raise(most, sizes_.peak_in(*region, walk), {});
    }
    return most;
  }

  /// Only graphs that a kernel calls need memory.
  Peak in_kernel(const Region& region) {
    Peak most{};
    for (const Block* block : region.blocks()) {
      for (const Op* op : block->ops()) {
        if (const auto call = sizes_.peak_of_call(*op)) {
          sizes_.raise(most, *call, {});
          continue;
        }
        for (const Region* in = op->first_region(); in != nullptr; in = in->next()) {
          sizes_.raise(most, in_kernel(*in), {});
        }
      }
    }
    return most;
  }

  const StorageLife& life_;
  Sizes& sizes_;
};

}  // namespace mir
