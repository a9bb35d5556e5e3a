// Files of patterns: their modules become passes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mir/pass.hpp"
#include "option.hpp"
#include "tool.hpp"

namespace mir::tools {

/// The files of --patterns. Their passes are in the registry as soon as the option is read, so that
/// other options can name them.
class PatternFiles {
 public:
  /// Reads a file; `-` is standard input. report() shows its errors later.
  Result<std::string> load(const std::string& path, PassRegistry& registry);
  /// Reports the errors of the files; success if there are none.
  ExitCode report(const Run& run) const;
  /// The names of the passes, in the order of the files.
  std::span<const std::string> passes() const { return passes_; }

 private:
  struct File {
    std::unique_ptr<IRContext> context;
    Diagnostics problems{};
  };

  std::vector<File> files_;
  std::vector<std::string> passes_;
};

/// A file of patterns, which becomes passes of the registry.
Argument<std::string> pattern_file(PatternFiles& files, PassRegistry& registry);

/// The option that reads them.
struct PatternSettings {
  OptionSet& options;
  PassRegistry& registry;
  std::string_view needs{};
  PatternFiles files{};

  OptionList<std::string> option{
      options,
      {.name = "patterns",
       .argument = "FILE",
       .help =
           "make each module of patterns in FILE a pass of its name (docs/patterns.md); without "
           "--passes, run these passes",
       .needs = needs,
       .comes_first = true},
      pattern_file(files, registry)};
};

}  // namespace mir::tools
