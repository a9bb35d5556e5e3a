// Passes that random pipelines draw, with the options that they need.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/module.hpp"
#include "mir/pass.hpp"

namespace mir::test {

/// Passes that change numbers within a bound.
inline constexpr std::string_view kBoundPasses[] = {
    "convert-types",    "decompose", "fuse-activations", "fuse-rotations",
    "quantize-weights", "recompose", "separate-weights"};

/// Passes whose results are no module of the same inputs and outputs in each case.
inline constexpr std::string_view kOtherPasses[] = {
    "batch-sequences",  // adds an input, refuses what it cannot batch
    "accumulate",       // rounds sums
    "bind-symbols",     // the inputs have other types
    "cache",            // a step of a schedule, as those below: refuses what would change numbers
    "convert",          // the claims are those of its patterns
    "extract-graph",    // the inputs are those of a graph
    "fuse-consumer",
    "loops",  // refuses ops with unknown extents
    "order",
    "pack",
    "pad",
    "parallel",
    "split",
    "target-version",  // refuses what needs a later version
    "tile",
    "unroll",
    "vector",
};

/// Passes that keep every number but need options, which option_for() draws.
inline constexpr std::string_view kPassesWithOptions[] = {"outline", "specialize"};

inline bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The passes of portable modules that keep every number: all but those of the lists above.
inline std::vector<const Pass*> exact_passes(const PassRegistry& registry) {
  std::vector<const Pass*> passes;
  for (const auto& [name, pass] : registry.passes()) {
    const bool keeps_form = pass.takes != PassForm::kDump && pass.gives == PassForm::kAny;
    const bool is_listed = is_one_of(kBoundPasses, name) || is_one_of(kOtherPasses, name);
    if (keeps_form && !is_listed) passes.push_back(&pass);
  }
  return passes;
}

/// The same, and those that change numbers within a bound.
inline std::vector<const Pass*> exact_and_bound_passes(const PassRegistry& registry) {
  std::vector<const Pass*> passes = exact_passes(registry);
  for (const std::string_view name : kBoundPasses) passes.push_back(registry.find(name));
  return passes;
}

/// Symbols that alone are extents of inputs.
inline std::vector<std::string> symbols_of_inputs(const Module& module) {
  DimTable& dims = module.context().dims();
  std::vector<std::string> names;
  for (const Value& input : module.body().entry_arguments()) {
    if (input.tensor_type() == nullptr) continue;
    for (const Dim extent : input.tensor_type()->dims()) {
      if (!extent.is_symbolic() || extent.is_pack() || dims.symbols(extent).size() != 1) continue;
      std::string name(module.context().text(dims.symbols(extent)[0]));
      const bool is_alone = dims.symbol(name) == extent;
      if (is_alone && !is_one_of(std::vector<std::string_view>(names.begin(), names.end()), name)) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

/// An option that a pass needs; without a key it needs none.
struct NeededOption {
  std::string key{};
  std::vector<std::string> values{};

  /// "{S=[2,5]}"
  std::string text() const {
    if (key.empty()) return "";
    if (values.size() == 1) return fmt::format("{{{}={}}}", key, values.front());
    return fmt::format("{{{}=[{}]}}", key, fmt::join(values, ","));
  }
};

/// The option that the pass needs, drawn for a module.
inline NeededOption option_for(std::string_view pass, const Module& module,
                               std::mt19937_64& random) {
  const auto number = [&](std::uint64_t least, std::uint64_t count) {
    return fmt::to_string(least + random() % count);
  };
  if (pass == "outline") return {"ops", {number(2, 3)}};
  if (pass == "quantize-weights") {
    constexpr const char* kTypes[] = {"q8_0", "q4_0", "bf16", "f16"};
    return {"*", {kTypes[random() % std::size(kTypes)]}};
  }
  if (pass != "specialize" || module.version() < 2) return {};
  const auto symbols = symbols_of_inputs(module);
  if (symbols.empty() || random() % 4 == 0) return {};  // calls that pass numbers
  // Random runs bind small numbers.
  const std::string symbol = symbols[random() % symbols.size()];
  return {symbol, {number(1, 4), number(5, 3)}};
}

}  // namespace mir::test
