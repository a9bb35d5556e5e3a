// Module, inputs and options of a run, as a command line and a pack define them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interp/feed.hpp"
#include "interp/tolerance.hpp"
#include "run_settings.hpp"
#include "tool.hpp"
#include "weights/pack.hpp"

namespace mir::tools {

struct Invocation {
  std::string path;  ///< of a module's text or a pack; "-" is standard input
  const RunSettings& settings;
  std::optional<Pack> pack{};                    ///< the pack at `path`, if it is one
  std::set<std::string, std::less<>> of_pack{};  ///< options whose values are the pack's
  std::vector<std::string> pack_inputs{};        ///< for those that the command line does not name
  bool leaves_expectations = false;              ///< the pack has some that are not compared

  TolerancePolicy tolerances{};
  UpgradeOptions assumed{};     ///< facts that a dump lost
  std::string found_sidecar{};  ///< the file with some of them beside the module's text, if any
  std::vector<Feed> feeds{};
  std::map<std::string, std::string, std::less<>> bound_ops{};  ///< name to graph

  /// Reads the options that concern the text of a module. Takes a sidecar file beside it into
  /// `settings`.
  static Result<Invocation> of_module(const std::string& path, RunSettings& settings);
  /// Like of_module(). If `path` is a pack, also takes the values of all options that the command
  /// line does not give, and the inputs that it does not name, into `settings`. Expected outputs of
  /// the pack are left out if the command line changes the computation.
  static Result<Invocation> create(const std::string& path, RunSettings& settings);

  /// Opens the files that values of this option name: only in the pack, or in the file system. All
  /// files of a pack but weights are read once for their hash.
  FileOpener files(const OptionRow& option) const;
  /// The inputs of the pack where the command line has some of its own.
  InputDefaults input_defaults() const;
  /// Registers the built-in dialects and those of --dialect; false after reporting.
  bool register_dialects(IRContext& context, Diagnostics& diagnostics) const;
  /// The text to run, read into `sources`; never null.
  Result<const SourceFile*> read(SourceManager& sources) const;

 private:
  Result<void> open_pack(RunSettings& settings_of_run);
  Result<void> find_facts(RunSettings& settings_of_run);
  Result<void> read_settings();
};

}  // namespace mir::tools
