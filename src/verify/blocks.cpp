// Checks blocks, their ends and successors.
#include <unordered_set>

#include "ir/dominance_by_graph.hpp"
#include "mir/dominance.hpp"
#include "mir/walk.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

std::string_view name_of(const Op& op, const Block& block) {
  return text(op, block.name());
}

/// A successor against the block.
void check_successor(const Op& op, const OpExtra::Successor& successor, Reporter& reporter) {
  const auto arguments = successor.block->arguments();
  if (successor.operand_count != arguments.size()) {
    reporter.report(ConstraintId::block_c5, op, [&] {
      return fmt::format("successor '^{}' passes {} values, the block takes {}",
                         text(op, successor.name()), successor.operand_count, arguments.size());
    });
    return;
  }
  const JoinedExtents joined = JoinedExtents::at_block(op, successor);
  for (std::uint32_t i = 0; i < successor.operand_count; ++i) {
    const Type* given = op.operand(successor.first_operand + i)->type();
    const Type* wanted = joined.as_passed(arguments[i].type());
    if (given == nullptr || wanted == nullptr || reporter.agree(given, wanted)) continue;
    reporter.report(ConstraintId::block_c5, op, [&] {
      return fmt::format("value {} for successor '^{}' is {}, the block takes {}", i,
                         text(op, successor.name()), given->spelling(), wanted->spelling());
    });
  }
  passed_ranges(joined.extents(), ConstraintId::block_c5, op, reporter);
}

void check_successors(const Op& op, Reporter& reporter) {
  const auto successors = op.extra().successors;
  if (successors.empty()) return;
  if (op.next() != nullptr) {
    reporter.report(ConstraintId::block_c6, op, [&] {
      return fmt::format("'{}' has successors and is not the last operation of its block",
                         op.name());
    });
  }
  for (const OpExtra::Successor& successor : successors) {
    if (successor.block != nullptr && successor.block->parent() == op.parent_region()) {
      check_successor(op, successor, reporter);
      continue;
    }
    reporter.report(ConstraintId::block_c4, op, [&] {
      return fmt::format("no block of this region is named '^{}'", text(op, successor.name()));
    });
  }
}

/// True if control can leave a block at its end: by successors, a terminator, or an unknown op.
bool leads_on(const Block& block) {
  const Op* last = block.back();
  return last != nullptr && (last->row() == nullptr || !last->extra().successors.empty() ||
                             block.terminator() != nullptr);
}

class BlockChecks {
 public:
  explicit BlockChecks(Reporter& reporter) : reporter_(reporter) {}

  void run(const Module& module) {
    for_each_region(module, [&](const Region& region) {
      if (region.has_several_blocks()) check_blocks(region);
    });
    for_each_op(module, [&](const Op& op) { check_successors(op, reporter_); });
  }

 private:
  void check_blocks(const Region& region) {
    std::unordered_set<Symbol> names;
    for (const Block* block : region.blocks()) {
      // Text gives a block without a name one of its own.
      check_block(region, *block, !block->name() || names.insert(block->name()).second);
    }
  }

  void check_block(const Region& region, const Block& block, bool is_new) {
    // A block without ops has no place of its own.
    const Op& at = block.empty() ? *region.parent() : *block.front();
    if (!is_new) {
      reporter_.report(ConstraintId::block_c7, at, [&] {
        return fmt::format("two blocks of this region are named '^{}'", name_of(at, block));
      });
    }
    if (!leads_on(block)) {
      reporter_.report(ConstraintId::block_c3, block.empty() ? at : *block.back(), [&] {
        return fmt::format("block '^{}' ends without a terminator", name_of(at, block));
      });
    }
    if (!reporter_.wants(ConstraintId::block_c8)) return;
    if (dominances_.around(region).is_reachable(block)) return;
    reporter_.report(ConstraintId::block_c8, at, [&] {
      return fmt::format("no path from the entry reaches block '^{}'", name_of(at, block));
    });
  }

  Reporter& reporter_;
  DominanceByGraph dominances_;
};

}  // namespace

void blocks(const Census& census, Reporter& reporter) {
  if (!census.has_flow) return;
  BlockChecks(reporter).run(reporter.module());
}

}  // namespace mir::checks
