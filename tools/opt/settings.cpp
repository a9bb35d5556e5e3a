// Parses the arguments of mllm-opt that name passes or output files.
#include "settings.hpp"

#include <algorithm>

#include "mir/codes/usage.hpp"
#include "support/characters.hpp"
#include "support/number_text.hpp"

namespace mir::tools {

namespace {

constexpr std::string_view kAll = "all";

const Pass& pass_at(const std::vector<PipelineItem>& items, PipelineEnd end) {
  const PipelineItem& item = end == PipelineEnd::kFirst ? items.front() : items.back();
  return item.pass != nullptr ? *item.pass : pass_at(item.items, end);
}

Result<std::string_view> read_name(const PassRegistry& registry, PipelineEnd end,
                                   std::string_view name) {
  if (const Pass* pass = registry.find(name)) return std::string_view(pass->name);
  if (const auto named = registry.pipelines().find(name); named != registry.pipelines().end()) {
    return std::string_view(pass_at(named->second.pipeline.items, end).name);
  }
  std::vector<std::string_view> known = names_of_passes(registry);
  known.push_back(kAll);
  return Error{diag::kUsage,
               fmt::format("no pass is called '{}'{}", name, did_you_mean_pass(name, known))};
}

Result<PassNames> read_names(const PassRegistry& registry, PipelineEnd end, std::string_view text) {
  PassNames all;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word == kAll) {
      all.has_all = true;
      continue;
    }
    auto name = read_name(registry, end, word);
    if (!name) return std::move(name).error();
    all.names.push_back(*name);
  }
  return all;
}

}  // namespace

FactReaders passes_that_read_facts() {
  // The pipeline of this name consists of the other passes.
  std::string grants = "pass:upgrade";
  for (const std::string_view pass : readers_of_grants()) grants += fmt::format(" pass:{}", pass);
  return {.of_grants = grants + " emit=symbolic-dims",
          .of_symbolic_dims = "pass:upgrade pass:generalize"};
}

bool PassNames::has(std::string_view name) const {
  return has_all || std::ranges::find(names, name) != names.end();
}

bool is_pass_dump(std::string_view name) {
  return (name.ends_with(".mir") || name.ends_with(".diff")) && name.size() > 3 &&
         std::ranges::all_of(name.substr(0, 3), is_digit);
}

bool is_counterexample(std::string_view name) {
  return name.ends_with(".mirz");
}

Argument<StepClaim> step_claim() {
  const auto read = [](std::string_view option, std::string_view text) -> Result<StepClaim> {
    constexpr std::string_view kBound = "bound:";
    StepClaim claim{.text = std::string(text)};
    if (text == "bits") return claim;
    claim.kind = StepClaim::Kind::kValue;
    if (text == "value") return claim;
    claim.kind = StepClaim::Kind::kBound;
    const auto bound =
        text.starts_with(kBound) ? read_number(text.substr(kBound.size())) : std::nullopt;
    if (bound && *bound >= 0) {
      claim.bound = *bound;
      return claim;
    }
    return usage_error(fmt::format("--{} is bits, value or bound:X, found '{}'", option, text));
  };
  const auto completion = [] { return Completion{.words = {"bits", "value"}}; };
  return {.read = read, .note = no_note<StepClaim>, .completion = completion};
}

Argument<PassNames> pass_names(const PassRegistry& registry, PipelineEnd end) {
  const auto read = [&registry, end](std::string_view, std::string_view text) {
    return read_names(registry, end, text);
  };
  const auto completion = [&registry] {
    Completion offered = complete_passes(registry);
    offered.words.emplace_back(kAll);
    return offered;
  };
  const auto refers = [](const PassNames& passes) {
    std::vector<Reference> all;
    for (const std::string_view name : passes.names)
      all.push_back({ReferenceKind::kPass, std::string(name)});
    return all;
  };
  return {.read = read,
          .note = no_note<PassNames>,
          .completion = completion,
          .refers = {{ReferenceKind::kPass}, refers}};
}

}  // namespace mir::tools
