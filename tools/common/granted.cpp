// Reads facts granted by --assume, --symbolic-dim and sidecar files.
#include "granted.hpp"

#include <fmt/format.h>

#include "mir/context.hpp"
#include "mir/dialects.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

Completion complete_facts() {
  Completion offered{.words = {"rms_eps=", "layer_norm_eps=", "packed_weights="}};
  IRContext context;
  register_builtin_dialects(context);
  for (const Dialect* dialect : context.dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (!row.type_name.empty()) offered.words.push_back(fmt::format("{}.", row.type_name));
    }
  }
  return offered;
}

References<SymbolicDim> references_of_symbolic_dim() {
  return {
      {ReferenceKind::kFact}, [](const SymbolicDim& each) {
        return std::vector<Reference>{{ReferenceKind::kFact, fmt::format("input{}", each.input)}};
      }};
}

bool are_of_text(std::span<const std::string> facts) {
  return std::ranges::all_of(facts, [](const std::string& fact) {
    UpgradeOptions options;
    return grant(options, fact) && !options.texts.empty();
  });
}

Result<UpgradeOptions> read_grants(const FactSettings& facts,
                                   std::span<const std::string> sidecars) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;  // of a file of facts
  UpgradeOptions options;
  for (const std::string& path : sidecars) {
    const auto text = read_file(path, kLargest);
    if (!text) return text.error();
    if (const auto granted = grant_sidecar(options, *text); !granted) {
      return Error{granted.error().code, fmt::format("'{}': {}", path, granted.error().message)};
    }
  }
  for (const std::string& fact : *facts.assume) {
    if (const auto granted = grant(options, fact); !granted) return granted.error();
  }
  options.symbolic_dims = *facts.symbolic_dim;
  return options;
}

}  // namespace mir::tools
