// Writes the modules of a text as IR, one of the forms of mllm-parse.
#include "settings.hpp"

#include "mir/print.hpp"

namespace mir::tools {

ExitCode write_ir(const Run& run, std::span<Module* const> modules) {
  return run.write_output([&](const Run::Sink& sink) { print(modules, sink); });
}

std::optional<TextView> TextView::in(ViewFormat format) const {
  if (format == ViewFormat::kText) return *this;
  const OfModules made = format == ViewFormat::kCsv ? as_csv : as_json;
  return made == nullptr ? std::nullopt : std::optional(TextView{.of_modules = made});
}

}  // namespace mir::tools
