// Collects names of modules, and chooses the module that an option names.
#include "module_names.hpp"

#include <fmt/format.h>

#include <vector>

#include "ir/declares_dialect.hpp"
#include "mir/context.hpp"

namespace mir::tools {

void add_names(InputNames& names, std::span<Module* const> modules) {
  names.mention(ReferenceKind::kModule);
  for (const Module* module : modules)
    names.add(ReferenceKind::kModule, module->context().text(module->name()));
}

Result<Module*> choose_module(std::span<Module* const> modules, const Option<std::string>& row,
                              std::string_view file) {
  InputNames names(fmt::format("'{}'", file));
  add_names(names, modules);
  if (auto known = names.check(row); !known) return std::move(known).error();
  std::vector<Module*> fitting;
  for (Module* module : modules) {
    if (!row.is_given() && declares_dialect(*module)) continue;
    if (!row.is_given() || module->context().text(module->name()) == *row)
      fitting.push_back(module);
  }
  if (fitting.size() == 1) return fitting.front();
  return Error{DiagCode::kEntryUnknown,
               row.is_given() ? fmt::format("--{}: '{}' has {} modules '@{}'", row.name(), file,
                                            fitting.size(), *row)
                              : fmt::format("'{}' has {} modules, choose one with --{}", file,
                                            fitting.size(), row.name())};
}

}  // namespace mir::tools
