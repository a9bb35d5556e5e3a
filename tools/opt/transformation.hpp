// One pipeline over the modules of several texts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "input_names.hpp"
#include "mir/pass.hpp"
#include "syntax/source_tokens.hpp"
#include "tool.hpp"
#include "tools/opt/explain_no_match.hpp"
#include "tools/opt/reproducer.hpp"
#include "tools/opt/settings.hpp"
#include "tools/opt/watch_passes.hpp"

namespace mir::tools {

/// Reads texts, runs the pipeline on their modules and keeps the new texts until all are done.
class Transformation {
 public:
  Transformation(const Run& run, OptSettings& settings, const Pipeline& pipeline);

  /// Makes the folder of --dump.
  Result<void> prepare() const;
  /// Registers dialects; false after reporting.
  bool knows_dialects(IRContext& context);
  /// Transforms a file, or each part of it with --split-input-file. After the last file, nothing
  /// else is transformed.
  void transform_file(const std::string& path, bool is_last);
  /// Writes tables to standard error and, unless some text was refused, the new texts in their
  /// order, with lines between them at which --split-input-file splits them again. Returns the
  /// worst exit code of all texts.
  ExitCode write() const;

 private:
  /// A text that was read, with its modules.
  struct Reading {
    IRContext context{};
    std::optional<SourceTokens> source{};
    std::vector<Module*> modules{};
  };
  /// The result of one text.
  struct Outcome {
    ExitCode code = ExitCode::kSuccess;
    std::optional<std::string> text{};   ///< no value if it was refused
    std::unique_ptr<Reading> printed{};  ///< its modules are printed instead, unless it is null
  };

  /// Takes the facts that options and a sidecar file beside the text supply.
  Result<void> take_facts(const std::string& path);
  Outcome transform_text(const SourceFile& given, std::unique_ptr<Reading> reading);
  /// True if write() prints the modules of the text at hand, so that their text need not be kept.
  bool prints_reading() const;
  bool transform_modules(std::span<Module* const> modules, std::string_view file, TypedMap& reports,
                         Diagnostics& diagnostics);
  /// True if --module admits the module.
  bool is_wanted(const Module& module) const;
  Module* link(std::span<Module* const> modules, Diagnostics& diagnostics);
  bool split(std::vector<Module*>& modules, Diagnostics& diagnostics);
  /// The extents that may be symbols, of all wanted modules; no value after reporting.
  std::optional<std::string> symbolic_dims_of(std::span<Module* const> modules,
                                              Diagnostics& diagnostics) const;
  /// Gives the modules that are written the version of --target-version. Returns false after
  /// reporting all that needs a later one.
  bool take_target_version(std::span<Module* const> modules, Diagnostics& diagnostics) const;
  /// Returns the output that --split-module and --emit select; no value after reporting a module
  /// that has no such output.
  std::optional<std::string> text_of(Reading& reading, Diagnostics& diagnostics);
  bool transform(Module& module, TypedMap& reports, Diagnostics& diagnostics);
  bool verify(const Module& module, Diagnostics& diagnostics) const;
  ExitCode report(const SourceFile& file, const SourceManager& sources,
                  const Diagnostics& found) const;
  /// Adds the names of results to those of the file.
  void add_values(std::span<Module* const> modules);
  /// Refuses a module's name that the file does not have, unless a text was refused.
  void check_names();
  ExitCode write_losses(const LossReport& losses, const IRContext& context) const;

  const Run& run_;
  OptSettings& settings_;
  const Pipeline& pipeline_;
  TypedMap facts_;  // that passes read
  Verification verification_;
  PassPrinter printer_;
  PassDumper dumper_;
  MatchExplainer explainer_;
  PassRecord record_;
  RewriteWatch rewrites_;
  Reproducer reproducer_;
  InputNames names_{""};                       // of the current file
  std::unordered_set<const Module*> wanted_;   // that --module selects
  std::vector<std::unique_ptr<Module>> made_;  // from those of the current text
  std::vector<Outcome> outcomes_;
  bool is_last_ = false;  // the text at hand
};

}  // namespace mir::tools
