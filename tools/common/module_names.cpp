// Collects names of modules, and chooses the module that an option names.
#include "module_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "ir/declares_dialect.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/context.hpp"

namespace mir::tools {

void add_names(InputNames& names, std::span<Module* const> modules) {
  names.mention(ReferenceKind::kModule);
  names.add_positions(ReferenceKind::kModule, modules.size());
  for (const Module* module : modules)
    names.add(ReferenceKind::kModule, module->context().text(module->name()));
}

std::vector<Module*> select_modules(std::span<Module* const> modules, std::string_view name) {
  std::vector<Module*> selected(modules.begin(), modules.end());
  if (name.empty()) return selected;
  std::erase_if(selected, [&](const Module* module) {
    return module->context().text(module->name()) != name;
  });
  if (!selected.empty()) return selected;
  std::size_t position = 0;
  const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  const bool is_position =
      error == std::errc() && last == name.data() + name.size() && position < modules.size();
  if (is_position) selected.push_back(modules[position]);
  return selected;
}

Result<void> check_unambiguous(std::span<Module* const> modules, const Option<std::string>& row,
                               std::string_view file) {
  if (!row.is_given()) return {};
  std::vector<std::string> places, positions;
  for (const Module* selected : select_modules(modules, *row)) {
    const SourceFile* source = selected->context().sources().file_of(selected->top()->span().begin);
    if (source == nullptr) continue;
    places.push_back(
        fmt::format("line {}", source->line_column(selected->top()->span().begin).line));
    positions.push_back(
        fmt::format("--{}={}", row.name(), std::ranges::find(modules, selected) - modules.begin()));
  }
  if (places.size() < 2) return {};
  return Error{diag::kEntryUnknown,
               fmt::format("--{}: '{}' has {} modules '@{}', in {}; select one by its position, {}",
                           row.name(), file, places.size(), *row, fmt::join(places, ", "),
                           fmt::join(positions, " or "))};
}

Result<Module*> choose_module(std::span<Module* const> modules, const Option<std::string>& row,
                              std::string_view file) {
  InputNames names(fmt::format("'{}'", file));
  add_names(names, modules);
  if (auto known = names.check(row); !known) return std::move(known).error();
  if (auto single = check_unambiguous(modules, row, file); !single) {
    return std::move(single).error();
  }
  std::vector<Module*> fitting = select_modules(modules, *row);
  if (!row.is_given()) std::erase_if(fitting, [](Module* each) { return declares_dialect(*each); });
  if (fitting.size() == 1) return fitting.front();
  return Error{diag::kEntryUnknown, fmt::format("'{}' has {} modules, choose one with --{}", file,
                                                fitting.size(), row.name())};
}

}  // namespace mir::tools
