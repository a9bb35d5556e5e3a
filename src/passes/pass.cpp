#include "mir/pass.hpp"

#include <fmt/format.h>

namespace mir {

std::string_view name_of(Anchor anchor) {
  constexpr std::string_view kNames[] = {"module", "graph", "region", "op"};
  return kNames[static_cast<std::size_t>(anchor)];
}

std::string_view name_of(PassForm form) {
  constexpr std::string_view kNames[] = {"any", "dump", "portable"};
  return kNames[static_cast<std::size_t>(form)];
}

const Pass* Pipeline::first() const {
  const std::vector<PipelineItem>* list = &items;
  while (!list->empty() && list->front().pass == nullptr) list = &list->front().items;
  return list->empty() ? nullptr : list->front().pass;
}

// -- registry -------------------------------------------------------------------------------------

void PassRegistry::add(Pass pass) {
  assert(find(pass.name) == nullptr && !pipelines_.contains(pass.name));
  const std::string_view name = pass.name;
  passes_.emplace(name, std::move(pass));
}

void PassRegistry::add_pipeline(std::string_view name, std::string_view summary,
                                std::string_view text) {
  assert(find(name) == nullptr && !pipelines_.contains(name));
  Diagnostics problems;
  const SourceFile file(std::string(name), std::string(text), 1);
  std::optional<Pipeline> pipeline = read_pipeline(file, problems);
  assert(pipeline);
  pipelines_.emplace(name, Named{name, summary, *std::move(pipeline)});
}

const Pass* PassRegistry::find(std::string_view name) const {
  const auto found = passes_.find(name);
  return found == passes_.end() ? nullptr : &found->second;
}

}  // namespace mir
