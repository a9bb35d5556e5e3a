// Finds the definitions of aliases in the tree of a text.
#include "lsp/aliases.hpp"

#include <algorithm>
#include <cstdint>

#include "support/characters.hpp"

namespace mir::lsp {

namespace {

constexpr std::uint32_t kMostAliasSteps = 64;

}  // namespace

bool is_alias_name(std::string_view word) {
  return word.size() > 1 && word.substr(1).find_first_not_of(kWordCharacters) == word.npos;
}

std::vector<Alias> aliases_of(const View& view) {
  std::vector<Alias> aliases;
  for (const Unit& unit : view.now().tree().units()) {
    if (unit.nodes().empty() || unit.nodes().back().kind() != NodeKind::kAlias) continue;
    const auto last = static_cast<std::uint32_t>(unit.tokens().size()) - 1;
    const std::uint32_t name = unit.nodes().back().token;
    if (name + 2 > last) continue;
    aliases.push_back({.whole = {unit.span(name).begin, unit.span(last).end},
                       .name = unit.span(name),
                       .value = {unit.span(name + 2).begin, unit.span(last).end}});
  }
  return aliases;
}

std::string_view alias_value(const View& view, std::string_view name) {
  const std::vector<Alias> aliases = aliases_of(view);
  std::string_view value;
  for (std::uint32_t step = 0; step < kMostAliasSteps && is_alias_name(name); ++step) {
    const auto found =
        std::ranges::find(aliases, name, [&](const Alias& each) { return view.text(each.name); });
    if (found == aliases.end()) return value;
    value = name = view.text(found->value);
  }
  return value;
}

}  // namespace mir::lsp
