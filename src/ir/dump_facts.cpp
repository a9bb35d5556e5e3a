// What texts of dumps state beyond the IR.
#include "mir/dump_facts.hpp"

#include "mir/op.hpp"

namespace mir {

const StatedMention* stated_mention(const Use& use) {
  const auto mentions = use.user()->dump_facts().mentions;
  return mentions.empty() ? nullptr : mentions[use.index()];
}

std::vector<RegionResult> signature_results(const Region& region) {
  const auto stated = region.stated_results();
  if (!stated.empty()) return {stated.begin(), stated.end()};
  std::vector<RegionResult> results;
  for (const Type* type : region.result_types()) {
    RegionResult& result = results.emplace_back();
    if (const Value* returned = region.returned(results.size() - 1)) {
      result = {returned->name(), nullptr, returned->symbol(), returned->has_symbol(),
                returned->attributes()};
    }
    result.type = type;
  }
  return results;
}

}  // namespace mir
