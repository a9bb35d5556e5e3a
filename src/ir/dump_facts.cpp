#include "mir/dump_facts.hpp"

#include "mir/module.hpp"

namespace mir {

const StatedMention* DumpFacts::find_mention(const Use& use) const {
  const auto found = mentions_.find(&use);
  return found == mentions_.end() ? nullptr : &found->second;
}

std::vector<RegionResult> stated_results(const Region& region) {
  const auto stated = region.parent()->module().dump_facts().results(region);
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
