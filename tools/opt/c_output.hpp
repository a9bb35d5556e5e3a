// Modules as C instead of text.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "mir/pass.hpp"
#include "tools/opt/settings.hpp"

namespace mir::tools {

/// True for the outputs that are C.
bool is_c(OptOutput output);
/// Appends the pass that replaces ops by generic ops, which have a form in C.
void append_decomposition(Pipeline& pipeline, const PassRegistry& registry);
/// The C file of the only module, or its header; no value after reporting.
std::optional<std::string> c_text(std::span<Module* const> modules, OptOutput output,
                                  Diagnostics& diagnostics);

}  // namespace mir::tools
