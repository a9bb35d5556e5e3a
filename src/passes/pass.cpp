#include "mir/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>

namespace mir {

namespace {

bool takes(const Pass& pass, const Module& module, Diagnostics& diagnostics) {
  if (pass.takes == PassForm::kAny) return true;
  const bool portable = pass.takes == PassForm::kPortable;
  if (module.is_portable() == portable) return true;
  diagnostics.error(
      DiagCode::kWrongForm, module.top()->span(),
      fmt::format("pass '{}' takes modules in {} form", pass.name, portable ? "portable" : "dump"));
  return false;
}

}  // namespace

void PassRegistry::add(Pass pass) {
  const auto at = std::ranges::lower_bound(passes_, pass.name, {}, &Pass::name);
  assert(at == passes_.end() || at->name != pass.name);
  passes_.insert(at, std::move(pass));
}

Result<std::vector<const Pass*>> PassRegistry::parse_pipeline(std::string_view text) const {
  std::vector<const Pass*> pipeline;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto found = std::ranges::lower_bound(passes_, name, {}, &Pass::name);
    if (found == passes_.end() || found->name != name) {
      return Error{DiagCode::kUsage, fmt::format("no pass is called '{}'", name)};
    }
    pipeline.push_back(&*found);
  }
  return pipeline;
}

bool run_passes(Module& module, std::span<const Pass* const> passes, Diagnostics& diagnostics,
                const AfterPass& after) {
  for (const Pass* pass : passes) {
    if (!takes(*pass, module, diagnostics)) return false;
    const auto start = std::chrono::steady_clock::now();
    if (!pass->run(module, diagnostics)) return false;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (after && !after(*pass, module, taken.count())) return false;
  }
  return true;
}

}  // namespace mir
