#include "settings.hpp"

namespace mir::tools {

Argument<Pipeline> pipeline_of(const PassRegistry& registry, std::string_view all) {
  const auto read = [&registry, all](std::string_view, std::string_view text) -> Result<Pipeline> {
    if (all.empty() || text != all) return registry.parse_pipeline(text);
    Pipeline every;
    for (const Pass& pass : registry.passes()) every.push_back(&pass);
    return every;
  };
  const auto completion = [&registry, all] {
    Completion offered{.is_list = true};
    for (const Pass& pass : registry.passes()) offered.words.emplace_back(pass.name);
    if (!all.empty()) offered.words.emplace_back(all);
    return offered;
  };
  return {.read = read, .note = no_note<Pipeline>, .completion = completion};
}

}  // namespace mir::tools
