// The registry of passes and pipelines, and names of their properties.
#include "mir/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mir/codes/passes.hpp"
#include "passes/pass_texts.hpp"
#include "support/characters.hpp"

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

namespace {

/// Words of letters and digits with `-` between.
bool is_pass_name(std::string_view name) {
  const auto is_good = [](char c) { return is_name_character(c, "-"); };
  return !name.empty() && std::ranges::all_of(name, is_good) && name.front() != '-' &&
         name.back() != '-' && name.find("--") == name.npos;
}

}  // namespace

void PassRegistry::add(Pass pass) {
  add_text(pass);
  [[maybe_unused]] const Result<void> added = try_add(std::move(pass));
  assert(added.ok());
}

Result<void> PassRegistry::check(const Pass& pass) const {
  const auto refuse = [&](std::string_view why) {
    return Error{diag::kPipeline, fmt::format("pass '{}' {}", pass.name, why)};
  };
  if (!is_pass_name(pass.name)) return refuse("needs a name of letters, digits and single '-'");
  if (find(pass.name) != nullptr || pipelines_.contains(pass.name)) {
    return refuse("is already registered");
  }
  if (!pass.run) return refuse("has no function to run");
  return {};
}

Result<void> PassRegistry::try_add(Pass pass) {
  if (auto good = check(pass); !good) return good;
  std::string name = pass.name;
  passes_.emplace(std::move(name), std::move(pass));
  return {};
}

Result<void> PassRegistry::try_add_all(std::vector<Pass> passes) {
  std::set<std::string_view> names;
  for (const Pass& pass : passes) {
    if (auto good = check(pass); !good) return good;
    if (!names.insert(pass.name).second) {
      return Error{diag::kPipeline, fmt::format("two passes are called '{}'", pass.name)};
    }
  }
  for (Pass& pass : passes) add(std::move(pass));
  return {};
}

void PassRegistry::add_pipeline(std::string_view name, std::string_view summary,
                                std::string_view text) {
  assert(find(name) == nullptr && !pipelines_.contains(name));
  Diagnostics problems;
  const SourceFile file(std::string(name), std::string(text), 1);
  std::optional<Pipeline> pipeline = read_pipeline(file, problems);
  assert(pipeline);
  pipelines_.emplace(name, Named{std::string(name), std::string(summary), *std::move(pipeline)});
}

const Pass* PassRegistry::find(std::string_view name) const {
  const auto found = passes_.find(name);
  return found == passes_.end() ? nullptr : &found->second;
}

}  // namespace mir
