#include "ir/lowest_version.hpp"

#include <algorithm>

#include "ir/call_types.hpp"
#include "ir/declares_dialect.hpp"
#include "ir/extent_walk.hpp"
#include "ir/symbol_declarations.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

constexpr std::int64_t kDialectsVersion = 2;  // of dialects that a text declares
constexpr std::int64_t kBlocksVersion = 2;    // of blocks in the body of a module
constexpr std::int64_t kExtremaVersion = 2;   // of minima and maxima in extents

/// True if a call passes or returns other types than the graph has, as only later versions can.
bool has_own_types(const Op& op) {
  if (op.row() == nullptr || !op.row()->callee) return false;
  const auto callee = callee_of(op);
  const Op* graph = callee ? op.module().lookup_op(*callee) : nullptr;
  return graph != nullptr && graph->first_region() != nullptr &&
         graph->first_region()->has_signature() && CallTypes::are_own(op, *graph);
}

}  // namespace

std::int64_t lowest_version(const Module& module) {
  std::int64_t lowest = 1;
  const auto needs = [&](std::int64_t version) { lowest = std::max(lowest, version); };
  if (declares_dialect(module)) needs(kDialectsVersion);
  if (module.top()->attribute(kSymbolsKey) != nullptr) needs(kSymbolsVersion);
  if (module.body().has_several_blocks()) needs(kBlocksVersion);
  for_each_op(module.body(), [&](const Op& op) {
    // An unknown op may be of a dialect in another file.
    needs(op.row() == nullptr ? module.version() : op.row()->version);
    if (is_declared(op.info().dialect)) needs(kDialectsVersion);
    if (has_own_types(op)) needs(kSymbolsVersion);
  });
  for_each_value(module.body(), [&](const Value& value, const Op&) {
    const auto* type = dyn_cast<DialectType>(value.type());
    if (type != nullptr && is_declared(type->kind().dialect)) needs(kDialectsVersion);
  });
  if (lowest < kExtremaVersion && module.context().dims().has_extrema()) {
    for_each_extent(module, [&](Dim extent, const Op&) {
      if (has_extremum(extent)) needs(kExtremaVersion);
    });
  }
  return std::min(lowest, module.version());
}

}  // namespace mir
