// Describes the number of blocks of a region in messages.
#include "ir/block_count.hpp"

#include <fmt/format.h>

#include <iterator>

#include "mir/module.hpp"

namespace mir {

namespace {

std::string describe_owner(const Op& op) {
  const std::string_view symbol = op.module().context().text(op.symbol());
  if (&op == op.module().top()) return fmt::format("module '{}'", symbol);
  if (op.is(OpId::kGraphSubGraph)) return fmt::format("graph '@{}'", symbol);
  if (op.is(OpId::kProgFragment)) return fmt::format("fragment '@{}'", symbol);
  return fmt::format("'{}'", op.name());
}

}  // namespace

std::string describe_block_count(const Region& region) {
  const std::string owner = describe_owner(*region.parent());
  if (region.empty()) return fmt::format("{} has no blocks", owner);
  const auto blocks = region.blocks();
  const auto count = std::distance(blocks.begin(), blocks.end());
  return fmt::format("{} has {} block{}", owner, count, count == 1 ? "" : "s");
}

}  // namespace mir
