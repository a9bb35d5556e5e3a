// Files of patterns: their modules become passes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dialect_files.hpp"
#include "mir/pass.hpp"
#include "option.hpp"
#include "tool.hpp"

namespace mir::tools {

/// The files of --patterns. Their passes are in the registry as soon as the option is read, so that
/// other options can name them.
class PatternFiles {
 public:
  /// Patterns may use the ops of the dialects, which are read before.
  explicit PatternFiles(const DialectSettings& dialects) : dialects_(dialects) {}

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

  const DialectSettings& dialects_;
  std::vector<File> files_;
  std::vector<std::string> passes_;
};

/// A file of patterns, which becomes passes of the registry.
Argument<std::string> pattern_file(PatternFiles& files, PassRegistry& registry);

/// The option that reads them.
struct PatternSettings {
  OptionSet& options;
  PassRegistry& registry;
  const DialectSettings& dialects;
  std::string_view needs{};
  PatternFiles files{dialects};

  OptionList<std::string> option{
      options,
      {.name = "patterns",
       .argument = "FILE",
       .help =
           "make each module of patterns in FILE a pass of its name (docs/patterns.md, `mllm help "
           "RewriteOp`); without --passes, run these passes",
       .needs = needs,
       .turn = ReadingTurn::kPasses},
      pattern_file(files, registry)};
};

}  // namespace mir::tools
